package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"modeldex/dataset/record"
)

// TestShippedIsClean loads the data beside the code and holds its order.
func TestShippedIsClean(t *testing.T) {
	set, err := shippedSet()
	if err != nil {
		t.Fatalf("the shipped data is rejected:\n%v", err)
	}
	if len(set.Models) == 0 || len(set.Hardware) == 0 || len(set.Tools) == 0 || set.Benchmarks.Len() == 0 {
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
	for i := range set.Benchmarks.Len() - 1 {
		if a, b := set.Benchmarks.At(i), set.Benchmarks.At(i+1); record.NewerRun(a, b) >= 0 {
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
	if want := 1 + len(set.Quantizations) + len(set.Models) + len(set.Hardware) + len(set.Tools) + set.Benchmarks.Len(); compared != want {
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
