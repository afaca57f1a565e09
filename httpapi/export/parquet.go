package export

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"sync"

	"modeldex/httpapi/rowjson"

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
	// maxDictionary is how many bytes of distinct texts a column may have before they are written
	// one by one.
	maxDictionary = 1 << 20
	rowBatch      = 64 // rows handed to the library at a time
)

// parquetEncoder writes rows as Parquet, one file after the other. The values of some rows are collected by column, as the
// library keeps them.
type parquetEncoder struct {
	*batch
	cells   *cells
	file    *parquet.GenericWriter[any]
	writers []*parquet.ColumnWriter
	failed  error // of a row: some columns may have its values and others not
	needed  int   // columns that have a value in each row
	waiting int   // rows in the batch
	group   int   // rows in the row group before them
	lent    bool  // a value of the batch is in the row that it is from
}

// batch is the rows that wait to be handed to the library.
type batch struct {
	columns [][]parquet.Value // without the nulls after the last value
	filled  []int             // how many rows are in each of columns
	texts   []byte            // of columns
}

// batches are empty. They serve files of any schema: those of ninety columns have 200 KB.
var batches = sync.Pool{New: func() any { return new(batch) }}

// room makes place for columns.
func (b *batch) room(columns int) {
	for len(b.columns) < columns {
		b.columns, b.filled = append(b.columns, make([]parquet.Value, 0, rowBatch)), append(b.filled, 0)
	}
}

// nulls are those of any column: the library looks at their levels alone.
var nulls [rowBatch]parquet.Value

// newParquet begins a file. To make an encoder takes as long as 30 rows of benchmarks, and its buffers have some megabytes:
// one that has written a file of the schema is used again.
func newParquet(w io.Writer, in *cells, about About) *parquetEncoder {
	e, _ := in.schema.encoders.Get().(*parquetEncoder)
	if e == nil {
		e = makeParquet(in.schema)
	}
	e.cells, e.batch = in, batches.Get().(*batch)
	e.room(len(in.schema.Columns))
	e.file.Reset(w)
	e.file.SetKeyValueMetadata("modeldex.title", about.Title)
	e.file.SetKeyValueMetadata("modeldex.dataset_version", about.Version)
	e.file.SetKeyValueMetadata("modeldex.dataset_digest", about.Digest)
	e.file.SetKeyValueMetadata("modeldex.licence", about.Licence)
	return e
}

