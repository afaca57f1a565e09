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
var hwNoise = set("nvidia corporation amd ati inc intel apple qualcomm geforce radeon instinct tesla graphics gpu cpu processor series integrated design with generation edition igpu habana qrd crd adp vram chip founders fe gpus card cards rig silicon nvlink")

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

// measures are units that make a number beside a name harmless: "600W", "16C/32T", "240Hz".
var measures = set("w watt watts c t hz mhz ghz core cores thread threads nm")

// besideWords say nothing about which record a name means where they are beside it, in brackets or behind a comma: what the
// part is in and how it is run, its architecture and its memory. A word that is not here may make another product of it.
var besideWords = set("a an and at by for from in not of on only or over per the to via with built inside class run running stated" +
	" overclocked oc underclocked undervolted unlocked stock modified modded conversion third party variant water liquid air passive cooled cooling fan blower headless" +
	" egpu dgpu thunderbolt oculink usb nvlink bridge slot lane lanes x desktop tower rack node partition slurm" +
	" memory vram ram ddr lpddr gddr hbm e ecc unified shared dedicated allocated usable available total free channel channels single dual quad" +
	" each total combined soldered sm moltenvk" +
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
		case isDigit(w[0]) && storage[next(2)] && (memoryUnit[next(1)] > 0 || next(1) == "tb"): // "512GB SSD"
			i += 2
		case isDigit(w[0]) && memoryUnit[next(1)] > 0 && memory == 0:
			n, err := strconv.ParseFloat(w, 64)
			if err == nil && n > 0 {
				memory = n * memoryUnit[next(1)]
			}
			for i++; memoryWords[next(1)]; i++ { // "128GB RAM Framework Desktop"
			}
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
		case board && boardWords[w], board && w == "ultra" && i > 1 && all[i-2] == "ftw": // "FTW3 Ultra"
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

// memoryWords may follow a memory size, and storage words say that a size is not that of memory.
var (
	memoryWords = set("ram memory unified")
	storage     = set("ssd nvme hdd storage disk")
)

// superchip is the long name of what the letters of "GH200" say already.
var superchip = set("grace hopper superchip")

// soldSizes are memory sizes of cards in GB. Only behind one of them does a G alone mean GB.
var soldSizes = set("4 6 8 10 11 12 16 20 24 32 40 48 64 72 80 94 96 128 141 144 180 192 256 288 480 512")

// memoryUnit gives the size of a unit in GB as the sizes of cards are counted, which are powers
// of two under either name. "Go" is the unit in French.
var memoryUnit = map[string]float64{"gb": 1, "gib": 1, "mb": 1.0 / 1024, "mib": 1.0 / 1024, "go": 1}

// labels precede a name in the output of tools: "Card Series: …", "deviceName = …".
var labels = set("gpu device card series model name chipset cpu product brand string machdep.cpu.brand_string gpu_name devicename cuda vulkan rocm sycl opencl ggml_vulkan ggml_metal_init processor chip adapter renderer ggml_metal_device_init hw.model identifier marketing found using selected default")

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

// vendorPhrases are the long names of vendors, whose commas and brackets mean nothing.
var vendorPhrases = strings.NewReplacer("advanced micro devices, inc.", "amd", "advanced micro devices", "amd", "nvidia corporation", "nvidia",
	"intel corporation", "intel", "[amd/ati]", " ", "[amd]", " ", "[nvidia]", " ", "(amd open-source driver)", " ", "(amd proprietary driver)", " ")

// chipBehind is the chip of a machine behind its name alone: "OnePlus 12 Snapdragon 8 Gen 3".
var chipBehind = regexp.MustCompile(`^((?:oneplus|xiaomi|redmi|samsung|galaxy|honor|oppo|vivo|realme|nubia|asus rog|gmktec|beelink|minisforum|bosgame|geekom|aoostar|acemagic) [^,;|(]*?) ((?:amd )?(?:snapdragon|ryzen|strix halo)\b)`)

// besides are the ways to say, without brackets, what stands beside a name.
var besides = strings.NewReplacer(" w/ ", ", ", " with ", ", ", " + ", ", ", " · ", ", ")

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

// countWords are the words for a number of devices.
var countWords = map[string]int{"single": 1, "dual": 2, "two": 2, "twin": 2, "pair": 2, "triple": 3, "three": 3, "quad": 4, "four": 4, "six": 6, "eight": 8}

// notDual are words behind "dual" that make one of it: a card that ASUS calls Dual ("Dual GeForce RTX 3060 Ti OC"), and
// parts of a machine.
var notDual = set("geforce radeon oc evo mini white channel core rank fan slot boot gpu")

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
