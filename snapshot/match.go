package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

type matcher struct {
	aliases  map[string]*Alias // model key of the alias table -> its line
	named    map[string]*Alias // source name + NUL + raw name -> line
	judged   map[string]bool   // the same names where a person joined them
	notes    map[string]string // the same names -> what to say of them
	settings map[string]bool   // words of brackets that are no part of a name
	resolve  func(string) (string, bool)
	rep      *Report
}

func newMatcher(in Inputs, rep *Report) (*matcher, error) {
	m := &matcher{
		aliases: map[string]*Alias{}, named: map[string]*Alias{}, judged: map[string]bool{}, notes: map[string]string{},
		settings: map[string]bool{}, resolve: in.Resolve, rep: rep,
	}
	for _, s := range in.Config.Sources {
		for _, w := range s.Settings {
			m.settings[w.Word] = true
		}
	}
	if m.resolve == nil {
		m.resolve = func(string) (string, bool) { return "", false }
	}
	for i := range in.Aliases {
		if err := m.learn(&in.Aliases[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *matcher) learn(a *Alias) error {
	if a.ModelKey == "" || m.aliases[a.ModelKey] != nil {
		return fmt.Errorf("alias %q: model_key: must be unique and not empty", a.ModelKey)
	}
	if a.Form != "" && a.Form != baseForm {
		return fmt.Errorf("alias %q: form: must be %q or absent, got %q", a.ModelKey, baseForm, a.Form)
	}
	m.aliases[a.ModelKey] = a
	for _, n := range a.Names {
		key := nameKey(n.Source, n.ModelRaw)
		if was := m.named[key]; was != nil && was != a {
			return fmt.Errorf("alias %q: name %q of %s: must mean one model, means %q too", a.ModelKey, n.ModelRaw, n.Source, was.ModelKey)
		}
		m.named[key] = a
		m.judged[key] = n.Match == judged
		m.notes[key] = n.Note
	}
	return nil
}

func nameKey(source, raw string) string { return source + "\x00" + raw }

// group is one model before its key is final: what each source reads of it.
type group struct {
	key      string // key of the alias table, or the slug form of the name
	alias    *Alias // nil when no line knows it
	readings map[SourceID][]named
}

type named struct {
	reading
	from *table
}

// base reports whether the model was not trained to follow instructions.
func (g *group) base() bool { return g.alias != nil && g.alias.Form == baseForm }

// groups joins the readings of all tables by the first three rules. These are the alias table, the key that
// equals the normal form of the name without its settings, and the name alone.
func (m *matcher) groups(tables []*table) []*group {
	byKey := map[string]*group{}
	for _, t := range tables {
		for _, r := range t.readings {
			key, alias := m.key(t.cfg, r.raw)
			if key == "" {
				m.rep.Dropped = append(m.rep.Dropped, name{t.cfg.SourceID, r.raw})
				continue
			}
			g := byKey[key]
			if g == nil {
				g = &group{key: key, alias: alias, readings: map[SourceID][]named{}}
				byKey[key] = g
			}
			g.readings[t.cfg.SourceID] = append(g.readings[t.cfg.SourceID], named{r, t})
		}
	}
	all := make([]*group, 0, len(byKey))
	for _, g := range byKey {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int { return strings.Compare(a.key, b.key) })
	return all
}

func (m *matcher) key(cfg *SourceConfig, raw string) (string, *Alias) {
	if a := m.named[nameKey(cfg.Name, raw)]; a != nil {
		return a.ModelKey, a
	}
	key := slugForm(m.bare(raw))
	if a := m.aliases[key]; a != nil {
		m.rep.ByRule = append(m.rep.ByRule, name{cfg.SourceID, raw})
		return key, a
	}
	if slug, ok := m.resolve(m.bare(raw)); ok {
		m.rep.ByRule = append(m.rep.ByRule, name{cfg.SourceID, raw})
		return slug, m.aliases[slug]
	}
	if key != "" {
		m.rep.Unmatched = append(m.rep.Unmatched, name{cfg.SourceID, raw})
	}
	return key, nil
}

// bare cuts the settings in brackets that end a raw name. Brackets that hold anything else,
// such as a date, are part of the name.
func (m *matcher) bare(raw string) string {
	before, words := brackets(raw)
	for _, w := range words {
		if !m.settings[w] {
			return raw
		}
	}
	return before
}

// brackets parts "name (one, two)" into the name and its words.
func brackets(raw string) (before string, words []string) {
	i := strings.LastIndex(raw, " (")
	if i <= 0 || !strings.HasSuffix(raw, ")") {
		return raw, nil
	}
	return raw[:i], strings.Split(raw[i+2:len(raw)-1], ", ")
}

// claim gives every group the slug of the directory where one of its names is in it. Where
// two groups want one slug, the one whose own key means it wins, and the rest keep their keys.
func (m *matcher) claim(groups []*group) {
	type claimant struct {
		g    *group
		rank int // 0: its key is the slug, 1: its key means the slug, 2: one of its names does
	}
	wants := map[string][]claimant{} // slug -> groups
	for _, g := range groups {
		if slug, rank, ok := m.slug(g); ok {
			wants[slug] = append(wants[slug], claimant{g, rank})
		}
	}
	for slug, cs := range wants {
		slices.SortFunc(cs, func(a, b claimant) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.g.key, b.g.key))
		})
		for _, lost := range cs[1:] {
			m.rep.Contested = append(m.rep.Contested, fmt.Sprintf("%s: wanted by %s and %s, given to the first", slug, cs[0].g.key, lost.g.key))
		}
		m.rep.InDirectory = append(m.rep.InDirectory, slug)
		cs[0].g.key = slug
	}
	slices.Sort(m.rep.InDirectory)
	slices.Sort(m.rep.Contested)
}

