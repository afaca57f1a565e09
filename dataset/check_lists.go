package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// checkTwice holds the entries of a list apart.
func checkTwice[T ~string](l *loader, p place, field string, list []T) {
	for i, v := range list {
		if v != "" && slices.Contains(list[:i], v) {
			l.at(p, field+"."+strconv.Itoa(i), fmt.Sprintf("%q is in the list twice", string(v)))
		}
	}
}

// toolWords are the lists of a tool whose words are of no closed set.
func toolWords(t *Tool) map[string]*[]string {
	return map[string]*[]string{"platforms": t.Platforms, "backends": t.Backends, "model_formats": t.ModelFormats, "api_compatibility": t.APICompatibility}
}

// checkToolWords checks the lists of all tools. A word that one tool alone has, and that is nearly one of others, asks
// for a look.
func (l *loader) checkToolWords() {
	tools := map[string]map[string]int{} // field -> word -> tools that have it
	for i, t := range l.tools.recs {
		checkTwice(l, l.tools.places[i], "also_categories", t.AlsoCategories)
		for field, list := range toolWords(t) {
			if list == nil {
				continue
			}
			checkTwice(l, l.tools.places[i], field, *list)
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
	if !l.warn {
		return
	}
	for i, t := range l.tools.recs {
		for field, list := range toolWords(t) {
			if list == nil {
				continue
			}
			for j, word := range *list {
				if meant := meantWord(word, tools[field]); tools[field][word] == 1 && meant != "" {
					l.warning(l.tools.places[i], field+"."+strconv.Itoa(j), fmt.Sprintf("is of no other tool, got %q; did you mean %q", word, meant))
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

// typeNames maps the letters of the name of each storage type to the name, see typeLetters.
func (l *loader) typeNames() map[string]string {
	out := map[string]string{}
	for _, q := range l.quantizations.recs {
		out[typeLetters(q.Name)] = q.Name
	}
	return out
}

// sameLetters makes one letter of two that look alike, and nothing of what joins the parts of a name.
var sameLetters = strings.NewReplacer("O", "0", "_", "", "-", "")

// typeLetters is what the spellings of one storage type have in common: Q8_0, q8_0, Q8_O and Q80.
func typeLetters(name string) string { return sameLetters.Replace(strings.ToUpper(name)) }

// spelledType warns of a storage type that quantizations.json has in another spelling.
func (l *loader) spelledType(p place, field, name string, names map[string]string) {
	if known, ok := names[typeLetters(name)]; ok && known != name {
		l.warning(p, field, fmt.Sprintf("is a type of quantizations.json in another spelling, got %q; did you mean %q", name, known))
	}
}
