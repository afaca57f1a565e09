package snapshot

import (
	"strings"
	"unicode"
)

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

// or fills what is unknown in f from g.
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
func NewDirectory(entries []Entry) *directory {
	d := &directory{slugs: map[string]string{}, facts: map[string]Facts{}}
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

func (d *directory) learn(name, slug string) {
	if name == "" {
		return
	}
	if was, ok := d.slugs[name]; ok && was != slug {
		slug = ""
	}
	d.slugs[name] = slug
}

// Resolve returns the slug of the model that name means.
func (d *directory) Resolve(name string) (slug string, ok bool) {
	slug = d.slugs[normalName(name)]
	return slug, slug != ""
}

// Facts returns what the directory knows of a slug.
func (d *directory) Facts(slug string) (Facts, bool) {
	f, ok := d.facts[slug]
	return f, ok
}

// normalName is the form in which names are compared. It is in lower case. Letters, digits, '.', '/', ':' and
// '+' are kept; every run of other characters becomes one '-', and is dropped at the ends. The organisation
// before '/' stays: the same name under another one is another model.
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

// aliasName says that a raw name of a source means the model.
type aliasName struct {
	Source   string `json:"source"` // SourceConfig.Name, or another table whose names are only listed
	ModelRaw string `json:"model_raw"`
	Match    string `json:"match"`          // normalised: the key is the name in slug form; judged: joined by a person
	Note     string `json:"note,omitempty"` // a limitation of scores read under this name
}

// aliasSource says where facts of the line were read.
type aliasSource struct {
	Fields []string `json:"fields"`
	URL    string   `json:"url"`
}

// baseForm is the Form of a model that was not trained to follow instructions: a base model, or an encoder.
const baseForm = "base"

// judged is the Match of a name a person joined.
const judged = "judged"
