package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/rowjson"
)

// TestProjectionModel compares random fields= of lists and records with a projection made of the
// decoded whole, and with the schemas of the OpenAPI document.
func TestProjectionModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(seedOf(t), 3))
	s := newService(t, mustShipped(t).live)
	records := map[string][]string{"models": {"qwen3-8b", "gpt-oss-20b"}, "hardware": {"nvidia-rtx-3090", "apple-m3-max"}, "tools": {"llama.cpp"}}
	for _, r := range resources {
		rows, details := r.row.Names(), r.row.Names()
		if r.detail != nil {
			details = r.detail.row.Names()
		}
		for range datasettest.Rounds(5, 25) {
			fields := someOf(rng, rows)
			path := fmt.Sprintf("/api/v1/%s?limit=%d%s", r.name, 1+rng.IntN(40), []string{"", "&q=a", "&q=qwen", "&q=nvidia"}[rng.IntN(4)])
			compareProjection(t, s, path+"&", fields, r.key())
		}
		for _, slug := range records[r.name] {
			for range datasettest.Rounds(3, 10) {
				compareProjection(t, s, "/api/v1/"+r.name+"/"+slug+"?", someOf(rng, details), r.key())
			}
		}
	}
}

// TestProjectionSchemas: some members of a record are described where the parameter fields asks for them only,
// and never without the key.
func TestProjectionSchemas(t *testing.T) {
	s := shippedService(t)
	for path, fields := range map[string]string{"/api/v1/benchmarks": "model", "/api/v1/hardware/nvidia-rtx-3090": "name", "/api/v1/models/qwen3-8b": "name,kv_cache.num_kv_heads"} {
		a := s.ask(t, http.MethodGet, path+"?fields="+fields)
		if err := validateAnswer(http.MethodGet, path+"?fields=name", a.status, a.header, a.body); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if validateAnswer(http.MethodGet, path, a.status, a.header, a.body) == nil {
			t.Errorf("%s: some members are described as a whole record", path)
		}
		keyless := bytes.ReplaceAll(bytes.ReplaceAll(a.body, []byte(`"slug":`), []byte(`"was_slug":`)), []byte(`"id":`), []byte(`"was_id":`))
		if validateAnswer(http.MethodGet, path+"?fields=name", a.status, a.header, keyless) == nil {
			t.Errorf("%s: a record without its key is described", path)
		}
	}
}

func someOf(rng *rand.Rand, names []string) (out []string) {
	for range 1 + rng.IntN(6) {
		out = append(out, names[rng.IntN(len(names))])
	}
	return out
}

func compareProjection(t *testing.T, s *service, path string, fields []string, key string) {
	t.Helper()
	data := func(path string) any {
		a := s.ask(t, http.MethodGet, path)
		if err := validateAnswer(http.MethodGet, path, a.status, a.header, a.body); err != nil {
			t.Fatalf("against the OpenAPI document: %v", err)
		}
		var page struct{ Data any }
		dec := json.NewDecoder(bytes.NewReader(a.body))
		dec.UseNumber()
		if err := dec.Decode(&page); a.status != http.StatusOK || err != nil {
			t.Fatalf("GET %s = %d, %v: %.300s", path, a.status, err, a.body)
		}
		return page.Data
	}
	projected := path + "fields=" + url.QueryEscape(strings.Join(fields, ","))
	want := plainProjection(data(strings.TrimRight(path, "?&")), append([]string{key}, fields...))
	if diff := gocmp.Diff(want, data(projected)); diff != "" {
		t.Fatalf("GET %s (-want +got):\n%s", projected, diff)
	}
}

// plainProjection keeps fields with dotted names of decoded JSON.
func plainProjection(v any, names []string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainProjection(v[i], names)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			var below []string
			whole := false
			for _, n := range names {
				head, rest, dotted := strings.Cut(n, ".")
				whole = whole || head == name && !dotted
				if head == name && dotted {
					below = append(below, rest)
				}
			}
			if whole {
				out[name] = member
			} else if below != nil {
				out[name] = plainProjection(member, below)
			}
		}
		return out
	default:
		return v
	}
}

// FuzzProjection: what is kept of any valid JSON without white space is what a decoder keeps.
func FuzzProjection(f *testing.F) {
	f.Add([]byte(`{"slug":"a","b":{"c":[{"d":"\"}]\\"},{"d":-1.5e3}],"e":null},"f":[[],{}]}`), "b.c.d,f")
	f.Fuzz(func(t *testing.T, value []byte, names string) {
		var compact bytes.Buffer
		if json.Compact(&compact, value) != nil || compact.Len() == 0 || compact.Bytes()[0] != '{' || bytes.ContainsRune(value, '\\') || !utf8.Valid(value) {
			t.Skip()
		}
		var whole, got any
		if json.Unmarshal(compact.Bytes(), &whole) != nil {
			t.Skip()
		}
		fields := strings.Split(names, ",")
		kept := rowjson.NewProjection(fields).Append(nil, compact.Bytes())
		if err := json.Unmarshal(kept, &got); err != nil {
			t.Fatalf("what is kept of %s is not JSON: %s, %v", compact.Bytes(), kept, err)
		}
		if diff := gocmp.Diff(plainProjection(whole, fields), got); diff != "" {
			t.Fatalf("fields %q of %s (-want +got):\n%s", names, compact.Bytes(), diff)
		}
	})
}
