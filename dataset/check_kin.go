package dataset

import (
	"fmt"
	"math"
	"strings"
)

// tuned are the endings by which makers tell the model for use from the base model of the same name.
var tuned = []string{"-instruct", "-it", "-chat"}

// checkKin warns of a model that is older than the base model of its name, and of an exact parameter
// count that another model of another shape has to the last digit: it was copied.
func (l *loader) checkKin() {
	bySlug := make(map[Slug]*Model, len(l.models.recs))
	byCount := map[float64]*Model{}
	for _, m := range l.models.recs {
		bySlug[m.Slug] = m
	}
	for i, m := range l.models.recs {
		p := l.models.places[i]
		if base := baseOf(m, bySlug); base != nil && m.ReleaseDate != nil && base.ReleaseDate != nil && before(*m.ReleaseDate, *base.ReleaseDate) {
			l.warning(p, "release_date", fmt.Sprintf("is before that of the base model %s, got %q and %q", base.Slug, *m.ReleaseDate, *base.ReleaseDate))
		}
		if m.ParamsB == nil || !exact(*m.ParamsB) {
			continue
		}
		if other, ok := byCount[*m.ParamsB]; !ok {
			byCount[*m.ParamsB] = m
		} else if otherShape(&m.Architecture, &other.Architecture) {
			l.warning(p, "params_b", fmt.Sprintf("is that of %s to the last digit, which has other layers or widths, got %v", other.Slug, *m.ParamsB), "architecture")
		}
	}
}

// baseOf is the base model that a model is named after, nil if there is none.
func baseOf(m *Model, known map[Slug]*Model) *Model {
	for _, ending := range tuned {
		if name, ok := strings.CutSuffix(string(m.Slug), ending); ok {
			return known[Slug(name)]
		}
	}
	return nil
}

// before compares two dates as far as both say: a year is not before a day in it.
func before(a, b Date) bool {
	n := min(len(a), len(b))
	return a[:n] < b[:n]
}

// exact reports whether a count in billions is known to the million or better, as no rounded name is.
func exact(params float64) bool {
	thousands := params * 1000
	return math.Abs(thousands-math.Round(thousands)) > 1e-6
}

// otherShape reports whether two shapes differ in more than entries added to a vocabulary.
func otherShape(a, b *Architecture) bool {
	differ := func(x, y *int64) bool { return x != nil && y != nil && *x != *y }
	return differ(a.NumLayers, b.NumLayers) || differ(a.HiddenSize, b.HiddenSize) ||
		differ(a.IntermediateSize, b.IntermediateSize) || differ(a.MoEIntermediateSize, b.MoEIntermediateSize)
}

// checkAccounts warns of an organization that is not that of the other models of its account on the Hub: it was copied
// with the rest of another record.
func (l *loader) checkAccounts() {
	accounts := map[string][]int{} // account -> models
	for i, m := range l.models.recs {
		if m.HFRepo != nil && !l.anyFaulty(l.models.places[i]) {
			account, _, _ := strings.Cut(strings.ToLower(*m.HFRepo), "/")
			accounts[account] = append(accounts[account], i)
		}
	}
	for account, models := range accounts {
		usual := l.usualOrganization(models)
		for _, i := range models {
			if got := l.models.recs[i].Organization; got != usual {
				l.warning(l.models.places[i], "organization", fmt.Sprintf("is not %q, that of other models of the account %s, got %q", usual, account, got), "hf_repo")
			}
		}
	}
}

// usualOrganization is the organization that most of the models have, the first of those that as many have.
func (l *loader) usualOrganization(models []int) (usual string) {
	count, most := map[string]int{}, 0
	for _, i := range models {
		count[l.models.recs[i].Organization]++
	}
	for _, i := range models {
		if n := count[l.models.recs[i].Organization]; n > most {
			usual, most = l.models.recs[i].Organization, n
		}
	}
	return usual
}

// checkOwn warns of what only one record has and another one has too: it is left over from the record that a new one was
// copied from.
func (l *loader) checkOwn() {
	own := owned{l, map[string]Slug{}}
	for i, m := range l.models.recs {
		for k := range m.Quantizations {
			q := &m.Quantizations[k]
			if q.Repo != nil && own.warn(l.models.places[i], m.Slug, fmt.Sprintf("quantizations.%d.repo", k), *q.Repo, "file "+q.Format+" "+q.Name) {
				break // the others were copied with it
			}
		}
	}
	for i, h := range l.hardware.recs {
		for k, id := range h.PCIIDs {
			own.warn(l.hardware.places[i], h.Slug, fmt.Sprintf("pci_ids.%d", k), id, ownID)
		}
	}
	for i, t := range l.tools.recs {
		own.address(l.tools.places[i], t.Slug, "repository", t.Repository)
		own.address(l.tools.places[i], t.Slug, "homepage", t.Homepage)
	}
}

const ownID = "id"

// owned knows the first record that has something.
type owned struct {
	*loader
	first map[string]Slug
}

func (o owned) warn(p place, slug Slug, field, value, what string) (warned bool) {
	key := what + "\x00" + strings.TrimSuffix(strings.ToLower(value), "/")
	switch first, known := o.first[key]; {
	case !known:
		o.first[key] = slug
	case first != slug:
		text := fmt.Sprintf("is that of %s as well", first)
		if what == ownID {
			text += ", and an id of several parts belongs in pci_ids_shared"
		}
		o.warning(p, field, fmt.Sprintf("%s, got %q", text, value))
		return true
	}
	return false
}

func (o owned) address(p place, slug Slug, field string, address *URL) {
	if address != nil {
		o.warn(p, slug, field, string(*address), field)
	}
}
