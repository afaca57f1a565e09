package record

import (
	"bytes"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// A lineValue is the value of one field of the record that a lineReader reads.
type lineValue interface {
	// read reads the value that text begins with into the field, and returns how many bytes it has; 0 where
	// it is not plain or not valid.
	read(text []byte) int
	// share checks a value that another decoder has put into the field. If an equal value was read before, the
	// field gets that one, and the memory of the new one is free. It is false where the value may be invalid.
	share() bool
}

// newLineValue returns the value of a field of the kind it has, and otherValue for a kind that only the strict
// decoder reads. repeats says that values of the field may be those of other records; texts is where texts are
// kept.
func newLineValue(field reflect.Value, f *Field, repeats bool, texts *room) lineValue {
	switch to := field.Addr().Interface().(type) {
	case *string:
		return requiredText(to, f, repeats, texts)
	case *Slug:
		return requiredText(to, f, repeats, texts)
	case *Source:
		return requiredText(to, f, repeats, texts)
	case **string:
		return optionalText(to, f, repeats, texts)
	case **URL:
		return optionalText(to, f, repeats, texts)
	case **Date:
		return optionalText(to, f, repeats, texts)
	case **DateBasis:
		return optionalText(to, f, repeats, texts)
	case **RateBasis:
		return optionalText(to, f, repeats, texts)
	case **PowerBasis:
		return optionalText(to, f, repeats, texts)
	case **ComputeUnit:
		return optionalText(to, f, repeats, texts)
	case **Scenario:
		return optionalText(to, f, repeats, texts)
	case **Division:
		return optionalText(to, f, repeats, texts)
	case **Availability:
		return optionalText(to, f, repeats, texts)
	case *int64:
		return &wholeValue{rule: &f.Rule, required: to, seen: map[int64]*int64{}}
	case **int64:
		return &wholeValue{rule: &f.Rule, optional: to, seen: map[int64]*int64{}}
	case **float64:
		return &numberValue{rule: &f.Rule, field: to}
	case **bool:
		no, yes := false, true
		return &flagValue{to, &no, &yes}
	default:
		return &otherValue{f, field}
	}
}

// maxSeen bounds the values that are remembered per field. Some, such as the address, may be
// different in every record.
const maxSeen = 1 << 14

// A textValue is a text. One of required and optional is set.
type textValue[S ~string] struct {
	rule     *Rule
	required *S
	optional **S
	texts    *room
	free     []S           // of which the next value takes the first
	seen     *textTable[S] // nil where values do not repeat
	met      int           // times that a text of seen was met again
}

func requiredText[S ~string](to *S, f *Field, repeats bool, texts *room) lineValue {
	return newTextValue(textValue[S]{rule: &f.Rule, required: to, texts: texts}, repeats)
}

func optionalText[S ~string](to **S, f *Field, repeats bool, texts *room) lineValue {
	return newTextValue(textValue[S]{rule: &f.Rule, optional: to, texts: texts}, repeats)
}

func newTextValue[S ~string](t textValue[S], repeats bool) lineValue {
	if repeats {
		t.seen = newTextTable[S]()
	}
	return &t
}

func (t *textValue[S]) read(text []byte) int {
	n := textLen(text)
	if n < 0 {
		return 0
	}
	v := text[1 : 1+n]
	if t.meet(v) {
		return n + 2
	}
	if !plain(v) || t.required != nil && n == 0 {
		return 0
	}
	kept := t.texts.text(v)
	if !t.rule.ValidText(kept) {
		return 0
	}
	if t.required != nil && t.seen == nil {
		*t.required = S(kept)
		return n + 2
	}
	if len(t.free) == 0 {
		t.free = make([]S, roomEntries)
	}
	t.free[0] = S(kept)
	added := seenText[S]{kept, &t.free[0]}
	t.free = t.free[1:]
	t.set(added)
	t.remember(added)
	return n + 2
}

// meet gives the field the value of a text that was met before, if it was.
func (t *textValue[S]) meet(v []byte) bool {
	if t.seen == nil {
		return false
	}
	known := t.seen.find(v)
	if known.at == nil {
		return false
	}
	t.set(known)
	t.met++
	return true
}

func (t *textValue[S]) set(v seenText[S]) {
	if t.required != nil {
		*t.required = S(v.text)
	} else {
		*t.optional = v.at
	}
}

func (t *textValue[S]) remember(v seenText[S]) {
	switch {
	case t.seen == nil:
	case t.seen.count < maxSeen:
		t.seen.add(v)
	case t.met < maxSeen:
		t.seen = nil // hardly a value repeats: looking for them would cost more than it spares
	}
}

func (t *textValue[S]) share() bool {
	at := t.required
	if at == nil {
		if at = *t.optional; at == nil {
			return true
		}
	} else if *at == "" {
		return false // it may have been left out
	}
	v := []byte(*at)
	if t.meet(v) {
		return true
	}
	if !t.rule.ValidText(string(*at)) {
		return false
	}
	if plain(v) { // else the bytes of a line that are equal mean another text
		kept := *at
		if t.optional == nil {
			at = &kept // a required field changes with the record
		}
		t.remember(seenText[S]{string(kept), at})
	}
	return true
}

// plain reports whether the bytes between quotes are the text they mean.
func plain(v []byte) bool {
	for _, c := range v {
		if c < ' ' || c == '\\' {
			return false
		}
		if c >= utf8.RuneSelf {
			return utf8.Valid(v) && bytes.IndexFunc(v, func(r rune) bool { return r < ' ' || r == '\\' }) < 0
		}
	}
	return true
}

// A wholeValue is a whole number. One of required and optional is set.
type wholeValue struct {
	rule     *Rule
	required *int64
	optional **int64
	free     []int64     // of which the next value takes the first
	recent   [256]*int64 // values met lately, by their last byte
	seen     map[int64]*int64
	met      int // times that a value of seen was met again
}

// maxDigits is how many digits a whole number may have that surely fits in an int64.
const maxDigits = 18

func (w *wholeValue) read(text []byte) int {
	n := numberLen(text, false)
	if n == 0 || n > maxDigits {
		return 0
	}
	v, digits := int64(0), text[:n]
	negative := text[0] == '-'
	if negative {
		digits = digits[1:]
	}
	for _, c := range digits {
		v = 10*v + int64(c-'0')
	}
	if negative {
		v = -v
	}
	if v == 0 && negative || !w.take(v) {
		return 0
	}
	return n
}

func (w *wholeValue) share() bool {
	switch {
	case w.required != nil:
		return w.take(*w.required)
	case *w.optional == nil:
		return true
	default:
		return w.take(**w.optional)
	}
}

// take gives the field a value, where it is valid.
func (w *wholeValue) take(v int64) bool {
	known := w.recent[uint8(v)]
	if known == nil || *known != v {
		if known = w.known(v); known == nil {
			return false
		}
		w.recent[uint8(v)] = known
	}
	if w.required != nil {
		*w.required = *known
	} else {
		*w.optional = known
	}
	return true
}

// known returns a value that was met before, or remembers it; nil where it is not valid.
func (w *wholeValue) known(v int64) *int64 {
	if known := w.seen[v]; known != nil {
		w.met++
		return known
	}
	if v == 0 && w.required != nil || w.rule.LimitProblem(float64(v)) != "" {
		return nil
	}
	if len(w.free) == 0 {
		w.free = make([]int64, roomEntries)
	}
	w.free[0] = v
	kept := &w.free[0]
	w.free = w.free[1:]
	switch {
	case w.seen == nil:
	case len(w.seen) < maxSeen:
		w.seen[v] = kept
	case w.met < maxSeen:
		w.seen = nil
	}
	return kept
}

// A numberValue is an optional number with decimals. Measured speeds hardly repeat.
type numberValue struct {
	rule  *Rule
	field **float64
	free  []float64 // of which the next value takes the first
}

func (f *numberValue) read(text []byte) int {
	v, n := decimal(text)
	if n == 0 || v == 0 && text[0] == '-' || f.rule.LimitProblem(v) != "" {
		return 0
	}
	if len(f.free) == 0 {
		f.free = make([]float64, roomEntries)
	}
	f.free[0] = v
	*f.field, f.free = &f.free[0], f.free[1:]
	return n
}

func (f *numberValue) share() bool {
	return *f.field == nil || f.rule.LimitProblem(**f.field) == ""
}

// exactDigits is how many digits a whole number may have that surely is a float64: 2^53 has 16.
const exactDigits = 15

// tens are the powers of ten, each of which is a float64.
var tens = [exactDigits]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// decimal reads the number that text begins with, as strconv.ParseFloat does, and returns how many bytes it
// has; 0 where it is none. The digits of a short number, and the power of ten that its point divides them by,
// are exact. A division rounds once, so the quotient is the float64 nearest to the number.
func decimal(text []byte) (v float64, n int) {
	n = numberLen(text, true)
	if n > exactDigits {
		v, err := strconv.ParseFloat(string(text[:n]), 64)
		if err != nil {
			return 0, 0
		}
		return v, n
	}
	digits, behind := int64(0), 0
	for i, c := range text[:n] {
		switch c {
		case '-':
		case '.':
			behind = n - 1 - i
		default:
			digits = 10*digits + int64(c-'0')
		}
	}
	v = float64(digits) / tens[behind]
	if n > 0 && text[0] == '-' {
		v = -v
	}
	return v, n
}

// A flagValue is an optional flag. All records share its two values.
type flagValue struct {
	field   **bool
	no, yes *bool
}

func (f *flagValue) read(text []byte) int {
	switch {
	case startsWith(text, "true"):
		*f.field = f.yes
		return len("true")
	case startsWith(text, "false"):
		*f.field = f.no
		return len("false")
	default:
		return 0
	}
}

func (f *flagValue) share() bool {
	switch {
	case *f.field == nil:
	case **f.field:
		*f.field = f.yes
	default:
		*f.field = f.no
	}
	return true
}

// An otherValue is a value that the strict decoder reads.
type otherValue struct {
	*Field
	field reflect.Value
}

func (o *otherValue) read([]byte) int { return 0 }

func (o *otherValue) share() bool {
	switch {
	case !o.Nullable:
		return !o.field.IsZero() && o.valid(o.field)
	case o.field.IsNil():
		return true
	default:
		return o.valid(o.field.Elem())
	}
}
