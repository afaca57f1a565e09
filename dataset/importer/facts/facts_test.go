package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"modeldex/dataset"
	"modeldex/dataset/record"

	"github.com/google/go-cmp/cmp"
)

// tables are small cuts of the real fact tables; three of the benchmarks name something that
// was cut away.
const tables = "testdata/tables"

// importInto imports the sample tables into a new dataset and returns its folder.
func importInto(t *testing.T, dst string) Report {
	t.Helper()
	report, err := Import(os.DirFS(tables), dst, true)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestReport(t *testing.T) {
	want := Report{
		Models: 9, Hardware: 11, Tools: 4, Benchmarks: 7, Quantizations: 4, LeftOutBenchmarks: 3,
		LeftOut: map[string]int{
			"model llama-3-8b": 1, "hardware apple-m1-7gpu": 1,
			"model gpt-oss-20b": 1, "hardware nvidia-gb10": 1, "tool tensorrt-llm": 1,
			"model gemma-4-26b-a4b-it": 1, "hardware nvidia-b200": 1, "tool mistral.rs": 1,
		},
	}
	if diff := cmp.Diff(want, importInto(t, t.TempDir())); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// TestFactsSurvive compares every field of every fact line with the record made of it.
func TestFactsSurvive(t *testing.T) {
	dst := t.TempDir()
	importInto(t, dst)
	compareAll(t, os.DirFS(dst))
}

// TestShippedHasTheFacts looks for the same fact lines in the data beside the code. What was
// corrected there since may differ; names, sources and figures of a measurement do not.
func TestShippedHasTheFacts(t *testing.T) {
	data := os.DirFS("../../../data")
	for _, kind := range []string{"models", "hardware", "tools"} {
		for _, fact := range factLines(t, kind) {
			slug := fact["slug"].(string)
			b, err := fs.ReadFile(data, path.Join(kind, slug+".json"))
			if err != nil {
				t.Error(err)
				continue
			}
			if got := parse(t, b)["name"]; got != fact["name"] {
				t.Errorf("%s %s: name = %v, want %v", kind, slug, got, fact["name"])
			}
		}
	}
	records, compared := benchmarkRecords(t, data), 0
	for _, fact := range factLines(t, "benchmarks") {
		id := idOf(t, fact)
		rec, ok := records[id]
		if !ok {
			continue
		}
		compared++
		for _, name := range []string{"model_raw", "hardware_raw", "source_url", "prompt_tps", "generation_tps", "ttft_ms", "run_date"} {
			compareValue(t, "benchmark "+id+"."+name, fact[name], rec[name])
		}
	}
	if compared < 7 {
		t.Errorf("compared %d measurements, want at least 7", compared)
	}
}

func compareAll(t *testing.T, data fs.FS) {
	t.Helper()
	compared := 0
	for _, kind := range []string{"models", "hardware", "tools"} {
		for _, fact := range factLines(t, kind) {
			slug := fact["slug"].(string)
			b, err := fs.ReadFile(data, path.Join(kind, slug+".json"))
			if err != nil {
				t.Error(err)
				continue
			}
			compareFact(t, kind+" "+slug, fact, parse(t, b))
			compared++
		}
	}
	records := benchmarkRecords(t, data)
	for _, fact := range factLines(t, "benchmarks") {
		id := idOf(t, fact)
		if rec, ok := records[id]; ok {
			fact["id"] = id
			compareFact(t, "benchmark "+id, fact, rec)
			compared++
		}
	}
	if compared < 9+11+4+7 {
		t.Errorf("compared %d facts, want at least %d", compared, 9+11+4+7)
	}
}

// factLines returns the lines of a table and of those beside it.
func factLines(t *testing.T, kind string) (out []map[string]any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(tables, kind+".*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables of %s: %v", kind, err)
	}
	for _, file := range files {
		if strings.Contains(file, "left-out") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			out = append(out, parse(t, line))
		}
	}
	return out
}

