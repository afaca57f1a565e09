package snapshot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// change is what happened to one model between two documents.
type change struct {
	ModelKey string   `json:"model_key"`
	Kind     string   `json:"kind"`   // new, removed, scored, unscored or moved
	Before   *float64 `json:"before"` // score_0_100 in the first document; null without one
	After    *float64 `json:"after"`  // the same in the second document
	By       *float64 `json:"by"`     // after - before, where both are known
	Why      []string `json:"why"`    // what differs in what the score is made from
}

// The kinds of changes, in the order of Diff.
const (
	kindMoved    = "moved"    // another score
	kindScored   = "scored"   // a score where there was none
	kindUnscored = "unscored" // no score where there was one
	kindNew      = "new"      // not in the first document
	kindRemoved  = "removed"  // not in the second document
)

// difference is what Diff finds between two documents.
type difference struct {
	Before  string   `json:"before"` // output_hash_sha256
	After   string   `json:"after"`
	Rules   bool     `json:"rules_changed"` // the rules of the composite are others, so every score may move
	Changes []change `json:"changes"`       // by kind, moved ones by how far, then by key
}

// Diff compares two documents model by model. A model that carries another key in the second
// document is removed and new.
func Diff(a, b *Document) difference {
	d := difference{Before: a.OutputHash, After: b.OutputHash, Rules: a.Normalization.Composite != b.Normalization.Composite, Changes: []change{}}
	was := map[string]*Model{}
	for i := range a.Models {
		was[a.Models[i].ModelKey] = &a.Models[i]
	}
	for i := range b.Models {
		m := &b.Models[i]
		if old := was[m.ModelKey]; old == nil {
			d.Changes = append(d.Changes, change{ModelKey: m.ModelKey, Kind: kindNew, After: m.Composite.Score, Why: []string{"sources " + sourceText(m)}})
		} else if c, changed := changeOf(old, m, d.Rules); changed {
			d.Changes = append(d.Changes, c)
		}
		delete(was, m.ModelKey)
	}
	for key, m := range was {
		d.Changes = append(d.Changes, change{ModelKey: key, Kind: kindRemoved, Before: m.Composite.Score, Why: []string{whereTo(m, b)}})
	}
	order := []string{kindMoved, kindScored, kindUnscored, kindNew, kindRemoved}
	slices.SortFunc(d.Changes, func(x, y change) int {
		return cmp.Or(cmp.Compare(slices.Index(order, x.Kind), slices.Index(order, y.Kind)), cmp.Compare(y.far(), x.far()), strings.Compare(x.ModelKey, y.ModelKey))
	})
	return d
}

func (c *change) far() float64 {
	if c.By == nil {
		return 0
	}
	return math.Abs(*c.By)
}

// changeOf compares the composites of one model.
func changeOf(a, b *Model, rules bool) (change, bool) {
	c := change{ModelKey: b.ModelKey, Kind: kindMoved, Before: a.Composite.Score, After: b.Composite.Score, Why: whyMoved(a, b, rules)}
	switch {
	case c.Before == nil && c.After == nil:
		return c, false
	case c.Before == nil:
		c.Kind = kindScored
	case c.After == nil:
		c.Kind = kindUnscored
		if slices.Contains(b.Composite.Limitations, baseLimitation) {
			c.Why = append(c.Why, "it is a base model")
		}
	default:
		by := round4(*c.After - *c.Before)
		c.By = &by
		return c, by != 0
	}
	return c, true
}

// whyMoved says what differs in the numbers behind two composites of one model.
func whyMoved(a, b *Model, rules bool) []string {
	var why []string
	if from, to := sourceText(a), sourceText(b); from != to {
		why = append(why, fmt.Sprintf("sources %s, were %s", to, from))
	}
	for _, id := range sourceIDs {
		if s := scoresDiffer(id, a, b); s != "" {
			why = append(why, s)
		}
	}
	if len(why) == 0 && !rules {
		why = append(why, "the same scores and words: the documents disagree")
	}
	if rules {
		why = append(why, "other rules or lines")
	}
	return why
}

// scoresDiffer compares the published scores of one source.
func scoresDiffer(id SourceID, a, b *Model) string {
	key := func(s *Score) string {
		return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%v", s.SourceSplit, s.Metric, text(s.Category), text(s.Task), s.Value)
	}
	split := func(m *Model) (in []string, name string) {
		for i := range m.Scores {
			if s := &m.Scores[i]; s.SourceID == id {
				in, name = append(in, key(s)), s.SourceSplit
			}
		}
		slices.Sort(in)
		return in, name
	}
	from, release := split(a)
	to, now := split(b)
	switch {
	case len(from) == 0 || len(to) == 0 || slices.Equal(from, to):
		return ""
	case release != now:
		return fmt.Sprintf("%s: release %s, was %s", id, now, release)
	}
	return fmt.Sprintf("%s: other scores", id)
}

// whereTo finds a removed model under another key, by its names.
func whereTo(m *Model, b *Document) string {
	for i := range b.Models {
		for _, name := range append([]string{m.ModelKey}, m.Aliases...) {
			if slices.Contains(b.Models[i].Aliases, name) {
				return "its name is now of " + b.Models[i].ModelKey
			}
		}
	}
	return "no source of the second document has it"
}

func sourceText(m *Model) string {
	ids := make([]string, len(m.SourceIDs))
	for i, id := range m.SourceIDs {
		ids[i] = string(id)
	}
	return strings.Join(ids, "+")
}

// WriteTo prints one line for each change.
func (d difference) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	counts := map[string]int{}
	for _, c := range d.Changes {
		counts[c.Kind]++
	}
	fmt.Fprintf(&b, "%.16s to %.16s: %d moved, %d scored, %d unscored, %d new, %d removed\n",
		d.Before, d.After, counts[kindMoved], counts[kindScored], counts[kindUnscored], counts[kindNew], counts[kindRemoved])
	if d.Rules {
		b.WriteString("the rules of the composite changed\n")
	}
	for _, c := range d.Changes {
		by := ""
		if c.By != nil {
			by = fmt.Sprintf(" (%+.1f)", *c.By)
		}
		fmt.Fprintf(&b, "%s %s: %s to %s%s: %s\n", c.Kind, c.ModelKey, shortNumber(c.Before), shortNumber(c.After), by, strings.Join(c.Why, "; "))
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func shortNumber(f *float64) string {
	if f == nil {
		return "none"
	}
	return fmt.Sprintf("%.1f", *f)
}
