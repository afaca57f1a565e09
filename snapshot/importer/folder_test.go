package importer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"modeldex/snapshot"
)

var july = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// smallFolder is testdata/small in memory, changed.
func smallFolder(t testing.TB, changes ...func(fstest.MapFS)) fstest.MapFS {
	t.Helper()
	folder := fstest.MapFS{}
	root := os.DirFS("testdata/small")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		folder[name] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(folder)
	}
	return folder
}

func ptr[T any](v T) *T { return &v }

func put(name, text string) func(fstest.MapFS) {
	return func(folder fstest.MapFS) { folder[name] = &fstest.MapFile{Data: []byte(text)} }
}

func edit(name, old, with string) func(fstest.MapFS) {
	return func(folder fstest.MapFS) {
		folder[name] = &fstest.MapFile{Data: bytes.Replace(folder[name].Data, []byte(old), []byte(with), 1)}
	}
}

func mustBuild(t testing.TB, folder fs.FS, opt Options) ([]byte, *snapshot.Document) {
	t.Helper()
	if opt.GeneratedAt.IsZero() {
		opt.GeneratedAt = july
	}
	b, _, err := Build(context.Background(), folder, opt)
	if err != nil {
		t.Fatalf("Build = %v", err)
	}
	checked := snapshot.Check(bytes.NewReader(b))
	doc, findings := checked.Document, checked.Findings
	if len(findings) > 0 {
		t.Fatalf("Read: %v", findings)
	}
	return b, doc
}

func TestBuild(t *testing.T) {
	_, doc := mustBuild(t, smallFolder(t), Options{})
	type line struct {
		Key     string
		Sources []snapshot.SourceID
	}
	var got []line
	for _, m := range doc.Models {
		got = append(got, line{m.ModelKey, m.SourceIDs})
	}
	want := []line{
		{"alpha-1", []snapshot.SourceID{"source_a", "source_b"}},
		{"beta", []snapshot.SourceID{"source_a"}},
		{"gamma", []snapshot.SourceID{"source_a"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	for i := 1; i < len(doc.Models); i++ {
		if a, b := doc.Models[i-1], doc.Models[i]; *a.Composite.Score <= *b.Composite.Score {
			t.Errorf("%s has %v, %s %v, want the order of their ratings", a.ModelKey, *a.Composite.Score, b.ModelKey, *b.Composite.Score)
		}
	}
	if src := doc.Sources[0]; src.FetchedRows != 3 || src.TotalRowsReported != 4 {
		t.Errorf("source_a: fetched %d of %d, want 3 of 4", src.FetchedRows, src.TotalRowsReported)
	}
}

func TestBuildOptions(t *testing.T) {
	plain, _ := mustBuild(t, smallFolder(t), Options{})
	_, doc := mustBuild(t, smallFolder(t), Options{
		BaseURL: "https://other.example", GeneratedAt: july.Add(time.Hour),
		Directory: []snapshot.Entry{{Slug: "beta-x", Name: "Beta"}},
	})
	if doc.SchemaURL != "https://other.example"+snapshot.SchemaPath || doc.GeneratedAt != "2026-07-01T01:00:00Z" {
		t.Errorf("schema_url %q, generated_at %q, want those of the options", doc.SchemaURL, doc.GeneratedAt)
	}
	if doc.Models[1].ModelKey != "beta-x" {
		t.Errorf("second model = %q, want the slug of the directory in the options", doc.Models[1].ModelKey)
	}
	packed := smallFolder(t, edit("build.json", "bench.ndjson", "bench.ndjson.gz"), func(folder fstest.MapFS) {
		folder["bench.ndjson.gz"] = &fstest.MapFile{Data: pack(t, folder["bench.ndjson"].Data)}
		delete(folder, "bench.ndjson")
	})
	b, _ := mustBuild(t, packed, Options{})
	if diff := cmp.Diff(len(plain)+len(".gz"), len(b)); diff != "" {
		t.Errorf("packed rows change more than the name of their file (-want +got):\n%s", diff)
	}
}

func pack(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestBuildFolderRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(fstest.MapFS)
		want   string
	}{
		{"no configuration", func(f fstest.MapFS) { delete(f, "build.json") }, "build.json"},
		{"unknown member", edit("build.json", `"license"`, `"licence"`), "build.json:4: licence: is not a known field; did you mean \"license\"?"},
		{"no such file", edit("build.json", "bench.ndjson", "none.ndjson"), "none.ndjson: does not exist"},
		{"no files", edit("build.json", `"files": ["bench.ndjson"]`, `"files": []`), "files must not be empty"},
		{"alias line", put("aliases.ndjson", "{}\n{\"model_kee\":1}\n"), "aliases.ndjson:2: model_kee: is not a known field; did you mean \"model_key\"?"},
		{"directory line", put("directory.ndjson", "[]"), "directory.ndjson:1: must be an object, got []"},
		{"row line", put("bench.ndjson", "{\"source\":\"bench\"}\nno\n"), "bench.ndjson:2: "},
		{"row without model", put("bench.ndjson", `{"source":"bench","config":"c","split":"s","row":1,"metric":"m"}`), "bench.ndjson:1: model_raw: must be given"},
		{"row number 0", put("bench.ndjson", `{"source":"bench","config":"c","split":"s","row":0,"metric":"m"}`), "row: must be given"},
		{"member twice", put("bench.ndjson", `{"source":"bench","source":"bench"}`), "bench.ndjson:1: source: duplicate field"},
		{"text for a number", put("bench.ndjson", `{"source":"bench","config":"c","split":"s","row":1,"model_raw":"m","metric":"m","value":"12,5"}`), `bench.ndjson:1: value: must be a number, got "12,5"`},
		{"merge conflict", put("bench.ndjson", "<<<<<<< HEAD\n"), "bench.ndjson:1: unresolved merge conflict: <<<<<<< HEAD"},
		{"empty configuration", put("build.json", ""), "build.json:1: the file is empty"},
		{"packed and cut", func(f fstest.MapFS) {
			edit("build.json", "bench.ndjson", "bench.ndjson.gz")(f)
			put("bench.ndjson.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b")(f)
		}, "bench.ndjson.gz: is cut short"},
		{"not packed", func(f fstest.MapFS) {
			edit("build.json", "bench.ndjson", "bench.ndjson.gz")(f)
			put("bench.ndjson.gz", "plain")(f)
		}, "bench.ndjson.gz: is not gzip; pack it with gzip -n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Build(context.Background(), smallFolder(t, tt.change), Options{GeneratedAt: july})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Build = %v, want %q", err, tt.want)
			}
		})
	}
}

