package pack

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"modeldex/dataset/record"
)

// TestPack: what is packed comes back as it was, all of a record and its memory apart from that
// of others.
func TestPack(t *testing.T) {
	want := oddRuns(1500, 0)
	p := New(want)
	if p.Len() != len(want) {
		t.Fatalf("Len = %d, want %d", p.Len(), len(want))
	}
	if got := p.All(); !reflect.DeepEqual(got, want) {
		t.Errorf("All differs (-want +got):\n%.3000s", cmp.Diff(want, got))
	}
	for i := range want {
		if got := p.At(i); !reflect.DeepEqual(*got, want[i]) || p.ID(i) != want[i].ID {
			t.Fatalf("At(%d) = %+v, want %+v", i, *got, want[i])
		}
	}
	for _, none := range []Pack{{}, New(nil)} {
		if none.Len() != 0 || len(none.All()) != 0 {
			t.Errorf("an empty pack has %d records", none.Len())
		}
		none.Pair(&none, func(was, is int, same bool) { t.Errorf("an empty pack has a pair %d, %d", was, is) })
	}
}

// oddRuns are benchmarks with any field known or not, of any size; the texts of one field are
// all different where apart says so.
func oddRuns(n int, apart int) []record.Benchmark {
	r := rand.New(rand.NewPCG(uint64(n), uint64(apart)))
	out := make([]record.Benchmark, n)
	for i := range out {
		v := reflect.ValueOf(&out[i]).Elem()
		for f := range v.NumField() {
			oddField(r, v.Field(f))
		}
		out[i].ID = record.Slug(fmt.Sprintf("bm-%d", r.IntN(10*n)))
		if apart > 0 {
			text := fmt.Sprintf("text %d of %d", i, apart)
			out[i].Notes = &text
		}
	}
	slices.SortFunc(out, func(a, b record.Benchmark) int { return record.NewerRun(&a, &b) })
	return slices.CompactFunc(out, func(a, b record.Benchmark) bool { return record.NewerRun(&a, &b) == 0 })
}

func oddField(r *rand.Rand, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if r.IntN(3) == 0 {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case v.Type() == reflect.TypeFor[record.Date]():
		v.SetString([]string{"2024", "2024-01", "2024-01-01", "2023-12-31", "1999-06"}[r.IntN(5)])
	case v.Kind() == reflect.String:
		v.SetString([]string{"", "a", "some words", "ünï", "\"\\\x00"}[r.IntN(5)])
	case v.Kind() == reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case v.Kind() == reflect.Float64:
		v.SetFloat([]float64{0, 1, -0.1, 1e300, r.NormFloat64()}[r.IntN(5)])
	case v.Kind() == reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	default:
		v.Set(reflect.ValueOf(record.Withdrawal{Date: "2026-01-01", Reason: fmt.Sprint(r.IntN(9))}))
	}
}

// TestPair holds the walk to a look-up of every record, with packs of one load after the other
// and with packs that share nothing.
func TestPair(t *testing.T) {
	before, after := oddRuns(500, 0), oddRuns(500, 0)
	r := rand.New(rand.NewPCG(7, 7))
	after = slices.DeleteFunc(after, func(record.Benchmark) bool { return r.IntN(20) == 0 })
	before = slices.DeleteFunc(before, func(record.Benchmark) bool { return r.IntN(20) == 0 })
	for i := range after {
		if r.IntN(20) == 0 {
			after[i].HardwareCount++
		}
	}
	// In one pack the equal records are those of the older one, in the other they are copies.
	old, copies := New(before), New(after)
	shared := New(slices.Clone(after))
	for i := range shared.recs {
		if at := slices.IndexFunc(before, func(b record.Benchmark) bool { return reflect.DeepEqual(b, after[i]) }); at >= 0 {
			shared.recs[i] = old.recs[at]
		}
	}
	checkPair(t, "shared", before, after, &old, &shared)
	checkPair(t, "copies", before, after, &old, &copies)
}

func checkPair(t *testing.T, name string, before, after []record.Benchmark, from, to *Pack) {
	t.Helper()
	find := func(in []record.Benchmark, b *record.Benchmark) int {
		return slices.IndexFunc(in, func(o record.Benchmark) bool { return record.NewerRun(&o, b) == 0 })
	}
	seen := 0
	to.Pair(from, func(was, is int, same bool) {
		var wantWas, wantIs int
		if is >= 0 {
			wantWas, wantIs = find(before, &after[is]), is
		} else {
			wantWas, wantIs = was, find(after, &before[was])
		}
		wantSame := was >= 0 && is >= 0 && reflect.DeepEqual(before[was], after[is])
		if was != wantWas || is != wantIs || same != wantSame {
			t.Fatalf("%s: visit(%d, %d, %t), want (%d, %d, %t)", name, was, is, same, wantWas, wantIs, wantSame)
		}
		if seen++; was >= 0 && is >= 0 {
			seen++
		}
	})
	if seen != len(before)+len(after) {
		t.Errorf("%s: %d records were visited, want %d", name, seen, len(before)+len(after))
	}
}

// TestSorted: default order does not depend on the order records come in.
func TestSorted(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	want := oddRuns(3000, 0)
	recs := make([]*record.Benchmark, len(want))
	for i := range want {
		recs[i] = &want[i]
	}
	for range 5 {
		r.Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
		got := Sorted(recs)
		for i := range want {
			if got.At(i) != &want[i] {
				t.Fatalf("record %d is %s, want %s", i, got.ID(i), want[i].ID)
			}
		}
	}
}
