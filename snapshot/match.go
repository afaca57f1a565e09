package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
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
		settings: map[string]bool{}, resolve: in.Directory.resolve, rep: rep,
	}
	for _, s := range in.Config.Sources {
		for _, w := range s.Settings {
			m.settings[w.Word] = true
		}
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

// group is one model before its key is final, with the results of each source.
type group struct {
	key      string // key of the alias table, or the slug form of the name
	alias    *Alias // nil when no line knows it
	readings map[SourceID][]named
}

type named struct {
	reading
	from *table
}

func (g *group) base() bool { return g.alias != nil && g.alias.Form == baseForm }

// groups joins readings by the alias table, by the key that equals the name without its settings, or by the name alone.
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

// bare cuts the settings in brackets that end a raw name. Other brackets, such as a date, are part of it.
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

// claim gives a group the slug of the directory that its names mean. Of two groups, the one whose own key means it
// wins.
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

// slug asks the directory for the key of a group, then for its names. A reasoning effort goes by its own key only.
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

// preferred picks one reading of a source: the newest split, then the fewest and mildest settings, then the most rows.
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

func (n named) settings() []string {
	_, words := brackets(n.raw)
	return words
}

// Entry is a model of the directory as far as a snapshot needs it.
type Entry struct {
	Slug    string   `json:"slug"`
	Name    string   `json:"name"`
	HFRepo  string   `json:"hf_repo"` // empty where there is none
	Aliases []string `json:"aliases"`
	Facts
}

// Facts is what is known of a model beside its scores. Unknown is nil, and no modalities.
type Facts struct {
	Provider          *string  `json:"provider"`
	Openness          *string  `json:"openness"`
	License           *string  `json:"license"`
	ParameterBillions *float64 `json:"parameter_billions"`
	ContextWindow     *float64 `json:"context_window"` // tokens
	Modalities        []string `json:"modalities"`
}

func (f Facts) or(g Facts) Facts {
	pick(&f.Provider, g.Provider)
	pick(&f.Openness, g.Openness)
	pick(&f.License, g.License)
	pick(&f.ParameterBillions, g.ParameterBillions)
	pick(&f.ContextWindow, g.ContextWindow)
	if len(f.Modalities) == 0 {
		f.Modalities = g.Modalities
	}
	return f
}

func pick[T any](to **T, from *T) {
	if *to == nil {
		*to = from
	}
}

// directory finds the slug of a name. It never changes after NewDirectory and may be used from many goroutines.
type directory struct {
	slugs map[string]string // normal form of a name -> slug, empty where two models share it
	facts map[string]Facts  // slug -> facts
}

// NewDirectory indexes entries by slug, name, Hugging Face id and aliases. A slug always
// means its own model; any other name two models share means neither.
func NewDirectory(entries []Entry) directory {
	d := directory{slugs: map[string]string{}, facts: map[string]Facts{}}
	for _, e := range entries {
		for _, name := range append([]string{e.Name, e.HFRepo}, e.Aliases...) {
			d.learn(normalName(name), e.Slug)
		}
	}
	for _, e := range entries {
		d.slugs[normalName(e.Slug)] = e.Slug
		d.facts[e.Slug] = e.Facts
	}
	return d
}

func (d directory) learn(name, slug string) {
	if name == "" {
		return
	}
	if was, ok := d.slugs[name]; ok && was != slug {
		slug = ""
	}
	d.slugs[name] = slug
}

func (d directory) resolve(name string) (slug string, ok bool) {
	slug = d.slugs[normalName(name)]
	return slug, slug != ""
}

// normalName is the form in which names are compared: lower case, with '-' for runs of other characters than letters,
// digits and "./:+". The organisation stays: under another one it is another model.
func normalName(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("./:+", r) {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return b.String()
}

// slugForm is the key of a name no table knows: its normal form without the characters a slug cannot have.
func slugForm(name string) string {
	return strings.Trim(strings.NewReplacer("/", "-", ":", "-", "+", "-plus").Replace(normalName(name)), "-.")
}

// Alias is one line of the alias table: a model key, its names in the sources, and facts.
type Alias struct {
	ModelKey     string      `json:"model_key"`
	DisplayName  string      `json:"display_name"`
	BaseModelKey string      `json:"base_model_key,omitempty"` // the model this is a setting of, such as a reasoning effort
	Form         string      `json:"form,omitempty"`           // baseForm, or empty for a model that follows instructions
	Names        []aliasName `json:"names"`
	Facts
	Sources []aliasSource `json:"sources,omitempty"`
}

type aliasName struct {
	Source   string `json:"source"` // SourceConfig.Name, or another table whose names are only listed
	ModelRaw string `json:"model_raw"`
	Match    string `json:"match"`          // normalised: the key is the name in slug form; judged: joined by a person
	Note     string `json:"note,omitempty"` // a limitation of scores read under this name
}

type aliasSource struct {
	Fields []string `json:"fields"`
	URL    string   `json:"url"`
}

// baseForm is the Form of a model that was not trained to follow instructions: a base model, or an encoder.
const baseForm = "base"

// judged is the Match of a name a person joined.
const judged = "judged"
