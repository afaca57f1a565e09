package export

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"modeldex/httpapi/rowjson"
)

// Type is the type of the values of a column.
type Type uint8

// The types.
const (
	Text    Type = iota // a text; dates are texts, since some are only a year or a month
	Integer             // a whole number of 64 bits
	Number              // a 64-bit floating point number
	Flag                // true or false
	Texts               // a list of texts
	Any                 // other lists, and objects without fixed members, as JSON
)

// Column is one column of a file.
type Column struct {
	Name     string // the path of members in a row, with dots
	Type     Type
	Nullable bool
}

// Schema is the columns of a kind of row. It is immutable and safe for concurrent use.
type Schema struct {
	Name    string // of the table, such as "benchmarks"
	Columns []Column
	root    *branch
}

// branch is the columns at or below a member of a row.
type branch struct {
	column  int                // of a member that is one column; -1 otherwise
	members map[string]*branch // by name in JSON quotes, as rows spell it
}

// SchemaOf reads the columns off the type of a row: a struct with json tags.
func SchemaOf[Row any](name string) *Schema {
	var columns []Column
	addColumns(&columns, reflect.TypeFor[Row](), "", false)
	return NewSchema(name, columns)
}

// NewSchema makes a schema of columns. Names must be distinct, and none may be the path to another.
func NewSchema(name string, columns []Column) *Schema {
	s := &Schema{Name: name, Columns: columns, root: &branch{column: -1}}
	for i, c := range columns {
		at := s.root
		for part := range strings.SplitSeq(c.Name, ".") {
			at = at.member(part)
		}
		at.column = i
	}
	return s
}

func (b *branch) member(name string) *branch {
	if b.members == nil {
		b.members = map[string]*branch{}
	}
	quoted := `"` + name + `"` // names of members need no escapes
	if b.members[quoted] == nil {
		b.members[quoted] = &branch{column: -1}
	}
	return b.members[quoted]
}

// split finds the values of the columns in a row: parts of the row, nil for null and for what the row does not have.
// Members without a column are left out.
func (s *Schema) split(row []byte) [][]byte {
	values := make([][]byte, len(s.Columns))
	s.root.split(values, row)
	return values
}

func (b *branch) split(values [][]byte, object []byte) {
	for name, v := range rowjson.Members(object) {
		switch m := b.members[string(name)]; {
		case m == nil || v[0] == 'n': // null
		case m.column >= 0:
			values[m.column] = v
		case v[0] == '{':
			m.split(values, v)
		}
	}
}

func addColumns(dst *[]Column, t reflect.Type, prefix string, nullable bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			addColumns(dst, f.Type, prefix, nullable)
		case name != "" && name != "-":
			null := nullable || f.Type.Kind() == reflect.Pointer || strings.Contains(options, "omit") ||
				slices.Contains(strings.Split(f.Tag.Get("jsonschema"), ","), "nullable")
			c := Column{Name: prefix + name, Nullable: null}
			if elem := target(f.Type); elem.Kind() == reflect.Struct && elem != moment {
				addColumns(dst, elem, c.Name+".", null)
			} else {
				c.Type = typeOf(elem)
				*dst = append(*dst, c)
			}
		}
	}
}

func target(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// moment is a struct that JSON has as a text.
var moment = reflect.TypeFor[time.Time]()

func typeOf(t reflect.Type) Type {
	if t == moment {
		return Text
	}
	switch t.Kind() {
	case reflect.String:
		return Text
	case reflect.Bool:
		return Flag
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return Integer
	case reflect.Float32, reflect.Float64:
		return Number
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return Texts
		}
	}
	return Any
}

// Select keeps the columns with the dotted names, and those below them, in the order of the schema.
func (s *Schema) Select(names []string) *Schema {
	return s.filter(func(column string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return at(column, name) })
	})
}

// Without leaves out the column with a dotted name, and those below it.
func (s *Schema) Without(name string) *Schema {
	return s.filter(func(column string) bool { return !at(column, name) })
}

// Replace puts columns in the place of the one with a name.
func (s *Schema) Replace(name string, columns ...Column) *Schema {
	i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
	return NewSchema(s.Name, slices.Concat(s.Columns[:i], columns, s.Columns[i+1:]))
}

func (s *Schema) filter(keep func(column string) bool) *Schema {
	return NewSchema(s.Name, slices.DeleteFunc(slices.Clone(s.Columns), func(c Column) bool { return !keep(c.Name) }))
}

func at(column, name string) bool {
	rest, ok := strings.CutPrefix(column, name)
	return ok && (rest == "" || rest[0] == '.')
}
