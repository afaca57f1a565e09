package changes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/httpapi/rowjson"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
)

// Row is what one release did to one record.
type Row struct {
	// Version of the dataset that contains the change.
	DatasetVersion string `json:"dataset_version" jsonschema:"example=2026.11.21"`
	// SHA-256 of the record files of that dataset, in hex.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Release day of that dataset.
	Released dataset.Date `json:"released" jsonschema:"example=2026-11-21"`
	// Always true: only recorded releases are listed.
	Recorded bool `json:"recorded" jsonschema:"example=true"`
	// Kind of record. dataset is dataset.json itself; quantizations are the known storage types of weights.
	Table string `json:"table" jsonschema:"enum=dataset,enum=quantizations,enum=models,enum=hardware,enum=tools,enum=benchmarks,example=benchmarks"`
	// Slug of the record, id of a benchmark, or name of a storage type.
	Slug string `json:"slug" jsonschema:"example=bm-d20987d408c6"`
	// Kind of change. A withdrawn benchmark stays in the dataset and says why.
	Change record.Act `json:"change" jsonschema:"example=changed"`
	// Changed fields; empty if the record was added or removed.
	Fields []record.FieldChange `json:"fields"`
	// The removed record as it was in its file; with records=true, also an added record. Otherwise null.
	Record any `json:"record"`
}

// A Trail is the releases between an edition of the dataset that a caller has and the one being served.
type Trail struct {
	Steps []history.Step // oldest first
	// Gap says that the records being served are not those of a recorded release.
	Gap bool

	past *Past
	gen  *index.Generation
}

// Trail finds the releases after an edition, up to a generation; false if the edition is not known. An empty since
// means from the first edition known.
func (p *Past) Trail(gen *index.Generation, since string) (t Trail, ok bool) {
	steps, digest := p.UpTo(gen), gen.Digest.String()
	t = Trail{past: p, gen: gen}
	if since != "" {
		from := find(steps, since)
		if from < 0 {
			return t, since == gen.Info.Version || len(since) >= ShortDigest && strings.HasPrefix(digest, since)
		}
		t.Steps = steps[from+1:]
	} else {
		t.Steps = steps
	}
	t.Gap = len(steps) > 0 && steps[len(steps)-1].Digest != digest
	return t, true
}

// UpTo are the releases up to a generation, oldest first.
func (p *Past) UpTo(gen *index.Generation) []history.Step {
	return p.Steps[:cmp.Or(indexOf(p.Steps, gen.Digest.String())+1, len(p.Steps))]
}

// State names what the trail was made from: the releases, and the generation being served.
func (t *Trail) State() string {
	return strconv.FormatUint(t.past.Number, 10) + " " + strconv.FormatUint(t.gen.Number, 10)
}

// Leads reports whether a trail leads to the edition with a digest.
func (t *Trail) Leads(digest string) bool { return indexOf(t.Steps, digest) >= 0 }

func indexOf(steps []history.Step, digest string) int {
	return slices.IndexFunc(steps, func(s history.Step) bool { return s.Digest == digest })
}

// How much of a digest or a commit names an edition of the dataset.
const (
	ShortDigest = 12
	shortCommit = 7
)

// Named reports whether a release is what a version, or the beginning of its digest or commit, names.
func Named(s *history.Step, ref string) bool {
	return s.Version == ref || len(ref) >= ShortDigest && strings.HasPrefix(s.Digest, ref) ||
		len(ref) >= shortCommit && s.Commit != nil && strings.HasPrefix(*s.Commit, ref)
}

// find is the place of the release that a caller has, -1 for none. A version means the first release of it, because the
// caller may have any; a digest the last, for those are all the same. A day means the release before that day.
func find(steps []history.Step, since string) int {
	if at := slices.IndexFunc(steps, func(s history.Step) bool { return s.Version == since }); at >= 0 {
		return at
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if Named(&steps[i], since) {
			return i
		}
	}
	if _, err := time.Parse(time.DateOnly, since); err != nil || len(steps) == 0 || since < string(steps[0].Released) {
		return -1
	}
	at := slices.IndexFunc(steps, func(s history.Step) bool { return string(s.Released) >= since })
	if at < 0 {
		at = len(steps)
	}
	return max(0, at-1)
}

