package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"
)

// seeds gives a fuzz target every record file of the fixtures.
func seeds(f *testing.F, add func(name string, b []byte)) {
	f.Helper()
	files, err := filepath.Glob("testdata/lint/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	archives := []*txtar.Archive{datasettest.Base()}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		archives = append(archives, a)
	}
	for _, a := range archives {
		for _, member := range a.Files {
			if ext := filepath.Ext(member.Name); ext == ".json" || ext == ".ndjson" {
				add(member.Name, member.Data)
			}
		}
	}
}

// FuzzLine decodes any bytes as a record of each kind.
func FuzzLine(f *testing.F) {
	seeds(f, func(_ string, b []byte) {
		for line := range bytes.Lines(b) {
			f.Add(line)
		}
		f.Add(b)
	})
	shared := record.NewSharer()
	f.Fuzz(func(t *testing.T, b []byte) {
		checkDecode[Benchmark](t, b)
		checkShared(t, shared, b)
		checkDecode[Hardware](t, b)
		checkDecode[Model](t, b)
		checkDecode[Tool](t, b)
		checkDecode[Info](t, b)
	})
}

// checkDecode holds what is true of every text: the walk finds faults exactly where the
// decoder does, inside the text; what is clean reads the same with encoding/json and comes back
// from its written form.
func checkDecode[T any](t *testing.T, b []byte) {
	t.Helper()
	var rec T
	faults := record.Decode(b, &rec)
	for _, f := range faults {
		if f.Text == "" || f.Offset < 0 || f.Offset > len(b) {
			t.Fatalf("fault %+v in %d bytes", f, len(b))
		}
	}
	if walked := record.Diagnose(b, record.SchemaOf(reflect.TypeFor[T]())); len(walked) == 0 != (faults == nil) {
		t.Fatalf("decode finds %v, the walk %v", faults, walked)
	}
	if faults != nil {
		record.Salvage(b, &rec)
		return
	}
	var standard T
	if err := json.Unmarshal(b, &standard); err != nil || !reflect.DeepEqual(rec, standard) {
		t.Fatalf("decoded %+v, encoding/json %+v, %v", rec, standard, err)
	}
	line, err := record.Line(&rec)
	if err != nil {
		t.Fatalf("Line: %v", err)
	}
	var again T
	if faults := record.Decode(line, &again); faults != nil {
		t.Fatalf("%s written as\n%s has %v", b, line, faults)
	}
	if twice, err := record.Line(&again); err != nil || !bytes.Equal(line, twice) {
		t.Fatalf("written as\n%s\nthen as\n%s, %v", line, twice, err)
	}
}

// checkShared: a record says the same once it shares what is equal with others.
func checkShared(t *testing.T, s *record.Sharer, b []byte) {
	t.Helper()
	var got, want Benchmark
	if record.Decode(b, &got) != nil || record.Decode(b, &want) != nil {
		return
	}
	if s.Share(&got); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\nis shared as %+v\nwant %+v", b, got, want)
	}
}

// FuzzFile loads any bytes as a file of a dataset.
func FuzzFile(f *testing.F) {
	names := []string{"dataset.json", "quantizations.json", "models/alpha-8b.json", "hardware/nvidia-card.json", "tools/many.json", "tools/many.ndjson", "benchmarks/2026.ndjson", "benchmarks/many.json"}
	seeds(f, func(name string, b []byte) { f.Add(max(0, slices.Index(names, name)), b) })
	f.Fuzz(func(t *testing.T, which int, b []byte) {
		name := names[uint(which)%uint(len(names))]
		base, _ := fixtureFS(&txtar.Archive{})
		base[name] = &fstest.MapFile{Data: b}
		set, err := Load(context.Background(), base, Options{Now: fixtureDay})
		if err == nil {
			return
		}
		var found Findings
		if !errors.As(err, &found) || len(found) == 0 || set != nil {
			t.Fatalf("Load = %v, %v, want findings and no set", set, err)
		}
		lines := bytes.Count(b, []byte{'\n'}) + 1
		for _, one := range found {
			if one.Path == "" || one.Text == "" || one.Path == name && (one.Line > lines || one.Line < 0 || one.Col < 0) {
				t.Errorf("finding %+v in a file of %d lines", one, lines)
			}
		}
	})
}
