package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// printedBeside reports whether a part beside a name is what drivers and tools print there, or the number of devices.
func printedBeside(extra string) bool {
	return slices.ContainsFunc(besideBeginnings, func(w string) bool { return strings.HasPrefix(extra, w) }) ||
		slices.ContainsFunc(besideParts, func(w string) bool { return strings.Contains(extra, w) }) && !cardNamed.MatchString(extra) ||
		len(extra) > 0 && len(extra) <= 10 && (timesBeside.MatchString(extra) || driverVersion.MatchString(extra))
}

// driverVersion is the version of a driver in the list of nvidia-smi.
var driverVersion = regexp.MustCompile(`^[0-9]{3}\.[0-9]{2,3}(?:\.[0-9]{2})?$`)

// madeBy reports whether a text begins with the maker of a machine.
func madeBy(text string) bool {
	all := split(text)
	return len(all) > 0 && machineMakers[all[0].text]
}

// harmless reports whether none of words can make another product of the name beside them.
func harmless(words []string) bool {
	for i, w := range words {
		before, next := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			next = words[i+1]
		}
		number := isDigit(w[0])
		switch {
		case w == "max" && measures[before]: // "300 W max"
		case identity[w]:
			return false
		case number && (len(w) >= 3 || i == 0) && !measures[next] && !versioned[before]:
			return false
		case !number && !besideWords[w] && !(measures[w] && before != "" && isDigit(before[0])):
			return false
		}
	}
	return true
}

// processor reports whether a text reads like the name of a processor.
func processor(text string) bool {
	return slices.ContainsFunc([]string{"core i", "core ultra", "ryzen", "threadripper", "epyc", "xeon", "pentium", "celeron", "-core processor", "cpu @"}, func(w string) bool { return strings.Contains(text, w) })
}

// wholeLine reports whether a name is one that drivers print for many products: "AMD Radeon Graphics", "Intel Xeon Processor".
func wholeLine(text string) bool {
	generic := !slices.ContainsFunc(split(text), func(w word) bool {
		return !is("brands", w.text) && !is("lines", w.text) && !hwNoise[w.text] && !is("words of lines", w.text)
	})
	return generic && (processor(text) || strings.Contains(text, "graphics") || strings.Contains(text, "radeon"))
}