// slug asks the directory for the key of a group, then for its names. A setting of another
// model (a reasoning effort) goes by its own key only, because its names may be those of the base.
func (m *matcher) slug(g *group) (slug string, rank int, ok bool) {
	if slug, ok := m.resolve(g.key); ok {
		if slug == g.key {
			return slug, 0, true
		}
		return slug, 1, true
	}
	if g.alias != nil && g.alias.BaseModelKey != "" {
		return "", 0, false
	}
	found := map[string]bool{}
	for _, name := range g.names() {
		if s, ok := m.resolve(m.bare(name)); ok {
			slug, found[s] = s, true
		}
	}
	if len(found) > 1 {
		m.rep.Contested = append(m.rep.Contested, fmt.Sprintf("%s: its names mean %d models of the directory, given none", g.key, len(found)))
	}
	return slug, 2, len(found) == 1
}

// names returns every name of the group, in the alias table and in the tables, sorted.
func (g *group) names() []string {
	var names []string
	if g.alias != nil {
		for _, n := range g.alias.Names {
			names = append(names, n.ModelRaw)
		}
	}
	for _, rs := range g.readings {
		for _, r := range rs {
			names = append(names, r.raw)
		}
	}
	return once(names)
}

// preferred picks one reading of a source: the newest split, then the fewest and mildest settings,
// then the most rows, then the name. The others are only named.
func preferred(rs []named) (named, []named) {
	slices.SortFunc(rs, func(a, b named) int {
		return cmp.Or(
			cmp.Compare(a.split, b.split),
			cmp.Compare(a.penalty(), b.penalty()),
			cmp.Compare(len(b.rows), len(a.rows)),
			strings.Compare(a.raw, b.raw),
		)
	})
	return rs[0], rs[1:]
}

// penalty weighs the settings of a name: an earlier setting of the configuration outweighs all later ones together.
func (n named) penalty() int {
	sum := 0
	for i, s := range n.from.cfg.Settings {
		if slices.Contains(n.settings(), s.Word) {
			sum += 1 << (len(n.from.cfg.Settings) - i)
		}
	}
	return sum
}

// settings returns the words in the brackets that end the raw name.
func (n named) settings() []string {
	_, words := brackets(n.raw)
	return words
}
