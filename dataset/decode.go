package dataset

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"modeldex/dataset/ndjson"
	"modeldex/dataset/record"
)

// decodeLines decodes the lines of a chunk that begins at the given line of a file.
func (l *loader) decodeLines(file, line int, b []byte) {
	switch kindOf(l.files[file]) {
	case modelsDir:
		decodeLines(l, l.models.put, sharing(l, record.Decode[Model]), file, line, b)
	case hardwareDir:
		decodeLines(l, l.hardware.put, sharing(l, record.Decode[Hardware]), file, line, b)
	case toolsDir:
		decodeLines(l, l.tools.put, sharing(l, record.Decode[Tool]), file, line, b)
	case benchmarksDir:
		decodeLines(l, l.benchmarks.put, sharing(l, record.Decode[Benchmark]), file, line, b)
	case ChangesDir:
		decodeLines(l, l.changes.put, sharing(l, record.DecodeChange), file, line, b)
	}
}

// decodeFile decodes a .json file.
func (l *loader) decodeFile(file int, b []byte) {
	switch kindOf(l.files[file]) {
	case infoFile:
		decodeFile(l, l.info.put, record.Decode, file, b)
	case quantizationsFile:
		decodeFile(l, l.quantizations.put, record.Decode, file, b)
	case sourcesFile:
		decodeFile(l, l.origins.put, record.DecodeOrigin, file, b)
	case modelsDir:
		decodeFile(l, l.models.put, sharing(l, record.Decode[Model]), file, b)
	case hardwareDir:
		decodeFile(l, l.hardware.put, sharing(l, record.Decode[Hardware]), file, b)
	case toolsDir:
		decodeFile(l, l.tools.put, sharing(l, record.Decode[Tool]), file, b)
	case benchmarksDir:
		decodeFile(l, l.benchmarks.put, sharing(l, record.Decode[Benchmark]), file, b)
	}
}

// sharing is a decode whose records share what is equal in them.
func sharing[T any](l *loader, decode decodeFunc[T]) decodeFunc[T] {
	return func(b []byte, rec *T) []record.Problem {
		problems := decode(b, rec)
		if problems == nil {
			l.shared.Share(rec)
		}
		return problems
	}
}

// minLine is a guess at the shortest useful record, so that a file of line ends does not reserve
// memory for as many records.
const minLine = 100

func expected(n int, b []byte) int { return min(n, len(b)/minLine+1) }

// A decodeFunc decodes one record, see record.Decode.
type decodeFunc[T any] func(b []byte, rec *T) []record.Problem

func decodeLines[T any](l *loader, put func(chunk[T]), decode decodeFunc[T], file, first int, b []byte) {
	c := newChunk[T](place{file: int32(file), line: int32(first)}, expected(bytes.Count(b, []byte{'\n'})+1, b))
	for line, text := range ndjson.Lines(first, b) {
		if l.full.Load() {
			break
		}
		at := place{file: int32(file), line: int32(line)}
		decodeRecord(l, &c, decode, at, text)
	}
	put(c)
}

// decodeFile decodes a .json file: one object, or an array of them.
func decodeFile[T any](l *loader, put func(chunk[T]), decode decodeFunc[T], file int, b []byte) {
	if kind, offset := schemaOfOther(l.files[file], b); kind != "" {
		l.fault(place{file: int32(file), line: 1}, b, []record.Problem{{Offset: offset, Field: "$schema", Text: fmt.Sprintf("is that of %s: move the file into that folder, or name the schema of %s", kind, kindOf(l.files[file]))}})
		l.missed(l.files[file])
		l.missed(path.Join(kind, "any"))
		return
	}
	b = WithoutSchema(l.files[file], b)
	spans, array, broken := record.Split(b)
	l.single[file] = !array
	c := newChunk[T](place{file: int32(file)}, expected(len(spans), b))
	walkSpans(b, int32(file), spans, func(at place, text []byte) {
		if !l.full.Load() {
			decodeRecord(l, &c, decode, at, text)
		}
	})
	if broken != nil {
		c.undecodable = append(c.undecodable, undecodable{at: c.at})
		l.fault(place{file: int32(file), line: 1}, b, []record.Problem{*broken})
	}
	put(c)
}

// walkSpans gives each record its place and its text from the start of its first line.
func walkSpans(b []byte, file int32, spans []record.Span, visit func(at place, text []byte)) {
	line, start := 1, 0 // of the line the record begins on
	for _, v := range spans {
		line += bytes.Count(b[start:v.From], []byte{'\n'})
		start += bytes.LastIndexByte(b[start:v.From], '\n') + 1
		visit(place{file, int32(line), int32(v.From - start)}, b[start:v.To])
	}
}

// decodeRecord decodes one record, which begins at.col bytes into text; text begins with its
// line.
func decodeRecord[T any](l *loader, c *chunk[T], decode decodeFunc[T], at place, text []byte) {
	rec, b := c.next(), text[at.col:]
	if problems := decode(b, rec); problems != nil {
		l.fault(at, text, problems)
		if !record.Salvage(b, rec) {
			c.undecodable = append(c.undecodable, undecodable{at, l.slugOf(at, b)})
			return
		}
	}
	c.recs = append(c.recs, rec)
	c.places = append(c.places, at)
}

// slugOf finds the slug of a record too broken to decode, in its text or its file name.
func (l *loader) slugOf(at place, b []byte) Slug {
	name := l.files[at.file]
	switch {
	case kindOf(name) == benchmarksDir:
		return Slug(record.TextAt(b, "id"))
	case l.single[at.file]:
		return Slug(strings.TrimSuffix(path.Base(name), ".json"))
	default:
		return Slug(record.TextAt(b, "slug"))
	}
}
