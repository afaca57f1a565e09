package resolve

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
)

// hwName is a name of hardware in parts.
type hwName struct {
	main   string   // what names the part
	extras []string // what stood in brackets or behind commas
	count  int      // of devices, 0 where not said
}

// cutHardware takes a clean name apart: "gpu 0: nvidia rtx 4090 (ryzen 9 7950x)" is "nvidia rtx 4090" with "ryzen 9
// 7950x" beside it. It does not judge the parts.
func cutHardware(text string) (n hwName) {
	text = vendorPhrases.Replace(cutLabels(text))
	if strings.Contains(text, "mib") && strings.Contains(text, ",") {
		text = thousands.ReplaceAllString(text, "$1$2$3")
	}
	n.count, text = cutCount(strings.TrimSpace(text))
	n.split(cutClock(withCommas(text)))
	if at := lastTimes(n.extras); n.count == 0 && at != nil {
		n.count, _ = strconv.Atoi(at[1] + at[2])
	}
	return n
}

// thousands is a size of memory with a comma in it: "16,303 MiB".
var thousands = regexp.MustCompile(`\b([0-9]{1,3}),([0-9]{3})( ?mib)\b`)

// withCommas puts a comma before what is beside a name without brackets.
func withCommas(text string) string {
	if strings.Contains(text, " ryzen") || strings.Contains(text, " snapdragon") || strings.Contains(text, " strix halo") {
		text = chipBehind.ReplaceAllString(text, "$1, $2")
	}
	if colon := strings.Index(text, ": "); colon > 0 && colon < len(text)-2 && !strings.ContainsAny(text[:colon], ",;|([") { // "Framework Desktop: Ryzen AI Max+ 395"
		text = text[:colon] + ", " + text[colon+2:]
	}
	return besides.Replace(text)
}

// cutClock cuts the clock of a processor, "@ 3.20GHz", up to the end or the bracket.
func cutClock(text string) string {
	at := strings.Index(text, " @ ")
	if at < 0 {
		return text
	}
	end := len(text)
	if open := strings.IndexAny(text[at:], "()"); open >= 0 {
		end = at + open
	}
	return text[:at] + text[end:]
}

// split divides a text into what names the part and what is beside it, in brackets, quotes or behind commas.
func (n *hwName) split(text string) {
	var main, part strings.Builder
	out := &main // where a letter goes: behind the first comma it is part of what is beside
	square := ""
	beside := func(extra string) {
		if extra = strings.TrimSpace(extra); extra != "" {
			n.extras = append(n.extras, extra)
		}
	}
	for i := 0; i < len(text); {
		group, end := grouped(text, i)
		switch c := text[i]; {
		case end == 0 && (c == ',' || c == ';' || c == '|'):
			beside(part.String())
			part.Reset()
			out, end = &part, i+1
		case end == 0:
			out.WriteByte(c)
			end = i + 1
		case c != '[':
			n.extras = append(n.extras, strings.TrimPrefix(strings.TrimSpace(group), "single card, "))
		case !(hex4(group) && (len(group) == 4 || len(group) == 9)): // no PCI id
			square, n.extras = group, n.extras[:0] // lspci: the codename before it is dropped, and what stood with that
		}
		i = end
	}
	beside(part.String())
	n.main = strings.TrimSpace(cmp.Or(square, main.String()))
}

// grouped returns what is in the brackets or quotes that begin at i, and where they end; 0 where none begin.
func grouped(text string, i int) (group string, end int) {
	switch text[i] {
	case '(':
		return enclosed(text, i, '(', ')')
	case '[':
		return enclosed(text, i, '[', ']')
	case '"':
		if length := strings.IndexByte(text[i+1:], '"'); length > 0 && (i == 0 || !isDigit(text[i-1])) { // not the inches of a screen
			return text[i+1 : i+1+length], i + length + 2
		}
	}
	return "", 0
}

// vendorPhrases are the long names of vendors, whose commas and brackets mean nothing.
var vendorPhrases = strings.NewReplacer("advanced micro devices, inc.", "amd", "advanced micro devices", "amd", "nvidia corporation", "nvidia",
	"intel corporation", "intel", "[amd/ati]", " ", "[amd]", " ", "[nvidia]", " ", "(amd open-source driver)", " ", "(amd proprietary driver)", " ")

// chipBehind is the chip of a machine behind its name alone: "OnePlus 12 Snapdragon 8 Gen 3".
var chipBehind = regexp.MustCompile(`^((?:oneplus|xiaomi|redmi|samsung|galaxy|honor|oppo|vivo|realme|nubia|asus rog|hp|gmktec|beelink|minisforum|bosgame|geekom|aoostar|acemagic) [^,;|(]*?) ((?:amd )?(?:snapdragon|ryzen|strix halo)\b)`)

// besides are the ways to say, without brackets, what stands beside a name.
var besides = strings.NewReplacer(" w/ ", ", ", " with ", ", ", " + ", ", ", " · ", ", ", " model b rev ", ", rev ")

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

// foldable reports whether words in brackets belong to the name before them.
func foldable(words []string) bool {
	for _, w := range words {
		if w != "laptop" && w != "pascal" && w != "maxwell" && w != "maxq" {
			return false
		}
	}
	return len(words) > 0
}

// ofAll reports whether words say that a size is that of all devices.
func ofAll(words []string) bool {
	return slices.Contains(words, "total") || slices.Contains(words, "combined")
}

// cardNamed is a card by its brand and number, with all that is behind it.
var cardNamed = regexp.MustCompile(`\b(?:(?:rtx|gtx|rx|arc|geforce|quadro) ?[a-z]?[0-9]|nvidia [0-9]).*`)

// countAhead is a number of devices before a name: "2x ", "8 x ", "2x3090".
var countAhead = regexp.MustCompile(`^([1-9][0-9]?) ?[x*] ?([a-z].*|[0-9]{3}.*)$`)

// cutCount cuts a number of devices off the beginning: "2x ", "8 x ", "2 RTX 3090" or one in words.
func cutCount(text string) (int, string) {
	if count, rest := cutCounted(text); count > 0 {
		return count, rest
	}
	for _, ahead := range []*regexp.Regexp{cardsBehind, countAhead} {
		if at := ahead.FindStringSubmatch(text); at != nil && isDigit(text[0]) {
			count, _ := strconv.Atoi(at[1])
			return count, at[2]
		}
	}
	return 0, text
}

// hwWords reads the words of a text that say which product it is, and the memory in GB.
func hwWords(text string) (words []string, memory float64) {
	ws, memory := significantWords(split(withCores(text)))
	for _, w := range phrased(ws) {
		if !hwNoise[w.text] {
			words = append(words, w.text)
		}
	}
	return words, memory
}

func round(gb float64) float64 { return math.Round(gb*100) / 100 }

// makerOf is the maker a name states, empty where it states none or several.
func makerOf(main string) (maker dataset.Vendor) {
	for _, w := range split(main) {
		if m := makers[w.text]; m != "" {
			if maker != "" && m != maker {
				return ""
			}
			maker = m
		}
	}
	return maker
}

// whole is what names the part, with what belongs to it in brackets.
func (n hwName) whole() string {
	out := n.main
	for _, extra := range n.extras {
		if words, _ := hwWords(extra); foldable(words) || strings.Contains(extra, "gcores") {
			out += " " + extra
		}
	}
	return out
}
