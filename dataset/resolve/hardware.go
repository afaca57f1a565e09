package resolve

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
)

// hwRecord is what the rules need of a hardware record.
type hwRecord struct {
	record
	kind       dataset.HardwareType
	vendor     dataset.Vendor
	memory     float64   // in its slug, GB; 0 for none
	sizes      []float64 // it is sold with, GB; empty where unknown
	most       float64   // GB; 0 where unknown
	variants   []int32   // products it stands for, where the name does not say which
	chips      []int32   // of a machine
	integrated int32     // its graphics, -1 for none

	architecture string // empty where unknown
}

// spelling is one name of a record under its key.
type spelling struct {
	rec    int32
	memory float64 // said in this name, GB; 0 for none
}

// hardwareNames finds hardware.
type hardwareNames struct {
	recs    []hwRecord
	exact   map[string]int32      // slug, name or alias -> record
	keys    map[string][]spelling // key -> names
	lined   map[string][]lined    // key of a number -> names with words before it
	drivers map[string][]int32    // what drivers print, clean -> records
	pci     map[string][]int32    // "vvvv:dddd" or "vvvv:dddd:rr" -> records
	shared  map[string][]int32    // "vvvv:dddd" -> records, where other products have the id too
	like    *likeness
}

func newHardwareNames(hardware []dataset.Hardware) *hardwareNames {
	n := &hardwareNames{
		exact: map[string]int32{}, keys: map[string][]spelling{}, lined: map[string][]lined{}, drivers: map[string][]int32{}, pci: map[string][]int32{},
		shared: map[string][]int32{}, like: newLikeness(),
	}
	bySlug := make(map[dataset.Slug]int32, len(hardware))
	for i := range hardware {
		bySlug[hardware[i].Slug] = int32(i)
	}
	refs := func(list *[]dataset.Slug) (out []int32) {
		if list == nil {
			return nil
		}
		for _, slug := range *list {
			if i, ok := bySlug[slug]; ok {
				out = append(out, i)
			}
		}
		return out
	}
	for i := range hardware {
		h := &hardware[i]
		rec := hwRecord{record: record{h.Slug, h.Name}, kind: h.Type, vendor: h.Vendor, variants: refs(h.Variants), chips: refs(h.Chip), integrated: -1}
		if h.IntegratedGPU != nil {
			if g, ok := bySlug[*h.IntegratedGPU]; ok {
				rec.integrated = g
			}
		}
		if h.Architecture != nil {
			rec.architecture = *h.Architecture
		}
		if h.MemoryOptionsGB != nil {
			rec.sizes = *h.MemoryOptionsGB
		}
		if h.VRAMGB != nil {
			rec.most = *h.VRAMGB
			if len(rec.sizes) == 0 && !h.UnifiedMemory {
				rec.sizes = []float64{*h.VRAMGB}
			}
		}
		_, rec.memory, _ = foldName(string(h.Slug))
		n.recs = append(n.recs, rec)
		n.addNames(int32(i), h)
	}
	n.like.freeze()
	return n
}

func (n *hardwareNames) addNames(i int32, h *dataset.Hardware) {
	for _, text := range append([]string{string(h.Slug), h.Name}, h.Aliases...) {
		n.exact[spelled(text)] = i
		n.exact[clean(text)] = i
		words, memory, ok := foldName(text)
		key := join(words)
		if !ok || key == "" {
			continue
		}
		s := spelling{i, memory}
		if !slices.Contains(n.keys[key], s) {
			n.keys[key] = append(n.keys[key], s)
			n.like.add(i, key)
		}
		n.addLined(words, key)
	}
	for _, text := range h.DriverNames {
		n.drivers[clean(text)] = appendOnce(n.drivers[clean(text)], i)
	}
	for _, id := range h.PCIIDs {
		n.pci[id] = appendOnce(n.pci[id], i)
	}
	for _, id := range h.PCIIDsShared {
		n.shared[id] = appendOnce(n.shared[id], i)
	}
}

