// Package query reads what a caller asks for: the parameters of a query string, or the members of a JSON object.
//
// A Param describes one of them. Params come from the fields of a struct with tags (Of), or are made from data, as the
// filters of lists are made from the fields that an index declares. Read and ReadObject check a request against them
// and give its Values together with all faults, in one wording for every endpoint. Values has the canonical spelling
// of the request, which names its response in caches, and fills structs (Into). The OpenAPI document describes the
// same Params.
package query

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset/record"
)

// Kind is the type of the values of a parameter.
type Kind uint8

// The kinds.
const (
	Text   Kind = iota
	Whole       // a whole number
	Number      // a plain decimal: no sign, no exponent
	Flag        // true or false, also written 1 or 0
	Date        // YYYY-MM-DD
	Name        // a name that only the caller of this package can read, because it may hold a comma, see Names
	JSON        // any JSON value, kept as it was sent; in bodies only
)

// Param is one parameter of an endpoint, or one member of a body.
type Param struct {
	Name  string
	Field string // struct and field it was made of, such as "fitParams.Model"; empty for others
	Doc   string // empty where the comment of the field says it
	Kind  Kind

	Enum    []string // all values of a Text, or words that a Whole takes beside numbers
	Default string   // the value that means the same as none; empty if there is none
	// Min and Max are the bounds of a number; without a Max it has none. Above leaves out Min itself.
	Min, Max float64
	Above    bool
	Tokens   bool // of a number: it may end in k, which is 1,024
	MaxBytes int  // of a Text; 0: no bound
	Many     bool // takes several values, repeated or separated by commas
	Ordered  bool // the order of several values counts
	Most     int  // maximum number of several values; 0: MaxValues
	// Required is the error text for a request without the parameter; empty if it is optional.
	Required string
	Refers   string // kind of record that a Name is one of
	With     string // the parameter without which this one says nothing
	// Strict: in a body its type is that of JSON, not a text that can be read so. Faults do not show a strict Text,
	// because it may be personal.
	Strict bool
	// Check, if set, returns the canonical spelling of a Text, or what is wrong with it.
	Check func(text string) (canonical, fault string)
	// Rule replaces the text of the fault of a wrong value.
	Rule string
}

// MaxValues is how many values one filter takes: more than any page shows, few enough to answer fast.
const MaxValues = 50

// maxDigits is the maximum length of a number, more than twice that of any value in the dataset.
const maxDigits = 24

// Values are the parameters of one request. A parameter with a fault has no value.
type Values struct {
	Faults
	params     []Param
	values     [][]string // by the place of the parameter; canonical
	given      []int      // the places of those that were sent or set, which are few
	in, prefix string     // where the values come from
}

// Read reads a query string.
func Read(params []Param, sent iter.Seq2[[]byte, []byte]) *Values {
	v := &Values{params: params, in: "query"}
	texts := make([][]string, len(params))
	for key, value := range sent {
		i, text := v.place(string(key)), string(value) // a copy: the bytes of a request do not outlive it
		switch {
		case i < 0:
			v.Unknown(v.in, "", string(key), Names(params))
		case strings.TrimSpace(text) == "":
			v.Fault(params[i].Name, text, "must not be empty")
		case !params[i].Many && texts[i] != nil:
			v.Fault(params[i].Name, text, "must be given once")
		default:
			texts[i] = append(texts[i], text)
		}
	}
	v.readAll(texts)
	return v
}

// ReadObject reads the members of a JSON object. prefix is put before their names in faults.
func ReadObject(params []Param, members map[string]jsontext.Value, prefix string) *Values {
	v := &Values{params: params, in: "body", prefix: prefix}
	texts := make([][]string, len(params))
	for i := range params {
		if raw, ok := members[params[i].Name]; ok {
			texts[i] = v.member(&params[i], raw)
		}
	}
	v.readAll(texts)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if v.place(name) < 0 {
			v.Unknown(v.in, prefix, name, Names(params))
		}
	}
	return v
}

