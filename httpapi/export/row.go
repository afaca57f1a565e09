package export

import (
	"bytes"
	"fmt"
	"slices"

	"modeldex/httpapi/rowjson"

	"github.com/goccy/go-json/jsontext"
)

// cells divides rows into the JSON values of their columns.
type cells struct {
	schema *Schema
	dec    *jsontext.Decoder
	in     bytes.Buffer
	row    []byte
	values [][]byte // by column, in JSON; nil for null and for what a row does not have
	set    []int    // the columns with other values than nil, in no order
}

func newCells(s *Schema) *cells {
	c := &cells{schema: s, values: make([][]byte, len(s.Columns))}
	c.dec = jsontext.NewDecoder(&c.in, jsontext.AllowDuplicateNames(true)) // rows are made by this program
	return c
}

// split takes or finds the values of a row. Members without a
// column are left out; a value of another kind than its column is an error. Rows as this program makes them are
// only scanned; others are decoded, which finds the same and says what is wrong.
func (c *cells) split(row Row) error {
	c.clear()
	if row.Values != nil {
		for i, v := range row.Values {
			if v != nil {
				c.put(i, v)
			}
		}
		return nil
	}
	if c.scan(c.schema.root, row.JSON) == nil {
		c.clear()
		if err := c.decode(row.JSON); err != nil {
			return err
		}
	}
	for _, m := range row.Apart {
		if at := slices.IndexFunc(c.schema.Columns, func(one Column) bool { return one.Name == m.Name }); at >= 0 {
			c.put(at, m.Value)
		}
	}
	return nil
}

func (c *cells) clear() {
	for _, i := range c.set {
		c.values[i] = nil
	}
	c.set = c.set[:0]
}

// put sets the value of a column, which is not nil.
func (c *cells) put(column int, v []byte) {
	if c.values[column] == nil {
		c.set = append(c.set, column)
	}
	c.values[column] = v
}

// scan reads the object that b begins with and returns what is after it, nil where it has to be decoded.
func (c *cells) scan(b *branch, in []byte) (rest []byte) {
	if len(in) < 2 || in[0] != '{' {
		return nil
	}
	if in[1] == '}' {
		return in[2:]
	}
	next := 0 // place of the member that is expected
	for rest = in[1:]; ; rest = rest[1:] {
		var m *branch
		if next < len(b.order) && bytes.HasPrefix(rest, b.order[next].label) {
			m, rest = b.order[next], rest[len(b.order[next].label):]
		} else {
			n := rowjson.TextEnd(rest)
			if n == 0 || n == len(rest) || rest[n] != ':' {
				return nil
			}
			m, rest = b.members[string(rest[:n])], rest[n+1:]
		}
		if m != nil {
			next = m.place + 1
		}
		if rest = c.scanValue(m, rest); len(rest) == 0 {
			return nil
		}
		switch rest[0] {
		case ',':
		case '}':
			return rest[1:]
		default:
			return nil
		}
	}
}

// scanValue is scan of the value of a member.
func (c *cells) scanValue(m *branch, in []byte) (rest []byte) {
	if m != nil && m.column < 0 && len(in) > 0 && in[0] == '{' {
		return c.scan(m, in)
	}
	n := rowjson.End(in)
	switch {
	case n == 0:
		return nil
	case m == nil || in[0] == 'n':
	case m.column < 0 || !c.schema.Columns[m.column].Type.begins(in[0]):
		return nil
	default:
		c.put(m.column, in[:n:n])
	}
	return in[n:]
}

// begins reports whether JSON of a type can begin with a character.
func (t Type) begins(first byte) bool {
	if first == '-' || first >= '1' && first <= '9' {
		first = '0'
	}
	return t.has(jsontext.Kind(first))
}

// decode is split with a decoder.
func (c *cells) decode(row []byte) error {
	c.row = row
	c.in.Reset()
	c.in.Write(row)
	c.dec.Reset(&c.in)
	if kind := c.dec.PeekKind(); kind != '{' {
		return fmt.Errorf("a row must be a JSON object, got %q", kind)
	}
	return c.object(c.schema.root)
}

func (c *cells) object(b *branch) error {
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	for c.dec.PeekKind() != '}' {
		name, err := c.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := c.member(b.members[string(name)]); err != nil {
			return err
		}
	}
	_, err := c.dec.ReadToken()
	return err
}

func (c *cells) member(b *branch) error {
	switch kind := c.dec.PeekKind(); {
	case b == nil || kind == 'n':
		return c.dec.SkipValue()
	case b.column < 0 && kind == '{':
		return c.object(b)
	case b.column < 0:
		return fmt.Errorf("%s: must be an object, got %q", c.dec.StackPointer(), kind)
	case !c.schema.Columns[b.column].Type.has(kind):
		return fmt.Errorf("%s: must be of type %s, got %q", c.dec.StackPointer(), c.schema.Columns[b.column].Type, kind)
	}
	v, err := c.dec.ReadValue()
	end := int(c.dec.InputOffset()) // v itself may be overwritten by the next call
	c.put(b.column, c.row[end-len(v):end])
	return err
}

// has reports whether values of a type can have a kind of JSON.
func (t Type) has(kind jsontext.Kind) bool {
	switch t {
	case Text:
		return kind == '"'
	case Integer, Number:
		return kind == '0'
	case Flag:
		return kind == 't' || kind == 'f'
	case Texts:
		return kind == '['
	default:
		return true
	}
}