// parse reads an object with the standard library, numbers as they are written.
func parse(t *testing.T, b []byte) (out map[string]any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// idOf is the id of a fact line, or the one it gets.
func idOf(t *testing.T, fact map[string]any) string {
	t.Helper()
	if id, ok := fact["id"].(string); ok {
		return id
	}
	line, err := json.Marshal(fact)
	if err != nil {
		t.Fatal(err)
	}
	var b dataset.Benchmark
	if err := decode(line, &b); err != nil {
		t.Fatal(err)
	}
	id, err := record.BenchmarkID(&b)
	if err != nil {
		t.Fatal(err)
	}
	return string(id)
}

func benchmarkRecords(t *testing.T, data fs.FS) map[string]map[string]any {
	t.Helper()
	files, err := fs.Glob(data, "benchmarks/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatalf("no benchmarks: %v", err)
	}
	out := map[string]map[string]any{}
	for _, file := range files {
		b, err := fs.ReadFile(data, file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			rec := parse(t, line)
			out[rec["id"].(string)] = rec
		}
	}
	return out
}

// compareFact holds a record to its fact line. Every field of the fact is there, under its name
// or its documented new one, with the same value. What the fact does not have is unknown, or a
// field that an import may add.
func compareFact(t *testing.T, at string, fact, rec map[string]any) {
	t.Helper()
	for name, want := range fact {
		as := name
		if name == "size_basis" {
			as = "basis"
		}
		got, ok := rec[as]
		switch {
		case !ok:
			t.Errorf("%s: %s is gone", at, name)
		case name == "sources":
			compareValue(t, at+"."+name, want, got.([]any)[:len(want.([]any))]) // added fields bring sources of their own
		default:
			compareValue(t, at+"."+name, want, got)
		}
	}
	for name, got := range rec {
		_, ok := fact[name]
		if !ok && name != "$schema" && // the file's, not the record's
			!(name == "basis" && fact["size_basis"] != nil) && got != nil && !isEmpty(got) && !slices.Contains(added, name) {
			t.Errorf("%s: %s = %v, which the fact does not say", at, name, got)
		}
	}
}

// added are the fields an import fills that the tables do not have.
var added = []string{"effective_params_b", "partial_offload", "size_includes_projector"}

// TestAmended: fields the tables have no column for are filled, with their source, and what was
// filled by hand survives the next import.
func TestAmended(t *testing.T) {
	dst := t.TempDir()
	importInto(t, dst)
	gemma := parse(t, []byte(files(t, dst)["models/gemma-4-e2b-it.json"]))
	sources := gemma["sources"].([]any)
	last := sources[len(sources)-1].(map[string]any)
	if gemma["effective_params_b"] != json.Number("2.3") || fmt.Sprint(last["fields"]) != "[effective_params_b]" {
		t.Errorf("gemma-4-e2b-it: effective_params_b %v, last source %v", gemma["effective_params_b"], last)
	}
	for id, want := range map[string][2]any{
		"bm-86eb1ddb5023": {true, nil}, // its notes speak of the projector
		"bm-0e5c85cee749": {nil, nil},  // its notes speak of weights over the memory, but they fit
		"bm-d20987d408c6": {nil, nil},
	} {
		rec := benchmarkRecords(t, os.DirFS(dst))[id]
		if got := [2]any{rec["size_includes_projector"], rec["partial_offload"]}; got != want {
			t.Errorf("%s: projector, offload = %v, want %v", id, got, want)
		}
	}
	edit(t, filepath.Join(dst, "benchmarks", "undated.ndjson"), `"withdrawn":null`, `"withdrawn":{"date":"2026-11-21","reason":"a test"}`)
	edit(t, filepath.Join(dst, "models", "gemma-2-2b.json"), `"effective_params_b": null`, `"effective_params_b": 2`)
	importInto(t, dst)
	if got := benchmarkRecords(t, os.DirFS(dst))["bm-d20987d408c6"]["withdrawn"]; got == nil {
		t.Error("an import took back a withdrawal")
	}
	if got := parse(t, []byte(files(t, dst)["models/gemma-2-2b.json"]))["effective_params_b"]; got != json.Number("2") {
		t.Errorf("an import changed an effective size set by hand to %v", got)
	}
}

func TestReadNotes(t *testing.T) {
	yes, gib, gb := true, 9.0, 8.0
	for _, tt := range []struct {
		notes     string
		size      *float64
		offload   *bool
		projector *bool
	}{
		{notes: "llama-bench"},
		{notes: "experts on CPU: 2 x AMD EPYC", offload: &yes},
		{notes: "routed experts kept in CPU memory (-ot exps=CPU), 8 threads", offload: &yes},
		{notes: "part of the weights in CPU memory (-ot)", offload: &yes},
		{notes: "host CPU Apple M4 Max"},
		{notes: "weights over VRAM go to CPU memory (64 GB RAM)", size: &gib, offload: &yes},
		{notes: "weights over VRAM go to CPU memory (64 GB RAM)", size: &gb},
		{notes: "weights over VRAM go to CPU memory (64 GB RAM)"},
		{notes: "size of the files includes the vision projector, which", projector: &yes},
	} {
		b := dataset.Benchmark{Notes: &tt.notes, ModelSizeGiB: tt.size, MemoryGB: &gb}
		readNotes(&b)
		if diff := cmp.Diff([]*bool{tt.offload, tt.projector}, []*bool{b.PartialOffload, b.SizeIncludesProjector}); diff != "" {
			t.Errorf("notes %q (-want +got):\n%s", tt.notes, diff)
		}
	}
}

func edit(t *testing.T, file, from, to string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(b, []byte(from)) {
		t.Fatalf("%s has no %s: %v", file, from, err)
	}
	if err := os.WriteFile(file, bytes.Replace(b, []byte(from), []byte(to), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

func isEmpty(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) == 0
}

func compareValue(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		rec, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s = %v, want %v", at, got, want)
			return
		}
		compareFact(t, at, want, rec)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			t.Errorf("%s = %v, want %v", at, got, want)
			return
		}
		for i := range want {
			compareValue(t, fmt.Sprintf("%s.%d", at, i), want[i], list[i])
		}
	case json.Number:
		n, ok := got.(json.Number)
		a, errA := want.Float64()
		b, errB := n.Float64()
		if !ok || a != b || errA != nil || errB != nil {
			t.Errorf("%s = %v, want %v", at, got, want)
		}
	case string:
		if renamedText := strings.ReplaceAll(want, "in models.ndjson", "in this directory"); got != renamedText {
			t.Errorf("%s = %v, want %q", at, got, want)
		}
	default:
		if got != want {
			t.Errorf("%s = %v, want %v", at, got, want)
		}
	}
}