// member is the texts of a member; nil where it has a fault, or is null, which is as good as left out.
func (v *Values) member(p *Param, raw jsontext.Value) []string {
	list := []jsontext.Value{raw}
	switch {
	case p.Kind == JSON:
		return []string{string(raw)}
	case p.Strict && p.Kind == Text && raw.Kind() != '"':
		v.bad(p, "", "must be text")
		return nil
	case p.Strict && p.Kind == Whole && raw.Kind() != '0':
		v.bad(p, string(raw), p.numberRule(""))
		return nil
	case raw.Kind() == 'n':
		return nil
	case raw.Kind() == '[' && (jsonv2.Unmarshal(raw, &list) != nil || !p.Many && len(list) != 1):
		list = []jsontext.Value{raw} // a list of one is as good as its value
	}
	rule := "must be a string, a number, true or false"
	if p.Many {
		rule += ", or a list of them"
	}
	texts := make([]string, 0, len(list))
	for _, one := range list {
		text := string(one)
		switch one.Kind() {
		case '"':
			if err := jsonv2.Unmarshal(one, &text); err != nil {
				v.bad(p, "", "must be text")
				return nil
			}
		case '0', 't', 'f':
		default:
			v.bad(p, text, rule)
			return nil
		}
		if strings.TrimSpace(text) == "" && !p.Strict {
			v.Fault(p.Name, text, "must not be empty")
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

func (v *Values) readAll(texts [][]string) {
	v.values = texts
	for i := range v.params {
		p := &v.params[i]
		if texts[i] != nil {
			v.given = append(v.given, i)
		}
		switch {
		case texts[i] != nil && p.Kind == Name:
		case texts[i] != nil && p.Many:
			texts[i] = v.readList(p, texts[i])
		case texts[i] != nil:
			if text, ok := v.readOne(p, texts[i][0]); ok {
				texts[i][0] = text
			} else {
				texts[i] = nil
			}
		case p.Required != "" && !v.Of(v.prefix+p.Name):
			v.Missing(p.Name, p.Required)
		}
	}
}

func (v *Values) readList(p *Param, texts []string) (values []string) {
	for _, part := range v.split(p, texts, nil) {
		if text, ok := v.readOne(p, part); ok && !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	if !p.Ordered {
		slices.Sort(values)
	}
	return values
}

// split separates the values of a parameter at commas and removes duplicates. It keeps texts with a comma that known
// reports; it calls known for at most MaxValues of them.
func (v *Values) split(p *Param, texts []string, known func(string) bool) (parts []string) {
	seen, commas, empty := map[string]bool{}, 0, false
	add := func(part string) {
		if !seen[part] {
			seen[part], parts = true, append(parts, part)
		}
	}
	for _, text := range texts {
		if known != nil && commas < MaxValues && strings.Contains(text, ",") {
			if commas++; known(text) {
				add(text)
				continue
			}
		}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				empty = true
			} else {
				add(part)
			}
		}
	}
	if empty {
		v.Fault(p.Name, texts[0], "must not have an empty value between commas")
	}
	if most := cmp.Or(p.Most, MaxValues); len(parts) > most {
		v.Fault(p.Name, texts[0], fmt.Sprintf("must have at most %s, got %d", record.Counted(most, "value"), len(parts)))
		return nil
	}
	return parts
}

// Names separates the names that a parameter of that kind was given. A name may hold a comma: those that known reports
// are kept whole. A parameter that takes one name has it as it was sent.
func (v *Values) Names(name string, known func(string) bool) []string {
	i := v.place(name)
	if i < 0 || v.values[i] == nil || !v.params[i].Many {
		return v.Texts(name)
	}
	return v.split(&v.params[i], v.values[i], known)
}

func (v *Values) readOne(p *Param, text string) (canonical string, ok bool) {
	switch fault := ""; {
	case p.Kind == Whole && slices.Contains(p.Enum, text):
		return text, true
	case p.Kind == Whole || p.Kind == Number:
		return v.readNumber(p, text)
	case p.Kind == Flag:
		if i := slices.Index([]string{"true", "1", "false", "0"}, strings.ToLower(text)); i >= 0 {
			return strconv.FormatBool(i < 2), true
		}
		v.notOneOf(p.Name, text, []string{"true", "false"})
	case p.Kind == Date:
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			return text, true
		}
		v.Fault(p.Name, text, "must be a date as YYYY-MM-DD")
	case p.Enum != nil:
		if i := slices.IndexFunc(p.Enum, func(one string) bool { return strings.EqualFold(one, text) }); i >= 0 {
			return p.Enum[i], true
		}
		v.notOneOf(p.Name, text, p.Enum)
	case p.MaxBytes > 0 && len(text) > p.MaxBytes:
		v.bad(p, text, fmt.Sprintf("must be at most %d bytes", p.MaxBytes))
	case p.Check != nil:
		if text, fault = p.Check(text); fault == "" {
			return text, true
		}
		v.bad(p, text, fault)
	default:
		return text, true
	}
	return "", false
}

func (v *Values) readNumber(p *Param, text string) (canonical string, ok bool) {
	n, ok := decimal(text)
	ok = ok && (p.Kind == Number || Digits(text))
	if thousands, cut := strings.CutSuffix(strings.ToLower(text), "k"); cut && p.Tokens {
		n, ok = decimal(thousands)
		n = math.Trunc(1024 * n)
	}
	ok = ok && (p.Kind == Number || n < 1<<63)
	if ok && n >= p.Min && (n > p.Min || !p.Above) && (p.Max == 0 || n <= p.Max) {
		return strconv.FormatFloat(n, 'f', -1, 64), true
	}
	v.Fault(p.Name, text, p.numberRule(text))
	return "", false
}

func (p *Param) numberRule(text string) string {
	kind, from := "number", "from"
	if p.Kind == Whole {
		kind = "whole number"
	}
	if p.Above {
		from = "above"
	}
	plain := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case p.Rule != "":
		return p.Rule
	case p.Max > 0:
		return fmt.Sprintf("must be a %s %s %s to %s", kind, from, plain(p.Min), plain(p.Max))
	case p.Kind == Whole:
		return "must be a whole number such as 1"
	case len(text) > maxDigits:
		return fmt.Sprintf("must have at most %d characters", maxDigits)
	default:
		return "must be a plain decimal number such as 7 or 13.5"
	}
}

