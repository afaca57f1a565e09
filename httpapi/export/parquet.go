package export

import (
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/parquet-go/parquet-go"
)

const (
	// rowGroup is how many encoded rows are kept until they are written. It is enough for readers that skip groups
	// by their bounds, and few enough that a file takes some ten megabytes to write.
	rowGroup = 20_000
	// pageSize is how many bytes of one column are kept before they are encoded.
	pageSize = 64 << 10
	// maxDictionary is how many bytes of distinct texts a column may have before they are written one by one.
	maxDictionary = 1 << 20
)

type parquetFile struct {
	schema *Schema
	file   *parquet.GenericWriter[any]
	row    [1]parquet.Row
	failed error // of a row: the rows after it are not written
}

func newParquet(w io.Writer, s *Schema, about About) *parquetFile {
	options := []parquet.WriterOption{
		parquet.NewSchema(s.Name, newGroup(s)),
		parquet.CreatedBy("modeldex", "1", ""), // not the version of the program: equal rows give equal files
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.PageBufferSize(pageSize),
		parquet.DictionaryMaxBytes(maxDictionary),
		parquet.DataPageStatistics(false), // the column index has the same
		parquet.KeyValueMetadata("modeldex.title", about.Title),
		parquet.KeyValueMetadata("modeldex.dataset_version", about.Version),
		parquet.KeyValueMetadata("modeldex.dataset_digest", about.Digest),
		parquet.KeyValueMetadata("modeldex.licence", about.Licence),
	}
	for _, c := range s.Columns {
		if c.Type == Any { // the least and the greatest JSON text say nothing, and one can have megabytes
			options = append(options, parquet.SkipPageBounds(c.Name))
		}
	}
	return &parquetFile{schema: s, file: parquet.NewGenericWriter[any](w, options...)}
}

// group is the columns in the order of the schema; parquet.Group has them sorted by name.
type group struct {
	parquet.Group
	fields []parquet.Field
}

func (g group) Fields() []parquet.Field { return g.fields }

// field is one column. Rows are written as values, not as Go structs.
type field struct {
	parquet.Node
	name string
}

func (f field) Name() string                    { return f.name }
func (field) Value(reflect.Value) reflect.Value { panic("rows are written as values") }

func newGroup(s *Schema) group {
	g := group{Group: parquet.Group{}}
	for _, c := range s.Columns {
		node := nodeOf(c.Type)
		if c.Nullable {
			node = parquet.Optional(node)
		}
		g.Group[c.Name] = node
		g.fields = append(g.fields, field{node, c.Name})
	}
	return g
}

func nodeOf(t Type) parquet.Node {
	switch t {
	case Integer:
		return parquet.Int(64)
	case Number:
		return parquet.Leaf(parquet.DoubleType)
	case Flag:
		return parquet.Leaf(parquet.BooleanType)
	case Texts:
		return parquet.List(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	case Any:
		return parquet.JSON()
	default:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
}

func (e *parquetFile) Encode(row []byte) error {
	if e.failed == nil {
		e.failed = e.encode(row)
	}
	return e.failed
}

func (e *parquetFile) encode(row []byte) error {
	values := e.row[0][:0]
	for i, v := range e.schema.split(row) {
		c, err := &e.schema.Columns[i], error(nil)
		if values, err = appendValues(values, c, i, v); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	e.row[0] = values
	_, err := e.file.WriteRows(e.row[:])
	return err
}

func appendValues(dst parquet.Row, c *Column, column int, v []byte) (parquet.Row, error) {
	level := 0 // the definition level of a value that is not null
	if c.Nullable {
		level = 1
	}
	switch {
	case v == nil && !c.Nullable:
		return dst, fmt.Errorf("must not be null")
	case v == nil:
		return append(dst, parquet.NullValue().Level(0, 0, column)), nil
	case c.Type != Texts:
		value, err := valueOf(c.Type, v)
		return append(dst, value.Level(0, level, column)), err
	}
	var texts []string
	if err := jsonv2.Unmarshal(v, &texts); err != nil {
		return dst, err
	}
	if len(texts) == 0 { // an empty list has the level of the list, a text one more
		return append(dst, parquet.NullValue().Level(0, level, column)), nil
	}
	for i, text := range texts {
		dst = append(dst, parquet.ByteArrayValue([]byte(text)).Level(min(i, 1), level+1, column))
	}
	return dst, nil
}

func valueOf(t Type, v []byte) (parquet.Value, error) {
	switch t {
	case Integer:
		n, err := strconv.ParseInt(string(v), 10, 64)
		return parquet.Int64Value(n), err
	case Number:
		n, err := strconv.ParseFloat(string(v), 64)
		return parquet.DoubleValue(n), err
	case Flag:
		return parquet.BooleanValue(v[0] == 't'), nil
	case Any:
		return parquet.ByteArrayValue(v), nil
	default:
		text, err := jsontext.AppendUnquote(nil, v)
		return parquet.ByteArrayValue(text), err
	}
}

// Close writes the footer.
func (e *parquetFile) Close() error {
	if e.failed != nil {
		return e.failed
	}
	return e.file.Close()
}
