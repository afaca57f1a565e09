package resolve

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// facts are what a question says beside names. Zero values are not said.
type facts struct {
	quantization string
	context      int
	maxPrice     float64
	speed        float64 // tokens per second
	least        bool    // the speed is a wish
	speedWords   bool
	memories     []amount
	used         places
	text         string
}

type place struct{ start, end int }

type places []place

// at reports whether a word is at one of the places.
func (p places) at(w word) bool {
	return slices.ContainsFunc(p, func(p place) bool { return w.start < p.end && p.start < w.end })
}

// An amount of memory in GB, and where it stands.
type amount struct {
	place
	gb       float64
	ofDevice bool // said to be of graphics
	ofHost   bool // said to be main memory
}

var (
	priceFact  = expression("price")
	speedFact  = expression("tokens per second")
	speedWord  = expression("of speed")
	perToken   = expression("time per token")
	memoryFact = expression("amount of memory")
	noMemory   = expression("no memory")
	memoryKind = expression("kind of memory")
	quantFact  = expression("quantization")
	wholeK     = expression("k quantization")

	contextFact = []*regexp.Regexp{
		expression("context 1"), expression("context 2"), expression("context 3"), expression("context 4"), expression("context 5"),
	}
)

// readFacts reads a clean text; of the name of hardware alone, only the memory.
func readFacts(text string, hardware bool) *facts {
	f := &facts{text: text}
	for _, m := range memoryKind.FindAllStringSubmatchIndex(text, -1) {
		f.take(m)
	}
	for _, m := range memoryFact.FindAllStringSubmatchIndex(text, -1) {
		f.readMemory(m)
	}
	if hardware {
		return f
	}
	if m := f.find(priceFact, "$", "€", "£", "usd", "dollar", "buck", "eur"); m != nil {
		f.maxPrice = f.number(m, 1) + f.number(m, 3)
		if f.part(m, 2)+f.part(m, 4) != "" {
			f.maxPrice *= 1000
		}
	}
	f.readSpeed()
	f.readQuantization()
	for _, pattern := range contextFact {
		m := pattern.FindStringSubmatchIndex(text)
		if m == nil || f.used.at(word{start: m[2], end: m[3]}) {
			continue
		}
		n := f.number(m, 1)
		if f.part(m, 0) == f.part(m, 1)+"k" && int(n)%8 > 0 && int(n)%10 > 0 { // the 285K of a Core Ultra
			continue
		}
		if n *= map[string]float64{"": 1, "k": 1 << 10, "m": 1 << 20}[f.part(m, 2)]; n >= 256 && n <= 1<<24 {
			f.take(m)
			f.context = int(n)
			break
		}
	}
	return f
}

// find finds a fact in a text that has one of some signs: few names have one, and expressions take time.
func (f *facts) find(fact *regexp.Regexp, signs ...string) []int {
	if !slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(f.text, sign) }) {
		return nil
	}
	m := fact.FindStringSubmatchIndex(f.text)
	f.take(m)
	return m
}

func (f *facts) readSpeed() {
	f.speedWords = speedWord.MatchString(f.text)
	signs := []string{"tok", "t/s", "tk/s", "tps"}
	if m := f.find(speedFact, signs...); m != nil {
		f.speedWords, f.speed = true, f.number(m, 2)
		f.least = f.part(m, 1)+f.part(m, 3)+f.part(m, 4) != ""
		for _, m := range speedFact.FindAllStringSubmatchIndex(f.text, -1) {
			f.take(m)
		}
	}
	if m := f.find(perToken, "token", "word", "answer"); m != nil {
		f.speedWords = true
	}
}

func (f *facts) readQuantization() {
	method := false
	for _, m := range quantFact.FindAllStringSubmatchIndex(f.text, -1) {
		f.take(m)
		name := strings.ToUpper(f.part(m, 0))
		name = cmp.Or(means("usual types", name), wholeK.ReplaceAllString(strings.ReplaceAll(name, "UD_", "UD-"), "${1}_K_$2"))
		if strings.Contains(name, "BIT") {
			name = "Q" + name[:1]
		}
		better := name == "AWQ" || name == "GPTQ"
		if f.quantization == "" || better || len(name) > len(f.quantization) && strings.HasPrefix(name, f.quantization) && !method {
			f.quantization = name
		}
		method = method || better
	}
}

// readMemory reads an amount. A G alone is one only behind a size that is sold.
func (f *facts) readMemory(m []int) {
	unit := f.part(m, 2)
	if unit == "g" && !is("sold sizes", f.part(m, 1)) || f.used.at(word{start: m[2], end: m[3]}) {
		return
	}
	f.take(m)
	before := strings.TrimRight(f.text[:m[0]], " :=")
	if strings.HasSuffix(before, "over") || strings.HasSuffix(before, "above") || noMemory.MatchString(f.text[m[1]:]) {
		return
	}
	a := amount{place: place{m[0], m[1]}, gb: f.number(m, 1)}
	switch unit {
	case "tb":
		a.gb *= 1024
	case "mib", "mb":
		a.gb = round(a.gb / 1024)
	}
	if times := f.number(m, 3); times > 0 {
		a.gb *= times
	}
	of := f.part(m, 4)
	a.ofDevice = strings.Contains(of, "vram") || strings.Contains(of, "video")
	a.ofHost = !a.ofDevice && (of != "" || strings.HasSuffix(before, " ram"))
	f.memories = append(f.memories, a)
}

func (f *facts) take(m []int) {
	if m != nil {
		f.used = append(f.used, place{m[0], m[1]})
	}
}

// part is a group of a match, empty if it has none.
func (f *facts) part(m []int, group int) string {
	if m[2*group] < 0 {
		return ""
	}
	return f.text[m[2*group]:m[2*group+1]]
}

func (f *facts) number(m []int, group int) float64 {
	n, _ := strconv.ParseFloat(strings.ReplaceAll(f.part(m, group), ",", ""), 64)
	return n
}