// decimal reads a plain decimal: no sign, no exponent, no NaN.
func decimal(text string) (n float64, ok bool) {
	whole, fraction, dot := strings.Cut(text, ".")
	if len(text) > maxDigits || !Digits(whole) || dot && !Digits(fraction) {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && n < 1e21 // so that its canonical spelling is none longer
}

// Digits reports whether a text has digits only, and at least one.
func Digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// bad notes a wrong value, which is not shown where it may be personal.
func (v *Values) bad(p *Param, text, detail string) {
	if f := v.Fault(p.Name, text, cmp.Or(p.Rule, detail)); f != nil && p.Kind == Text && (p.Strict || text == "") {
		f.Value = nil
	}
}

// Fault notes that the value of a parameter is wrong. The result is nil where the fault is only counted.
func (v *Values) Fault(name, value, detail string) *Fault {
	code := InvalidParameter
	if v.in == "body" {
		code = InvalidField
	}
	return v.Add(code, Fault{In: v.in, Name: v.prefix + name, Value: Clip(value), Detail: detail})
}

// Missing notes that a parameter should have been given.
func (v *Values) Missing(name, detail string) {
	if f := v.Fault(name, "", detail); f != nil {
		f.Value = nil
		if i := v.place(name); i >= 0 {
			f.Allowed = v.params[i].Enum
		}
	}
}

func (v *Values) notOneOf(name, value string, allowed []string) {
	if f := v.Fault(name, value, "must be one of "+strings.Join(allowed, ", ")); f != nil {
		f.Allowed, f.Suggestion = allowed, v.Field(value, allowed)
	}
}

func (v *Values) place(name string) int {
	for i := range v.params {
		if v.params[i].Name == name {
			return i
		}
	}
	return -1
}

// Param is the parameter of a name, nil if there is none.
func (v *Values) Param(name string) *Param { return Find(v.params, name) }

// Given reports whether a parameter has a value, which may be its default.
func (v *Values) Given(name string) bool { return v.Texts(name) != nil }

// Changes reports whether a parameter has a value that means something else than none.
func (v *Values) Changes(name string) bool {
	return v.Given(name) && v.Text(name) != v.Param(name).Default
}

// Sent reports whether a parameter was sent, right or wrong.
func (v *Values) Sent(name string) bool { return v.Given(name) || v.Of(v.prefix+name) }

// Texts are the values of a parameter; nil where it was not given, or has a fault.
func (v *Values) Texts(name string) []string {
	for _, i := range v.given {
		if v.params[i].Name == name {
			return v.values[i]
		}
	}
	return nil
}

// Text is the first value of a parameter, or its default.
func (v *Values) Text(name string) string {
	i := v.place(name)
	switch {
	case i < 0:
		return ""
	case v.values[i] == nil:
		return v.params[i].Default
	default:
		return v.values[i][0]
	}
}

// Number is the value of a number, 0 if it was not given.
func (v *Values) Number(name string) float64 {
	n, _ := strconv.ParseFloat(v.Text(name), 64)
	return n
}

// Flag is the value of a flag.
func (v *Values) Flag(name string) bool { return v.Text(name) == "true" }

// Set replaces the values of a parameter, in their canonical spelling; without values it is not given.
func (v *Values) Set(name string, values ...string) {
	if i := v.place(name); i >= 0 {
		v.values[i] = values
		if !slices.Contains(v.given, i) {
			v.given = append(v.given, i)
		}
	}
}

// Canonical is the canonical query string.
func (v *Values) Canonical() string { return strings.TrimPrefix(v.Address(""), "?") }

// Address is a path with the canonical query string: the parameters in order, without defaults and those left out.
func (v *Values) Address(path string, without ...string) string {
	const typical = 160
	var b strings.Builder
	b.Grow(typical)
	b.WriteString(path)
	sign := "?"
	for i := range v.params {
		values, name := v.values[i], v.params[i].Name
		if len(values) == 0 || values[0] == v.params[i].Default || slices.Contains(without, name) {
			continue
		}
		between := ","
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, ",") }) {
			between = "&" + name + "=" // a value with a comma is found as a whole only
		}
		b.WriteString(sign)
		b.WriteString(name)
		b.WriteByte('=')
		sign = "&"
		for j, value := range values {
			if j > 0 {
				b.WriteString(between)
			}
			b.WriteString(url.QueryEscape(value))
		}
	}
	return b.String()
}

// Names lists the names of parameters, in order.
func Names(params []Param) []string {
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].Name
	}
	return names
}

// Find is the parameter of a name, nil if there is none.
func Find(params []Param, name string) *Param {
	for i := range params {
		if params[i].Name == name {
			return &params[i]
		}
	}
	return nil
}

// Only gives the parameters of some names, in the order of these.
func Only(params []Param, names ...string) (out []Param) {
	for _, name := range names {
		out = append(out, *Find(params, name))
	}
	return out
}

// Without gives the parameters but those of some names.
func Without(params []Param, names ...string) []Param {
	return slices.DeleteFunc(slices.Clone(params), func(p Param) bool { return slices.Contains(names, p.Name) })
}
