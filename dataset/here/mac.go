package here

import (
	"strconv"
	"strings"
)

func (i *inspection) mac() {
	if out, err := i.Run("sysctl", "-n", "hw.memsize"); err == nil {
		bytes, _ := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		i.report.MemoryGB = tenths(bytes / (1 << 30))
	}
	brand := ""
	if out, err := i.Run("sysctl", "-n", "machdep.cpu.brand_string"); err == nil {
		brand = strings.TrimSpace(string(out))
	}
	apple := strings.HasPrefix(brand, "Apple")
	if out, err := i.Run("system_profiler", "SPDisplaysDataType"); err == nil {
		if !apple {
			i.processor = brand // of a Mac with Intel's, whose graphics may be inside it
		}
		for _, card := range macCards(string(out)) {
			i.macCard(card)
			apple = apple || strings.HasPrefix(card["Chipset Model"], "Apple")
		}
	} else if apple {
		i.add(Device{Source: "processor", Text: brand, MemoryGB: i.report.MemoryGB})
	}
	if brand != "" && !apple {
		i.add(Device{Source: "processor", Text: brand})
	}
}

// macCards reads the cards system_profiler lists, each as its labels and values. A card begins with
// its model; screens are listed below it.
func macCards(out string) (cards []map[string]string) {
	for line := range strings.Lines(out) {
		label, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); {
		case !ok || value == "":
		case label == "Chipset Model":
			cards = append(cards, map[string]string{label: value})
		case len(cards) > 0 && cards[len(cards)-1][label] == "":
			cards[len(cards)-1][label] = value
		}
	}
	return cards
}

func (i *inspection) macCard(card map[string]string) {
	d := Device{Source: "system_profiler", Text: card["Chipset Model"]}
	switch cores := card["Total Number of Cores"]; {
	case strings.HasPrefix(d.Text, "Apple"):
		if cores != "" {
			d.Text += " (" + cores + "-core GPU)"
		}
		d.MemoryGB = i.report.MemoryGB
	default:
		d.MemoryGB = macMemory(card["VRAM (Total)"])
	}
	i.addNamed(d, macID(card))
}

// macMemory reads "8 GB" and "4096 MB", in GB.
func macMemory(text string) float64 {
	number, unit, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseFloat(number, 64)
	if unit == "MB" {
		n /= 1024
	}
	return tenths(n)
}

// macID is the PCI id of a card: "AMD (0x1002)", "0x67df" and "0x00e1" are "1002:67df (rev e1)".
func macID(card map[string]string) string {
	_, vendor, ok := strings.Cut(card["Vendor"], "(0x")
	device := strings.TrimPrefix(card["Device ID"], "0x")
	if !ok || len(device) != 4 {
		return ""
	}
	id := strings.TrimSuffix(vendor, ")") + ":" + device
	if rev := strings.TrimPrefix(card["Revision ID"], "0x00"); len(rev) == 2 {
		id += " (rev " + rev + ")"
	}
	return id
}
