package suggest

import (
	"cmp"
	_ "embed" // for elsewhere.txt
	"iter"
	"net/url"
	"slices"
	"strings"
)

//go:embed elsewhere.txt
var elsewhere string

// Names used by other APIs, folded by Fold, with the corresponding names of this API, best first.
var (
	Parameters = section("parameters") // looked up only where an endpoint has no parameter with that name
	Addresses  = section("addresses")  // first names of addresses
	Fields     = section("fields")     // fields and orders of rows
	Values     = section("values")     // values of filters and choices
)

func section(name string) map[string][]string {
	_, text, _ := strings.Cut(elsewhere, "["+name+"]\n")
	text, _, _ = strings.Cut(text, "\n[")
	out := map[string][]string{}
	for line := range strings.Lines(text) {
		if names, here, ok := strings.Cut(line, " = "); ok {
			for other := range strings.FieldsSeq(names) {
				out[other] = strings.Fields(here)
			}
		}
	}
	return out
}

// Address is the address without parameters that a caller who sent another path probably meant, with a name after
// it for one record; empty if there is none. paths are all that are served, and lists are the names of the lists of records.
func (s *Suggester) Address(path string, paths iter.Seq[string], lists []string) string {
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for len(names) > 1 && (names[0] == "api" || names[0] == "rest" || isVersion(names[0])) {
		names = names[1:]
	}
	if len(names) == 0 || len(path) > 200 {
		return ""
	}
	first := Fold(names[0])
	if isVersion(first) {
		first = "api"
	}
	address := strings.Join(Addresses[first], "")
	var others []string
	for served := range paths {
		switch name, ok := strings.CutPrefix(served, "/api/v1/"); {
		case !ok || strings.ContainsAny(name, "/:{*"):
		case Fold(name) == first:
			address = served
		default:
			others = append(others, name)
		}
	}
	if address == "" {
		if near := s.Nearest(names[0], others); near != "" {
			address = "/api/v1/" + near
		}
	}
	isList := slices.ContainsFunc(lists, func(list string) bool { return address == "/api/v1/"+list })
	if isList && len(names) == 2 {
		address += "/" + url.PathEscape(names[1])
	}
	return address
}

func isVersion(name string) bool {
	digits, ok := strings.CutPrefix(name, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Fold is a name without the ways of writing it: case, separators and the brackets of lists.
func Fold(name string) string { return separators.Replace(strings.ToLower(name)) }

var separators = strings.NewReplacer("_", "", "-", "", ".", "", "[]", "")

// Parameter is the one of names that a caller who sent another probably meant, empty if there is none: the same in
// another way of writing, the name of another API, a field without the end of its range, or what is spelled nearly so.
func (s *Suggester) Parameter(sent string, names []string) string {
	if inner, ok := strings.CutPrefix(sent, "filter["); ok { // JSON:API
		sent = strings.TrimSuffix(inner, "]")
	}
	name := Fold(sent)
	as := func(same string) string {
		if i := slices.IndexFunc(names, func(n string) bool { return Fold(n) == same }); i >= 0 {
			return names[i]
		}
		return ""
	}
	if meant := cmp.Or(as(name), oneOf(Parameters[name], names), as("min"+name), as("max"+name)); meant != "" {
		return meant
	}
	return s.Nearest(sent, names)
}

// oneOf is the first of some names that is among others, empty for none.
func oneOf(some, names []string) string {
	for _, name := range some {
		if slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

// Value is the one of values that a caller who sent another word probably meant by it, whatever their letters; empty if there is
// none.
func Value(sent string, values []string) string { return oneOf(Values[Fold(sent)], values) }

// Field is the one of names of fields, of orders by them or of values that a caller who sent another probably meant, empty
// where there is none.
func (s *Suggester) Field(sent string, names []string) string {
	bare, descending := strings.CutPrefix(sent, "-")
	meant := slices.Concat(Fields[Fold(bare)], Values[Fold(bare)])
	if descending {
		for i := range meant {
			meant[i] = "-" + meant[i]
		}
	}
	if name := oneOf(meant, names); name != "" {
		return name
	}
	return s.Nearest(sent, names)
}
