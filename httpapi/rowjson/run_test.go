package rowjson

import (
	"testing"

	"modeldex/dataset"

	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/google/go-cmp/cmp"
)

// everyRunMember is what ReadRun can read, in the order of rows.
var everyRunMember = []string{
	"id", "model", "quantization", "hardware", "hardware_count", "tool", "tool_version", "backend", "n_prompt", "context_depth", "concurrency", "flash_attention",
	"speculative_decoding", "prompt_tps", "generation_tps", "rate_basis", "partial_offload", "scenario", "total_tps", "source", "source_url", "run_date", "withdrawn",
}

// runRow is the row of a run of which some members are given.
func runRow(tb testing.TB, line string) []byte {
	tb.Helper()
	var b dataset.Benchmark
	if err := jsonv2.Unmarshal([]byte(line), &b); err != nil {
		tb.Fatal(err)
	}
	row, err := jsonv2.Marshal(b)
	if err != nil {
		tb.Fatal(err)
	}
	return row
}

// TestReadRun: every member is read of a row as a decoder reads it, escapes and all; what is null or not asked for stays
// empty.
func TestReadRun(t *testing.T) {
	for _, line := range []string{
		`{"id":"bm-1","model":"m","model_raw":"not read","quantization":"Q4 \"K\" é\u00e9","hardware":"h","hardware_count":2,"tool":"t","tool_version":"b1 \\","backend":"cuda","n_prompt":512,"context_depth":4096,"concurrency":8,` +
			`"flash_attention":true,"speculative_decoding":false,"prompt_tps":1.5e3,"generation_tps":36.62,"rate_basis":"decode","partial_offload":true,"scenario":"offline","total_tps":34988,` +
			`"source":"community","source_url":"https://example.org/a?b=\"c\"","run_date":"2023-05-23","withdrawn":{"date":"2024-01-02","reason":"it \"was\" wrong"}}`,
		`{"id":"bm-1","model":"m","hardware":"h","hardware_count":1,"tool":"t","source":"community"}`,
	} {
		row := runRow(t, line)
		for first := range everyRunMember {
			names := everyRunMember[first:]
			var got, want dataset.Benchmark
			if err := jsonv2.Unmarshal(Pick(row, NamesOf(names...)), &want); err != nil {
				t.Fatal(err)
			}
			ReadRun(&got, row, names)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q of %s: -decoded +read:\n%s", names, row, diff)
			}
		}
	}
}

// TestReadRunOrder: a list of names that is not in the order of rows is found out, as is a row without one of them.
func TestReadRunOrder(t *testing.T) {
	row := runRow(t, `{"id":"bm-1","model":"m"}`)
	for _, names := range [][]string{{"model", "id"}, {"id", "roofline_ratio"}, {"model_raw"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q were read", names)
				}
			}()
			ReadRun(new(dataset.Benchmark), row, names)
		}()
	}
}

// BenchmarkReadRun reads a run as lists and figures do, and as a decoder does.
func BenchmarkReadRun(b *testing.B) {
	row := runRow(b, `{"id":"bm-adfbf9a134d4","model":"llama-1-7b","model_raw":"llama-7b-4bit","quantization":"4bit","hardware":"nvidia-rtx-3060","hardware_raw":"RTX 3060 12GB","hardware_count":1,`+
		`"memory_gb":12,"tool":"exllama","backend":"cuda","compute_unit":"gpu","n_gen":128,"concurrency":1,"generation_tps":36.62,"rate_basis":"decode","source":"community",`+
		`"source_url":"https://github.com/turboderp/exllama/issues/6","source_key":"github.com/turboderp/exllama","run_date":"2023-05-23","date_basis":"posted","notes":"test_benchmark_inference, first run"}`)
	some := NamesOf(everyRunMember...)
	for name, read := range map[string]func(run *dataset.Benchmark){
		"read": func(run *dataset.Benchmark) { ReadRun(run, row, everyRunMember) },
		"decoded": func(run *dataset.Benchmark) {
			if err := jsonv2.Unmarshal(Pick(row, some), run); err != nil {
				b.Fatal(err)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				read(new(dataset.Benchmark))
			}
		})
	}
}