func makeParquet(s *Schema) *parquetEncoder {
	options := []parquet.WriterOption{
		parquet.NewSchema(s.Name, newGroup(s)),
		parquet.CreatedBy("modeldex", "1", ""), // not the version of the program: equal rows give equal files
		parquet.Compression(&pages),
		parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.PageBufferSize(pageSize),
		parquet.DictionaryMaxBytes(maxDictionary),
		parquet.DataPageStatistics(false), // the column index has the same
		parquet.KeyValueMetadata("modeldex.columns", columnsJSON(s)),
	}
	for _, c := range s.Columns {
		if c.Type == Any { // the least and the greatest JSON text say nothing, and one can have megabytes
			options = append(options, parquet.SkipPageBounds(c.Name))
		}
	}
	e := &parquetEncoder{file: parquet.NewGenericWriter[any](nil, options...)}
	e.writers = e.file.ColumnWriters()
	for _, c := range s.Columns {
		if !c.Nullable {
			e.needed++
		}
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
		return parquet.Leaf(anyType{parquet.JSON().Type()})
	default:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
}

func (e *parquetEncoder) Encode(row Row) error {
	if e.failed == nil {
		e.failed = e.cells.split(row)
	}
	if e.failed == nil {
		e.failed = e.divided()
	}
	return e.failed
}

// divided writes the row that the cells were divided from last.
func (e *parquetEncoder) divided() error {
	required := 0
	for _, i := range e.cells.set { // a third of the columns of benchmarks
		c, v := &e.cells.schema.Columns[i], e.cells.values[i]
		e.columns[i] = append(e.columns[i], nulls[:e.waiting-e.filled[i]]...)
		e.filled[i] = e.waiting + 1
		var err error
		if c.Type == Texts {
			e.columns[i], err = e.appendList(e.columns[i], v, c.level(), i)
		} else {
			var value parquet.Value
			if value, err = e.value(c.Type, v); c.Nullable { // of other columns the library looks at no levels
				value = value.Level(0, 1, i)
			}
			e.columns[i] = append(e.columns[i], value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if !c.Nullable {
			required++
		}
	}
	if required < e.needed {
		return e.missing()
	}
	if e.waiting++; e.waiting == rowBatch || e.group+e.waiting == rowGroup || e.lent {
		return e.flush()
	}
	return nil
}

// missing is the error of a row without a value that it must have.
func (e *parquetEncoder) missing() error {
	for i, v := range e.cells.values {
		if c := &e.cells.schema.Columns[i]; v == nil && !c.Nullable {
			return fmt.Errorf("%s: must not be null", c.Name)
		}
	}
	return nil
}

// level is the definition level of a value that is not null.
func (c *Column) level() int {
	if c.Nullable {
		return 1
	}
	return 0
}

// flush hands the rows that wait to the library.
func (e *parquetEncoder) flush() error {
	for i, values := range e.columns[:len(e.writers)] {
		if e.filled[i] == 0 {
			values = nulls[:e.waiting]
		} else {
			values = append(values, nulls[:e.waiting-e.filled[i]]...)
			e.columns[i], e.filled[i] = values[:0], 0
		}
		if _, err := e.writers[i].WriteRowValues(values); err != nil {
			return err
		}
	}
	e.group += e.waiting
	e.waiting, e.texts, e.lent = 0, e.texts[:0], false
	if e.group < rowGroup {
		return nil
	}
	e.group = 0
	return e.file.Flush()
}

// value is one value that is not a list.
func (e *parquetEncoder) value(t Type, v []byte) (parquet.Value, error) {
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
		if len(v) >= pageSize { // too long to be copied again
			e.lent = true
			return parquet.ByteArrayValue(v), nil
		}
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
func (e *parquetEncoder) appendList(values parquet.Row, v []byte, level, column int) (parquet.Row, error) {
	if string(v) == "[]" {
		return append(values, parquet.NullValue().Level(0, level, column)), nil
	}
	begin := len(values)
	for rest := v[1:]; rest[0] == '"'; rest = rest[1:] {
		n := rowjson.TextEnd(rest)
		if n == 0 || n == len(rest) {
			break
		}
		text, plain := rowjson.Plain(rest[:n])
		if rest = rest[n:]; !plain || rest[0] != ',' && rest[0] != ']' {
			break
		}
		value := parquet.ByteArrayValue(e.keep(append(e.texts, text...)))
		values = append(values, value.Level(min(len(values)-begin, 1), level+1, column))
		if rest[0] == ']' {
			return values, nil
		}
	}
	return e.appendDecoded(values[:begin], v, level, column)
}

// appendDecoded is appendList of a list with escapes, with spaces, or without texts.
func (e *parquetEncoder) appendDecoded(values parquet.Row, v []byte, level, column int) (parquet.Row, error) {
	var texts []string
	if err := jsonv2.Unmarshal(v, &texts); err != nil {
		return values, err
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
	if e.failed != nil {
		return e.failed
	}
	if err := e.flush(); err != nil {
		return err
	}
	if err := e.file.Close(); err != nil {
		return err
	}
	// Reset clears the paths of columns in the metadata of the file, which are those that the writer itself keeps:
	// https://github.com/parquet-go/parquet-go/issues/602
	for _, group := range e.file.File().Metadata().RowGroups {
		for i := range group.Columns {
			group.Columns[i].MetaData.PathInSchema = nil
		}
	}
	e.file.Reset(nil)
	batches.Put(e.batch)
	in := e.cells
	e.batch, e.cells, e.group = nil, nil, 0
	in.schema.encoders.Put(e)
	return nil
}
