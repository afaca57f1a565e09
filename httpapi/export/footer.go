package export

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// What the end of a Parquet file says of its columns and pages.

// parquetTypes are the types of the values of columns; a column of texts has lists of them.
var parquetTypes = [...]parquet.Type{
	Text: parquet.String().Type(), Integer: parquet.Int(64).Type(), Number: parquet.DoubleType,
	Flag: parquet.BooleanType, Texts: parquet.String().Type(), Any: parquet.JSON().Type(),
}

// elements are the columns of a file, below one element for the whole of a row.
func (s *Schema) elements() []format.SchemaElement {
	out := make([]format.SchemaElement, 1, len(s.Columns)+1)
	out[0] = format.SchemaElement{Name: s.Name, NumChildren: thrift.New(int32(len(s.Columns)))}
	for i := range s.Columns {
		c := &s.Columns[i]
		repetition := format.Required
		if c.Nullable {
			repetition = format.Optional
		}
		if c.Type != Texts {
			out = append(out, element(c.Name, parquetTypes[c.Type], repetition))
			continue
		}
		list, one := element(c.Name, parquet.List(parquet.String()).Type(), repetition), thrift.New(int32(1))
		list.NumChildren = one
		out = append(out, list,
			format.SchemaElement{Name: listPath[0], RepetitionType: thrift.New(format.Repeated), NumChildren: one},
			element(listPath[1], parquetTypes[c.Type], format.Required))
	}
	return out
}

// listPath is where the texts of a list are, below its column.
var listPath = [...]string{"list", "element"}

func element(name string, t parquet.Type, repetition format.FieldRepetitionType) format.SchemaElement {
	e := format.SchemaElement{Name: name, RepetitionType: thrift.New(repetition)}
	if physical := t.PhysicalType(); physical != nil {
		e.Type = thrift.New(*physical)
		if n := t.Length(); n > 0 {
			e.TypeLength = thrift.New(int32(n))
		}
	}
	if converted := t.ConvertedType(); converted != nil {
		e.ConvertedType = thrift.New(*converted)
	}
	if logical := t.LogicalType(); logical != nil {
		e.LogicalType = *logical
	}
	return e
}

// footer is what the end of a file says of a chunk that begins at a place in it.
func (c *chunk) footer(column *Column, begin int64) format.ColumnMetaData {
	m := format.ColumnMetaData{
		Type: format.Type(parquetTypes[column.Type].Kind()), PathInSchema: thrift.Slice[string]{column.Name}, Codec: format.Zstd,
		TotalUncompressedSize: int64(c.uncompressed), TotalCompressedSize: int64(len(c.dictionary) + len(c.pages)), DataPageOffset: begin + int64(len(c.dictionary)),
	}
	if column.Type == Texts {
		m.PathInSchema = append(m.PathInSchema, listPath[:]...)
	}
	if len(c.dictionary) > 0 {
		m.DictionaryPageOffset = begin
		m.EncodingStats = append(m.EncodingStats, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
	}
	for _, encoding := range [...]format.Encoding{format.Plain, format.RLEDictionary} {
		if n := c.countPages(encoding); n > 0 {
			m.EncodingStats = append(m.EncodingStats, format.PageEncodingStats{PageType: format.DataPageV2, Encoding: encoding, Count: n})
		}
	}
	m.Encoding = thrift.Slice[format.Encoding]{format.Plain}
	if column.Nullable || column.Type == Texts {
		m.Encoding = append(m.Encoding, format.RLE) // of levels
	}
	if len(c.dictionary) > 0 {
		m.Encoding = append(m.Encoding, format.RLEDictionary)
	}
	for i := range c.stats {
		p := &c.stats[i]
		m.NumValues += int64(p.values)
		m.Statistics.NullCount += int64(p.nulls)
		if m.Statistics.MinValue == nil || p.low != nil && column.Type.compare(p.low, m.Statistics.MinValue) < 0 {
			m.Statistics.MinValue = p.low
		}
		if m.Statistics.MaxValue == nil || p.high != nil && column.Type.compare(p.high, m.Statistics.MaxValue) > 0 {
			m.Statistics.MaxValue = p.high
		}
	}
	return m
}

func (c *chunk) countPages(encoding format.Encoding) (n int32) {
	for i := range c.stats {
		if c.stats[i].encoding == encoding {
			n++
		}
	}
	return n
}

// boundSize is how many bytes of a bound of texts are in the index of values: all that readers need to skip pages.
const boundSize = 16

// columnIndex says what is in the pages of a column. A bound that is cut stays a bound.
func columnIndex(stats []pageStats) *format.ColumnIndex {
	x := new(format.ColumnIndex)
	for i := range stats {
		p := &stats[i]
		x.NullPages = append(x.NullPages, p.low == nil)
		x.NullCounts = append(x.NullCounts, int64(p.nulls))
		x.MinValues = append(x.MinValues, p.low[:min(len(p.low), boundSize)])
		x.MaxValues = append(x.MaxValues, upper(p.high))
	}
	return x
}

// upper is the shortest text that is cut off from a bound and is not below it; the bound itself where there is none.
func upper(bound []byte) []byte {
	if len(bound) <= boundSize {
		return bound
	}
	for n := boundSize; n > 0; n-- {
		if last := bound[n-1]; last < 0xff {
			return append(append([]byte(nil), bound[:n-1]...), last+1)
		}
	}
	return bound
}

// offsetIndex says where the pages of a column are that begin at a place in the file.
func offsetIndex(stats []pageStats, begin int64) *format.OffsetIndex {
	x := new(format.OffsetIndex)
	for i := range stats {
		p := &stats[i]
		x.PageLocations = append(x.PageLocations, format.PageLocation{Offset: begin + int64(p.offset), CompressedPageSize: int32(p.size), FirstRowIndex: int64(p.rows)})
	}
	return x
}
