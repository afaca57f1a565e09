package record

import (
	"reflect"
	"slices"
	"sync"
)

// A Sharer makes equal texts, numbers and flags of many records one value in memory, and cuts lists to their length.
// A shared record must not be written to. Safe for concurrent use.
type Sharer struct {
	mu     sync.Mutex
	texts  map[string]string
	values map[any]reflect.Value // pointers, by what they point to
}

// NewSharer returns a Sharer that has met nothing.
func NewSharer() *Sharer {
	return &Sharer{texts: map[string]string{}, values: map[any]reflect.Value{}}
}

// Share replaces the parts of *rec, which was just decoded, by equal ones that were met before.
func (s *Sharer) Share(rec any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.walk(reflect.ValueOf(rec).Elem())
}

func (s *Sharer) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(met(s.texts, v.String(), v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			s.walk(v.Field(i))
		}
	case reflect.Slice:
		if v.Len() < v.Cap() {
			exact := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(exact, v)
			v.Set(exact)
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			s.walk(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		s.walk(v.Elem())
		if slices.Contains(scalars, v.Elem().Kind()) {
			v.Set(met(s.values, v.Elem().Interface(), v.Elem().Addr()))
		}
	}
}

var scalars = []reflect.Kind{reflect.String, reflect.Bool, reflect.Int64, reflect.Float64}

func met[K comparable, V any](known map[K]V, key K, v V) V {
	if first, ok := known[key]; ok {
		return first
	}
	known[key] = v
	return v
}