// TestPlaces: errors begin with the path of the file and the line, below the folder the caller names.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(fstest.MapFS)
		want   string
	}{
		{"a row", edit("bench.ndjson", `"value":50`, `"value":150`), `data/snapshots/bench.ndjson:3: row 1 of one, "alpha": score: must be 0 to 100, got 150`},
		{"an alias", put("aliases.ndjson", "{}\n{"), "data/snapshots/aliases.ndjson:2: the line ends inside the record"},
		{"a file", edit("build.json", "bench.ndjson", "none.ndjson"), "data/snapshots/none.ndjson: does not exist"},
	} {
		_, _, err := Build(t.Context(), smallFolder(t, tt.change), Options{GeneratedAt: july, Dir: "data/snapshots"})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: Build = %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestDecodeRowsLacks(t *testing.T) {
	whole := `{"source":"s","config":"c","split":"p","row":1,"model_raw":"m","metric":"x"}`
	for _, member := range []string{"source", "config", "split", "row", "model_raw", "metric"} {
		t.Run(member, func(t *testing.T) {
			line := strings.Replace(whole, `"`+member+`"`, `"else"`, 1)
			if _, err := decodeRows("rows", []byte(line)); err == nil || !strings.Contains(err.Error(), "rows:1: "+member+": must be given") {
				t.Errorf("decodeRows(%s) = %v", line, err)
			}
		})
	}
	if rows, err := decodeRows("rows", []byte(whole)); err != nil || len(rows) != 1 {
		t.Errorf("decodeRows(%s) = %d rows, %v", whole, len(rows), err)
	}
}

// TestLoadAllFaults: faults of several files are reported together.
func TestLoadAllFaults(t *testing.T) {
	_, err := Load(smallFolder(t, put("aliases.ndjson", "x"), put("bench.ndjson", "y")), Options{})
	if err == nil || !strings.Contains(err.Error(), "aliases.ndjson:1") || !strings.Contains(err.Error(), "bench.ndjson:1") {
		t.Errorf("Load = %v, want both files", err)
	}
}

// TestLoadWithoutDirectory: a file that is gone is an error, an empty one is a directory without models.
func TestLoadWithoutDirectory(t *testing.T) {
	if _, err := Load(smallFolder(t, func(f fstest.MapFS) { delete(f, directoryFile) }), Options{}); err == nil || !strings.HasPrefix(err.Error(), "directory.ndjson: does not exist") {
		t.Errorf("Load without a directory = %v, want that it does not exist", err)
	}
	_, doc := mustBuild(t, smallFolder(t, put(directoryFile, "")), Options{})
	if doc.Models[0].ModelKey != "alpha" {
		t.Errorf("first model = %q, want the key of the alias table", doc.Models[0].ModelKey)
	}
}

func TestFreezeDirectory(t *testing.T) {
	entries := []snapshot.Entry{
		{Slug: "b", Name: "B", Facts: snapshot.Facts{ParameterBillions: ptr(7.5)}},
		{Slug: "a", Name: "A", HFRepo: "o/A", Aliases: []string{"x"}},
	}
	dir := t.TempDir()
	if err := FreezeDirectory(dir, entries); err != nil {
		t.Fatal(err)
	}
	got, err := readLines[snapshot.Entry](folder{os.DirFS(dir), dir}, directoryFile)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Slug != "a" || got[1].Slug != "b" || *got[1].ParameterBillions != 7.5 || got[0].HFRepo != "o/A" {
		t.Errorf("FreezeDirectory then read = %+v, want both, sorted", got)
	}
}

// FuzzDecodeRows: lines that pass can be built from.
func FuzzDecodeRows(f *testing.F) {
	f.Add([]byte(`{"source":"s","config":"c","split":"p","row":1,"model_raw":"m","metric":"x","value":1,"extra":[1]}`))
	f.Add([]byte("\n\n{}\n"))
	f.Add([]byte(`{"value":1e999}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := decodeRows("rows", b)
		if err != nil {
			return
		}
		if _, err := snapshot.Digest(rows); err != nil {
			t.Fatalf("decoded rows cannot be digested: %v", err)
		}
	})
}

func board(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/boards/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shippedRows are the captured rows of some models in a split of a source.
func shippedRows(t *testing.T, id snapshot.SourceID, keep func(snapshot.Row) bool) []snapshot.Row {
	t.Helper()
	in, err := Load(os.DirFS(shipped), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []snapshot.Row
	for _, r := range in.Captures[id].Rows {
		if keep(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

var sameRows = cmpopts.SortSlices(func(a, b snapshot.Row) bool {
	return a.ModelRaw+orEmpty(a.Task) < b.ModelRaw+orEmpty(b.Task)
})

// TestReadBoards: the first lines of real tables become the rows that are shipped.
func TestReadBoards(t *testing.T) {
	got, err := ReadLiveBench(Board{"livebench", "leaderboard", "2025_11_25", "2025-11-25"}, board(t, "livebench.csv"), board(t, "livebench-categories.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := shippedRows(t, snapshot.SourceB, func(r snapshot.Row) bool {
		return r.Split == "2025_11_25" && strings.HasPrefix(r.ModelRaw, "claude-4-1-opus-20250805-")
	})
	if diff := cmp.Diff(want, got, sameRows, cmpopts.IgnoreFields(snapshot.Row{}, "At")); diff != "" || len(got) != 40 {
		t.Errorf("LiveBench: %d rows (-shipped +read):\n%s", len(got), diff)
	}
	got, err = ReadArena(Board{"lmarena", "text_style_control", "2026-07-08", "2026-07-08"}, board(t, "arena.json"))
	if err != nil {
		t.Fatal(err)
	}
	want = shippedRows(t, snapshot.SourceA, func(r snapshot.Row) bool {
		return orEmpty(r.Category) == "chinese" && (r.ModelRaw == "claude-opus-4-6-thinking" || r.ModelRaw == "claude-opus-4-6")
	})
	if diff := cmp.Diff(want, got, sameRows, cmpopts.IgnoreFields(snapshot.Row{}, "At")); diff != "" || len(got) != 2 {
		t.Errorf("arena: %d rows (-shipped +read):\n%s", len(got), diff)
	}
}

func TestReadEuroEval(t *testing.T) {
	rows, err := ReadEuroEval(Board{"euroeval", "english_all", "2025-06", "2025-06-01"}, board(t, "euroeval.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteLines(&out, rows); err != nil {
		t.Fatal(err)
	}
	again, err := decodeRows("written", out.Bytes())
	if diff := cmp.Diff(rows, again, cmpopts.IgnoreFields(snapshot.Row{}, "At")); err != nil || diff != "" {
		t.Errorf("written and read again: %v\n%s", err, diff)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), `"row":`)
		got = append(got, line)
	}
	want := []string{
		`1,"model_raw":"meta-llama/Llama-3.1-405B","metric":"mean_rank_score","value":1.32,"rank":null,"lower":null,"upper":null,"category":"all","task":null,"date":"2025-06-01"}`,
		`1,"model_raw":"meta-llama/Llama-3.1-405B","metric":"mcc","value":66.95,"rank":null,"lower":65.09,"upper":68.81,"category":"sentiment-classification","task":"sst5","date":"2025-06-01"}`,
		`1,"model_raw":"meta-llama/Llama-3.1-405B","metric":"macro_f1","value":71.55,"rank":null,"lower":70.25,"upper":72.85,"category":"sentiment-classification","task":"sst5","date":"2025-06-01"}`,
		`1,"model_raw":"meta-llama/Llama-3.1-405B","metric":"chr_f3pp","value":69.1,"rank":null,"lower":68.69,"upper":69.51,"category":"summarization","task":"cnn-dailymail","date":"2025-06-01"}`,
		`1,"model_raw":"meta-llama/Llama-3.1-405B","metric":"chr_f4pp","value":25.43,"rank":null,"lower":24.31,"upper":26.55,"category":"summarization","task":"cnn-dailymail","date":"2025-06-01"}`,
		`2,"model_raw":"o3-2025-04-16 (zero-shot, val)","metric":"mean_rank_score","value":1.42,"rank":null,"lower":null,"upper":null,"category":"all","task":null,"date":"2025-06-01"}`,
		`2,"model_raw":"o3-2025-04-16 (zero-shot, val)","metric":"mcc","value":68.52,"rank":null,"lower":66.61,"upper":70.43,"category":"sentiment-classification","task":"sst5","date":"2025-06-01"}`,
		`2,"model_raw":"o3-2025-04-16 (zero-shot, val)","metric":"macro_f1","value":68.53,"rank":null,"lower":67.39,"upper":69.67,"category":"sentiment-classification","task":"sst5","date":"2025-06-01"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestReadBoardsRejects(t *testing.T) {
	lb := func(table, categories string) error {
		_, err := ReadLiveBench(Board{}, []byte(table), []byte(categories))
		return err
	}
	_, arena := ReadArena(Board{}, []byte(`{"full":{"x":{}}}`))
	_, cut := ReadArena(Board{}, []byte(`{"full":{"x":{"rating":1}}`))
	_, crossed := ReadArena(Board{}, []byte(`{"full":{"x":{"rating":1,"rating_q025":2,"rating_q975":1}}}`))
	_, text := ReadArena(Board{}, []byte(`{"full":{"x":{"rating":"1"}}}`))
	_, none := ReadArena(Board{}, []byte("{}"))
	_, blank := ReadArena(Board{}, nil)
	_, bare := ReadEuroEval(Board{}, []byte("model,sst5\n"))
	for _, err := range []error{none, bare} {
		if !errors.Is(err, errNoRow) {
			t.Errorf("a table without rows: %v, want %v", err, errNoRow)
		}
	}
	_, euro := ReadEuroEval(Board{}, []byte("model,sst5\nx,high\n"))
	_, headless := ReadEuroEval(Board{}, []byte("a,b\n"))
	_, unknown := ReadEuroEval(Board{}, []byte("model,b\n"))
	for want, err := range map[string]error{
		`task "b": must be in a category`: lb("model,b\n", "{}"),
		`task "b": is in c and in d`:      lb("model,b\nm,1\n", `{"d":["b"],"c":["b"]}`),
		"holds no row":                    lb("model,b\n", `{"c":["b"]}`),
		"full: \"x\": rating_q025: must be at most rating_q975, got 2 of 1": crossed,
		"full: \"x\": rating: must be a number":                             text,
		"the file is empty":                                                 blank,
		`the first column must be "model"`:                                  lb("b\n", "{}"),
		`row 1, b: must be a number, got "x"`:                               lb("model,b\nm,x\n", `{"c":["b"]}`),
		"must be an object, got []":                                         lb("model\n", "[]"),
		"rating: must be given":                                             arena,
		"the file ends inside the record":                                   cut,
		`row 1, sst5: must be a number, got "high"`:                         euro,
		"no header row":                                                     headless,
		"no column of a known data set":                                     unknown,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
}
