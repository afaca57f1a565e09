package diff

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/history"
	"modeldex/dataset/record"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

// shipped is the shipped data.
func shipped(tb testing.TB) *dataset.Set {
	tb.Helper()
	set, err := dataset.Load(context.Background(), os.DirFS(datasettest.ShippedDir(tb)), dataset.Options{})
	datasettest.Must(tb, err)
	return set
}

// lines are all records of a set, by table and slug.
func lines(s *dataset.Set) map[string]string {
	info, err := record.Line(&s.Info)
	if err != nil {
		panic(err)
	}
	out := map[string]string{"dataset/dataset": canonical(info)}
	for _, r := range Compare(s, &dataset.Set{Info: s.Info}).Records {
		out[r.Table+"/"+r.Slug] = canonical(r.Record)
	}
	return out
}

// canonical is a record without members that are null, and with sorted names.
func canonical(text []byte) string {
	out, err := json.Marshal(parsed(text))
	if err != nil {
		panic(err)
	}
	return string(out)
}

// parsed is a JSON value without members that are null.
func parsed(text []byte) any {
	var v any
	if text != nil {
		if err := json.Unmarshal(text, &v); err != nil {
			panic(err)
		}
	}
	return withoutNulls(v)
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool { return withoutNulls(member) == nil })
	case []any:
		for i := range v {
			withoutNulls(v[i])
		}
	}
	return v
}

// undone is a value with another one at a path in it, or with another stretch of its list.
func undone(v any, path []string, at *int64, from, to any) any {
	if len(path) == 0 && at == nil {
		return to
	}
	if len(path) == 0 {
		list, _ := v.([]any)
		old, _ := from.([]any)
		fresh, _ := to.([]any)
		return append([]any{}, slices.Concat(list[:*at], fresh, list[int(*at)+len(old):])...)
	}
	if list, ok := v.([]any); ok {
		i, err := strconv.Atoi(path[0])
		if err != nil {
			panic(err)
		}
		list[i] = undone(list[i], path[1:], at, from, to)
		return list
	}
	object, ok := v.(map[string]any)
	if !ok {
		object = map[string]any{} // which the record left out
	}
	object[path[0]] = undone(object[path[0]], path[1:], at, from, to)
	return object
}

// reread gives a step as its file has it.
func reread(t testing.TB, s *history.Step) history.Step {
	t.Helper()
	first := &history.Step{Release: record.Release{Version: "0", Digest: *s.After, Released: s.Released}}
	file, err := history.Append(nil, first)
	datasettest.Must(t, err)
	file, err = history.Append(file, s)
	datasettest.Must(t, err)
	var read []*record.ChangeLine
	for line := range bytes.Lines(file) {
		rec := new(record.ChangeLine)
		if problems := record.DecodeChange(bytes.TrimSpace(line), rec); problems != nil {
			t.Fatalf("line %s: %v", line, problems)
		}
		read = append(read, rec)
	}
	return history.New(read).Steps[1]
}

// TestChangesLeadOver applies the recorded changes of random edits to the records before and
// takes them back from those after: each gives the other, byte for byte.
func TestChangesLeadOver(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	all := shipped(t)
	runs := values(all.Benchmarks)
	set := &dataset.Set{Info: all.Info, Quantizations: some(r, all.Quantizations), Models: some(r, all.Written()), Hardware: some(r, all.Hardware), Tools: some(r, all.Tools), Benchmarks: packed(some(r, runs))}
	acts := map[record.Act]int{}
	first := set
	for i := range datasettest.Rounds(60, 1000) {
		if i%10 == 0 {
			set = first // lists grow with the edits
		}
		next := &dataset.Set{
			Info: set.Info, Quantizations: edited(r, set.Quantizations, all.Quantizations, func(q *dataset.QuantizationType) *string { return &q.Name }),
			Models:     edited(r, set.Models, all.Models, func(m *dataset.Model) *dataset.Slug { return &m.Slug }),
			Hardware:   edited(r, set.Hardware, all.Hardware, func(h *dataset.Hardware) *dataset.Slug { return &h.Slug }),
			Tools:      edited(r, set.Tools, all.Tools, func(t *dataset.Tool) *dataset.Slug { return &t.Slug }),
			Benchmarks: packed(edited(r, values(set.Benchmarks), runs, func(b *dataset.Benchmark) *dataset.Slug { return &b.ID })),
		}
		if i == 0 { // so that every test withdraws one, however the edits were drawn
			recs := values(set.Benchmarks)
			at := slices.IndexFunc(recs, func(b dataset.Benchmark) bool { return b.Withdrawn == nil })
			recs[at].Withdrawn = &dataset.Withdrawal{Date: "2026-01-01", Reason: "a test"}
			next.Benchmarks = packed(recs)
		}
		next.Info.Version = fmt.Sprint(r.Int())
		step := reread(t, Compare(set, next).Step(next))
		from, to := lines(set), lines(next)
		forth, back := applied(t, from, to, step.Entries, false), applied(t, to, from, step.Entries, true)
		if !maps.Equal(to, forth) {
			t.Fatalf("the changes applied to the records before (-after +found):\n%s", cmp.Diff(to, forth))
		}
		if !maps.Equal(from, back) {
			t.Fatalf("the changes taken back from the records after (-before +found):\n%s", cmp.Diff(from, back))
		}
		for _, e := range step.Entries {
			if acts[e.Act]++; len(e.Fields) > 0 {
				name := string(e.Table) + "/" + e.Slug
				was, err := history.Undo(e.Table, jsontext.Value(to[name]), e.Fields)
				if datasettest.Must(t, err); canonical(was) != from[name] {
					t.Fatalf("changes of %s undone (-before +found):\n%s", name, cmp.Diff(from[name], canonical(was)))
				}
			}
		}
		set = next
	}
	for _, act := range record.Acts {
		if acts[act] == 0 {
			t.Errorf("no record was %s", act)
		}
	}
}

