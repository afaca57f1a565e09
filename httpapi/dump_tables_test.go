package httpapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"modeldex/index"
)

// leavesOf are the values of a row that are not objects, by their paths.
func leavesOf(t *testing.T, row []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	var add func(path string, v any)
	add = func(path string, v any) {
		object, ok := v.(map[string]any)
		if !ok {
			out[path] = v
		}
		for name, v := range object {
			add(strings.TrimPrefix(path+"."+name, "."), v)
		}
	}
	var v any
	if err := json.Unmarshal(row, &v); err != nil {
		t.Fatal(err)
	}
	add("", v)
	return out
}

// TestWideTable: each benchmark has the facts of its model and its hardware beside it, all that are not lists, and the
// schema names them.
func TestWideTable(t *testing.T) {
	t.Parallel()
	gen := mustShipped(t).live.Current()
	facts := map[string]map[string]map[string]any{"model": {}, "hardware": {}} // by slug, by path
	named := map[string]bool{}                                                 // as columns
	for kind, of := range map[string]*index.Table{"model": gen.Models, "hardware": gen.Hardware} {
		lists := map[string]bool{}
		for ord := range uint32(of.Len()) {
			row := leavesOf(t, of.Row(ord))
			facts[kind][of.Slug(ord)] = row
			for path, v := range row {
				if _, list := v.([]any); list {
					lists[path] = true
				}
			}
		}
		for _, row := range facts[kind] {
			for path, v := range row {
				if lists[path] {
					delete(row, path)
				} else if v != nil {
					named[kind+"_facts."+path] = true
				}
			}
		}
	}
	table := wideTable(gen)
	for _, c := range table.Schema.Columns {
		if strings.Contains(c.Name, "_facts.") {
			delete(named, c.Name)
		}
	}
	if len(named) > 0 {
		t.Errorf("no columns are %v", named)
	}
	n, next := 0, table.Rows()
	for row := next(); row != nil; row = next() {
		if n++; n%50 != 0 {
			continue
		}
		got, want := leavesOf(t, row), leavesOf(t, gen.Benchmarks.Row(uint32(n-1)))
		for kind := range facts {
			for path, v := range facts[kind][want[kind].(string)] {
				want[kind+"_facts."+path] = v
			}
		}
		if !reflect.DeepEqual(got, want) || bytes.Contains(row, []byte("\n")) {
			t.Fatalf("row %d has %v, want %v", n, got, want)
		}
	}
	if n != table.Count || n != gen.Benchmarks.Len() {
		t.Errorf("%d rows of %d benchmarks, %d are announced", n, gen.Benchmarks.Len(), table.Count)
	}
}