// files reads a whole dataset.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestImportTwice: the same tables give the same bytes, into an empty folder and over their own
// result.
func TestImportTwice(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	importInto(t, first)
	importInto(t, second)
	want := files(t, first)
	if diff := cmp.Diff(want, files(t, second)); diff != "" {
		t.Errorf("two imports differ:\n%s", diff)
	}
	if report := importInto(t, first); report.Kept != 0 {
		t.Errorf("an import over its own result kept %d records, want 0", report.Kept)
	}
	if diff := cmp.Diff(want, files(t, first)); diff != "" {
		t.Errorf("an import over its own result differs:\n%s", diff)
	}
}

// TestKept: an import takes nothing away that only the dataset has.
func TestKept(t *testing.T) {
	dst := t.TempDir()
	importInto(t, dst)
	src := fstest.MapFS{}
	for name, text := range files(t, tables) {
		src[name] = &fstest.MapFile{Data: []byte(text)}
	}
	want := files(t, dst)
	src["benchmarks.ndjson"] = &fstest.MapFile{}
	src["tools.ndjson"].Data, _, _ = bytes.Cut(src["tools.ndjson"].Data, []byte{'\n'})
	report, err := Import(src, dst, true)
	if err != nil {
		t.Fatal(err)
	}
	if report.Kept != 3+4 {
		t.Errorf("kept %d records, want 3 tools and 4 benchmarks", report.Kept)
	}
	if diff := cmp.Diff(want, files(t, dst)); diff != "" {
		t.Errorf("an import of smaller tables changed the dataset:\n%s", diff)
	}
}

