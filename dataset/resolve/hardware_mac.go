package resolve

import (
	"regexp"
	"strings"
)

var macID = regexp.MustCompile(`\b(?:mac|macbookair|macbookpro|macmini|imac)[0-9]{1,2},[0-9]{1,2}\b`)

// nameMac writes the number of a model of Apple as its name.
func nameMac(text string) string {
	if !strings.Contains(text, "mac") || !strings.Contains(text, ",") {
		return text
	}
	return macID.ReplaceAllStringFunc(text, func(id string) string {
		if name := vocabulary["mac models"][id]; name != "" {
			return name
		}
		return id
	})
}
