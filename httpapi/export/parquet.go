package export

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/parquet-go/parquet-go/format"
)

// parquetMark is the first and the last bytes of a file.
const parquetMark = "PAR1"

const (
	// rowGroup is how many rows are kept, encoded, until they are written: enough for readers that
	// skip groups by their bounds, few enough that a file takes some ten megabytes to write.
	rowGroup = 20_000
	// pageSize is how many bytes of one column are kept before they are encoded.
	pageSize = 64 << 10
	// maxDictionary is how many bytes of distinct texts a column may have before they are written
	// one by one.
	maxDictionary = 1 << 20
)

// parquetEncoder writes rows as Parquet, one file after the other. Structures and encodings are those of the library, whose
// writer is not used: it makes an object of each value, and for each selection of columns all of its buffers anew.
type parquetEncoder struct {
	w      io.Writer
	offset int64 // bytes written
	cells  *cells
	about  About

	columns []columnBuffer // those of the file first; the others are not in use
	rows    int            // of the row group
	needed  int            // columns that have a value in each row
	failed  error          // of a row: some columns may have its values and others not

	groups []format.RowGroup
	pages  [][][]pageStats // by group and column
	space  *pageSpace
}

// encoders are those that have written a file: their buffers have megabytes. Any of them serves any schema.
var encoders = sync.Pool{New: func() any { return &parquetEncoder{space: newPageSpace()} }}

// newParquet begins a file.
func newParquet(w io.Writer, in *cells, about About) *parquetEncoder {
	e := encoders.Get().(*parquetEncoder)
	e.begin(w, in, about)
	return e
}

func (e *parquetEncoder) begin(w io.Writer, in *cells, about About) {
	*e = parquetEncoder{w: w, cells: in, about: about, columns: e.columns, space: e.space}
	for i := range in.schema.Columns {
		if i == len(e.columns) {
			e.columns = append(e.columns, columnBuffer{})
		}
		c := &in.schema.Columns[i]
		if e.columns[i].use(c); !c.Nullable {
			e.needed++
		}
	}
	e.failed = e.write([]byte(parquetMark))
}

func (e *parquetEncoder) Encode(row []byte, apart ...Member) error {
	if e.failed == nil {
		e.failed = e.cells.split(row, apart...)
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
		b := &e.columns[i]
		err := b.add(e.rows, e.cells.values[i])
		if err == nil && b.full() {
			err = b.endPage(e.space, false)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.cells.schema.Columns[i].Name, err)
		}
		if !b.nullable {
			required++
		}
	}
	if required < e.needed {
		return e.missing()
	}
	if e.rows++; e.rows == rowGroup {
		return e.endGroup()
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

// endGroup writes the row group, if it has rows.
func (e *parquetEncoder) endGroup() error {
	if e.rows == 0 {
		return nil
	}
	group := format.RowGroup{NumRows: int64(e.rows), Ordinal: int16(len(e.groups)), FileOffset: e.offset, Columns: make([]format.ColumnChunk, len(e.cells.schema.Columns))}
	pages := make([][]pageStats, len(group.Columns))
	for i := range group.Columns {
		b, c := &e.columns[i], &e.cells.schema.Columns[i]
		b.fill(e.rows)
		if err := b.endChunk(e.space); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		group.Columns[i].MetaData = b.written.footer(c, e.offset)
		group.TotalByteSize += group.Columns[i].MetaData.TotalUncompressedSize
		group.TotalCompressedSize += group.Columns[i].MetaData.TotalCompressedSize
		pages[i] = slices.Clone(b.written.stats)
		if err := e.write(b.written.dictionary, b.written.pages); err != nil {
			return err
		}
		b.reset()
	}
	e.groups, e.pages, e.rows = append(e.groups, group), append(e.pages, pages), 0
	return nil
}

func (e *parquetEncoder) write(parts ...[]byte) error {
	for _, part := range parts {
		n, err := e.w.Write(part)
		if e.offset += int64(n); err != nil {
			return err
		}
	}
	return nil
}

// writeStruct writes a structure of the format, and returns how many bytes it has.
func (e *parquetEncoder) writeStruct(v any) (n int32, err error) {
	e.space.head.Reset()
	if err := e.space.thrift.Encode(v); err != nil {
		return 0, err
	}
	return int32(e.space.head.Len()), e.write(e.space.head.Bytes())
}

// Close writes the rows that wait and the footer.
func (e *parquetEncoder) Close() error {
	if e.failed == nil {
		e.failed = e.close()
	}
	if e.failed != nil {
		return e.failed
	}
	encoders.Put(&parquetEncoder{columns: e.columns, space: e.space})
	return nil
}

func (e *parquetEncoder) close() error {
	if err := e.endGroup(); err != nil {
		return err
	}
	if err := e.writeIndexes(); err != nil {
		return err
	}
	s := e.cells.schema
	footer := format.FileMetaData{
		Version: 2, CreatedBy: "modeldex version 1(build )", // not the version of the program: equal rows give equal files
		Schema: s.elements(), RowGroups: e.groups, ColumnOrders: make([]format.ColumnOrder, len(s.Columns)),
		KeyValueMetadata: []format.KeyValue{
			{Key: "modeldex.columns", Value: columnsJSON(s)},
			{Key: "modeldex.title", Value: e.about.Title},
			{Key: "modeldex.dataset_version", Value: e.about.Version},
			{Key: "modeldex.dataset_digest", Value: e.about.Digest},
			{Key: "modeldex.licence", Value: e.about.Licence},
		},
	}
	for i := range e.groups {
		footer.NumRows += e.groups[i].NumRows
	}
	for i := range footer.ColumnOrders {
		footer.ColumnOrders[i].Value = new(format.TypeDefinedOrder)
	}
	n, err := e.writeStruct(&footer)
	if err != nil {
		return err
	}
	return e.write(binary.LittleEndian.AppendUint32(nil, uint32(n)), []byte(parquetMark))
}

// writeIndexes writes where pages are and what is in them, if a column has more than one: of a single one the footer says the
// same. The indexes of all columns come one behind the other, first those of values, without which the library finds none.
func (e *parquetEncoder) writeIndexes() (err error) {
	one := func(column []pageStats) bool { return len(column) == 1 }
	if len(e.groups) == 0 || len(e.groups) == 1 && !slices.ContainsFunc(e.pages[0], func(column []pageStats) bool { return !one(column) }) {
		return nil
	}
	for g, pages := range e.pages {
		for i, stats := range pages {
			if c := &e.groups[g].Columns[i]; e.cells.schema.Columns[i].Type != Any {
				c.ColumnIndexOffset = e.offset
				if c.ColumnIndexLength, err = e.writeStruct(columnIndex(stats)); err != nil {
					return err
				}
			}
		}
	}
	for g, pages := range e.pages {
		for i, stats := range pages {
			c := &e.groups[g].Columns[i]
			c.OffsetIndexOffset = e.offset
			if c.OffsetIndexLength, err = e.writeStruct(offsetIndex(stats, c.MetaData.DataPageOffset)); err != nil {
				return err
			}
		}
	}
	return nil
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
