package importer

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"modeldex/snapshot"
)

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
