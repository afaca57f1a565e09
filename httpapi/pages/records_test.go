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
	jsonv2 "github.com/goccy/go-json/v2"
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
				if kind == "benchmarks" { // rows have every member; lines leave out what is null
					var err error
					if record, err = jsonv2.Marshal(decode[dataset.Benchmark](record)); err != nil {
						t.Fatal(err)
					}
				}
				row := append(record[:len(record)-1:len(record)-1], more...)
				all := rowjson.Names{}
				for name := range rowjson.Members(row) {
					all[string(name)] = true
				}
				shown[kind] = all
				want := l.cells(namesBeside(row), row)
				shown[kind] = some
				if kind == "benchmarks" {
					want = runCells(namesBeside(row), decode[benchmarkRecord](row), index.None)
				}
				if diff := cmp.Diff(want, l.cells(namesBeside(row), row)); diff != "" {
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
		n.seen["/"+kind+"/"+slug] = "the " + slug
	}
	return n
}

func TestUnbroken(t *testing.T) {
	for text, want := range map[string]string{
		"a · 1,008 GB/s · released 2022-10-12": `a&nbsp;· <span class="d">1,008 GB/s</span>&nbsp;· released <span class="d">2022-10-12</span>`,
		"<b> 2025-08":                          `&lt;b&gt; <span class="d">2025-08</span>`,
		"":                                     "",
	} {
		if got := string(unbroken(text)); got != want {
			t.Errorf("unbroken(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestFamilyName(t *testing.T) {
	for _, tt := range []struct{ family, name, want string }{
		{"gpt-oss", "gpt-oss 20b", "gpt-oss"}, {"deepseek", "DeepSeek R1", "DeepSeek"}, {"llama", "TinyLlama", "Llama"}, {"qwen", "通义", "Qwen"},
	} {
		m := &modelRecord{}
		m.Family, m.Name = dataset.Slug(tt.family), tt.name
		if got := familyName(m); got != tt.want {
			t.Errorf("the family %s of %s is shown as %s, want %s", tt.family, tt.name, got, tt.want)
		}
	}
}

// TestFigures holds the forms of amounts that pages alone have.
func TestFigures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{inCurrency(450, "USD"), "$450"},
		{inCurrency(449.5, "EUR"), "450 EUR"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
