package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"modeldex/dataset/record"
)

// TestShippedIsClean loads the data beside the code and holds its order.
func TestShippedIsClean(t *testing.T) {
	set, err := shippedSet()
	if err != nil {
		t.Fatalf("the shipped data is rejected:\n%v", err)
	}
	if len(set.Models) == 0 || len(set.Hardware) == 0 || len(set.Tools) == 0 || len(set.Benchmarks) == 0 {
		t.Fatal("a table of the shipped data is empty")
	}
	slugs := func(n int, slug func(i int) Slug) []Slug {
		out := make([]Slug, n)
		for i := range out {
			out[i] = slug(i)
		}
		return out
	}
	for name, got := range map[string][]Slug{
		"models":   slugs(len(set.Models), func(i int) Slug { return set.Models[i].Slug }),
		"hardware": slugs(len(set.Hardware), func(i int) Slug { return set.Hardware[i].Slug }),
		"tools":    slugs(len(set.Tools), func(i int) Slug { return set.Tools[i].Slug }),
	} {
		if !slices.IsSorted(got) {
			t.Errorf("%s are not in order of slug", name)
		}
	}
	for i := range len(set.Benchmarks) - 1 {
		if a, b := set.Benchmarks[i], set.Benchmarks[i+1]; record.NewerRun(a, b) >= 0 {
			t.Errorf("benchmark %s stands before %s", a.ID, b.ID)
		}
	}
}

// TestShippedMatchesStandardDecoder decodes the shipped data with the standard library too: the
// decoder in use is young. Of the benchmarks it decodes every fifth, another one on each run.
func TestShippedMatchesStandardDecoder(t *testing.T) {
	fsys, compared, first := shipped(t), 0, rand.IntN(5)
	t.Logf("of five benchmarks, number %d", first)
	for name, file := range fsys {
		for i, text := range recordTexts(name, withoutSchema(name, file.Data)) {
			compared++
			if kindOf(name) == benchmarksDir && i%5 != first {
				continue
			}
			switch kindOf(name) {
			case infoFile:
				sameDecoded[Info](t, name, text)
			case quantizationsFile:
				sameDecoded[QuantizationType](t, name, text)
			case modelsDir:
				sameDecoded[Model](t, name, text)
			case hardwareDir:
				sameDecoded[Hardware](t, name, text)
			case toolsDir:
				sameDecoded[Tool](t, name, text)
			case benchmarksDir:
				sameDecoded[Benchmark](t, name, text)
			default:
				compared--
			}
		}
	}
	set := mustShipped(t)
	if want := 1 + len(set.Quantizations) + len(set.Models) + len(set.Hardware) + len(set.Tools) + len(set.Benchmarks); compared != want {
		t.Errorf("compared %d records, the set has %d", compared, want)
	}
}

// recordTexts cuts a file into its records.
func recordTexts(name string, b []byte) (out [][]byte) {
	switch path.Ext(name) {
	case ".ndjson":
		return bytes.Split(bytes.TrimSpace(b), []byte{'\n'})
	case ".json":
		spans, _, _ := record.Split(b)
		for _, s := range spans {
			out = append(out, b[s.From:s.To])
		}
	}
	return out
}

func sameDecoded[T any](t *testing.T, name string, text []byte) {
	t.Helper()
	var got, want T
	if faults := record.Decode(text, &got); faults != nil {
		t.Fatalf("%s: %v", name, faults)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("%s: encoding/json: %v", name, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: decoded differently from encoding/json (-json +got):\n%s", name, cmp.Diff(want, got))
	}
}

// TestShippedForm holds the files to the form Line and Pretty write: what an import or a
// formatter writes again must be the same bytes.
func TestShippedForm(t *testing.T) {
	for name, file := range shipped(t) {
		switch {
		case kindOf(name) == benchmarksDir:
			for _, text := range recordTexts(name, file.Data) {
				var rec Benchmark
				record.Decode(text, &rec)
				if got, err := record.Line(&rec); err != nil || !bytes.Equal(got, text) {
					t.Fatalf("%s: Line = %s, %v, want %s", name, got, err, text)
				}
			}
		case kindOf(name) == modelsDir:
			samePretty[Model](t, name, file.Data)
		case kindOf(name) == hardwareDir:
			samePretty[Hardware](t, name, file.Data)
		case kindOf(name) == toolsDir:
			samePretty[Tool](t, name, file.Data)
		}
	}
}

func samePretty[T any](t *testing.T, name string, text []byte) {
	t.Helper()
	var rec T
	record.Decode(withoutSchema(name, text), &rec)
	if got, err := File(name, &rec); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%s: File differs (-file +form), %v:\n%s", name, err, cmp.Diff(string(text), string(got)))
	}
}

