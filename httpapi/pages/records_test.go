package pages

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"modeldex/dataset"
	"modeldex/httpapi/rowjson"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// TestShown: the cells of a list are the same from what is decoded of a row as from all of it, for records that are
// shipped.
func TestShown(t *testing.T) {
	const more = `,"benchmark_count":7,"intelligence":{"score_0_100":71.5,"confidence":"high"}}` // what rows have beside records
	for kind, l := range lists {
		files, err := filepath.Glob("../../data/" + kind + "/*.*json")
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s are shipped: %v", kind, err)
		}
		some := shown[kind]
		t.Cleanup(func() { shown[kind] = some })
		count := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(text, []byte("\n"))
			if filepath.Ext(file) == ".json" { // one record
				lines = [][]byte{text}
			}
			for _, line := range lines {
				record := jsontext.Value(bytes.TrimSpace(line))
				if count++; count%3 != 0 || len(record) == 0 {
					continue
				}
				if err := record.Compact(); err != nil {
					t.Fatal(err)
				}
				row := append(record[:len(record)-1:len(record)-1], more...)
				all := rowjson.Names{}
				for name := range rowjson.Members(row) {
					all[string(name)] = true
				}
				shown[kind] = all
				want := l.cells(namesBeside(row), kind, row)
				shown[kind] = some
				if kind == "benchmarks" {
					want = runCells(namesBeside(row), decode[benchmarkRecord](row), index.None)
				}
				if diff := cmp.Diff(want, l.cells(namesBeside(row), kind, row)); diff != "" {
					t.Fatalf("%s: -all +shown:\n%s", row, diff)
				}
			}
		}
		if count == 0 {
			t.Errorf("no %s are shipped", kind)
		}
	}
}

// namesBeside knows the records that a benchmark is of.
func namesBeside(row []byte) *names {
	n := newNames(nil)
	for kind, member := range map[string]string{"models": "model", "hardware": "hardware", "tools": "tool"} {
		slug := rowjson.Text(row, member)
		n.seen[recordName{kind, dataset.Slug(slug)}] = "the " + slug
	}
	return n
}

// TestReadRun: every member that lists show is read of a row, escapes and all; what is null stays so.
func TestReadRun(t *testing.T) {
	full := []byte(`{"id":"bm-1","model":"m","model_raw":"not shown","quantization":"Q4 \"K\" é\u00e9","hardware":"h","hardware_count":2,"tool":"t","backend":"cuda","context_depth":4096,"concurrency":8,` +
		`"flash_attention":true,"speculative_decoding":false,"prompt_tps":1.5e3,"generation_tps":36.62,"rate_basis":"decode","partial_offload":true,"scenario":"offline","total_tps":34988,` +
		`"source":"community","source_url":"https://example.org/a?b=\"c\"","run_date":"2023-05-23","withdrawn":{"date":"2024-01-02","reason":"it \"was\" wrong"}}`)
	nulls := []byte(`{"id":"bm-1","model":"m","quantization":null,"hardware":"h","hardware_count":1,"tool":"t","backend":null,"generation_tps":null,"source":"community","source_url":null,"run_date":null,"withdrawn":null}`)
	for _, row := range [][]byte{full, nulls} {
		want := decode[benchmarkRecord](row)
		want.ModelRaw = ""
		if diff := cmp.Diff(want, readRun(row)); diff != "" {
			t.Errorf("%s: -decoded +read:\n%s", row, diff)
		}
	}
}

// BenchmarkReadRun reads a run as lists do, and as a decoder does.
func BenchmarkReadRun(b *testing.B) {
	row := []byte(`{"id":"bm-adfbf9a134d4","model":"llama-1-7b","model_raw":"llama-7b-4bit","quantization":"4bit","hardware":"nvidia-rtx-3060","hardware_raw":"RTX 3060 12GB","hardware_count":1,` +
		`"memory_gb":12,"tool":"exllama","tool_version":null,"backend":"cuda","driver_version":null,"compute_unit":"gpu","n_prompt":null,"n_gen":128,"context_depth":null,"batch_size":null,"concurrency":1,` +
		`"n_gpu_layers":null,"flash_attention":null,"speculative_decoding":null,"threads":null,"prompt_tps":null,"prompt_tps_stddev":null,"generation_tps":36.62,"generation_tps_stddev":null,` +
		`"rate_basis":"decode","partial_offload":null,"os":null,"scenario":null,"total_tps":null,"source":"community","source_url":"https://github.com/turboderp/exllama/issues/6",` +
		`"source_key":"github.com/turboderp/exllama","run_date":"2023-05-23","date_basis":"posted","notes":"test_benchmark_inference, first run","withdrawn":null,"reproduce":null}`)
	some := rowjson.NamesOf("id", "model", "hardware", "hardware_count", "quantization", "tool", "backend", "scenario", "generation_tps", "total_tps", "prompt_tps", "withdrawn", "concurrency",
		"context_depth", "speculative_decoding", "partial_offload", "rate_basis", "flash_attention", "run_date", "source", "source_url")
	for name, read := range map[string]func(){
		"read":    func() { readRun(row) },
		"decoded": func() { decode[benchmarkRecord](rowjson.Pick(row, some)) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				read()
			}
		})
	}
}
