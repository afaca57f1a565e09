package index

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGuardWork holds plans to what they cost, in counts, so that none of them comes to cost
// what the table does unnoticed: a set of one bit a record has 3,125 words here. The bounds are
// what each plan takes today, exactly; a change that raises one has to say so here.
func TestGuardWork(t *testing.T) {
	t.Parallel()
	table := mustBuild(t, benchSet(200_000)).Benchmarks
	fast := []Range{{GenerationTPS, 50, inf}}
	deep := func(q Query) Query {
		q.After = middle(table, q)
		return q
	}
	tests := []struct {
		name  string
		q     Query
		limit int
		total int // matches; with others, the data is not what the bounds were taken on
		most  work
	}{
		{"first page", Query{}, 100, 200_000, work{0, 0, 101}},
		{"deep page", deep(Query{}), 100, 200_000, work{0, 0, 101}},
		{"one filter", Query{Sets: []Set{cuda}}, 100, 124_628, work{0, 0, 101}},
		{"two filters", Query{Sets: []Set{cuda, q8}}, 100, 20_355, work{1, 6827, 173}},
		{"two filters, deep", deep(Query{Sets: []Set{cuda, q8}}), 100, 20_355, work{1, 6827, 164}},
		{"three filters, one rare", Query{Sets: []Set{gpus(700, 701), q8, llama}}, 100, 5, work{2, 6820, 7}},
		{"fifty values of a filter", Query{Sets: []Set{gpus(100, 150)}}, 100, 48_508, work{3, 10_143, 33_134}},
		{"threshold", Query{Ranges: fast}, 100, 138_894, work{0, 0, 143}},
		{"threshold, fastest", Query{Ranges: fast, Sort: fastest}, 100, 138_894, work{0, 0, 101}},
		{"filter and threshold", Query{Sets: []Set{cuda}, Ranges: fast}, 100, 86_435, work{3, 17_871, 1126}},
		{"two filters and threshold, fastest", Query{Sets: []Set{cuda, q8}, Ranges: fast, Sort: fastest}, 100, 14_246, work{5, 30_253, 1989}},
		{"rare filter and threshold", Query{Sets: []Set{gpus(700, 701)}, Ranges: fast}, 100, 78, work{0, 0, 178}},
		{"fastest", Query{Sort: fastest}, 100, 200_000, work{0, 0, 101}},
		{"fastest of a filter", Query{Sets: []Set{cuda}, Sort: fastest}, 100, 124_628, work{0, 0, 155}},
		{"fastest of a filter, deep", deep(Query{Sets: []Set{cuda}, Sort: fastest}), 100, 124_628, work{0, 0, 150}},
		{"fastest of the slow", Query{Sets: []Set{gpus(0, 40)}, Sort: fastest}, 100, 41_596, work{3, 11_881, 16_747}},
		{"slowest of the fast", Query{Sets: []Set{gpus(400, 800)}, Sort: Sort{Field: GenerationTPS}}, 100, 43_880, work{12, 52_954, 52_268}},
		{"word many have", Query{Words: []string{"llama"}}, 100, 178_920, work{3, 15_822, 135_498}},
		{"word one has", Query{Words: []string{"gpu-701"}}, 100, 93, work{0, 0, 2494}},
		{"count of all", Query{}, 0, 200_000, work{}},
		{"count of a threshold", Query{Ranges: fast}, 0, 138_894, work{}},
		{"count of two filters", Query{Sets: []Set{cuda, q8}}, 0, 20_355, work{1, 6827, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var took work
			tt.q.Limit = tt.limit
			if got := table.answer(tt.q, &took).Total; got != tt.total {
				t.Errorf("%d matches, want %d: the data is not what the bounds were taken on", got, tt.total)
			}
			took.check(t, tt.most)
		})
	}
}

// check compares with a bound. What fell is only said, so that the bound can follow.
func (w work) check(t *testing.T, most work) {
	t.Helper()
	for _, c := range []struct {
		what      string
		got, most int
	}{
		{"operations on sets", w.ops, most.ops},
		{"words of sets read", w.words, most.words},
		{"records looked at one by one", w.records, most.records},
	} {
		switch {
		case c.got > c.most:
			t.Errorf("%s rose to %d, want at most %d", c.what, c.got, c.most)
		case c.got < c.most:
			t.Logf("%s fell to %d: the bound of %d can be lowered", c.what, c.got, c.most)
		}
	}
}

// algebra is what of roaring has to be counted.
var algebra = []string{
	"And", "AndNot", "AndAny", "Or", "Xor", "FastAnd", "FastOr", "HeapOr", "HeapXor", "ParAnd", "ParOr", "ParHeapOr",
	"AndCardinality", "OrCardinality", "Intersects", "WriteDenseTo", "ToDense", "ToArray", "Iterate", "ManyIterator",
}

// TestAlgebraIsCounted: no set is combined or read whole but in work.go, where it is counted.
func TestAlgebraIsCounted(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]bool{} // whether a file of the package uses any
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		places := token.NewFileSet()
		f, err := parser.ParseFile(places, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(algebra, s.Sel.Name) {
				return true
			}
			if x, ok := s.X.(*ast.Ident); !ok || x.Name != "cmp" {
				if counted[name] = true; name != "work.go" {
					t.Errorf("%s: %s is not counted: let a method of work do it", places.Position(s.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
	if !counted["work.go"] {
		t.Error("work.go has no algebra: this test looks for the wrong names")
	}
}
