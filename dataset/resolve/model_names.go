package resolve

import (
	"slices"
	"sort"
	"strings"

	"modeldex/dataset"
)

// modelRecord is what the rules need of a model.
type modelRecord struct {
	record
	owners map[string]bool // accounts and names of its maker, lower case
	own    map[string]bool // slug, and the name of the repository without its account, lower case

	architecture    string  // in files of llama.cpp, empty if unknown
	params, actives float64 // in billions, 0 if unknown
}

// modelNames finds models.
type modelNames struct {
	recs    []modelRecord
	exact   map[string]int32   // slug, name, alias or repository -> record
	full    map[string][]int32 // key of a name as it is written -> records
	bare    map[string][]int32 // key of a name without its marks -> records
	owners  map[string]bool    // of all records
	library map[string][]tag   // key of the name of an Ollama library -> its tags
	tags    map[string][]tag   // key of library and tag -> tags
	phrases []phrase           // sorted, to find names that begin like a text
	short   []phrase           // the same without active parameters
	cores   map[string][]int32 // key without the words of variants -> records
	like    *likeness
}

// tag is a name that Ollama gives a record.
type tag struct {
	library []string // words
	words   []string // behind the colon
	rec     int32
}

// phrase is the words of a name with blanks between and after them.
type phrase struct {
	text string
	rec  int32
}

func newModelNames(models []dataset.Model) *modelNames {
	n := &modelNames{
		exact: map[string]int32{}, full: map[string][]int32{}, bare: map[string][]int32{},
		owners: map[string]bool{}, library: map[string][]tag{}, tags: map[string][]tag{}, cores: map[string][]int32{}, like: newLikeness(),
	}
	for i := range models {
		m := &models[i]
		n.recs = append(n.recs, modelRecord{record{m.Slug, m.Name}, map[string]bool{}, map[string]bool{string(m.Slug): true}, orZero(m.GGUFArchitecture), orZero(m.ParamsB), orZero(m.ActiveParamsB)})
		texts := append([]string{string(m.Slug), m.Name}, m.Aliases...)
		if m.HFRepo != nil {
			texts = append(texts, *m.HFRepo)
			n.addOwner(int32(i), strings.ToLower(*m.HFRepo))
		}
		for word := range strings.FieldsSeq(strings.ToLower(m.Organization)) {
			n.recs[i].owners[word] = true
		}
		for _, text := range texts {
			n.add(int32(i), text)
		}
	}
	byText := func(a, b phrase) int { return strings.Compare(a.text, b.text) }
	slices.SortFunc(n.phrases, byText)
	slices.SortFunc(n.short, byText)
	n.like.freeze()
	return n
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (n *modelNames) addOwner(i int32, repo string) {
	owner, name, _ := strings.Cut(repo, "/")
	n.recs[i].own[name] = true
	n.owners[owner], n.recs[i].owners[owner] = true, true
	if former := formerOwners[owner]; former != "" {
		n.owners[former], n.recs[i].owners[former] = true, true
	}
	if word, _, ok := strings.Cut(owner, "-"); ok {
		n.recs[i].owners[word] = true
	}
}

func (n *modelNames) add(i int32, text string) {
	n.exact[spelled(text)] = i
	text = clean(text)
	n.exact[text] = i
	cut := cutModel(text)
	if cut.tag != "" { // a tag of Ollama stands for what its maker made the usual one
		t := tag{modelWords(cut.name), modelWords(cut.tag), i}
		n.library[join(t.library)] = append(n.library[join(t.library)], t)
		key := join(slices.Concat(t.library, t.words))
		n.tags[key] = append(n.tags[key], t)
		return
	}
	words := modelWords(cut.name)
	key := join(words)
	addOnce(n.full, key, i)
	stem, _ := bareModel(cut.name)
	bare := modelWords(stem)
	n.addBare(i, bare)
	if len(bare) > 2 && companies[bare[0]] { // "NVIDIA-Nemotron-Nano-9B-v2" is as often called without
		n.addBare(i, bare[1:])
	}
}

// addBare adds the words of a name without its marks.
func (n *modelNames) addBare(i int32, words []string) {
	key := join(words)
	if !addOnce(n.bare, key, i) {
		return
	}
	n.like.add(i, key)
	n.phrases = append(n.phrases, phrase{strings.Join(words, " ") + " ", i})
	short := slices.DeleteFunc(slices.Clone(words), active)
	n.short = append(n.short, phrase{strings.Join(short, " ") + " ", i})
	addOnce(n.cores, join(slices.DeleteFunc(slices.Clone(words), variant)), i)
}

// known finds the records with these words. A name as it is written goes before one without marks.
func (n *modelNames) known(words []string) []int32 {
	key := join(words)
	if recs := n.full[key]; len(recs) > 0 {
		return recs
	}
	return n.bare[key]
}

// words are those of a model's slug: few look-ups need them, so that they are not kept.
func (n *modelNames) words(rec int32) []string { return modelWords(string(n.recs[rec].slug)) }

// beginning are the records with a phrase that begins with text, shortest first.
func beginning(phrases []phrase, text string) (out []int32) {
	i := sort.Search(len(phrases), func(i int) bool { return phrases[i].text >= text })
	for ; i < len(phrases) && strings.HasPrefix(phrases[i].text, text); i++ {
		out = appendOnce(out, phrases[i].rec)
	}
	return out
}

// variants are all records whose words begin with these, with or without active parameters.
func (n *modelNames) variants(words []string) []int32 {
	text := strings.Join(words, " ") + " "
	out := beginning(n.phrases, text)
	if !slices.ContainsFunc(words, active) {
		for _, rec := range beginning(n.short, text) {
			out = appendOnce(out, rec)
		}
	}
	return out
}

// same is the record with exactly this phrase, -1 for none or several.
func (n *modelNames) same(phrases []phrase, text string) int32 {
	i := sort.Search(len(phrases), func(i int) bool { return phrases[i].text >= text })
	out := int32(-1)
	for ; i < len(phrases) && phrases[i].text == text; i++ {
		if out >= 0 && out != phrases[i].rec {
			return -1
		}
		out = phrases[i].rec
	}
	return out
}

func (n *modelNames) list(recs []int32, reason string) (out []Candidate) {
	recs = recs[:min(MaxCandidates, len(recs))]
	out = slices.Grow(out, len(recs))
	for _, i := range recs {
		out = append(out, Candidate{Model, n.recs[i].slug, n.recs[i].name, reason})
	}
	return out
}

func (n *modelNames) found(i int32, c Confidence, reason string) Answer {
	return Answer{Slug: n.recs[i].slug, Name: n.recs[i].name, Confidence: c, Reason: reason}
}

func variant(word string) bool { return variantWords[word] }

// answers reports whether a word says that a model was trained to answer.
func answers(word string) bool { return word == "instruct" || word == "it" || word == "chat" }
