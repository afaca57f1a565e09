package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

type change struct {
	ModelKey string   `json:"model_key"`
	Kind     string   `json:"kind"`   // one of kinds
	Before   *float64 `json:"before"` // score_0_100 in the first document; null without one
	After    *float64 `json:"after"`  // the same in the second document
	By       *float64 `json:"by"`     // after - before, where both are known
}

// kinds are those of changes, in the order of Diff: another score, a score where there was none, none where there was
// one, a model that the first document does not have, and one that the second does not have.
var kinds = []string{"moved", "scored", "unscored", "new", "removed"}

type difference struct {
	Before  string   `json:"before"` // output_hash_sha256
	After   string   `json:"after"`
	Rules   bool     `json:"rules_changed"` // the rules of the composite are others, so every score may move
	Changes []change `json:"changes"`       // by kind, moved ones by how far, then by key
}

// Diff compares two documents model by model. A model that carries another key is removed and new.
func Diff(a, b *Document) difference {
	d := difference{Before: a.OutputHash, After: b.OutputHash, Rules: a.Normalization.Composite != b.Normalization.Composite, Changes: []change{}}
	was := map[string]*Model{}
	for i := range a.Models {
		was[a.Models[i].ModelKey] = &a.Models[i]
	}
	for i := range b.Models {
		key, score := b.Models[i].ModelKey, b.Models[i].Composite.Score
		old, known := was[key]
		delete(was, key)
		switch {
		case !known:
			d.Changes = append(d.Changes, change{ModelKey: key, Kind: "new", After: score})
		case old.Composite.Score == nil && score != nil:
			d.Changes = append(d.Changes, change{ModelKey: key, Kind: "scored", After: score})
		case old.Composite.Score != nil && score == nil:
			d.Changes = append(d.Changes, change{ModelKey: key, Kind: "unscored", Before: old.Composite.Score})
		case score != nil:
			if by := round4(*score - *old.Composite.Score); by != 0 {
				d.Changes = append(d.Changes, change{key, "moved", old.Composite.Score, score, &by})
			}
		}
	}
	for key, m := range was {
		d.Changes = append(d.Changes, change{ModelKey: key, Kind: "removed", Before: m.Composite.Score})
	}
	slices.SortFunc(d.Changes, func(x, y change) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, x.Kind), slices.Index(kinds, y.Kind)), cmp.Compare(y.far(), x.far()), strings.Compare(x.ModelKey, y.ModelKey))
	})
	return d
}

func (c *change) far() float64 {
	if c.By == nil {
		return 0
	}
	return math.Abs(*c.By)
}

// String has one line for each change.
func (d difference) String() string {
	counts := map[string]int{}
	for _, c := range d.Changes {
		counts[c.Kind]++
	}
	var parts []string
	for _, kind := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%.16s to %.16s: %s\n", d.Before, d.After, strings.Join(parts, ", "))
	if d.Rules {
		b.WriteString("the rules of the composite changed\n")
	}
	for _, c := range d.Changes {
		by := ""
		if c.By != nil {
			by = fmt.Sprintf(" (%+.1f)", *c.By)
		}
		fmt.Fprintf(&b, "%s %s: %s to %s%s\n", c.Kind, c.ModelKey, shown(c.Before, "%.1f", "none"), shown(c.After, "%.1f", "none"), by)
	}
	return b.String()
}
