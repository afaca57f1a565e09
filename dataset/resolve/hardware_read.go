package resolve

import (
	"fmt"
	"slices"
	"strings"
)

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