// TestEverySlugIsAFile: one file per record, named by its slug.
func TestShippedFiles(t *testing.T) {
	set := mustShipped(t)
	for i := range set.Models {
		if _, err := fs.Stat(os.DirFS("../data"), path.Join(modelsDir, string(set.Models[i].Slug)+".json")); errors.Is(err, fs.ErrNotExist) {
			t.Errorf("model %s has no file of its name", set.Models[i].Slug)
		}
	}
}

// TestCounts: the counts in data/READING.md are made from the shipped records. -update rewrites them.
func TestCounts(t *testing.T) {
	goldenPart(t, readingPage, "counts: made from the records by go test ./dataset -run TestCounts -update, do not edit by hand", "end of counts", countsOf(mustShipped(t)))
}

// countsOf is the table of what a dataset holds and of what its records lack.
func countsOf(set *Set) string {
	var out strings.Builder
	out.WriteString("\n| what | how many |\n|---|---:|\n")
	line := func(what string, n int) { fmt.Fprintf(&out, "| %s | %d |\n", what, n) }
	count := func(length int, is func(i int) bool) (n int) {
		for i := range length {
			if is(i) {
				n++
			}
		}
		return n
	}
	models, hardware := set.Models, set.Hardware
	line("models", len(models))
	line("models without a number of layers", count(len(models), func(i int) bool { return models[i].Architecture.NumLayers == nil }))
	line("models without a shape, listed in `SHAPES.md`", count(len(models), func(i int) bool { return len(models[i].ShapeGaps()) > 0 }))
	line("models without a release date", count(len(models), func(i int) bool { return models[i].ReleaseDate == nil }))
	line("models whose release date is a month or a year", count(len(models), func(i int) bool { d := models[i].ReleaseDate; return d != nil && len(*d) < len("2026-01-02") }))
	line("models without a licence", count(len(models), func(i int) bool { return models[i].License == nil }))
	line("models without a published file size", count(len(models), func(i int) bool {
		return !slices.ContainsFunc(models[i].Quantizations, func(q Quantization) bool { return q.Basis == Published })
	}))
	line("hardware", len(hardware))
	line("hardware without memory bandwidth", count(len(hardware), func(i int) bool { return hardware[i].MemoryBandwidthGBps == nil }))
	line("hardware without `fp16_tflops`", count(len(hardware), func(i int) bool { return hardware[i].FP16TFLOPS == nil }))
	line("hardware without a release date", count(len(hardware), func(i int) bool { return hardware[i].ReleaseDate == nil }))
	line("hardware with a street price", count(len(hardware), func(i int) bool { return hardware[i].StreetPriceUSD != nil }))
	line("tools", len(set.Tools))
	single, throughput, withdrawn, copied := 0, 0, 0, 0
	for _, b := range set.Benchmarks {
		switch {
		case b.Withdrawn != nil:
			withdrawn++
		case b.IsThroughput():
			throughput++
		default:
			single++
		}
		if b.Notes != nil && strings.Contains(*b.Notes, "read through a transcription") {
			copied++
		}
	}
	line("measurements of tokens per second that count", single)
	line("throughput results of systems under load that count", throughput)
	line("withdrawn measurements, kept with the reason", withdrawn)
	line("measurements copied from a page that quotes the page they cite (their notes say \"read through a transcription\")", copied)
	origins := set.Origins
	line("sources", len(origins))
	line("sources whose pages and files, as far as they could be read, state no licence", count(len(origins), func(i int) bool { l := origins[i].License; return l != nil && *l == "none stated" }))
	line("sources no page or file of which could be examined for a licence", count(len(origins), func(i int) bool { return origins[i].License == nil }))
	out.WriteByte('\n')
	return out.String()
}

const mostWithoutShape = 24

// TestShapes: data/SHAPES.md lists the models without a shape, with what no page says that was read. It may only become shorter.
func TestShapes(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Models without a shape\n\nTheir `shape` is null, because no page that was read (a configuration, the header of a file, a card of the maker) says\n" +
		"these fields; the reason is the sentence of the notes after \"No shape\". Made from the records by `go test ./dataset -run TestShapes -update`; do not edit by hand.\n\n| model | not known | why |\n|---|---|---|\n")
	without, set := 0, mustShipped(t)
	for i := range set.Models {
		if gaps := set.Models[i].ShapeGaps(); len(gaps) > 0 {
			without++
			why := ""
			if notes := set.Models[i].Notes; notes != nil {
				_, why, _ = strings.Cut(*notes, "No shape: ")
			}
			if why == "" {
				t.Errorf("the notes of %s do not say why it has no shape", set.Models[i].Slug)
			}
			fmt.Fprintf(&page, "| %s | `%s` | %s |\n", set.Models[i].Slug, strings.Join(gaps, "`, `"), why)
		}
	}
	goldenFile(t, "../data/SHAPES.md", page.String())
	if without > mostWithoutShape {
		t.Errorf("%d models without a shape, at most %d before", without, mostWithoutShape)
	}
}

