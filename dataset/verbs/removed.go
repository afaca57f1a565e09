package verbs

import "strings"

// removed are the verbs that older versions had, each with what to do instead.
var removed = map[string]string{
	"import facts":  "write one file per record in models, hardware and tools of the dataset, and run modeldex check",
	"import pciids": "copy the ids from pci.ids into pci_ids of the hardware record",
}

// Replacement is the sentence that answers a command line with a removed verb, empty for any other.
func Replacement(args []string) string {
	for n := 1; n <= min(2, len(args)); n++ {
		verb := strings.Join(args[:n], " ")
		if instead, ok := removed[verb]; ok {
			return "modeldex " + verb + " was removed: " + instead
		}
	}
	return ""
}
