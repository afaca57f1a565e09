package resolve

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
)

// hwNoise are words that say nothing about which record a name means: the vendor, the brand every
// card of it carries, and what drivers put around a name. "quadro" is not among them: a Quadro RTX
// 4000 is not an RTX 4000.
var hwNoise = set("nvidia corporation amd ati inc intel apple qualcomm geforce radeon instinct tesla graphics gpu cpu processor series integrated design with generation edition igpu habana qrd crd adp vram chip founders fe")

// makers are the words that name the maker of graphics, or a brand only one maker has.
var makers = map[string]dataset.Vendor{
	"nvidia": "nvidia", "geforce": "nvidia", "quadro": "nvidia", "tesla": "nvidia", "amd": "amd", "radeon": "amd", "instinct": "amd",
	"ryzen": "amd", "epyc": "amd", "apple": "apple",
}

// makerOf is the maker a name states, empty where it states none or several.
func makerOf(main string) (maker dataset.Vendor) {
	for _, w := range toolWords(main) {
		if m := makers[w]; m != "" {
			if maker != "" && m != maker {
				return ""
			}
			maker = m
		}
	}
	return maker
}

// laptopWords are the three ways of saying that a chip is the one for laptops.
var laptopWords = set("laptop mobile notebook")

// identity are words that make another product of a name. Where one is found beside the name, in
// brackets, it must be understood or the name is unknown.
var identity = set("ti super xt xtx gre laptop mobile notebook sxm pcie nvl ada ultra max pro plus elite server workstation sff blackwell d oem")

// besideWords say nothing about which record a name means where they are beside it, in brackets or behind a comma: what the
// part is in and how it is run, its architecture and its memory. A word that is not here may make another product of it.
var besideWords = set("a an and at by for from in not of on only or over per the to via with built inside class run running stated" +
	" overclocked oc underclocked undervolted unlocked stock modified modded conversion third party variant water liquid air passive cooled cooling fan blower headless" +
	" egpu dgpu thunderbolt oculink usb nvlink bridge slot lane lanes x desktop tower rack node partition slurm" +
	" memory vram ram ddr lpddr gddr hbm e ecc unified shared dedicated allocated usable available total free channel channels single dual quad" +
	" core cores count form model unit vcpu virtual machine vm wsl windows macos ubuntu debian fedora arch docker container proxmox esxi" +
	" kaggle colab runpod vast lambda cloud instance" +
	" kepler maxwell pascal volta turing ampere lovelace hopper gcn polaris vega navi rdna cdna gfx alchemist battlemage bmg g dg pvc ponte vecchio" +
	" tiger alder raptor meteor arrow lunar ice rocket comet coffee skylake lake mtl arl lnl adl rpl tgl lp h gt turin genoa milan rome bergamo" +
	" renoir cezanne rembrandt phoenix hawk strix halo krackan point zen adreno mali hexagon risc v arm mac dgx spark")

// machineMakers begin the name of the machine a part was built into.
var machineMakers = set("gmktec beelink framework asus rog dell hp lenovo minisforum acer msi razer alienware mac macbook imac macbookpro macbookair ipad iphone oneplus huawei honor oppo vivo realme samsung galaxy nubia xiaomi redmi google aws azure gcp geekom aoostar zotac acemagic bosgame corsair chuwi steam mobile")

// boardMakers sell cards under names of their own; boardWords are what they add.
var (
	boardMakers = set("asus msi gigabyte zotac evga pny palit gainward inno galax kfa colorful sapphire powercolor xfx asrock sparkle maxsun biostar leadtek manli yeston acer gunnir onix")
	boardWords  = set("asus msi gigabyte zotac evga pny palit gainward inno galax kfa colorful sapphire powercolor xfx asrock sparkle maxsun biostar leadtek manli yeston acer gunnir onix" +
		" rog strix tuf gaming dual prime proart turbo phoenix oc trio slim ventus suprim vanguard shadow inspire aorus eagle windforce vision aero master xtreme nitro pulse pure toxic red devil hellhound fighter reaper" +
		" amp holo trinity twin edge solid ftw xc kingpin verto xlr epic rgb gamerock gamingpro jetstream phantom ghost panther ichill igame vulcan neptune speedster merc qick swft mercury quicksilver taichi challenger steel legend founders edition white black titan3 orc guardian fan triple argb vapor")
)

