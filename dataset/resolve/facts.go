package resolve

import (
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
	used         []place // of the text
	text         string
}

type place struct{ start, end int }

// An amount of memory in GB, and where it stands.
type amount struct {
	place
	gb       float64
	ofDevice bool // said to be of graphics
	ofHost   bool // said to be main memory
}

var (
	priceFact = regexp.MustCompile(`(?:us)?[$€£] ?([0-9][0-9,]*(?:\.[0-9]+)?)(k?)\b|\b([0-9][0-9,]*(?:\.[0-9]+)?)(k?) ?(?:usd\b|us-dollars?\b|dollars?\b|bucks\b|euros?\b|eur\b|[$€£])`)
	speedFact = regexp.MustCompile(`(?:([<>~≥]|\bat least|\bfaster than|\bover|\bmin(?:imum)?) ?)?\b([0-9]+(?:\.[0-9]+)?)(?: ?(?:-|to|or|/) ?[0-9]+(?:\.[0-9]+)?)? ?(\+)?[ -]?(?:t/s|tok/s(?:ec)?|tk/s|tps|tokens?/(?:second|sec|minute|s)|tok(?:en)?s? (?:per|a|pro|par|por) (?:second|sec|minute|s|sekunde|seconde|segundo)|tok/sec)\b( or more)?`)
	speedWord = regexp.MustCompile(`\b(?:t/s|tok/s(?:ec)?|tk/s|tps|tokens? ?/ ?s(?:ec)?|tok(?:en)?s? (?:per|a) (?:second|sec|s)|slow(?:er|ly)?|fast(?:er)?|speed|performance|throughput|ttft|eval rate|per token|per word|速度)\b`)
	perToken  = regexp.MustCompile(`\b[0-9]+(?:\.[0-9]+)?(?: ?- ?[0-9]+)? ?(?:ms|s|sec|seconds?|minutes?|min) (?:per|a|an|/) ?(?:token|word|answer)\b`)

	contextFact = []*regexp.Regexp{
		regexp.MustCompile(`\b(?:context|ctx|num[-_]ctx|n[-_]ctx|ctx[-_]size|max[-_ ]model[-_ ]len(?:gth)?|-c)(?: (?:of|size|length|window|len|up|to))*[ :=]*([0-9]+(?:\.[0-9]+)?) ?([km]?)\b`),
		regexp.MustCompile(`\b([0-9]+(?:\.[0-9]+)?) ?([km]?)[ -]?(?:tokens? )?(?:of )?(?:context|ctx|kontext|contexte|input|prompt|上下文)\b`),
		regexp.MustCompile(`\b([0-9]+(?:\.[0-9]+)?) ?([km]) ?tokens?\b`),
		regexp.MustCompile(`\b(?:at|@) ([0-9]{4,7})([km]?)\b`),
		regexp.MustCompile(`(?:^|[ (,@])([0-9]{1,3})(k)(?:$|[ ),.?])`),
	}
	memoryFact = regexp.MustCompile(`\b([0-9]+(?:\.[0-9]+)?) ?(gib|gb|go|g|tb|mib|mb)\b(?: ?[*×] ?([1-9])\b)?(?: of)?((?: (?:shared|system|main|unified|fast|total|video))*(?:[ -](?:vram|ram|memory|mem|ddr[2-6]|lpddr[45]x?))*)`)
	quantFact  = regexp.MustCompile(`\b(?:ud[-_])?i?q[1-8](?:_[0-9a-z]+)+\b|\bt?q[1-8](?:_[0-9])?\b|\bq[2-8]_?k_?(?:s|m|l|xl)?\b|\b(?:[1-8][- ]?bits?)\b|\b(?:u?int[248]|fp8|fp4|nf4|bf16|fp16|f16|fp32|f32|float16|float32|bfloat16|half precision|nvfp4|mxfp4|mxfp8|awq|gptq|w4a16|w8a8|w8a16)\b`)
	memoryKind = regexp.MustCompile(`\b(?:lp)?ddr[0-9]?x?(?:-[0-9]{4,5})?\b|\b[0-9]+c/[0-9]+[gt]\b|\b@ ?[0-9.]+ ?ghz\b`)
	wholeK     = regexp.MustCompile(`^(I?Q[0-9])_?K_?(XL|S|M|L)$`)
)

