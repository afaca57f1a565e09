package history

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"modeldex/dataset/record"

	jsonv2 "github.com/goccy/go-json/v2"
)

// maxSlugs is how many records share a line at most, so that a line stays readable.
const maxSlugs = 100

// linesOf gives a step as the lines of its file: the release, then the changes in order of table, act
// and first slug. The same step always gives the same bytes.
func linesOf(s *Step) ([]byte, error) {
	b, err := appendLine(nil, &s.Release)
	if err != nil {
		return nil, err
	}
	for _, c := range grouped(s.Entries) {
		if b, err = appendLine(b, c); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendLine(dst []byte, v any) ([]byte, error) {
	b, err := jsonv2.Marshal(v)
	return append(append(dst, b...), '\n'), err
}

// grouped brings the records to which the same happened together.
func grouped(entries []Entry) []*record.Change {
	type group struct {
		key   string
		lines []*record.Change
	}
	byKey := map[string]*group{}
	var out []*record.Change
	for _, e := range entries {
		key, err := jsonv2.Marshal(record.Change{Table: e.Table, Act: e.Act, Fields: e.Fields, Record: e.Record})
		if err != nil {
			key = []byte(e.Slug) // values were read from JSON; the line itself then fails
		}
		g := byKey[string(key)]
		if g == nil {
			g = &group{key: string(key)}
			byKey[g.key] = g
		}
		if n := len(g.lines); n == 0 || len(g.lines[n-1].Slugs) == maxSlugs || e.Act == record.Removed {
			c := *e.Change
			c.Slugs = nil
			g.lines = append(g.lines, &c)
			out = append(out, &c)
		}
		last := g.lines[len(g.lines)-1]
		last.Slugs = append(last.Slugs, e.Slug)
	}
	slices.SortStableFunc(out, func(a, b *record.Change) int {
		return cmp.Or(cmp.Compare(tableOrder(a.Table), tableOrder(b.Table)), cmp.Compare(slices.Index(record.Acts, a.Act), slices.Index(record.Acts, b.Act)),
			strings.Compare(a.Slugs[0], b.Slugs[0]))
	})
	return out
}

// Append adds a step to the bytes of a file of changes.
func Append(file []byte, s *Step) ([]byte, error) {
	if len(file) > 0 && !bytes.HasSuffix(file, []byte{'\n'}) {
		file = append(bytes.Clone(file), '\n')
	}
	b, err := linesOf(s)
	return append(bytes.Clone(file), b...), err
}
