package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"modeldex/dataset/datasettest"
	"modeldex/index"
)

// TestServedRecords compares every record, in its list and at its own address, with what the
// standard library reads in its file.
func TestServedRecords(t *testing.T) {
	s := newService(t, mustCompared(t).live)
	dir := mustCompared(t).records
	for _, r := range resources {
		t.Run(r.name, func(t *testing.T) {
			walked := s.walk(t, fmt.Sprintf("/api/v1/%s?limit=%d", r.name, r.maxLimit))
			if got, want := len(walked.records), len(dir.records[r.name]); got != want {
				t.Fatalf("%d records are served, the files hold %d", got, want)
			}
			for i, row := range walked.records {
				want := dir.records[r.name][i]
				compareRecord(t, "list", row, want, r == models)
				if r != benchmarks || i%40 == 0 { // thousands, each rendered like its row
					compareDetail(t, s, r, want, row)
				}
			}
		})
	}
}

// withoutAdded drops what the API adds to what files hold: members that are compared
// elsewhere, and the sizes it computes behind the published ones. It works out the recurrent state.
func withoutAdded(rec plain) plain {
	out := maps.Clone(rec)
	if shape, ok := rec["architecture"].(map[string]any); ok && shape["ssm_inner_size"] != nil {
		cache := maps.Clone(rec["kv_cache"].(map[string]any))
		n := func(name string) float64 { return shape["ssm_"+name].(float64) }
		width := n("inner_size") + 2*n("group_count")*n("state_size")
		values := (n("conv_kernel")-1)*width + n("inner_size")*n("state_size")
		cache["recurrent_state_bytes"] = 4 * values * cache["num_linear_attention_layers"].(float64)
		out["kv_cache"] = cache
	}
	for _, name := range []string{"roofline_ratio", "shape", "intelligence", "capability", "quantization_count", "benchmark_count_with_variants", "generation_tps_per_stream", "reproduced_by", "change"} {
		delete(out, name)
	}
	if list, ok := rec["quantizations"].([]any); ok {
		published := slices.IndexFunc(list, func(q any) bool { return plain(q.(map[string]any)).text("basis") == "computed" })
		if published >= 0 {
			out["quantizations"] = list[:published]
		}
		for _, q := range list {
			delete(q.(map[string]any), "quality")
		}
	}
	return out
}

func compareRecord(t *testing.T, where string, row []byte, want plain, short bool) {
	t.Helper()
	var got plain
	if err := json.Unmarshal(row, &got); err != nil {
		t.Fatal(err)
	}
	want = withoutAdded(want)
	if short { // lists leave the files of a model to its own address
		delete(want, "quantizations")
	}
	if got := withoutAdded(got); !reflect.DeepEqual(want, got) {
		t.Errorf("%s of %s: -file +served\n%s", where, want.name(), cmp.Diff(want, got))
	}
}

// compareDetail asks for one record. A model comes with its quantized files and its
// benchmarks, all else is the row of its list.
func compareDetail(t *testing.T, s *service, r *resource, want plain, row []byte) {
	t.Helper()
	a := s.ask(t, "GET", "/api/v1/"+r.name+"/"+url.PathEscape(want.name()))
	var got struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", want.name(), a.status, a.body)
	}
	if r != models {
		if string(got.Data) != string(row) {
			t.Errorf("%s: the record is %s, its row %s", want.name(), got.Data, row)
		}
		return
	}
	var detail plain
	if err := json.Unmarshal(got.Data, &detail); err != nil {
		t.Fatal(err)
	}
	held, _ := detail["benchmarks"].([]any)
	if float64(len(held)) != want.number("benchmark_count") {
		t.Errorf("%s holds %d benchmarks, want %v", want.name(), len(held), want.number("benchmark_count"))
	}
	if list, _ := detail["quantizations"].([]any); float64(len(list)) != detail.number("quantization_count") {
		t.Errorf("%s holds %d quantizations and counts %v", want.name(), len(list), detail["quantization_count"])
	}
	delete(detail, "benchmarks")
	if diff := cmp.Diff(withoutAdded(want), withoutAdded(detail)); diff != "" {
		t.Errorf("%s: -file +served\n%s", want.name(), diff)
	}
}

// TestServedModelDetails holds the benchmarks at a model's address to the list filtered by
// the model, and the labels of its quantized files to what they say.
func TestServedModelDetails(t *testing.T) {
	s := newService(t, mustCompared(t).live)
	kinds := map[string]int{}
	for i, m := range mustCompared(t).records.records["models"] {
		var detail struct {
			Data struct {
				Slug          string            `json:"slug"`
				ParamsB       *float64          `json:"params_b"`
				Quantizations []plain           `json:"quantizations"`
				Benchmarks    []json.RawMessage `json:"benchmarks"`
			} `json:"data"`
		}
		if err := json.Unmarshal(s.ask(t, "GET", "/api/v1/models/"+m.name()).body, &detail); err != nil {
			t.Fatal(err)
		}
		for _, q := range detail.Data.Quantizations {
			kinds[q.text("basis")]++
			checkQuantization(t, m.name(), detail.Data.ParamsB, q, detail.Data.Quantizations)
		}
		if i%20 != 0 {
			continue
		}
		list := s.walk(t, "/api/v1/benchmarks?limit=500&model="+m.name())
		if diff := cmp.Diff(list.records, detail.Data.Benchmarks, cmp.Transformer("text", func(r json.RawMessage) string { return string(r) })); diff != "" && len(list.records) > 0 {
			t.Errorf("%s: -list +detail\n%s", m.name(), diff)
		}
	}
	if kinds["published"] == 0 || kinds["computed"] == 0 || len(kinds) != 2 {
		t.Errorf("quantizations by basis are %v, want published and computed ones only", kinds)
	}
}

