package export

import (
	"fmt"
	"io"
	"reflect"
	"strconv"

	"modeldex/httpapi/rowjson"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/parquet-go/parquet-go"
)

const (
	// rowGroup is how many rows are kept, encoded, until they are written: enough for readers that
	// skip groups by their bounds, few enough that a file takes some ten megabytes to write.
	rowGroup = 20_000
	// pageSize is how many bytes of one column are kept before they are encoded.
	pageSize = 64 << 10
	// maxDictionary is how many bytes of distinct texts a column may have before they are written
	// one by one.
	maxDictionary = 1 << 20
	rowBatch      = 64 // rows handed to the library at a time
)

// parquetEncoder writes rows as Parquet.
type parquetEncoder struct {
	cells *cells
	w     *parquet.GenericWriter[any]
	batch []parquet.Row
	texts []byte          // of the batch
	nulls []parquet.Value // by column
}

func newParquet(w io.Writer, in *cells, about About) *parquetEncoder {
	s := in.schema
	options := []parquet.WriterOption{
		parquet.NewSchema(s.Name, newGroup(s)),
		parquet.CreatedBy("modeldex", "1", ""), // not the version of the program: equal rows give equal files
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.PageBufferSize(pageSize),
		parquet.DictionaryMaxBytes(maxDictionary),
		parquet.KeyValueMetadata("modeldex.title", about.Title),
		parquet.KeyValueMetadata("modeldex.dataset_version", about.Version),
		parquet.KeyValueMetadata("modeldex.dataset_digest", about.Digest),
		parquet.KeyValueMetadata("modeldex.licence", about.Licence),
		parquet.KeyValueMetadata("modeldex.columns", columnsJSON(s)),
	}
	for _, c := range s.Columns {
		if c.Type == Any { // the least and the greatest JSON text say nothing, and one can have megabytes
			options = append(options, parquet.SkipPageBounds(c.Name), parquet.SkipPageStatistics(c.Name))
		}
	}
	e := &parquetEncoder{cells: in, batch: make([]parquet.Row, 0, rowBatch), w: parquet.NewGenericWriter[any](w, options...), nulls: make([]parquet.Value, len(s.Columns))}
	for i := range e.nulls {
		e.nulls[i] = parquet.NullValue().Level(0, 0, i)
	}
	return e
}

// columnsJSON describes the columns in the metadata of a file.
func columnsJSON(s *Schema) string {
	type column struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Nullable bool   `json:"nullable"`
		Unit     string `json:"unit,omitempty"`
		Doc      string `json:"description,omitempty"`
	}
	out := make([]column, len(s.Columns))
	for i, c := range s.Columns {
		out[i] = column{c.Name, c.Type.String(), c.Nullable, c.Unit, c.Doc}
	}
	b, err := jsonv2.Marshal(out, jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true))
	if err != nil {
		panic(err) // texts and flags
	}
	return string(b)
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

func (e *parquetEncoder) Encode(row []byte) error {
	if err := e.cells.split(row); err != nil {
		return err
	}
	return e.divided()
}

// divided writes the row that the cells were divided from last.
func (e *parquetEncoder) divided() error {
	n := len(e.batch)
	e.batch = e.batch[:n+1]
	values := e.batch[n][:0]
	if values == nil {
		values = make(parquet.Row, 0, len(e.nulls)+8) // lists take a value for each text
	}
	for i, v := range e.cells.values {
		c := &e.cells.schema.Columns[i]
		if v == nil && c.Nullable { // two in three cells of benchmarks
			values = append(values, e.nulls[i])
			continue
		}
		level := 0
		if c.Nullable && v != nil {
			level = 1
		}
		var err error
		if c.Type == Texts {
			values, err = e.appendList(values, v, level, i)
		} else {
			var value parquet.Value
			value, err = e.value(c.Type, v)
			values = append(values, value.Level(0, level, i))
		}
		if err == nil && v == nil && !c.Nullable {
			err = fmt.Errorf("must not be null")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	e.batch[n] = values
	if len(e.batch) == rowBatch {
		return e.flush()
	}
	return nil
}

func (e *parquetEncoder) flush() error {
	_, err := e.w.WriteRows(e.batch)
	e.batch, e.texts = e.batch[:0], e.texts[:0]
	return err
}

// value is one value that is not a list; the null value for nil.
func (e *parquetEncoder) value(t Type, v jsontext.Value) (parquet.Value, error) {
	if v == nil {
		return parquet.NullValue(), nil
	}
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
		return parquet.ByteArrayValue(e.keep(append(e.texts, v...))), nil
	default:
		if text, plain := rowjson.Plain(v); plain {
			return parquet.ByteArrayValue(e.keep(append(e.texts, text...))), nil
		}
		b, err := jsontext.AppendUnquote(e.texts, v)
		return parquet.ByteArrayValue(e.keep(b)), err
	}
}

// keep takes e.texts with something appended, and returns what was appended. It stays as it is
// until the batch is written, also where e.texts moves.
func (e *parquetEncoder) keep(longer []byte) []byte {
	begin := len(e.texts)
	e.texts = longer
	return longer[begin:len(longer):len(longer)]
}

// appendList appends the texts of a list. level is the definition level of the list itself: an
// empty list has it, a text one more.
func (e *parquetEncoder) appendList(values parquet.Row, v jsontext.Value, level, column int) (parquet.Row, error) {
	var texts []string
	if v != nil {
		if err := jsonv2.Unmarshal(v, &texts); err != nil {
			return values, err
		}
	}
	if len(texts) == 0 {
		return append(values, parquet.NullValue().Level(0, level, column)), nil
	}
	for i, text := range texts {
		value := parquet.ByteArrayValue(e.keep(append(e.texts, text...)))
		values = append(values, value.Level(min(i, 1), level+1, column))
	}
	return values, nil
}

// Close writes the rows that wait and the footer.
func (e *parquetEncoder) Close() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Close()
}
