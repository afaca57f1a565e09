package resolve

import (
	"cmp"
	"strings"
)

// An amount of memory in GB, and where it stands.
type amount struct {
	place
	gb       float64
	ofDevice bool // said to be of graphics
	ofHost   bool // said to be main memory
}

// take finds what an expression matches, and uses those words.
func (a *asking) take(name string) []fact {
	found := find(name, a.text)
	for _, f := range found {
		a.facts = append(a.facts, f.place)
	}
	return found
}

// readFacts reads what a question says beside names; of the name of hardware alone, only the memory.
func (a *asking) readFacts() {
	a.take("kind of memory")
	for _, f := range find("amount of memory", a.text) {
		a.readMemory(&f)
	}
	if a.strict {
		return
	}
	for _, f := range a.take("price") {
		a.MaxPriceUSD = cmp.Or(a.MaxPriceUSD, f.number(1, 3)*map[bool]float64{true: 1000, false: 1}[f.part[2]+f.part[4] != ""])
	}
	a.speedWords = len(a.take("time per token")) > 0 || says("of speed", a.text)
	for _, f := range a.take("tokens per second") {
		a.speedWords = true
		if a.speed == 0 {
			a.speed, a.least = f.number(2), f.part[1]+f.part[3]+f.part[4] != ""
		}
	}
	a.readQuantization()
	for _, sureness := range []string{"1", "2", "3", "4", "5"} {
		for _, f := range find("context "+sureness, a.text) {
			a.readContext(&f)
		}
	}
}

// readContext reads the length of a context. The 285K of a Core Ultra is none.
func (a *asking) readContext(f *fact) {
	n := f.number(1)
	processor := f.part[0] == f.part[1]+"k" && int(n)%8 > 0 && int(n)%10 > 0
	n *= map[string]float64{"": 1, "k": 1 << 10, "m": 1 << 20}[f.part[2]]
	if a.Context == 0 && !processor && n >= 256 && n <= 1<<24 && !a.facts.at(word{start: f.start, end: f.end}) {
		a.Context, a.facts = int(n), append(a.facts, f.place)
	}
}

// readQuantization takes the fullest name of a quantization. That of a method says more than one of bits.
func (a *asking) readQuantization() {
	method := false
	for _, f := range a.take("quantization") {
		name := strings.ToUpper(f.part[0])
		name = cmp.Or(means("usual types", name), patterns["k quantization"].ReplaceAllString(strings.ReplaceAll(name, "UD_", "UD-"), "${1}_K_$2"))
		if strings.Contains(name, "BIT") {
			name = "Q" + name[:1]
		}
		better := name == "AWQ" || name == "GPTQ"
		if a.Quantization == "" || better || !method && len(name) > len(a.Quantization) && strings.HasPrefix(name, a.Quantization) {
			a.Quantization = name
		}
		method = method || better
	}
}

// readMemory reads an amount. A G alone is one only behind a size that is sold.
func (a *asking) readMemory(f *fact) {
	if f.part[2] == "g" && !is("sold sizes", f.part[1]) || a.facts.at(word{start: f.start, end: f.start + len(f.part[1])}) {
		return
	}
	a.facts = append(a.facts, f.place)
	before := strings.TrimRight(a.text[:f.start], " :=")
	if strings.HasSuffix(before, "over") || strings.HasSuffix(before, "above") || says("no memory", a.text[f.end:]) {
		return
	}
	m := amount{place: f.place, gb: f.number(1) * cmp.Or(f.number(3), 1)}
	switch f.part[2] {
	case "tb":
		m.gb *= 1024
	case "mib", "mb":
		m.gb = round(m.gb / 1024)
	}
	m.ofDevice = strings.Contains(f.part[4], "vram") || strings.Contains(f.part[4], "video")
	m.ofHost = !m.ofDevice && (f.part[4] != "" || strings.HasSuffix(before, " ram"))
	a.memories = append(a.memories, m)
}
