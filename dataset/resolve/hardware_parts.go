package resolve

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hwName is a name of hardware in parts.
type hwName struct {
	main   string   // what names the part
	extras []string // what stood in brackets or behind commas
	count  int      // of devices, 0 where not said
}

// cutHardware takes a clean name apart. It does not judge the parts.
func cutHardware(text string) (n hwName) {
	text = vendorPhrases.Replace(cutLabels(text))
	n.count, text = cutCount(strings.TrimSpace(text))
	if strings.Contains(text, " ryzen") || strings.Contains(text, " snapdragon") || strings.Contains(text, " strix halo") {
		text = chipBehind.ReplaceAllString(text, "$1, $2")
	}
	if colon := strings.Index(text, ": "); colon > 0 && colon < len(text)-2 && !strings.ContainsAny(text[:colon], ",;|([") { // "Framework Desktop: Ryzen AI Max+ 395"
		text = text[:colon] + ", " + text[colon+2:]
	}
	text = besides.Replace(text)
	if at := strings.Index(text, " @ "); at >= 0 { // the clock of a processor, up to the end or the bracket
		end := len(text)
		if open := strings.IndexAny(text[at:], "()"); open >= 0 {
			end = at + open
		}
		text = text[:at] + text[end:]
	}
	var main strings.Builder
	inSquare := ""
	segment := 0
	var part strings.Builder
	flush := func() {
		if p := strings.TrimSpace(part.String()); p != "" {
			n.extras = append(n.extras, p)
		}
		part.Reset()
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '(':
			group, end := enclosed(text, i, '(', ')')
			n.extras = append(n.extras, strings.TrimPrefix(strings.TrimSpace(group), "single card, "))
			i = end
			continue
		case c == '[':
			group, end := enclosed(text, i, '[', ']')
			if !(hex4(group) && (len(group) == 4 || len(group) == 9)) {
				inSquare = group // lspci: the codename before it is dropped, and what stood with that
				n.extras = n.extras[:0]
			}
			i = end
			continue
		case c == '"' && strings.IndexByte(text[i+1:], '"') > 0 && (i == 0 || !isDigit(text[i-1])): // not the inches of a screen
			end := i + 1 + strings.IndexByte(text[i+1:], '"')
			n.extras = append(n.extras, strings.TrimSpace(text[i+1:end]))
			i = end + 1
			continue
		case c == ',' || c == ';' || c == '|':
			flush()
			segment++
			i++
			continue
		}
		if segment == 0 {
			main.WriteByte(text[i])
		} else {
			part.WriteByte(text[i])
		}
		i++
	}
	flush()
	n.main = main.String()
	if inSquare != "" {
		n.main = inSquare
	}
	n.main = strings.TrimSpace(n.main)
	if at := lastTimes(n.extras); n.count == 0 && at != nil {
		n.count, _ = strconv.Atoi(at[1] + at[2])
	}
	return n
}

// vendorPhrases are the long names of vendors, whose commas and brackets mean nothing.
var vendorPhrases = strings.NewReplacer("advanced micro devices, inc.", "amd", "advanced micro devices", "amd", "nvidia corporation", "nvidia",
	"intel corporation", "intel", "[amd/ati]", " ", "[amd]", " ", "[nvidia]", " ", "(amd open-source driver)", " ", "(amd proprietary driver)", " ")

// chipBehind is the chip of a machine behind its name alone: "OnePlus 12 Snapdragon 8 Gen 3".
var chipBehind = regexp.MustCompile(`^((?:oneplus|xiaomi|redmi|samsung|galaxy|honor|oppo|vivo|realme|nubia|asus rog|gmktec|beelink|minisforum|bosgame|geekom|aoostar|acemagic) [^,;|(]*?) ((?:amd )?(?:snapdragon|ryzen|strix halo)\b)`)

// besides are the ways to say, without brackets, what stands beside a name.
var besides = strings.NewReplacer(" w/ ", ", ", " with ", ", ", " + ", ", ", " · ", ", ")

// lastTimes is the number of devices in the last part beside a name: "RTX 3090 (x2)".
func lastTimes(extras []string) []string {
	if len(extras) == 0 || len(extras[len(extras)-1]) > 4 {
		return nil
	}
	return timesBeside.FindStringSubmatch(extras[len(extras)-1])
}

// enclosed returns what is between the bracket at i and its partner, and where to go on.
func enclosed(text string, i int, open, shut byte) (string, int) {
	depth := 0
	for j := i; j < len(text); j++ {
		switch text[j] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return text[i+1 : j], j + 1
			}
		}
	}
	return text[i+1:], len(text)
}

