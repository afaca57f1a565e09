package resolve

import (
	"fmt"
	"slices"
	"strings"

	"modeldex/dataset"
)

// read understands a name that is neither a slug nor an alias: it takes the name apart, looks up what names the part, and
// judges what is beside it.
func (n *hardwareNames) read(text string) reading {
	name := cutHardware(text)
	r := n.readName(name)
	if name.count > 1 {
		r = n.severalOf(r, name)
	}
	r = n.ofMaker(r, makerOf(name.main))
	r.count = name.count
	r = n.withExtras(r, name)
	r.main = name.main
	return r
}

// ofMaker leaves out the records of others than the maker a name states: a GeForce 840M is not a Radeon 840M.
func (n *hardwareNames) ofMaker(r reading, maker dataset.Vendor) reading {
	if maker != "" {
		other := func(rec int32) bool { return n.recs[rec].vendor != maker }
		r.found, r.clash = slices.DeleteFunc(slices.Clone(r.found), other), slices.DeleteFunc(slices.Clone(r.clash), other)
	}
	return r
}

// severalOf reads the name of several devices: "3090s", "2x RTX 4060 Ti (32 GB total)". Nobody has two chips for
// laptops, so that "two 4090s" are cards.
func (n *hardwareNames) severalOf(r reading, name hwName) reading {
	if at := plural.FindStringSubmatch(name.main); at != nil { // an RX 7600S is a product of its own
		name.main = at[1] + at[2]
		one := n.readName(name)
		one.bare = one.bare || len(r.found) > 0
		r = one.or(r)
	}
	for i, extra := range name.extras {
		if words, memory := hwWords(extra); memory > 0 && ofAll(words) {
			each := name
			each.extras = slices.Clone(name.extras)
			each.extras[i] = fmt.Sprintf("%vgb", memory/float64(name.count))
			if whole := n.readName(each); len(whole.found) > 0 {
				r = whole
			}
		}
	}
	if len(r.found) > 1 && r.bare && !strings.Contains(name.main, "laptop") {
		name.main += " desktop"
		if cards := n.readName(name); len(cards.found) == 1 {
			r = cards
		}
	}
	return r
}

// readName looks up what names the part.
func (n *hardwareNames) readName(name hwName) reading {
	if strings.Contains(name.main, "/") {
		if options := alternatives(name.main); len(options) > 1 {
			return n.readAlternatives(options)
		}
	}
	words, memory := name.significant()
	if generic(words) {
		return reading{memory: memory}
	}
	r := n.readMacBeside(words, memory, name.extras)
	if r.none() {
		r = n.readWords(words, memory, name.main)
	}
	if hbm := slices.Index(words, "hbm"); hbm > 0 && len(r.found) == 0 && kindOfHBM(words[hbm+1:]) { // behind the size of the memory
		r = n.look(words[:hbm], memory)
	}
	r.memory = memory
	return r
}

// kindOfHBM reports whether words are what is behind HBM in the name of a memory, "HBM3e", and what says nothing. A part
// of a card, "MIG 1g.10gb", is not the card.
func kindOfHBM(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !besideWords[w] && (!isDigit(w[0]) || len(w) > 1) })
}

// readWords looks a name up as a record has it, and then as people write it. The first that knows the name answers.
func (n *hardwareNames) readWords(words []string, memory float64, main string) reading {
	r := n.look(words, memory)
	if r.none() {
		r = n.readMac(words, memory)
	}
	if r.none() {
		r = n.readShort(words, memory, main)
	}
	if r.none() {
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

// alternatives are the products lspci lists in one name: "Radeon RX 7900 XT/7900 XTX/7900M". Each
// is completed with the words it leaves out.
func alternatives(main string) (out [][]string) {
	for piece := range strings.SplitSeq(main, "/") {
		words, _ := hwWords(piece)
		switch {
		case len(words) == 0:
		case len(out) == 0:
			out = append(out, words)
		default:
			out = append(out, completed(words, out[0]))
		}
	}
	return out
}

// completed puts before the words of a product what it shares with the first of the list.
func completed(words, first []string) []string {
	digit := slices.IndexFunc(first, func(w string) bool { return isDigit(w[0]) })
	without := func(some ...string) []string {
		return slices.DeleteFunc(slices.Clone(first), func(w string) bool { return slices.Contains(some, w) })
	}
	switch {
	case isDigit(words[0][0]) && digit > 0: // "7900 XTX"
		return slices.Concat(first[:digit], words)
	case isLetter(words[0][0]) && slices.Index(first, words[0]) > 0: // "Arc Pro A40/A50"
		return slices.Concat(first[:slices.Index(first, words[0])], words)
	case slices.Equal(words, []string{"laptop"}) && digit >= 0: // "RTX 4070 Max-Q / Mobile"
		return append(without("max", "q"), words...)
	case slices.Equal(words, []string{"max", "q"}) && digit >= 0: // "RTX 2070 Mobile / Max-Q"
		return append(without("laptop"), words...)
	}
	return words
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
