package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"modeldex/dataset/record"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// spoiled are lines made of those of a set, most of them with something wrong: a mistake of decimals,
// of a name, of form, of a repeat.
func spoiled(tb testing.TB, set *Set, n int, rng *rand.Rand) []byte {
	tb.Helper()
	var out bytes.Buffer
	for i := range n {
		b := *set.Benchmarks.At(rng.IntN(set.Benchmarks.Len()))
		b.ID = Slug(fmt.Sprintf("bm-%012x", i))
		if b.GenerationTPS != nil {
			v := *b.GenerationTPS * []float64{1, 1.003, 0.01, 10, 1000}[rng.IntN(5)]
			b.GenerationTPS = &v
		}
		switch rng.IntN(10) {
		case 0:
			b.Model += "x"
		case 1:
			b.SourceURL = nil
		case 2:
			b.ID = set.Benchmarks.ID(rng.IntN(set.Benchmarks.Len()))
		case 3:
			b.DateBasis = nil
		}
		line, err := record.Line(&b)
		must(tb, err)
		text := string(line)
		switch rng.IntN(12) {
		case 0:
			text = strings.Replace(text, `"hardware_count":1`, `"hardware_count":"one"`, 1)
		case 1:
			text = strings.Replace(text, `"tool":`, `"tol":`, 1)
		case 2:
			text = text[:len(text)-1]
		case 3:
			text = strings.Replace(text, `"source":"community"`, `"source":"me"`, 1)
		}
		out.WriteString(text + "\n")
	}
	return out.Bytes()
}

// TestPropose: what Propose says about lines is what Check says about them in a file of the dataset.
func TestPropose(t *testing.T) {
	fsys := sample(t)
	// The later of two equal measurements gets the finding. For Propose that is always the proposed line,
	// so no file may come after it.
	fsys["benchmarks/0000.ndjson"] = fsys["benchmarks/undated.ndjson"]
	delete(fsys, "benchmarks/undated.ndjson")
	set, err := Load(context.Background(), fsys, Options{})
	must(t, err)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	kinds := map[Severity]int{}
	for _, n := range []int{1, 1, 150} {
		lines := spoiled(t, set, n, rng)
		got, err := Propose(set, lines, Options{})
		must(t, err)
		const last = "benchmarks/9999.ndjson" // no file has the name that Propose gives its lines
		fsys[last] = &fstest.MapFile{Data: lines}
		list, err := listFiles(fsys, true)
		must(t, err)
		src, err := readSource(t.Context(), list, Options{})
		must(t, err)
		c := newChecker(t.Context(), src, Options{})
		c.warn, c.each = true, true
		all, err := c.judge()
		must(t, err)
		want := slices.DeleteFunc(all, func(f Finding) bool { return f.Path != last })
		for i := range want {
			want[i].Path = proposedFile
			want[i].Text = strings.ReplaceAll(want[i].Text, last, proposedFile)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Finding{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d, %d lines: Check says -, Propose says +\n%s", seed, n, diff)
		}
		for _, f := range got {
			kinds[f.Severity]++
		}
	}
	if kinds[Fault] == 0 || kinds[Warning] == 0 {
		t.Errorf("seed %d: want faults and warnings, got %v: the test compares nothing", seed, kinds)
	}
	if again, err := Propose(set, nil, Options{}); err != nil || len(again) > 0 {
		t.Errorf("without lines: %v, %v", again, err)
	}
	if _, err := Propose(&Set{}, nil, Options{}); err == nil {
		t.Error("a set without files must be rejected")
	}
}

func BenchmarkPropose(b *testing.B) {
	set := mustShipped(b)
	line, err := record.Line(set.Benchmarks.At(0))
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, err := Propose(set, line, Options{})
		must(b, err)
	}
}