// checkQuantization holds a computed size to its formula, and to saying that it is computed.
func checkQuantization(t *testing.T, slug string, params *float64, q plain, all []plain) {
	t.Helper()
	switch q.text("basis") {
	case "published":
		if q["method"] != nil || q.text("source") == "" {
			t.Errorf("%s %s: a published size has method %v, source %v", slug, q.text("name"), q["method"], q["source"])
		}
	case "computed":
		if q.text("method") == "" || params == nil {
			t.Errorf("%s %s: a computed size has method %v, params_b %v", slug, q.text("name"), q["method"], params)
			return
		}
		if strings.Contains(q.text("method"), "limited by the published sizes") {
			if !slices.ContainsFunc(all, func(p plain) bool {
				return p.text("basis") == "published" && p.number("size_bytes") == q.number("size_bytes")
			}) {
				t.Errorf("%s %s: %v bytes are those of no published size", slug, q.text("name"), q["size_bytes"])
			}
			return
		}
		want := *params * 1e9 * q.number("bits_per_weight") / 8
		if got := q.number("size_bytes"); math.Abs(got-want) > 1+want*1e-6 {
			t.Errorf("%s %s: size_bytes is %v, %v by its method", slug, q.text("name"), got, want)
		}
	}
}

// TestWalks walks every list in every order, with pages of one size and another, and compares with sorting the records.
func TestWalks(t *testing.T) {
	s := newService(t, mustCompared(t).live)
	dir := mustCompared(t).records
	addRatios(t, s, dir)
	for _, r := range resources {
		for _, name := range append([]string{""}, r.sortNames()...) {
			if r.runOrders()[index.Field(strings.TrimPrefix(name, "-"))] != nil {
				continue // see TestSortBySpeed and TestRecommended
			}
			t.Run(r.name+"/sort="+name, func(t *testing.T) {
				want := dir.ordered(r.name, name, func(plain) bool { return true })
				for _, limit := range []int{37, r.maxLimit} {
					if limit == 37 && (raceEnabled || datasettest.Long() && r == benchmarks && name != "generation_tps" && name != "") {
						continue // hundreds of pages each
					}
					path := fmt.Sprintf("/api/v1/%s?limit=%d", r.name, limit)
					if name != "" {
						path += "&sort=" + name
					}
					if got := s.walk(t, path).names; !slices.Equal(want, got) {
						t.Errorf("GET %s: -want +got\n%s", path, cmp.Diff(want, got))
					}
				}
			})
		}
	}
}

// shippedRecords are the records of this repository, read once for all tests.
var shippedRecords = sync.OnceValues(func() (*directory, error) { return readDirectory(shippedFiles()) })

func mustShippedRecords(tb testing.TB) *directory {
	tb.Helper()
	dir, err := shippedRecords()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// servedAndRead is a dataset being served, and the same as the standard library reads it. It is loaded once
// for all tests, which do not change it but by addRatios.
type servedAndRead struct {
	live    *index.Live
	records *directory
}

var comparedOnce struct {
	sync.Once
	servedAndRead
	err error
}

// mustCompared is what tests compare record by record: the dataset of this repository in the long form,
// a sample of it in the short one.
func mustCompared(tb testing.TB) *servedAndRead {
	tb.Helper()
	c := &comparedOnce
	c.Do(func() {
		if datasettest.Long() {
			c.live = mustShipped(tb).live
			c.records = mustShippedRecords(tb)
		} else {
			files := datasettest.Sample(tb)
			if _, c.live, c.err = generationOf(files); c.err == nil {
				c.records, c.err = readDirectory(files)
			}
		}
		if c.err == nil {
			leaveOutAmbiguous(c.records, c.live.Current().Names)
		}
	})
	if c.err != nil {
		tb.Fatal(c.err)
	}
	return &c.servedAndRead
}

// addRatios takes the values that are computed, not read, from what is served; how they are
// computed is tested where that is done.
func addRatios(t *testing.T, s *service, dir *directory) {
	t.Helper()
	if dir.computed {
		return
	}
	dir.computed = true
	for _, row := range s.walk(t, "/api/v1/quality?limit=500").records {
		var rec plain
		if err := json.Unmarshal(row, &rec); err != nil {
			t.Fatal(err)
		}
		dir.bySlug["quality"][rec.name()]["change"] = rec["change"]
	}
	for _, row := range s.walk(t, "/api/v1/models?limit=200").records {
		var rec plain
		if err := json.Unmarshal(row, &rec); err != nil {
			t.Fatal(err)
		}
		if can, ok := rec["capability"].(map[string]any); ok {
			dir.bySlug["models"][rec.name()]["capability"] = can["score_0_100"]
		}
	}
	for _, row := range s.walk(t, "/api/v1/benchmarks?limit=500").records {
		var rec plain
		if err := json.Unmarshal(row, &rec); err != nil {
			t.Fatal(err)
		}
		for _, computed := range []string{"roofline_ratio", "generation_tps_per_stream", "reproduced_by"} {
			dir.bySlug["benchmarks"][rec.name()][computed] = rec[computed]
		}
	}
}
