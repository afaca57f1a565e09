package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

var toolRules = []rule[*Tool]{
	{"tool-sources", "Each known fact is covered by an entry in sources.", 0, func(c *checker, t *Tool, p place) {
		checkSources(c, p, t, t.Sources)
		c.date(p, "first_release", t.FirstRelease)
	}},
}

var typeRules = []rule[*QuantizationType]{
	{"type-sources", "Each known fact is covered by an entry in sources.", 0, func(c *checker, q *QuantizationType, p place) {
		if c.types[q.Name] == p {
			checkSources(c, p, q, q.Sources)
		}
	}},
	{"type-name", "Names of storage types are unique.", 0, func(c *checker, q *QuantizationType, p place) {
		if first, twice := c.types[q.Name]; twice && first != p {
			c.at(p, "name", fmt.Sprintf("%q is a duplicate of %s", q.Name, c.placeText(first)))
		}
	}},
	{"type-bounds", "Bits per weight are plausible, and the median is between the minimum and the maximum.", clean, checkTypeBounds},
}

func checkTypeBounds(c *checker, q *QuantizationType, p place) {
	c.bounded(p, q)
	if o := q.Observed; o != nil && (o.Min > o.Median || o.Median > o.Max) {
		c.at(p, "observed.median", fmt.Sprintf("must be from min to max, %s to %s, got %s", plainNumber(o.Min), plainNumber(o.Max), plainNumber(o.Median)), "observed.min", "observed.max")
	}
}

// toolWords are the lists of a tool whose words are of no closed set.
func toolWords(t *Tool) map[string]*[]string {
	return map[string]*[]string{"platforms": t.Platforms, "backends": t.Backends, "model_formats": t.ModelFormats, "api_compatibility": t.APICompatibility}
}

// checkToolWords checks the lists of all tools. A word that one tool alone has, and that is nearly one of others, asks
// for a look.
func checkToolWords(c *checker, _ all, _ place) {
	tools := map[string]map[string]int{} // field -> word -> tools that have it
	for i, t := range c.tools.recs {
		checkTwice(c, c.tools.places[i], "also_categories", t.AlsoCategories)
		for field, list := range toolWords(t) {
			if list == nil {
				continue
			}
			checkTwice(c, c.tools.places[i], field, *list)
			if tools[field] == nil {
				tools[field] = map[string]int{}
			}
			for j, word := range *list {
				if !slices.Contains((*list)[:j], word) {
					tools[field][word]++
				}
			}
		}
	}
	if !c.warn {
		return
	}
	for i, t := range c.tools.recs {
		for field, list := range toolWords(t) {
			if list == nil {
				continue
			}
			for j, word := range *list {
				if meant := meantWord(word, tools[field]); tools[field][word] == 1 && meant != "" {
					c.warning(c.tools.places[i], field+"."+strconv.Itoa(j), fmt.Sprintf("is of no other tool, got %q; did you mean %q", word, meant))
				}
			}
		}
	}
}

// meantWord is the word of more than one tool that a slip of the finger makes another one of; empty for none.
func meantWord(word string, tools map[string]int) string {
	for _, known := range slices.Sorted(maps.Keys(tools)) {
		if tools[known] > 1 && known != word && slip(word, known) {
			return known
		}
	}
	return ""
}

// shortWord is the length up to which words that differ in one letter are words of their own: cpu, gpu, npu, hpu.
const shortWord = 4

// slip reports whether two words differ by letter case, by one letter more or less, by two neighbours that changed
// places or, in a longer word, by one letter.
func slip(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	at := 0 // the first letter that differs
	for at < len(a) && a[at] == b[at] {
		at++
	}
	switch rest, other := a[at:], b[at:]; {
	case len(b) == len(a)+1:
		return rest == other[1:]
	case len(a) != len(b):
		return false
	case rest == "":
		return true
	default:
		swapped := len(rest) > 1 && rest[0] == other[1] && rest[1] == other[0] && rest[2:] == other[2:]
		return swapped || len(a) > shortWord && rest[1:] == other[1:]
	}
}