// cutLabels removes what tools print before a name, and the class of device of lspci.
func cutLabels(text string) string {
	for _, class := range []string{"vga compatible controller", "3d controller", "display controller", "processing accelerators"} {
		if i := strings.Index(text, class); i >= 0 && i < 20 {
			rest := text[i+len(class):]
			if colon := strings.Index(rest, ": "); colon >= 0 && colon <= 8 {
				text = rest[colon+2:]
			}
		}
	}
	for range 4 {
		cut := strings.IndexAny(text, ":=")
		if cut < 0 || cut > 40 || !isLabel(text[:cut]) {
			break
		}
		text = strings.TrimLeft(text[cut+1:], " '\"")
	}
	text = strings.Trim(text, " '")
	if strings.HasPrefix(text, `"`) || strings.Count(text, `"`) == 1 {
		text = strings.Trim(text, ` "`)
	}
	return text
}

func isLabel(text string) bool {
	if strings.Trim(text, "0123456789 ") == "" {
		return true // the number of a device
	}
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ' ' || c == '[' || c == ']' || '0' <= c && c <= '9' }) {
		if !labels[word] {
			return false
		}
	}
	return true
}

// cutCounted cuts a count in words off the beginning: "dual 3090", "two RTX 4090s".
func cutCounted(text string) (int, string) {
	word, rest, _ := strings.Cut(strings.TrimPrefix(text, "a "), " ")
	count := countWords[word]
	rest = strings.TrimPrefix(rest, "of ")
	if count == 0 || !strings.ContainsAny(rest, "0123456789") || word == "dual" && slices.ContainsFunc(toolWords(rest), func(w string) bool { return notDual[w] }) {
		return 0, text
	}
	return count, rest
}

// cardsBehind is a number before a brand of cards: "2 RTX 3090". timesBeside is a number of devices in brackets.
var (
	cardsBehind = regexp.MustCompile(`^([2-9]|1[0-6]) ((?:nvidia |geforce |amd |radeon )*(?:rtx|gtx|rx|tesla|quadro) ?[a-z]?[0-9].*)$`)
	timesBeside = regexp.MustCompile(`^(?:x ?([1-9][0-9]?)|([1-9][0-9]?) ?x)$`)
)

// plural is the number of a part with the s of several: "3090s".
var plural = regexp.MustCompile(`^(.*[0-9]{3,4}(?: ?(?:ti|super|xtx?))?)'?s\b(.*)$`)

// cutCount cuts "2x ", "8 x " or a count in words off the beginning.
func cutCount(text string) (int, string) {
	if count, rest := cutCounted(text); count > 0 {
		return count, rest
	}
	if len(text) > 2 && isDigit(text[0]) && (text[1] == ' ' || text[2] == ' ') {
		if at := cardsBehind.FindStringSubmatch(text); at != nil {
			count, _ := strconv.Atoi(at[1])
			return count, at[2]
		}
	}
	i := 0
	for i < len(text) && i < 2 && isDigit(text[i]) {
		i++
	}
	rest := strings.TrimLeft(text[i:], " ")
	if i == 0 || len(rest) < 2 || rest[0] != 'x' && rest[0] != '*' || rest[1] != ' ' && text[i] != ' ' && !isLetter(rest[1]) && !(text[0] != '0' && beginsWithNumber(rest[1:])) {
		return 0, text
	}
	n, _ := strconv.Atoi(text[:i])
	return n, strings.TrimSpace(rest[1:])
}

// beginsWithNumber reports whether a text begins with the number of a part, as in "2x3090".
func beginsWithNumber(text string) bool {
	return len(text) >= 3 && isDigit(text[0]) && isDigit(text[1]) && isDigit(text[2])
}

var timesBehind = regexp.MustCompile(`^(.*[^ ]) x ?([1-9][0-9]?)$`)

// cutTimes cuts " x2" or " x 2" off the end, where few names have it.
func cutTimes(text string) (one string, count int) {
	if !strings.Contains(text, " x") { // as nearly all: the expression takes a twelfth of reading a name
		return "", 0
	}
	if at := timesBehind.FindStringSubmatch(text); at != nil {
		one = at[1]
		count, _ = strconv.Atoi(at[2])
	}
	return one, count
}

// foldable are the words in brackets that belong to the name before them.
func foldable(words []string) bool {
	for _, w := range words {
		if w != "laptop" && w != "pascal" && w != "maxwell" && w != "max" && w != "q" {
			return false
		}
	}
	return len(words) > 0 && !slices.Equal(words, []string{"max"})
}