// TestResultIsClean: the files an import writes pass the checks.
func TestResultIsClean(t *testing.T) {
	dst := t.TempDir()
	importInto(t, dst)
	const info = `{"schema_version": 1, "version": "1", "released": "2026-11-21", "title": "t", "licence": "l"}`
	if err := os.WriteFile(filepath.Join(dst, "dataset.json"), []byte(info), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Load(context.Background(), os.DirFS(dst), dataset.Options{}); err != nil {
		t.Errorf("the imported dataset is refused:\n%v", err)
	}
}

func TestBenchmarkID(t *testing.T) {
	text := func(s string) *string { return &s }
	url := dataset.URL("https://example.com/é")
	b := dataset.Benchmark{SourceURL: &url, ModelRaw: "M", HardwareRaw: "H", Quantization: text("Q4_0")}
	id, err := record.BenchmarkID(&b)
	if err != nil {
		t.Fatal(err)
	}
	// printf '["https://example.com/é","M","H","Q4_0",null,null,null,null,null,null,null,null,null,null]' | sha256sum
	if want := dataset.Slug("bm-605752f20432"); id != want {
		t.Errorf("ID = %s, want %s", id, want)
	}
	b.Notes = text("another note")
	if other, err := record.BenchmarkID(&b); err != nil || other == id {
		t.Errorf("ID with another note = %s, %v, want another id", other, err)
	}
}

// TestRefused: tables that cannot be read whole change nothing.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name, file, data, want string
	}{
		{"unknown field", "tools.ndjson", `{"slug": "x", "colour": "red"}`, `tools.ndjson:1: colour: is not a known field`},
		{"second line", "tools.ndjson", "{\"slug\": \"x\"}\n{\"slug\": 1}", `tools.ndjson:2: slug: must be text, got 1`},
		{"slug that is a path", "tools.ndjson", `{"slug": "../../x"}`, `tools: slug "../../x" is not valid or a duplicate`},
		{"slug twice", "tools.ndjson", "{\"slug\": \"x\"}\n{\"slug\": \"x\"}", `tools: slug "x" is not valid or a duplicate`},
		{"a line that was cut", "tools.ndjson", "{\"slug\": ", `tools.ndjson:1: slug: the line ends inside the record`},
		{"no JSON", "quant_bpw.json", `{`, `quant_bpw.json: the file ends inside the record`},
		{"missing table", "models.ndjson", "", `models.ndjson: the table is missing`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, dst := fstest.MapFS{}, t.TempDir()
			for name, text := range files(t, tables) {
				src[name] = &fstest.MapFile{Data: []byte(text)}
			}
			src[tt.file] = &fstest.MapFile{Data: []byte(tt.data)}
			if tt.data == "" {
				delete(src, tt.file)
			}
			_, err := Import(src, dst, true)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Import = %v, want %q in it", err, tt.want)
			}
			if left := files(t, dst); len(left) != 0 {
				t.Errorf("a refused import wrote %d files", len(left))
			}
		})
	}
	if _, err := Import(fstest.MapFS{}, t.TempDir(), false); err == nil || !strings.HasSuffix(err.Error(), "quant_bpw.json: the table is missing") {
		t.Errorf("Import of nothing = %v, want the missing files named", err)
	}
}

// TestOverwrite: an import into a directory with other files lists them and writes nothing,
// unless it is told to; the same import again changes nothing.
func TestOverwrite(t *testing.T) {
	src := os.DirFS(tables)
	dst := filepath.Join(t.TempDir(), "new")
	if _, err := Import(src, dst, false); err != nil {
		t.Fatalf("an import into a missing directory: %v", err)
	}
	want := files(t, dst)
	if _, err := Import(src, dst, false); err != nil {
		t.Errorf("the same import again: %v", err)
	}
	names, err := fs.Glob(os.DirFS(dst), "tools/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no tools: %v", err)
	}
	edited := filepath.Join(dst, names[0])
	b, err := os.ReadFile(edited)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(edited, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	before := files(t, dst)
	_, err = Import(src, dst, false)
	var refused *OverwriteError
	if !errors.As(err, &refused) || !slices.Equal(refused.Files, names[:1]) || !strings.Contains(err.Error(), names[0]) {
		t.Errorf("an import over an edited file: %v, want that %s would change", err, names[0])
	}
	if diff := cmp.Diff(before, files(t, dst)); diff != "" {
		t.Errorf("a refused import changed files:\n%s", diff)
	}
	if _, err := Import(src, dst, true); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, files(t, dst)); diff != "" {
		t.Errorf("with overwrite (-want +got):\n%s", diff)
	}
}
