// Package history is what happened to the records of a dataset from release to release: data/changes/<year>.ndjson.
//
// A Log is all releases, oldest first. A Step is one release and its changes, an Entry what a step did to one record.
// An added record is only named; a removed one is kept whole. So the log and the current records give those of every
// release: Undo takes changes back. Everything is safe for concurrent use.
package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset/record"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Log is the recorded releases, oldest first. It is not changed once made; nil is an empty one.
type Log struct {
	Steps []Step
}

// Step is one release: its line and what it changed, in order of table, then slug.
type Step struct {
	record.Release
	Entries []Entry
}

// Entry is what a step did to one record. The change may be shared with other records.
type Entry struct {
	Slug string
	*record.Change
}

// New makes a log of lines that were checked, see dataset.Check. It shares their memory.
func New(lines []*record.ChangeLine) *Log {
	l := &Log{}
	for _, line := range lines {
		switch {
		case line.Release != nil:
			l.Steps = append(l.Steps, Step{Release: *line.Release})
		case line.Change != nil && len(l.Steps) > 0:
			s := &l.Steps[len(l.Steps)-1]
			for _, slug := range line.Slugs {
				s.Entries = append(s.Entries, Entry{slug, line.Change})
			}
		}
	}
	for i := range l.Steps {
		Sort(l.Steps[i].Entries)
	}
	return l
}

// Sort brings entries into the order of steps.
func Sort(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int { return a.Compare(b.Table, b.Slug) })
}

// Compare orders an entry and the record of a table and a slug, as steps do: by table, then slug.
func (e Entry) Compare(table record.ChangeTable, slug string) int {
	return cmp.Or(cmp.Compare(tableOrder(e.Table), tableOrder(table)), strings.Compare(e.Slug, slug))
}

func tableOrder(t record.ChangeTable) int { return slices.Index(record.ChangeTables, t) }

// Last is the newest step, nil if there is none.
func (l *Log) Last() *Step {
	if l == nil || len(l.Steps) == 0 {
		return nil
	}
	return &l.Steps[len(l.Steps)-1]
}

// Find is the place of the release with a digest, -1 if there is none.
func (l *Log) Find(digest string) int {
	if l == nil {
		return -1
	}
	return slices.IndexFunc(l.Steps, func(s Step) bool { return s.Digest == digest })
}

// Time is when the release was made: the time of its commit, else the start of its day in UTC.
func (s *Step) Time() time.Time {
	if s.Committed != nil {
		if t, err := time.Parse(time.RFC3339, *s.Committed); err == nil {
			return t.UTC()
		}
	}
	if t, ok := s.Released.Time(); ok {
		return t
	}
	return time.Unix(0, 0).UTC() // no date, which Check rejects
}

// maxSlugs is how many records share a line at most, so that a line stays readable.
const maxSlugs = 100

// Append adds a step to the bytes of a file of changes: the release, then its changes in order of table, act and slug.
func Append(file []byte, s *Step) ([]byte, error) {
	file = bytes.Clone(file)
	if len(file) > 0 && !bytes.HasSuffix(file, []byte{'\n'}) {
		file = append(file, '\n')
	}
	lines, err := grouped(s.Entries)
	for _, line := range append([]any{&s.Release}, lines...) {
		b, failed := jsonv2.Marshal(line)
		err = errors.Join(err, failed)
		file = append(append(file, b...), '\n')
	}
	return file, err
}

func grouped(entries []Entry) (lines []any, err error) {
	var all []*record.Change
	open := map[string]*record.Change{} // by what happened: the line that takes more records
	for _, e := range entries {
		c := *e.Change
		c.Slugs = nil
		key, failed := jsonv2.Marshal(&c)
		err = errors.Join(err, failed)
		line := open[string(key)]
		if line == nil || len(line.Slugs) == maxSlugs || e.Act == record.Removed {
			line = &c
			open[string(key)], all = line, append(all, line)
		}
		line.Slugs = append(line.Slugs, e.Slug)
	}
	slices.SortStableFunc(all, func(a, b *record.Change) int {
		return cmp.Or(cmp.Compare(tableOrder(a.Table), tableOrder(b.Table)),
			cmp.Compare(slices.Index(record.Acts, a.Act), slices.Index(record.Acts, b.Act)), strings.Compare(a.Slugs[0], b.Slugs[0]))
	})
	for _, c := range all {
		lines = append(lines, c)
	}
	return lines, err
}

var types = map[record.ChangeTable]reflect.Type{
	"dataset": reflect.TypeFor[record.Info](), "quantizations": reflect.TypeFor[record.QuantizationType](),
	"models": reflect.TypeFor[record.Model](), "hardware": reflect.TypeFor[record.Hardware](), "tools": reflect.TypeFor[record.Tool](),
	"benchmarks": reflect.TypeFor[record.Benchmark](), "quality": reflect.TypeFor[record.Quality](),
}

var errOtherRecord = errors.New("the record is not the one that was changed")

// Undo takes changes of a record of a table back. The record is one line of JSON as record.Line writes it.
func Undo(table record.ChangeTable, line jsontext.Value, fields []record.FieldChange) (jsontext.Value, error) {
	rec := reflect.New(types[table])
	if err := jsonv2.Unmarshal(line, rec.Interface()); err != nil {
		return nil, err
	}
	for i := range fields {
		if err := undo(rec.Elem(), &fields[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", fields[i].Field, err)
		}
	}
	return record.Line(rec.Interface())
}

func undo(v reflect.Value, f *record.FieldChange) error {
	for name := range strings.SplitSeq(f.Field, ".") {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return errOtherRecord
			}
			v = v.Elem()
		}
		switch i, err := strconv.Atoi(name); {
		case v.Kind() == reflect.Struct && record.SchemaOf(v.Type()).Field(name) != nil:
			v = v.FieldByIndex(record.SchemaOf(v.Type()).Field(name).Index)
		case v.Kind() == reflect.Slice && err == nil && i >= 0 && i < v.Len():
			v = v.Index(i)
		default:
			return errOtherRecord
		}
	}
	old, now := reflect.New(v.Type()), reflect.New(v.Type())
	if err := errors.Join(jsonv2.Unmarshal(f.Old, old.Interface()), jsonv2.Unmarshal(f.New, now.Interface())); err != nil {
		return err
	}
	if f.At == nil {
		v.Set(old.Elem())
		return nil
	}
	from, to := int(*f.At), int(*f.At)+now.Elem().Len()
	if v.Kind() != reflect.Slice || to > v.Len() {
		return errOtherRecord
	}
	list := reflect.AppendSlice(v.Slice3(0, from, from), old.Elem())
	v.Set(reflect.AppendSlice(list, v.Slice(to, v.Len())))
	return nil
}
