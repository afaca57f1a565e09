package resolve

import (
	"slices"
	"strconv"

	"modeldex/dataset"
)

// hwWords reads a part of a name. It returns the words that say which product it is, and the memory size in GB:
// "geforce rtx 4090 laptop gpu 16gb" gives "rtx 4090 laptop" and 16.
func hwWords(text string) (words []string, memory float64) {
	r := wordReader{all: toolWords(text)}
	r.words = make([]string, 0, len(r.all))
	for i := 0; i < len(r.all) && i < 2; i++ {
		r.board = r.board || boardMakers[r.all[i]]
	}
	for r.at < len(r.all) {
		if isDigit(r.all[r.at][0]) {
			r.at += r.number()
		} else {
			r.word()
			r.at++
		}
	}
	return r.words, r.memory
}

// wordReader reads the words of a name from left to right.
type wordReader struct {
	all    []string // every word
	at     int      // of the word to read
	words  []string // significant ones read so far
	memory float64  // GB, 0 for none so far
	board  bool     // the name of a card by one who makes boards
	chip   bool     // an Apple chip: the number of its graphics cores is part of its name
}

// next is the word k places on, empty behind the end.
func (r *wordReader) next(k int) string {
	if r.at+k < len(r.all) {
		return r.all[r.at+k]
	}
	return ""
}

// number reads a number and the words behind it that say what it counts. It returns how many words it read.
func (r *wordReader) number() int {
	w, unit, of := r.next(0), r.next(1), r.next(2)
	cores := unit == "core" || unit == "cores"
	switch {
	case storage[of] && (memoryUnit[unit] > 0 || unit == "tb"): // "512GB SSD"
		return 3
	case memoryUnit[unit] > 0 && r.memory == 0: // "16GB", "128GB RAM"
		return r.size(memoryUnit[unit])
	case soldSizes[w] && unit == "g" && r.memory == 0 && (r.at == 0 || r.all[r.at-1] != "a"): // "A100-80G", not "A10G"
		r.memory, _ = strconv.ParseFloat(w, 64)
		return 2
	case r.chip && (cores && of == "gpu" || unit == "gpu" && of == "cores"):
		r.words = append(r.words, w+"gpu")
		return 3
	case r.chip && unit == "gpu" && (len(w) == 2 || w == "7" || w == "8"): // "40gpu", as slugs write it
		r.words = append(r.words, w+"gpu")
		return 2
	case unit == "cpu" && (of == "cores" || of == "core"):
		return 3
	case cores && (of == "cpu" || of == "processor"):
		return 3
	case cores: // of the processor
		return 2
	case of == "gen" && (unit == "th" || unit == "rd" || unit == "nd" || unit == "st"): // "13th Gen"
		return 3
	case r.board && len(w) == 1 && (unit == "x" || unit == "fan"): // "VENTUS 3X"
		return 2
	}
	r.words = append(r.words, w)
	return 1
}

// size reads a memory size, with the words behind it that say it is one.
func (r *wordReader) size(unit float64) (read int) {
	if n, err := strconv.ParseFloat(r.next(0), 64); err == nil && n > 0 {
		r.memory = n * unit
	}
	for read = 2; memoryWords[r.next(read)]; read++ {
	}
	return read
}

// word reads a word that is no number.
func (r *wordReader) word() {
	w := r.next(0)
	switch {
	case laptopWords[w]:
		r.words = append(r.words, "laptop")
	case hwNoise[w], r.board && r.onBoard(w), superchip[w] && slices.Contains(r.words, "gh"):
	default:
		r.chip = r.chip || w == "m"
		r.words = append(r.words, w)
	}
}

// onBoard reports whether a word is what a maker of boards adds to the name of the chip.
func (r *wordReader) onBoard(w string) bool {
	switch w {
	case "ultra": // "FTW3 Ultra"
		return r.at > 1 && r.all[r.at-2] == "ftw"
	case "x", "z": // "GAMING X": the X of the chip is "xt" or "xtx"
		return len(r.words) > 0
	}
	return boardWords[w]
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
