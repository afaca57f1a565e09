package record

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unsafe"
)

// TestSharer: shared records say what they said, keep nothing twice, and their lists have no room to spare.
func TestSharer(t *testing.T) {
	files, err := filepath.Glob("../../data/models/*.json")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d models, %v", len(files), err)
	}
	s := NewSharer()
	kept, texts := map[unsafe.Pointer]bool{}, map[string]bool{}
	for _, name := range files[:100] {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range must(Split(text)) {
			var plain, shared Model
			_, _ = Salvage(text[span.From:span.To], &plain), Salvage(text[span.From:span.To], &shared)
			s.Share(&shared)
			if !reflect.DeepEqual(plain, shared) {
				t.Errorf("%s: differs once it is shared", name)
			}
			if q := shared.Quantizations; cap(q) != len(q) {
				t.Errorf("%s: %d quantizations have room for %d", name, len(q), cap(q))
			}
			for _, src := range shared.Sources {
				for _, field := range src.Fields {
					kept[unsafe.Pointer(unsafe.StringData(field))], texts[field] = true, true
				}
			}
			if p := shared.KVCache.HeadDim; p != nil {
				var again KVCache
				again.HeadDim = new(int64)
				*again.HeadDim = *p
				if s.Share(&again); again.HeadDim != p {
					t.Errorf("%s: the head dimension %d is kept twice", name, *p)
				}
			}
		}
	}
	if len(texts) < 15 || len(kept) != len(texts) {
		t.Errorf("%d names of fields are kept %d times", len(texts), len(kept))
	}
}

func must(spans []Span, _ bool, _ *Problem) []Span { return spans }

// TestSharerKinds: a text is not a number, and values of two types that look alike are apart.
func TestSharerKinds(t *testing.T) {
	type odd struct {
		A *string
		B *Date
		C *int64
		D *float64
		E []string
		F []byte
	}
	text, day, n, x := "2024", Date("2024"), int64(1), 1.0
	rec := odd{A: &text, B: &day, C: &n, D: &x, E: []string{}, F: append(make([]byte, 0, 99), '1')}
	s := NewSharer()
	s.Share(&rec)
	s.Share(&rec)
	if *rec.A != "2024" || *rec.B != "2024" || *rec.C != 1 || *rec.D != 1 || rec.E == nil || string(rec.F) != "1" || cap(rec.F) > 16 {
		t.Errorf("%+v", rec)
	}
}