// TestSourcesFile: every page that a shipped record names is of an origin that data/sources.json
// lists, every measurement of others has its key, and nothing is listed that no record names.
func TestSourcesFile(t *testing.T) {
	found, err := Check(os.DirFS("../data"), Options{})
	must(t, err)
	for _, f := range found {
		if strings.Contains(f.Text, "sources.json") || f.Path == sourcesFile || f.Field == "source_key" {
			t.Error(f)
		}
	}
}

// TestCredits: data/CREDITS.md is made from data/sources.json and the records.
func TestCredits(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Credits\n\nWho published what this directory holds, most measurements first. Made from `sources.json` and the records by\n" +
		"`go test ./dataset -run TestCredits -update`; do not edit by hand. \"none stated\" means that the pages and files that\n" +
		"were examined state none, \"not read\" that none could be examined; `licence_note` in `sources.json` says what was looked at. Single facts\n" +
		"were taken, no text.\n\n" +
		"| source | owner | licence | measurements | models | hardware | tools | read |\n|---|---|---|---:|---:|---:|---:|---|\n")
	for _, c := range Credits(mustShipped(t)) {
		licence := "not read"
		if c.License != nil {
			licence = *c.License
		}
		fmt.Fprintf(&page, "| [%s](%s) | %s | %s | %d | %d | %d | %d | %s |\n", c.Key, c.URL, c.Owner, licence, c.Measurements, c.Models, c.Hardware, c.Tools, c.Read)
	}
	goldenFile(t, "../data/CREDITS.md", page.String())
}

// goldenFile holds a file to what it is made from.
func goldenFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		must(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	got, err := os.ReadFile(path)
	must(t, err)
	if string(got) != want {
		t.Errorf("%s is out of date, run go test ./dataset -run %s -update", path, t.Name())
	}
}

// TestCreditsCount counts by a plain loop over what the files of the shipped data say.
func TestCreditsCount(t *testing.T) {
	set := mustShipped(t)
	measurements, hardware := map[string]int{}, map[string]int{}
	for _, b := range set.Benchmarks {
		if b.SourceURL != nil {
			measurements[b.SourceURL.OriginKey()]++
		}
	}
	for i := range set.Quality {
		measurements[set.Quality[i].SourceURL.OriginKey()]++
	}
	for i := range set.Hardware {
		text, err := record.Line(&set.Hardware[i])
		must(t, err)
		keys := map[string]bool{}
		for _, page := range regexp.MustCompile(`"(?:url|via|source)":"(https?://[^" ]+)`).FindAllSubmatch(text, -1) {
			keys[URL(page[1]).OriginKey()] = true
		}
		for key := range keys {
			hardware[key]++
		}
	}
	list := Credits(set)
	for i, c := range list {
		if c.Measurements != measurements[c.Key] || c.Hardware != hardware[c.Key] {
			t.Errorf("%s: %d measurements and %d hardware, want %d and %d", c.Key, c.Measurements, c.Hardware, measurements[c.Key], hardware[c.Key])
		}
		if i > 0 && c.Measurements > list[i-1].Measurements {
			t.Errorf("%s has more measurements than %s before it", c.Key, list[i-1].Key)
		}
	}
	if len(list) != len(set.Origins) || len(list) == 0 {
		t.Errorf("%d credits of %d origins", len(list), len(set.Origins))
	}
}

// comments holds the doc comments of the package's struct types: type -> field -> text, the
// type's own under the empty name.
func comments(t testing.TB) map[string]map[string]string {
	t.Helper()
	names, err := filepath.Glob("record/*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.GenDecl); ok && decl.Tok == token.TYPE {
				for _, spec := range decl.Specs {
					addComments(out, decl, spec.(*ast.TypeSpec))
				}
			}
		}
	}
	return out
}

func addComments(out map[string]map[string]string, decl *ast.GenDecl, spec *ast.TypeSpec) {
	doc := spec.Doc.Text()
	if doc == "" {
		doc = decl.Doc.Text()
	}
	of := map[string]string{"": oneLine(doc)}
	if st, ok := spec.Type.(*ast.StructType); ok {
		for _, f := range st.Fields.List {
			for _, name := range f.Names {
				of[name.Name] = oneLine(f.Doc.Text())
			}
		}
	}
	out[spec.Name.Name] = of
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// tagParts cuts a jsonschema tag at its commas, apart from escaped ones.
func tagParts(tag reflect.StructTag, key string) map[string]string {
	out := map[string]string{}
	text := strings.ReplaceAll(tag.Get(key), `\,`, "\x00")
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.ReplaceAll(part, "\x00", ","), "=")
		out[name] = value
	}
	return out
}