// Mentions reports whether a release did something to a record.
func (p *Past) Mentions(table, slug string) bool {
	return slices.ContainsFunc(p.Steps, func(s history.Step) bool {
		_, found := slices.BinarySearchFunc(s.Entries, table+"/"+slug, compareKeys)
		return found
	})
}

// A Change is one change of a trail.
type Change struct {
	Step *history.Step
	history.Entry
}

// A Query says which changes a page has.
type Query struct {
	// Tables, slugs and fields of the changes; nil means all of them.
	Tables, Slugs, Fields []string
	Limit                 int
	After                 *index.Position // the last change of the page before; nil for the first page
}

// Page selects the changes of a page and counts those of all pages. last is the place of the last of the page, nil
// where no other follows.
func (t *Trail) Page(q *Query) (rows []Change, total int, last *index.Position) {
	started, more := q.After == nil, false
	for i := range t.Steps {
		s := &t.Steps[i]
		for _, e := range s.Entries {
			if !q.wants(e) {
				continue
			}
			total++
			switch {
			case !started && (s.Digest != q.After.Text || compareKeys(e, q.After.Slug) <= 0):
			case len(rows) < q.Limit:
				rows = append(rows, Change{s, e})
			default:
				more = true
			}
		}
		started = started || s.Digest == q.After.Text
	}
	if more {
		end := rows[len(rows)-1]
		last = &index.Position{Known: true, Text: end.Step.Digest, Slug: string(end.Table) + "/" + end.Slug}
	}
	return rows, total, last
}

// compareKeys compares the place of a change within its release with that of a cursor.
func compareKeys(e history.Entry, key string) int {
	table, slug, _ := strings.Cut(key, "/")
	return e.Compare(record.ChangeTable(table), slug)
}

func (q *Query) wants(e history.Entry) bool {
	return (q.Tables == nil || slices.Contains(q.Tables, string(e.Table))) && (q.Slugs == nil || slices.Contains(q.Slugs, e.Slug)) &&
		(q.Fields == nil || slices.ContainsFunc(e.Fields, func(f record.FieldChange) bool {
			return slices.ContainsFunc(q.Fields, func(name string) bool {
				rest, in := strings.CutPrefix(f.Field, name)
				return in && (rest == "" || rest[0] == '.')
			})
		}))
}

// Rows are changes as the list has them, each in JSON; with records they have the records that were added, too.
func (t *Trail) Rows(changes []Change, records bool) [][]byte {
	rows := make([][]byte, len(changes))
	for i, c := range changes {
		row := Row{
			DatasetVersion: c.Step.Version, Digest: c.Step.Digest, Released: c.Step.Released, Recorded: true,
			Table: string(c.Table), Slug: c.Slug, Change: c.Act, Fields: c.Fields,
		}
		switch {
		case c.Act == record.Removed:
			row.Record = c.Record
		case c.Act == record.Added && records:
			row.Record = t.added(c)
		}
		rows[i] = rowjson.Marshal(row)
	}
	return rows
}

// added is a record as it was when it was added: as it is now, with what the releases since recorded taken back; edits
// that no release recorded stay in it. It is nil where the changes do not fit the record.
func (t *Trail) added(c Change) any {
	var line jsontext.Value
	if rec, known := t.past.records()[string(c.Table)][c.Slug]; known {
		line = rowjson.Marshal(rec)
	}
	for i := len(t.past.Steps) - 1; t.past.Steps[i].Digest != c.Step.Digest; i-- {
		entries := t.past.Steps[i].Entries
		at, found := slices.BinarySearchFunc(entries, string(c.Table)+"/"+c.Slug, compareKeys)
		var err error
		switch {
		case !found || line == nil && entries[at].Act != record.Removed:
		case entries[at].Act == record.Removed:
			line = entries[at].Record
		case entries[at].Act == record.Added:
			line = nil
		default:
			line, err = history.Undo(c.Table, line, entries[at].Fields)
		}
		if err != nil {
			return nil
		}
	}
	if line == nil {
		return nil
	}
	return line
}
