package record

import "reflect"

// A Sharer makes records of one worker share what is equal in them: every text, and every optional text,
// number and flag. Of 47,000 texts in 674 models 4,400 differ. Lists get the memory they need and no
// more. A shared record must not be written to.
type Sharer struct {
	texts  map[string]string
	values map[valueKey]reflect.Value
	// What is kept lies together, apart from what decoding leaves behind: among that, each small value would
	// hold a page of memory that is otherwise free.
	room  room
	parts map[reflect.Type]reflect.Value // by type: room for entries, of which the first are taken
}

// valueKey is what an optional value points to; its type is one of the scalar kinds, so that it is comparable.
type valueKey any

// NewSharer returns a Sharer that has met nothing.
func NewSharer() *Sharer {
	return &Sharer{texts: map[string]string{}, values: map[valueKey]reflect.Value{}, parts: map[reflect.Type]reflect.Value{}}
}

// Share makes the parts of *rec those that were met before, where they are equal. rec is a pointer to a
// record that was just decoded, of which nothing else refers to a part.
func (s *Sharer) Share(rec any) { s.walk(reflect.ValueOf(rec).Elem()) }

func (s *Sharer) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 {
			v.SetString(s.text(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() || f.Kind() == reflect.Pointer {
				s.walk(f)
			}
		}
	case reflect.Slice:
		s.list(v)
	case reflect.Pointer:
		if !v.IsNil() {
			s.optional(v)
		}
	}
}

func (s *Sharer) text(t string) string {
	if known, met := s.texts[t]; met {
		return known
	}
	t = s.room.text([]byte(t))
	s.texts[t] = t
	return t
}

// roomBytes and roomEntries are how much is reserved at a time.
const (
	roomBytes   = 16 << 10
	roomEntries = 64
)

// reserve returns a list of n entries, which are zero.
func (s *Sharer) reserve(list reflect.Type, n int) reflect.Value {
	free, ok := s.parts[list]
	if !ok || free.Len() < n {
		if n >= roomEntries/4 {
			return reflect.MakeSlice(list, n, n)
		}
		free = reflect.MakeSlice(list, roomEntries, roomEntries)
	}
	s.parts[list] = free.Slice(n, free.Len())
	return free.Slice3(0, n, n)
}

func (s *Sharer) list(v reflect.Value) {
	if v.Len() > 0 {
		exact := s.reserve(v.Type(), v.Len())
		reflect.Copy(exact, v)
		v.Set(exact)
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return
	}
	for i := range v.Len() {
		s.walk(v.Index(i))
	}
}

func (s *Sharer) optional(v reflect.Value) {
	to := v.Elem()
	switch to.Kind() {
	case reflect.String, reflect.Bool, reflect.Int64, reflect.Float64:
	default:
		s.walk(to)
		return
	}
	key := to.Interface()
	if known, met := s.values[key]; met {
		v.Set(known)
		return
	}
	kept := s.reserve(reflect.SliceOf(to.Type()), 1).Index(0)
	kept.Set(to)
	s.walk(kept)
	v.Set(kept.Addr())
	s.values[kept.Interface()] = kept.Addr()
}