// TestPlaces checks line and column in the forms a text archive cannot show: line ends, marks,
// missing ends, long lines.
func TestPlaces(t *testing.T) {
	const good = `{"slug": "t%d", "name": "Tool %d", "category": "runner", "description": "Does things."}`
	line := func(n int) string { return fmt.Sprintf(good, n, n) }
	bad := strings.Replace(line(9), `"runner"`, `"x"`, 1) // the value is in column 46
	const text = `category: must be one of runner, gui, server, orchestrator, finetuner, quantizer, agent, ide, got "x"`
	pretty := strings.NewReplacer(", ", ",\n  ", "{", "{\n  ", "}", "\n}").Replace(bad)
	for _, tt := range []struct {
		name, file, data string
		want             []string
	}{
		{"unix lines", "tools/a.ndjson", line(1) + "\n" + bad + "\n", []string{"2:46: " + text}},
		{"dos lines", "tools/a.ndjson", line(1) + "\r\n" + bad + "\r\n" + line(2) + "\r\n", []string{"2:46: " + text}},
		{"no end of line", "tools/a.ndjson", line(1) + "\n" + bad, []string{"2:46: " + text}},
		{"blank lines", "tools/a.ndjson", "\n \r\n" + line(1) + "\n\n" + bad + "\n\n", []string{"5:46: " + text}},
		{"blanks before", "tools/a.ndjson", "\t  " + bad + "  \n", []string{"1:49: " + text}},
		{"mark", "tools/a.ndjson", "\ufeff" + bad + "\n" + line(1), []string{"1:1: must not begin with a byte order mark", "1:46: " + text}},
		{"mark in .json", "tools/t9.json", "\ufeff" + bad, []string{"1:1: must not begin with a byte order mark", "1:46: " + text}},
		{"mark on the second line", "tools/a.ndjson", line(1) + "\n\ufeff" + line(2), []string{"2:1: not JSON: invalid character '\\ufeff' at start of value"}},
		{"one object", "tools/t9.json", bad, []string{"1:46: " + text}},
		{"one object on lines", "tools/t9.json", pretty, []string{"4:15: " + text}},
		{"one object on dos lines", "tools/t9.json", strings.ReplaceAll(pretty, "\n", "\r\n"), []string{"4:15: " + text}},
		{"object after blank lines", "tools/t9.json", "\n\n  " + bad + "\n", []string{"3:48: " + text}},
		{"list on one line", "tools/a.json", "[" + line(1) + ", " + bad + "]", []string{fmt.Sprintf("1:%d: ", len(line(1))+3+46) + text}},
		{"list on lines", "tools/a.json", "[\n" + line(1) + ",\n  " + bad + "\n]\n", []string{"3:48: " + text}},
		{"list of objects on lines", "tools/a.json", "[" + line(1) + ",\n" + pretty + "]", []string{"5:15: " + text}},
		{"wide characters before", "tools/a.ndjson", strings.Replace(bad, "Tool 9", "Töööl 🏃🏃", 1), []string{"1:48: " + text}},
		{"invalid utf-8", "tools/a.ndjson", strings.Replace(line(1), "Tool", "T\xffol", 1), []string{"1:26: name: not JSON: invalid UTF-8; the file must be in UTF-8"}},
		{"control character", "tools/a.ndjson", strings.Replace(line(1), "Tool", "T\x00ol", 1), []string{"1:26: name: not JSON: invalid character '\\x00' in string (expecting non-control character)"}},
		{"long line", "tools/a.ndjson", line(1) + "\n" + strings.Replace(bad, "Tool 9", strings.Repeat("n", 1_000_000), 1) + "\n" + bad, []string{"2:1000040: " + text, "3:10: slug: \"t9\" is a duplicate of tools/a.ndjson:2", "3:46: " + text}},
		{"line too long", "tools/a.ndjson", line(1) + "\n" + strings.Repeat("n", 1<<20+1) + "\n" + bad, []string{"2: the line has more than 1 MiB"}},
		{"list and clash on one line", "tools/a.json", "[" + line(1) + "," + line(1) + "]", []string{fmt.Sprintf("1:%d: slug: \"t1\" is a duplicate of tools/a.json:1", len(line(1))+2+10)}},
		{"deep nesting", "tools/a.ndjson", strings.Repeat("[", 100_000), []string{"1:10001: not JSON: exceeded max depth"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := ""
			for _, w := range tt.want {
				want += tt.file + ":" + w + "\n"
			}
			fsys, _ := fixtureFS(&txtar.Archive{})
			fsys[tt.file] = &fstest.MapFile{Data: []byte(tt.data)}
			if got := findingsOf(t, fsys, Options{}); got != want {
				t.Fatalf("findings\n%s\nwant\n%s", got, want)
			}
		})
	}
}