// foldName reads a name of a record. ok is false where it is only complete with a part in
// brackets that the key has no place for ("Beelink GTR9 Pro (Ryzen AI Max+ 395)").
func foldName(text string) (words []string, memory float64, ok bool) {
	cut := cutHardware(clean(text))
	words, memory = hwWords(cut.main)
	ok = true
	for _, extra := range cut.extras {
		more, m := hwWords("m " + extra) // "m": Apple's chips have their graphics cores in brackets
		more = more[1:]
		if foldable(more) || len(more) == 1 && strings.HasSuffix(more[0], "gpu") {
			words = append(words, more...)
		}
		if memory == 0 {
			memory = m
		}
	}
	return words, memory, ok
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

// reading is a name as it was understood.
type reading struct {
	found    []int32 // records it may be
	memory   float64
	count    int
	clash    []int32 // records it would be but for the memory size
	unread   string  // a part that could not be understood and may make another product of it
	note     string  // what was read besides
	chosen   bool    // a memory size or a number of cores chose among variants
	partial  bool    // some of the alternatives in the name are not in the directory
	bare     bool    // the records state a memory size that the name leaves out
	internal bool    // said to be integrated graphics
	main     string  // what names the part
}

func (n *hardwareNames) resolve(text string) Answer {
	if named := nameMac(text); named != text {
		a := n.resolve(named)
		if a.Confidence == Exact {
			a.Confidence = Parsed
		}
		return a
	}
	if i, ok := n.exact[text]; ok {
		return n.exactly(text, i)
	}
	if recs := n.drivers[text]; len(recs) > 0 {
		return n.byDriver(recs, text)
	}
	if id, ok := findPCI(text); ok {
		if a, ok := n.byPCI(id, text); ok {
			return a
		}
	}
	if count, one := cutCount(text); count > 0 {
		if i, ok := n.exact[one]; ok { // read would take words in brackets for a remark beside the name
			a := n.exactly(one, i)
			if a.Count = count; a.Slug != "" {
				a.Confidence, a.Reason = Parsed, "after a number of devices: "+a.Reason
			}
			return a
		}
	}
	r := n.read(text)
	if one, count := cutTimes(text); count > 0 && len(r.found) == 0 && len(r.clash) == 0 {
		if times := n.read(one); len(times.found) > 0 && times.count == 0 {
			r, r.count = times, count
		}
	}
	if len(r.found) == 0 && len(r.clash) == 0 || r.partial || r.unread != "" {
		if card := n.readLaptop(text); len(card.found) > 0 {
			r = card
		}
	}
	if len(r.found) > 0 || len(r.clash) > 0 {
		return n.answer(r)
	}
	return n.unknown(r, text)
}

// exactly answers a slug, name or alias. An alias without the memory size that
// distinguishes its record from another does not decide: drivers print it for both.
func (n *hardwareNames) exactly(text string, i int32) Answer {
	rec := &n.recs[i]
	a := Answer{Slug: rec.slug, Name: rec.name, Confidence: Exact, Reason: "slug, name or alias"}
	words, memory, _ := foldName(text)
	a.MemoryGB = round(memory)
	if text == string(rec.slug) {
		return a
	}
	if len(rec.variants) > 0 {
		a.Ambiguous, a.Reason = true, "the record for measurements that do not say which product it was"
		a.Candidates = n.list(rec.variants, "one of the products with this name")
		return a
	}
	if others := n.drivers[text]; len(others) > 1 {
		a.Reason = "slug, name or alias; drivers print the same name for the candidates"
		a.Candidates = n.list(others, "drivers print this name for it")
	}
	if rec.memory > 0 && strings.HasSuffix(text, fmt.Sprintf("%vgb", rec.memory)) {
		return a // "GTX10606GB", where the memory cannot be separated from the number before it
	}
	if generic(words) {
		return n.answer(reading{found: []int32{i}, bare: true})
	}
	if found, bare := n.withoutMemory(join(words)); memory == 0 && bare && len(found) > 1 {
		return n.answer(reading{found: found, bare: true})
	}
	return a
}

// byDriver answers a name that drivers are known to print.
func (n *hardwareNames) byDriver(recs []int32, text string) Answer {
	words, memory, _ := foldName(text)
	r := reading{found: n.outside(slices.Clone(recs)), memory: memory}
	switch {
	case generic(words):
		r.bare = true
	case len(r.found) == 1:
		r.note = "a driver prints this name"
	default:
		r.bare = true
	}
	return n.answer(r)
}

// generic reports whether words name a whole line of products: drivers print "AMD Radeon Graphics"
// and "AMD EPYC" for many.
func generic(words []string) bool {
	switch join(words) {
	case "", "epyc", "ryzen", "xeon", "core", "arc", "uhd", "hd", "iris", "vega", "rtx", "gtx", "rx", "quadro", "snapdragon", "adreno":
		return true
	}
	return false
}

// read understands a name that is neither a slug nor an alias.
func (n *hardwareNames) read(text string) reading {
	cut := cutHardware(text)
	r := n.readMain(cut.main, cut.extras)
	if cut.count > 1 {
		r = n.severalOf(r, cut)
	}
	if maker := makerOf(cut.main); maker != "" { // a GeForce 840M is not a Radeon 840M
		other := func(rec int32) bool { return n.recs[rec].vendor != maker }
		r.found, r.clash = slices.DeleteFunc(slices.Clone(r.found), other), slices.DeleteFunc(slices.Clone(r.clash), other)
	}
	r.count = cut.count
	r = n.withExtras(r, cut.main, cut.extras)
	r.main = cut.main
	return r
}

// severalOf reads the name of several devices: "3090s", "2x RTX 4060 Ti (32 GB total)". Nobody has two chips for
// laptops, so that "two 4090s" are cards.
func (n *hardwareNames) severalOf(r reading, cut hwName) reading {
	if at := plural.FindStringSubmatch(cut.main); at != nil { // an RX 7600S is a product of its own
		one := n.readMain(at[1]+at[2], cut.extras)
		one.bare = one.bare || len(r.found) > 0
		r = one.or(r)
		cut.main = at[1] + at[2]
	}
	for i, extra := range cut.extras {
		words, memory := hwWords(extra)
		if memory > 0 && (slices.Contains(words, "total") || slices.Contains(words, "combined")) {
			each := slices.Clone(cut.extras)
			each[i] = fmt.Sprintf("%vgb", memory/float64(cut.count))
			if whole := n.readMain(cut.main, each); len(whole.found) > 0 {
				r = whole
			}
		}
	}
	if len(r.found) > 1 && r.bare && !strings.Contains(cut.main, "laptop") {
		if cards := n.readMain(cut.main+" desktop", cut.extras); len(cards.found) == 1 {
			r = cards
		}
	}
	return r
}

// readMain looks up what names the part, with the memory size and the words in brackets that
// belong to it.
func (n *hardwareNames) readMain(main string, extras []string) reading {
	if strings.Contains(main, "/") {
		if options := alternatives(main); len(options) > 1 {
			return n.readAlternatives(options)
		}
	}
	words, memory := hwWords(main)
	for _, extra := range extras {
		more, m := hwWords("m " + extra)
		more = more[1:]
		if foldable(more) || len(more) == 1 && strings.HasSuffix(more[0], "gpu") && len(more[0]) > 3 {
			words = append(words, more...)
		}
		if memory == 0 && m > 0 && (len(more) <= 1 && !slices.Contains(more, "total") && !slices.Contains(more, "combined")) {
			memory = m
		}
	}
	if generic(words) {
		return reading{memory: memory}
	}
	r := n.readWords(words, memory, main, extras)
	if hbm := slices.Index(words, "hbm"); hbm > 0 && len(r.found) == 0 { // the kind of memory behind its size
		r = n.look(words[:hbm], memory)
	}
	r.memory = memory
	return r
}

// readWords looks a name up as a record has it, and then as people shorten it.
func (n *hardwareNames) readWords(words []string, memory float64, main string, extras []string) reading {
	if len(extras) > 0 && !slices.Contains(words, "m") { // "Mac mini (M4 Pro)"
		first, _, _ := strings.Cut(extras[0], ",") // "Mac mini (M4 Pro, 14C/20G)"
		chip, _ := hwWords(first)
		if r := n.readMac(slices.Concat(words, chip), memory); len(r.found) > 0 {
			return r
		}
	}
	r := n.look(words, memory)
	if len(r.found) == 0 && len(r.clash) == 0 {
		r = n.readMac(words, memory)
	}
	if len(r.found) == 0 && len(r.clash) == 0 {
		r = n.readShort(words, memory, main)
	}
	if len(r.found) == 0 && len(r.clash) == 0 {
		r = n.look(inOrder(words), memory)
	}
	return r
}

// inOrder gives the words of a name as its maker orders and completes them: an "RTX 6000 Pro" is an RTX PRO 6000,
// and an "Orin Nano" a Jetson.
func inOrder(words []string) []string {
	switch {
	case len(words) >= 3 && words[0] == "rtx" && isDigit(words[1][0]) && words[2] == "pro":
		return slices.Concat([]string{"rtx", "pro", words[1]}, words[3:])
	case len(words) >= 2 && (words[0] == "orin" || words[0] == "xavier"):
		return slices.Concat([]string{"jetson"}, words)
	}
	return words
}

// look finds the records with these words, and lets the memory size choose among them.
func (n *hardwareNames) look(words []string, memory float64) reading {
	return n.lookKey(join(words), memory)
}

func (n *hardwareNames) lookKey(key string, memory float64) (r reading) {
	named := n.keys[key]
	if memory == 0 {
		r.found, r.bare = n.withoutMemory(key)
		return r
	}
	for _, s := range named {
		if same(s.memory, memory) {
			r.found = appendOnce(r.found, s.rec)
		}
	}
	if len(r.found) > 0 {
		return r
	}
	for _, s := range named {
		if s.memory != 0 {
			r.clash = appendOnce(r.clash, s.rec)
			continue
		}
		rec := n.refine(s.rec, memory)
		if rec < 0 {
			r.clash = appendOnce(r.clash, s.rec)
			continue
		}
		r.chosen = r.chosen || rec != s.rec
		r.found = appendOnce(r.found, rec)
	}
	return r
}

// outside leaves out processors that share a name with their own graphics: the name of the
// graphics alone does not say which processor they are in.
func (n *hardwareNames) outside(found []int32) []int32 {
	if len(found) < 2 {
		return found
	}
	return slices.DeleteFunc(found, func(rec int32) bool {
		return n.recs[rec].integrated >= 0 && slices.Contains(found, n.recs[rec].integrated)
	})
}

// withoutMemory finds the records a key means where the name states no memory size. bare reports
// that all of them state one, so that the name does not choose.
func (n *hardwareNames) withoutMemory(key string) (found []int32, bare bool) {
	var all []int32
	for _, s := range n.keys[key] {
		all = appendOnce(all, s.rec)
		if s.memory == 0 {
			found = appendOnce(found, s.rec)
		}
	}
	found, all = n.outside(found), n.outside(all)
	switch {
	case len(found) == 0:
		return all, len(all) > 0
	case len(found) == 1 && len(all) > 1 && n.recs[found[0]].memory > 0:
		return all, true // an alias without the memory size of its record, which others have too
	}
	return found, false
}

// refine is the record a memory size leaves of rec: rec itself, the one of its variants that can
// have it, or -1 where none can.
func (n *hardwareNames) refine(rec int32, memory float64) int32 {
	r := &n.recs[rec]
	if len(r.variants) == 0 {
		if !n.mayHave(rec, memory) {
			return -1
		}
		return rec
	}
	var may []int32
	sure := true
	for _, v := range r.variants {
		if n.mayHave(v, memory) {
			may = append(may, v)
		}
		sure = sure && len(n.recs[v].sizes) > 0
	}
	switch {
	case len(may) == 0:
		return -1
	case len(may) == 1 && sure && len(r.variants) > 1:
		return may[0]
	}
	return rec
}

// mayHave reports whether a record can have a memory size. The memory of a processor is whatever
// was fitted.
func (n *hardwareNames) mayHave(rec int32, memory float64) bool {
	r := &n.recs[rec]
	switch {
	case r.kind == "cpu" || r.kind == "apu" && len(r.sizes) == 0:
		return true
	case len(r.sizes) > 0:
		return slices.ContainsFunc(r.sizes, func(s float64) bool { return same(s, memory) })
	case r.most > 0:
		return memory <= r.most*1.01
	}
	return true
}

// same compares memory sizes. Drivers report up to 7 per cent less than the size on the box, as
// error correction and firmware keep a part; no two sizes of one card are that close.
func same(size, reported float64) bool {
	return reported > 0 && reported <= size*1.005 && reported >= size*0.93
}

// alternatives are the products lspci lists in one name: "Radeon RX 7900 XT/7900 XTX/7900M". Each
// is completed with the words it leaves out.
func alternatives(main string) [][]string {
	var out [][]string
	var first []string
	for piece := range strings.SplitSeq(main, "/") {
		words, _ := hwWords(piece)
		if len(words) == 0 {
			continue
		}
		if first == nil {
			first = words
			out = append(out, words)
			continue
		}
		digit := slices.IndexFunc(first, func(w string) bool { return isDigit(w[0]) })
		switch {
		case isDigit(words[0][0]) && digit >= 0 && (!isDigit(first[0][0])): // "7900 XTX"
			words = slices.Concat(first[:digit], words)
		case isLetter(words[0][0]) && slices.Index(first, words[0]) > 0: // "Arc Pro A40/A50"
			words = slices.Concat(first[:slices.Index(first, words[0])], words)
		case slices.Equal(words, []string{"laptop"}) && digit >= 0: // "RTX 4070 Max-Q / Mobile"
			words = slices.Concat(slices.DeleteFunc(slices.Clone(first), func(w string) bool { return w == "max" || w == "q" }), words)
		case slices.Equal(words, []string{"max", "q"}) && digit >= 0: // "RTX 2070 Mobile / Max-Q"
			words = slices.Concat(slices.DeleteFunc(slices.Clone(first), func(w string) bool { return w == "laptop" }), words)
		}
		out = append(out, words)
	}
	return out
}

func (n *hardwareNames) readAlternatives(options [][]string) (r reading) {
	if last := len(options) - 1; slices.Contains(options[last], "laptop") { // "Max-Q / Mobile" is "Mobile / Max-Q"
		slices.Reverse(options)
	}
	for i, words := range options {
		if generic(words) {
			r.partial = true
			continue
		}
		found := n.look(words, 0).found
		// Since Ampere NVIDIA makes no Max-Q cards of their own: "RTX 3070 Mobile / Max-Q" is one chip.
		oneChip := i > 0 && len(found) == 0 && words[len(words)-1] == "q" && slices.Contains(options[0], "laptop")
		if len(found) == 0 && !oneChip {
			r.partial = true
		}
		for _, rec := range found {
			r.found = appendOnce(r.found, rec)
		}
	}
	r.note = "the name lists several products"
	return r
}

// withExtras judges what stood beside the name: the processor of the machine around a card, the
// graphics inside a chip, the machine itself, the driver.
func (n *hardwareNames) withExtras(r reading, main string, extras []string) reading {
	for _, extra := range extras {
		switch other, kind := n.readExtra(extra); kind {
		case extraNothing:
			r.internal = r.internal || strings.Contains(extra, "integrated")
		case extraUnknown:
			if r.unread == "" && !n.areAll(r.found, extra) {
				r.unread = extra
			}
		case extraRecord:
			r = n.together(r, other, main, extra)
		}
	}
	return r
}

// areAll reports whether architecture is the one of all of recs: a GeForce RTX 5070 (Blackwell) is no other product.
func (n *hardwareNames) areAll(recs []int32, architecture string) bool {
	return !slices.ContainsFunc(recs, func(rec int32) bool { return !strings.EqualFold(n.recs[rec].architecture, architecture) })
}

// What a part beside a name can be.
const (
	extraNothing = iota // says nothing about which record it is
	extraUnknown        // may make another product of it
	extraRecord         // names hardware itself
)

func (n *hardwareNames) readExtra(extra string) (rec int32, kind int) {
	for _, skip := range []string{"uuid", "host", "rev ", "compute ", "vmm", "warp", "wave size", "uma", "fp16", "fp4", "bf16", "opencl ", "prog-if", "subsystem", "bus", "pci", "shared memory", "int dot", "matrix cores", "driver", "cuda ", "rocm ", "vulkan ", "radv", "cortex", "10x cortex", "0x"} {
		if strings.HasPrefix(extra, skip) {
			return 0, extraNothing
		}
	}
	for _, skip := range []string{"channel", "jetpack", "limit", "power cap", " ram", "mesa", "linux", "passthrough"} {
		if strings.Contains(extra, skip) {
			return 0, extraNothing
		}
	}
	if timesBeside.MatchString(extra) {
		return 0, extraNothing // the number of devices
	}
	text := strings.TrimSpace(vendorPhrases.Replace(extra))
	if i, ok := n.exact[text]; ok {
		return i, extraRecord
	}
	cut := cutHardware(text)
	words, memory := hwWords(cut.main)
	if found := n.look(words, memory).found; len(found) == 1 && !generic(words) {
		return found[0], extraRecord
	}
	if processor(text) {
		return 0, extraNothing // one the directory does not have
	}
	all := toolWords(text)
	if len(all) > 0 && machineMakers[all[0]] {
		return 0, extraNothing
	}
	if cores, _ := hwWords("m " + cut.main); foldable(words) || len(words) == 0 || len(cores) == 2 && strings.HasSuffix(cores[1], "gpu") {
		return 0, extraNothing // read with the name already
	}
	ignored := true
	for i, w := range words {
		number := isDigit(w[0]) && (len(w) >= 3 || i == 0) && !(i+1 < len(words) && measures[words[i+1]])
		driver := i > 0 && (words[i-1] == "gfx" || words[i-1] == "sm" || words[i-1] == "cortex" || words[i-1] == "navi" || words[i-1] == "vega" || words[i-1] == "polaris" || words[i-1] == "a")
		known := besideWords[w] || i > 0 && isDigit(words[i-1][0]) && measures[w]
		if identity[w] || number && !driver || !isDigit(w[0]) && !known {
			ignored = false
		}
	}
	if ignored {
		return 0, extraNothing
	}
	return 0, extraUnknown
}

// processor reports whether a text reads like the name of a processor.
func processor(text string) bool {
	for _, word := range []string{"core i", "core ultra", "ryzen", "threadripper", "epyc", "xeon", "pentium", "celeron", "-core processor", "cpu @"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// together reads two parts named at once.
func (n *hardwareNames) together(r reading, other int32, main, extra string) reading {
	o := &n.recs[other]
	processor := o.kind == "cpu" || o.kind == "apu" || o.kind == "soc"
	inside := func(rec int32) bool { // rec is the graphics inside other
		return o.integrated == rec || n.recs[rec].kind == "apu" && n.recs[rec].integrated < 0 && o.kind != "soc" && graphics(&n.recs[rec])
	}
	switch {
	case slices.Contains(r.found, other):
		r.found = []int32{other}
	case len(r.found) == 0 && processor && !graphics(o) && (r.internal || n.isGraphicsLine(main)):
		return reading{found: []int32{other}, memory: r.memory, count: r.count, note: "graphics inside " + o.name}
	case len(r.found) == 0 && len(r.clash) == 0 && (o.kind == "soc" || o.kind == "apu" && !graphics(o)) && machine(main):
		return reading{found: []int32{other}, memory: r.memory, count: r.count, note: "the chip of that machine"}
	case len(r.found) > 0 && processor && !graphics(o) && slices.ContainsFunc(r.found, inside):
		return reading{found: []int32{other}, memory: r.memory, count: r.count, note: "graphics inside " + o.name}
	case len(r.found) == 1 && slices.Contains(n.recs[r.found[0]].chips, other):
		r.found, r.note = []int32{other}, "the chip of "+n.recs[r.found[0]].name
	case len(r.found) > 1 && slices.ContainsFunc(o.variants, func(v int32) bool { return slices.Contains(r.found, v) }):
	case len(r.found) > 0 && len(o.chips) > 0: // the machine around a chip
		if !slices.ContainsFunc(r.found, func(rec int32) bool { return slices.Contains(o.chips, rec) || n.familyOf(rec, o.chips) }) {
			r.unread = extra
		}
	case len(r.found) > 0 && o.kind == "gpu" && !r.internal && n.allProcessors(r.found) && !slices.ContainsFunc(r.found, func(rec int32) bool { return n.recs[rec].integrated == other }):
		r.found, r.bare, r.note = append(slices.Clip(r.found), other), true, "the name is that of a processor and of a card"
	case len(r.found) == 1 && n.recs[r.found[0]].integrated == other, len(r.found) > 0 && graphics(o) && n.allProcessors(r.found):
	case len(r.found) > 0 && processor && !graphics(o): // the machine a card is in
		r.note = "in a machine with " + o.name
	case len(r.found) == 0:
	default:
		r.unread = extra
	}
	return r
}

// graphics reports whether a record is graphics alone.
func graphics(r *hwRecord) bool {
	return r.kind == "gpu" || r.kind == "apu" && (strings.Contains(r.name, "(integrated)") || strings.Contains(r.name, "Graphics"))
}

func (n *hardwareNames) allProcessors(recs []int32) bool {
	return !slices.ContainsFunc(recs, func(rec int32) bool { return graphics(&n.recs[rec]) })
}

// familyOf reports whether rec is the record of several chips, the given ones among them.
func (n *hardwareNames) familyOf(rec int32, chips []int32) bool {
	return slices.ContainsFunc(n.recs[rec].variants, func(v int32) bool { return slices.Contains(chips, v) })
}

// isGraphicsLine reports whether a name is one that drivers print for integrated graphics of many
// chips: "AMD Radeon Graphics", "Intel(R) Graphics", "Radeon 840M / 860M Graphics".
func (n *hardwareNames) isGraphicsLine(main string) bool {
	words, _ := hwWords(main)
	return generic(words) && (strings.Contains(main, "graphics") || strings.Contains(main, "radeon"))
}

// machine reports whether a name is that of a machine or phone, by its maker.
func machine(main string) bool {
	words, _ := hwWords(main)
	if all := toolWords(main); len(all) > 0 && machineMakers[all[0]] { // one that sells cards too
		return true
	}
	return len(words) > 0 && (machineMakers[words[0]] || words[0] == "hexagon" || words[0] == "adreno")
}

// answer words a reading.
func (n *hardwareNames) answer(r reading) Answer {
	a := Answer{MemoryGB: round(r.memory), Count: r.count}
	switch {
	case r.unread != "" && len(r.found) > 0:
		a.Confidence, a.Reason = Near, fmt.Sprintf("%q beside the name could not be read", r.unread)
		a.Candidates = n.list(r.found, "without what could not be read")
	case len(r.found) == 0 && len(r.clash) > 0:
		a.Confidence, a.Reason = Near, fmt.Sprintf("no record with this name has %v GB of memory", a.MemoryGB)
		for _, rec := range r.clash[:min(MaxCandidates, len(r.clash))] {
			a.Candidates = append(a.Candidates, Candidate{Hardware, n.recs[rec].slug, n.recs[rec].name, "has this name, but not this memory size"})
		}
	case len(r.found) == 1 && !r.bare && !r.partial:
		return n.one(a, r)
	case len(r.found) > 0:
		a.Ambiguous, a.Reason = true, n.difference(r.found, r)
		a.Candidates = n.list(r.found, "fits what the name says")
		if family := n.family(r.found); family >= 0 {
			a.Slug, a.Name, a.Confidence = n.recs[family].slug, n.recs[family].name, Parsed
		}
	}
	return a
}

// unknown answers a name nothing was found for.
func (n *hardwareNames) unknown(r reading, text string) (a Answer) {
	words, _ := hwWords(r.main)
	if generic(words) && (processor(text) || n.isGraphicsLine(r.main)) {
		a = Answer{Ambiguous: true, Reason: "the name is that of a whole line of products"}
	} else {
		a = Answer{Reason: unknownName, key: join(words)}
	}
	a.MemoryGB, a.Count = round(r.memory), r.count
	return a
}

// one answers with a single record, and lists its variants.
func (n *hardwareNames) one(a Answer, r reading) Answer {
	rec := &n.recs[r.found[0]]
	a.Slug, a.Name, a.Confidence, a.Reason = rec.slug, rec.name, Parsed, "every word of the name is accounted for"
	if r.note != "" {
		a.Reason = r.note
	}
	if r.chosen {
		a.Reason = fmt.Sprintf("only this one is sold with %v GB", a.MemoryGB)
	}
	if len(rec.variants) > 0 {
		a.Ambiguous = true
		may := slices.DeleteFunc(slices.Clone(rec.variants), func(v int32) bool { return a.MemoryGB > 0 && !n.mayHave(v, a.MemoryGB) })
		a.Candidates = n.list(may, "one of the products with this name")
	}
	return a
}

// family is the record whose variants are exactly the found ones, -1 for none.
func (n *hardwareNames) family(found []int32) int32 {
	for i := range n.recs {
		v := n.recs[i].variants
		if len(v) == len(found) && !slices.ContainsFunc(v, func(rec int32) bool { return !slices.Contains(found, rec) }) {
			return int32(i)
		}
	}
	return -1
}

// difference says what would tell the found records apart.
func (n *hardwareNames) difference(found []int32, r reading) string {
	var sizes []string
	for _, rec := range found {
		if m := n.recs[rec].memory; m > 0 {
			sizes = append(sizes, fmt.Sprintf("%v GB", m))
		}
	}
	switch {
	case r.note != "":
		return r.note
	case len(sizes) == len(found) && len(found) > 1:
		return "the name does not state the memory size: " + strings.Join(sizes, " or ")
	case r.bare && len(found) == 1 && len(sizes) == 1:
		return "the name does not state the memory size; the directory has the one with " + sizes[0]
	case r.bare:
		return "the name is printed for several products"
	case r.partial:
		return "the name lists products the directory does not have"
	}
	return "the name fits several products"
}

func (n *hardwareNames) list(recs []int32, reason string) (out []Candidate) {
	for _, i := range recs[:min(MaxCandidates, len(recs))] {
		out = append(out, Candidate{Hardware, n.recs[i].slug, n.recs[i].name, reason})
	}
	return out
}

// byPCI answers a PCI id. ok is false for an id the directory does not know.
func (n *hardwareNames) byPCI(id pciID, text string) (a Answer, ok bool) {
	if strings.HasPrefix(id.id, ":") {
		return n.byDevice(id.id)
	}
	_, memory := hwWords(text)
	if found := n.pci[id.id+":"+id.revision]; id.revision != "" && len(found) > 0 {
		return n.answer(n.pciReading(found, memory, "PCI id "+id.id+" revision "+id.revision)), true
	}
	if found := n.pci[id.id]; len(found) > 0 {
		return n.answer(n.pciReading(found, memory, "PCI id "+id.id)), true
	}
	shared := n.shared[id.id+":"+id.revision]
	if id.revision == "" || len(shared) == 0 {
		shared = n.shared[id.id]
	}
	if len(shared) > 0 {
		r := n.pciReading(shared, memory, "several products have the PCI id "+id.id)
		r.partial = true
		return n.answer(r), true
	}
	return Answer{}, false
}

func (n *hardwareNames) pciReading(found []int32, memory float64, note string) reading {
	if memory > 0 {
		if fits := slices.DeleteFunc(slices.Clone(found), func(rec int32) bool { return n.refine(rec, memory) < 0 }); len(fits) > 0 {
			found = fits
		}
	}
	return reading{found: found, memory: memory, note: note}
}

// byDevice answers "Device 2d05", which leaves out the vendor: device numbers are counted by each
// vendor, so this is a guess.
func (n *hardwareNames) byDevice(device string) (Answer, bool) {
	var found []int32
	for _, v := range []string{"10de", "1002", "8086"} {
		for _, rec := range slices.Concat(n.pci[v+device], n.shared[v+device]) {
			found = appendOnce(found, rec)
		}
	}
	if len(found) == 0 {
		return Answer{Reason: "the directory knows no device with this number"}, true
	}
	return Answer{
		Confidence: Near, Reason: "the number of a device means nothing without its vendor",
		Candidates: n.list(found, "has this device number at its vendor"),
	}, true
}

func round(gb float64) float64 { return math.Round(gb*100) / 100 }
