package webhook

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"modeldex/dataset"
	"modeldex/quota"

	"github.com/cespare/xxhash/v2"
	jsonv2 "github.com/goccy/go-json/v2"
)

// scheme is how hashes of benchmarks are made. It is raised when they are made in another way; the
// next release then announces no benchmark as changed.
const scheme = 1

// hashed are the fields of a benchmark that are hashed, each with its name.
var hashed = sync.OnceValue(func() (out []hashedField) {
	t := reflect.TypeFor[dataset.Benchmark]()
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("json")
		if name == "" || !f.IsExported() {
			panic("a field of benchmarks has no JSON name: " + f.Name)
		}
		out = append(out, hashedField{i, append([]byte(name), 0)})
	}
	return out
})

type hashedField struct {
	index int
	name  []byte // and a zero byte
}

// A hasher hashes benchmarks. It belongs to one goroutine.
type hasher struct{ b []byte }

// hash is a sum over the fields that have a value, so that neither their order nor fields that are
// new in the program change it.
func (h *hasher) hash(b *dataset.Benchmark) (sum uint64) {
	v := reflect.ValueOf(b).Elem()
	for _, f := range hashed() {
		h.b = append(h.b[:0], f.name...)
		if h.value(v.Field(f.index)) {
			sum += xxhash.Sum64(h.b)
		}
	}
	return sum
}

// value appends a value, and reports whether there is one.
func (h *hasher) value(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return false
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		h.b = append(h.b, v.String()...)
		return v.Len() > 0
	case reflect.Int64:
		h.b = binary.BigEndian.AppendUint64(h.b, uint64(v.Int()))
	case reflect.Float64:
		h.b = binary.BigEndian.AppendUint64(h.b, math.Float64bits(v.Float()))
	case reflect.Bool:
		h.b = append(h.b, fmt.Sprint(v.Bool())...)
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 {
			return false
		}
		fallthrough
	default:
		text, err := jsonv2.Marshal(v.Interface(), jsonv2.Deterministic(true))
		if err != nil {
			panic(err) // it was read from JSON
		}
		h.b = append(h.b, text...)
	}
	return true
}

// changedFields are the names of the fields that have another value in b than in a, in the order of their declaration.
func changedFields(a, b *dataset.Benchmark) (names []string) {
	var before, now hasher
	v, w := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for _, f := range hashed() {
		before.b, now.b = before.b[:0], now.b[:0]
		had, has := before.value(v.Field(f.index)), now.value(w.Field(f.index))
		if had != has || !bytes.Equal(before.b, now.b) {
			names = append(names, string(f.name[:len(f.name)-1]))
		}
	}
	return names
}

// changesOf are the names of changed fields by place in the pack, of benchmarks that an earlier pack has too; nil without one.
func changesOf(pack, earlier *dataset.Pack, changed []int) map[int][]string {
	if earlier == nil || len(changed) == 0 {
		return nil
	}
	was := map[string]int{}
	for _, i := range changed {
		was[string(pack.ID(i))] = -1
	}
	for i := range earlier.Len() {
		if _, asked := was[string(earlier.ID(i))]; asked {
			was[string(earlier.ID(i))] = i
		}
	}
	out := make(map[int][]string, len(changed))
	for _, i := range changed {
		if before := was[string(pack.ID(i))]; before >= 0 {
			out[i] = changedFields(earlier.At(before), pack.At(i))
		}
	}
	return out
}

// difference is what differs between a dataset and what was announced. The numbers are places in
// the pack of benchmarks, rising.
type difference struct {
	created, changed, withdrawn []int
	fields                      map[int][]string // of changed, where they are known
	removed                     []string         // ids, sorted
	parts                       map[int][]quota.Mark
}

// hashes returns the hash of each benchmark. Those of benchmarks that an earlier pack has too are
// taken from there.
func hashes(pack, earlier *dataset.Pack, known []uint64) []uint64 {
	out, done := make([]uint64, pack.Len()), make([]bool, pack.Len())
	if earlier != nil {
		pack.Pair(earlier, func(was, is int, same bool) {
			if same {
				out[is], done[is] = known[was], true
			}
		})
	}
	var h hasher
	for i := range out {
		if !done[i] {
			out[i] = h.hash(pack.At(i))
		}
	}
	return out
}

// compare finds the difference between the benchmarks and the marks of what was announced, one part
// at a time. marksOf returns those of a part; first says that there are none. If comparable is false,
// hashes are of another scheme.
func compare(pack *dataset.Pack, sums []uint64, first, comparable bool, marksOf func(part int) ([]quota.Mark, error)) (*difference, error) {
	d := &difference{parts: map[int][]quota.Mark{}}
	byPart := make([][]int32, quota.MarkParts)
	for i := range pack.Len() {
		p := quota.MarkPart(string(pack.ID(i)))
		byPart[p] = append(byPart[p], int32(i))
	}
	for p, places := range byPart {
		now := make([]quota.Mark, len(places))
		for n, i := range places {
			now[n] = quota.Mark{ID: string(pack.ID(int(i))), Hash: sums[i], Withdrawn: pack.At(int(i)).Withdrawn != nil}
		}
		if first {
			d.parts[p] = now
			continue
		}
		before, err := marksOf(p)
		if err != nil {
			return nil, err
		}
		if d.comparePart(before, now, places, comparable) || !comparable {
			d.parts[p] = now
		}
	}
	for _, list := range [][]int{d.created, d.changed, d.withdrawn} {
		slices.Sort(list)
	}
	slices.Sort(d.removed)
	return d, nil
}

// comparePart compares one part and reports whether anything differs.
func (d *difference) comparePart(before, now []quota.Mark, places []int32, comparable bool) (differs bool) {
	old := make(map[string]quota.Mark, len(before))
	for _, m := range before {
		old[m.ID] = m
	}
	for n, m := range now {
		was, known := old[m.ID]
		delete(old, m.ID)
		at := int(places[n])
		switch {
		case !known && m.Withdrawn: // it never counted
		case !known:
			d.created = append(d.created, at)
		case m.Withdrawn && !was.Withdrawn:
			d.withdrawn = append(d.withdrawn, at)
		case comparable && m.Hash != was.Hash || m.Withdrawn != was.Withdrawn:
			d.changed = append(d.changed, at)
		}
		differs = differs || !known || m != was
	}
	for id, m := range old {
		differs = true
		if !m.Withdrawn {
			d.removed = append(d.removed, id)
		}
	}
	return differs
}