// applied gives records after the entries of a step, or, undone, before them; an added record is
// taken from the other side, as a reader takes it from the dataset.
func applied(t testing.TB, recs, other map[string]string, entries []history.Entry, undo bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, line := range recs {
		out[name] = line
	}
	for _, e := range entries {
		name := string(e.Table) + "/" + e.Slug
		switch {
		case e.Act == record.Added && !undo:
			out[name] = other[name]
		case e.Act == record.Removed && undo:
			out[name] = canonical(e.Record)
		case e.Act == record.Added || e.Act == record.Removed:
			delete(out, name)
		default:
			rec := parsed([]byte(out[name]))
			for _, f := range e.Fields {
				from, to := f.Old, f.New
				if undo {
					from, to = to, from
				}
				rec = undone(rec, strings.Split(f.Field, "."), f.At, parsed(from), parsed(to))
			}
			text, err := json.Marshal(rec)
			datasettest.Must(t, err)
			out[name] = canonical(text)
		}
	}
	return out
}

// some is up to eight records.
func some[T any](r *rand.Rand, recs []T) []T {
	out := make([]T, min(8, len(recs)))
	for i, at := range r.Perm(len(recs))[:len(out)] {
		out[i] = recs[at]
	}
	return out
}

func values(list []*dataset.Benchmark) (out []dataset.Benchmark) {
	for _, b := range list {
		out = append(out, *b)
	}
	return out
}

func packed(runs []dataset.Benchmark) []*dataset.Benchmark {
	slices.SortFunc(runs, func(a, b dataset.Benchmark) int { return record.NewerRun(&a, &b) })
	return dataset.Pointers(runs)
}

// edited is a list with records added, removed and changed: a changed one has a field, or a stretch
// of a list, of another record.
func edited[T any, S ~string](r *rand.Rand, recs, all []T, slug func(*T) *S) []T {
	out := slices.Clone(recs)
	for range r.IntN(3) {
		i := r.IntN(len(out))
		switch r.IntN(6) {
		case 0:
			fresh := all[r.IntN(len(all))]
			*slug(&fresh) += S(fmt.Sprintf("-%d", r.Int()))
			out = append(out, fresh)
		case 1:
			if len(out) > 4 {
				out = slices.Delete(out, i, i+1)
			}
		default:
			rec := copied(out[i])
			blend(r, reflect.ValueOf(&rec).Elem(), reflect.ValueOf(copied(all[r.IntN(len(all))])))
			*slug(&rec) = *slug(&out[i])
			out[i] = rec
		}
	}
	return out
}

// copied is a record that shares nothing with the one given.
func copied[T any](rec T) (out T) {
	line, err := record.Line(&rec)
	if err == nil {
		err = jsonv2.Unmarshal(line, &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

// blend gives some field of an object the value of another.
func blend(r *rand.Rand, v, from reflect.Value) {
	for range 1 + r.IntN(3) {
		fields := reflect.VisibleFields(v.Type())
		sf := fields[r.IntN(len(fields))]
		fv, other := v.FieldByIndex(sf.Index), from.FieldByIndex(sf.Index)
		switch {
		case sf.Anonymous:
		case sf.Name == "Withdrawn" && r.IntN(2) == 0:
			fv.Set(reflect.ValueOf(&dataset.Withdrawal{Date: "2026-01-01", Reason: "a test"}))
		case fv.Kind() == reflect.Struct && r.IntN(2) == 0:
			blend(r, fv, other)
		case fv.Kind() == reflect.Slice && fv.Len() > 0 && r.IntN(2) == 0:
			at := r.IntN(fv.Len())
			if fv.Index(at).Kind() == reflect.Struct && other.Len() > 0 && r.IntN(2) == 0 {
				blend(r, fv.Index(at), other.Index(r.IntN(other.Len())))
				continue
			}
			end := at + r.IntN(fv.Len()-at+1)
			fv.Set(reflect.AppendSlice(reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(fv.Type(), 0, 0), fv.Slice(0, at)), other), fv.Slice(end, fv.Len())))
		default:
			fv.Set(other)
		}
	}
}

// TestShippedChanges: the recorded history ends with a release of this repository, is in its
// canonical form, and taking it back gives records of the releases before: of the two before in the short form.
func TestShippedChanges(t *testing.T) {
	set := shipped(t)
	if set.Releases.Last() == nil {
		t.Fatal("the shipped dataset has no recorded changes")
	}
	if set.Releases.Last().Digest != set.Digest.String() {
		t.Logf("the records differ from those of the last recorded release, %s", set.Releases.Last().Version)
		return
	}
	recs := lines(set)
	steps := len(set.Releases.Steps)
	for i := steps - 1; i > max(0, steps-1-datasettest.Rounds(2, steps)); i-- {
		recs = applied(t, recs, nil, set.Releases.Steps[i].Entries, true)
	}
	for name, line := range recs {
		if !jsontext.Value(line).IsValid() {
			t.Fatalf("%s of an earlier release is no JSON: %s", name, line)
		}
	}
}
