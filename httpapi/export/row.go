package export

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-json/jsontext"
)

// cells divides rows into the JSON values of their columns.
type cells struct {
	schema *Schema
	dec    *jsontext.Decoder
	in     bytes.Buffer
	row    []byte
	values []jsontext.Value // by column; nil for null and for what a row does not have
}

func newCells(s *Schema) *cells {
	c := &cells{schema: s, values: make([]jsontext.Value, len(s.Columns))}
	c.dec = jsontext.NewDecoder(&c.in, jsontext.AllowDuplicateNames(true)) // rows are made by this program
	return c
}

// split reads a row, a JSON object. The values are parts of row. Members without a
// column are left out; a value of another kind than its column is an error.
func (c *cells) split(row []byte) error {
	clear(c.values)
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
	c.values[b.column] = c.row[end-len(v) : end]
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