// readFacts reads a clean text.
func readFacts(text string) *facts {
	f := &facts{text: text}
	if hasAny(text, "$", "€", "£", "usd", "dollar", "buck", "eur") { // few names have one, and the expressions take time
		f.readPrice()
	}
	if hasAny(text, "tok", "t/s", "tk/s", "tps", "word", "answer") {
		f.readSpeed()
	}
	f.speedWords = f.speedWords || speedWord.MatchString(text)
	f.readQuantization()
	for _, m := range memoryKind.FindAllStringSubmatchIndex(text, -1) {
		f.take(m)
	}
	for _, m := range memoryFact.FindAllStringSubmatchIndex(text, -1) {
		f.readMemory(m)
	}
	for i, pattern := range contextFact {
		m := pattern.FindStringSubmatchIndex(text)
		if m == nil || f.taken(m[2], m[3]) {
			continue
		}
		n := f.number(m, 1)
		if i == len(contextFact)-1 && int(n)%8 > 0 && int(n)%10 > 0 { // the 285K of a Core Ultra
			continue
		}
		switch text[m[4]:m[5]] {
		case "k":
			n *= 1024
		case "m":
			n *= 1 << 20
		}
		if n >= 256 && n <= 1<<24 {
			f.take(m)
			f.context = int(n)
			break
		}
	}
	return f
}

func hasAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

func (f *facts) readPrice() {
	if m := priceFact.FindStringSubmatchIndex(f.text); m != nil {
		f.take(m)
		f.maxPrice = f.amount(m, 1) + f.amount(m, 3)
		if m[4] < m[5] && m[4] >= 0 || m[8] >= 0 && m[8] < m[9] {
			f.maxPrice *= 1000
		}
	}
}

func (f *facts) readSpeed() {
	for _, m := range speedFact.FindAllStringSubmatchIndex(f.text, -1) {
		f.take(m)
		if f.speedWords = true; f.speed == 0 {
			f.speed = f.number(m, 2)
			f.least = m[2] >= 0 && f.text[m[2]:m[3]] != "~" && f.text[m[2]:m[3]] != "<" || m[6] >= 0 || m[8] >= 0
		}
	}
	for _, m := range perToken.FindAllStringSubmatchIndex(f.text, -1) {
		f.take(m)
		f.speedWords = true
	}
}

func (f *facts) readQuantization() {
	method := false
	for _, m := range quantFact.FindAllStringSubmatchIndex(f.text, -1) {
		f.take(m)
		name := strings.ToUpper(f.text[m[0]:m[1]])
		switch {
		case strings.Contains(name, "BIT"):
			name = "Q" + name[:1]
		case wholeK.MatchString(name):
			name = wholeK.ReplaceAllString(name, "${1}_K_$2")
		case name == "FP16" || name == "FLOAT16" || name == "HALF PRECISION":
			name = "F16"
		case name == "BFLOAT16":
			name = "BF16"
		case name == "FP32" || name == "FLOAT32":
			name = "F32"
		}
		name = strings.ReplaceAll(name, "UD_", "UD-")
		if f.quantization == "" || name == "AWQ" || name == "GPTQ" || len(name) > len(f.quantization) && strings.HasPrefix(name, f.quantization) && !method {
			f.quantization = name
		}
		method = method || name == "AWQ" || name == "GPTQ"
	}
}

// readMemory reads an amount. A G alone is one only behind a size that is sold.
func (f *facts) readMemory(m []int) {
	unit := f.text[m[4]:m[5]]
	if unit == "g" && !soldSizes[f.text[m[2]:m[3]]] || f.taken(m[2], m[3]) {
		return
	}
	before := strings.TrimRight(f.text[:m[0]], " ")
	ram := strings.HasSuffix(strings.TrimRight(before, ":= "), " ram")
	if strings.HasSuffix(before, "over") || strings.HasSuffix(before, "above") {
		f.take(m)
		return
	}
	a := amount{place: place{m[0], m[1]}, gb: f.number(m, 1)}
	switch unit {
	case "tb":
		a.gb *= 1024
	case "mib", "mb":
		a.gb = round(a.gb / 1024)
	}
	if m[6] >= 0 {
		a.gb *= f.number(m, 3)
	}
	what := f.text[m[8]:m[9]]
	rest := f.text[m[1]:]
	if strings.HasPrefix(rest, " ssd") || strings.HasPrefix(rest, " nvme") || strings.HasPrefix(rest, " disk") || strings.HasPrefix(rest, " file") || strings.HasPrefix(rest, " model") {
		f.take(m)
		return
	}
	a.ofDevice = strings.Contains(what, "vram") || strings.Contains(what, "video")
	a.ofHost = !a.ofDevice && (what != "" || ram)
	f.memories = append(f.memories, a)
	f.take(m)
}

func (f *facts) take(m []int) { f.used = append(f.used, place{m[0], m[1]}) }

// taken reports whether a part of the text was read.
func (f *facts) taken(start, end int) bool {
	for _, p := range f.used {
		if start < p.end && p.start < end {
			return true
		}
	}
	return false
}

func (f *facts) number(m []int, group int) float64 { return f.amount(m, group) }

func (f *facts) amount(m []int, group int) float64 {
	if m[2*group] < 0 {
		return 0
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(f.text[m[2*group]:m[2*group+1]], ",", ""), 64)
	if err != nil {
		return 0
	}
	return n
}
