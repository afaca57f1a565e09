package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"modeldex/dataset/record"
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
func Sort(entries []Entry) { slices.SortFunc(entries, compareEntries) }

func compareEntries(a, b Entry) int {
	return cmp.Or(cmp.Compare(tableOrder(a.Table), tableOrder(b.Table)), strings.Compare(a.Slug, b.Slug))
}

func tableOrder(t record.ChangeTable) int { return slices.Index(record.ChangeTables, t) }

// Last is the newest step, nil if there is none.
func (l *Log) Last() *Step {
	if l == nil || len(l.Steps) == 0 {
		return nil
	}
	return &l.Steps[len(l.Steps)-1]
}

// Find is the place of the release with a digest, -1 where there is none.
func (l *Log) Find(digest string) int {
	if l == nil {
		return -1
	}
	return slices.IndexFunc(l.Steps, func(s Step) bool { return s.Digest == digest })
}

// Time is when the release was made: the time of its commit, else the start of its day in UTC. A
// day that is only a month or a year counts as the first day of it.
func (s *Step) Time() time.Time {
	if s.Committed != nil {
		if t, err := time.Parse(time.RFC3339, *s.Committed); err == nil {
			return t.UTC()
		}
	}
	for _, form := range []string{time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(form, string(s.Released)); err == nil {
			return t
		}
	}
	return time.Unix(0, 0).UTC() // no date, which Check does not let pass
}