// hwWords reads the significant words of a part of a name, and the memory size in it, in GB.
func hwWords(text string) (words []string, memory float64) {
	all := toolWords(text)
	words = make([]string, 0, len(all))
	board := false
	for i := 0; i < len(all) && i < 2; i++ {
		board = board || boardMakers[all[i]]
	}
	chip := false // an Apple chip, whose number of graphics cores is part of its name
	for i := 0; i < len(all); i++ {
		w := all[i]
		next := func(k int) string {
			if i+k < len(all) {
				return all[i+k]
			}
			return ""
		}
		switch {
		case isDigit(w[0]) && memoryUnit[next(1)] > 0 && memory == 0:
			n, err := strconv.ParseFloat(w, 64)
			if err == nil && n > 0 {
				memory = n * memoryUnit[next(1)]
			}
			i++
		case soldSizes[w] && next(1) == "g" && memory == 0 && (i == 0 || all[i-1] != "a"): // not "A10G": "GAMING X TRIO 24G", "A100-80G"
			if n, err := strconv.ParseFloat(w, 64); err == nil {
				memory = n
			}
			i++
		case isDigit(w[0]) && (next(1) == "core" || next(1) == "cores") && next(2) == "gpu" && chip, isDigit(w[0]) && next(1) == "gpu" && next(2) == "cores" && chip:
			words = append(words, w+"gpu")
			i += 2
		case isDigit(w[0]) && next(1) == "gpu" && chip && len(w) == 2, w == "7" && next(1) == "gpu" && chip, w == "8" && next(1) == "gpu" && chip:
			words = append(words, w+"gpu") // as slugs write it
			i++
		case isDigit(w[0]) && next(1) == "cpu" && (next(2) == "cores" || next(2) == "core"):
			i += 2
		case isDigit(w[0]) && (next(1) == "core" || next(1) == "cores"): // of the processor
			i++
			if next(1) == "cpu" || next(1) == "processor" {
				i++
			}
		case isDigit(w[0]) && (next(1) == "th" || next(1) == "rd" || next(1) == "nd" || next(1) == "st") && next(2) == "gen":
			i += 2
		case laptopWords[w]:
			words = append(words, "laptop")
		case hwNoise[w]:
		case superchip[w] && slices.Contains(words, "gh"): // "GH200 Grace Hopper Superchip": the number says it
		case board && boardWords[w]:
		case board && isDigit(w[0]) && len(w) == 1 && (next(1) == "x" || next(1) == "fan"): // "VENTUS 3X"
			i++
		case board && (w == "x" || w == "z") && len(words) > 0: // "GAMING X", where the X of the chip is "xt" or "xtx"
		default:
			chip = chip || w == "m"
			words = append(words, w)
		}
	}
	return words, memory
}

// superchip is the long name of what the letters of "GH200" say already.
var superchip = set("grace hopper superchip")

// soldSizes are memory sizes of cards in GB. Only behind one of them does a G alone mean GB.
var soldSizes = set("4 6 8 10 11 12 16 20 24 32 40 48 64 72 80 94 96 128 141 144 180 192 256 288 480 512")

// memoryUnit gives the size of a unit in GB as the sizes of cards are counted, which are powers
// of two under either name. "Go" is the unit in French.
var memoryUnit = map[string]float64{"gb": 1, "gib": 1, "mb": 1.0 / 1024, "mib": 1.0 / 1024, "go": 1}

// labels precede a name in the output of tools: "Card Series: …", "deviceName = …".
var labels = set("gpu device card series model name chipset cpu product brand string machdep.cpu.brand_string gpu_name devicename cuda vulkan rocm sycl opencl ggml_vulkan ggml_metal_init processor chip adapter renderer ggml_metal_device_init found using selected default")

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
	return strings.Trim(text, " '\"")
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

// vendorPhrases are the long names of vendors, whose commas and brackets mean nothing.
var vendorPhrases = strings.NewReplacer("advanced micro devices, inc.", "amd", "advanced micro devices", "amd", "nvidia corporation", "nvidia",
	"intel corporation", "intel", "[amd/ati]", " ", "[amd]", " ", "[nvidia]", " ", "(amd open-source driver)", " ", "(amd proprietary driver)", " ")

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
	for _, with := range []string{" w/ ", " with radeon"} {
		if i := strings.Index(n.main, with); i > 0 {
			n.extras = append(n.extras, strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(n.main[i:]), "w/ "), "with "))
			n.main = n.main[:i]
		}
	}
	n.main = strings.TrimSpace(n.main)
	return n
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

// cutCount cuts "2x " or "8 x " off the beginning.
func cutCount(text string) (int, string) {
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
	if at := timesBehind.FindStringSubmatch(text); at != nil {
		one = at[1]
		count, _ = strconv.Atoi(at[2])
	}
	return one, count
}
