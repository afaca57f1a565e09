package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// plain is a record as its file says it, read by the standard library into a map.
type plain map[string]any

func (p plain) text(name string) string { s, _ := p[name].(string); return s }

// number is a number of the record by its dotted name, NaN where it is null.
func (p plain) number(name string) float64 {
	if first, rest, ok := strings.Cut(name, "."); ok {
		inner, _ := p[first].(map[string]any)
		return plain(inner).number(rest)
	}
	if n, ok := p[name].(float64); ok {
		return n
	}
	return math.NaN()
}

// date is a day as a number that orders as days do, a missing month or day before all others; NaN where it is null.
func (p plain) date(name string) float64 {
	text := p.text(name)
	if text == "" {
		return math.NaN()
	}
	parts := append(strings.Split(text, "-"), "01", "01") // the first day of a month or year
	n, err := strconv.ParseFloat(parts[0]+parts[1]+parts[2], 64)
	if err != nil {
		return math.NaN()
	}
	return n
}

func (p plain) name() string { return p.text("slug") + p.text("id") }

// directory is the dataset as plain records, each kind in its default order.
type directory struct {
	records map[string][]plain          // by resource
	bySlug  map[string]map[string]plain // by resource, then slug
	names   map[string]map[string]string
	// computed says that computed values were added, see addRatios.
	computed bool
}

// readDirectory reads the files of a dataset with no code of this module.
func readDirectory(files fs.FS) (*directory, error) {
	d := &directory{records: map[string][]plain{}, bySlug: map[string]map[string]plain{}, names: map[string]map[string]string{}}
	for _, kind := range []string{"models", "hardware", "tools", "benchmarks", "quality"} {
		d.bySlug[kind] = map[string]plain{}
		err := fs.WalkDir(files, kind, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			for dec := json.NewDecoder(bytes.NewReader(b)); dec.More(); {
				var rec plain
				if err := dec.Decode(&rec); err != nil {
					return err
				}
				delete(rec, "$schema") // the file's, for editors
				d.records[kind] = append(d.records[kind], rec)
				d.bySlug[kind][rec.name()] = rec
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	d.sort()
	d.count()
	// Lists have throughput results only when they are asked for by scenario.
	d.records["benchmarks"] = slices.DeleteFunc(d.records["benchmarks"], func(b plain) bool { return b.text("scenario") != "" })
	d.name()
	return d, nil
}

func (d *directory) sort() {
	for kind, recs := range d.records {
		slices.SortFunc(recs, func(a, b plain) int {
			if kind == "benchmarks" {
				if c := compareNumbers(a.date("run_date"), b.date("run_date"), true); c != 0 {
					return c
				}
			}
			return strings.Compare(a.name(), b.name())
		})
	}
}

// count adds what the API adds to records: how many benchmarks refer to each.
func (d *directory) count() {
	singular := map[string]string{"models": "model", "hardware": "hardware", "tools": "tool"}
	for kind, field := range singular {
		for _, rec := range d.records[kind] {
			rec["benchmark_count"] = 0.0
		}
		for _, b := range d.records["benchmarks"] {
			if b.text("scenario") != "" {
				continue // throughput results are not counted
			}
			rec := d.bySlug[kind][b.text(field)]
			rec["benchmark_count"] = rec.number("benchmark_count") + 1
		}
	}
}

// name gathers the names of exactly one record.
func (d *directory) name() {
	for kind, recs := range d.records {
		names, twice := map[string]string{}, map[string]bool{}
		for _, rec := range recs {
			for _, name := range rec.names() {
				if have, ok := names[name]; ok && have != rec.name() {
					twice[name] = true
				}
				names[name] = rec.name()
			}
		}
		for name := range twice {
			delete(names, name)
		}
		for _, rec := range recs {
			names[rec.name()] = rec.name()
		}
		d.names[kind] = names
	}
}

// names are the texts a search looks into, lower case: slug, name, aliases, repository.
func (p plain) names() []string {
	out := []string{p.name(), strings.ToLower(p.text("name"))}
	aliases, _ := p["aliases"].([]any)
	for _, a := range aliases {
		text, _ := a.(string)
		out = append(out, strings.ToLower(text))
	}
	if repo := p.text("hf_repo"); repo != "" {
		out = append(out, strings.ToLower(repo))
	}
	return out
}

// compareNumbers orders unknown (NaN) values last in both directions.
func compareNumbers(a, b float64, down bool) int {
	if math.IsNaN(a) || math.IsNaN(b) {
		return boolInt(math.IsNaN(a)) - boolInt(math.IsNaN(b))
	}
	if down {
		a, b = b, a
	}
	return cmp.Compare(a, b)
}

// ordered returns the records of a kind that match, in the order of a sort parameter: by its
// value, ties in default order.
func (d *directory) ordered(kind, sort string, match func(plain) bool) (names []string) {
	var out []plain
	for _, rec := range d.records[kind] {
		if match(rec) {
			out = append(out, rec)
		}
	}
	field, down := strings.CutPrefix(sort, "-")
	if field != "" {
		slices.SortStableFunc(out, func(a, b plain) int { return compareBy(a, b, field, down) })
	}
	for _, rec := range out {
		names = append(names, rec.name())
	}
	return names
}

// active is the parameters read for one token: as published, or all of a dense model.
func (p plain) active() float64 {
	n := p.number("active_params_b")
	if shape, _ := p["architecture"].(map[string]any); math.IsNaN(n) && shape["type"] == "dense" && shape["num_experts"] == nil {
		return p.number("params_b")
	}
	return n
}

func compareBy(a, b plain, field string, down bool) int {
	switch field {
	case "slug", "name", "id", "model":
		c := strings.Compare(strings.ToLower(a.text(field)), strings.ToLower(b.text(field)))
		if down {
			c = -c
		}
		return c
	case "release_date", "first_release", "run_date":
		return compareNumbers(a.date(field), b.date(field), down)
	case "active_params_b":
		return compareNumbers(a.active(), b.active(), down)
	case "context_length":
		field = "architecture.context_length"
	}
	return compareNumbers(a.number(field), b.number(field), down)
}
