package record

// Origin is a repository or site that facts were read from: one entry of data/sources.json. What it
// gave is counted from the records that name its pages, see dataset.Credits.
type Origin struct {
	// Key of the pages that belong to it: the host without www, and of a repository on GitHub its owner and name too, all in lower case.
	Key string `json:"key" jsonschema:"pattern=^[0-9a-z][0-9a-z._/-]*$,example=github.com/geerlingguy/ai-benchmarks"`
	// Its address.
	URL URL `json:"url" jsonschema:"example=https://github.com/geerlingguy/ai-benchmarks"`
	// Who publishes it.
	Owner string `json:"owner" jsonschema:"minLength=1,example=geerlingguy"`
	// Licence: an SPDX id where one exists, else the licence's own name; "none stated" where the pages that were examined state none; "By repository" or "By project" where each part has its own. Null where no page of it could be examined.
	License *string `json:"licence" jsonschema:"nullable,minLength=1,example=MIT"`
	// What was examined for the licence: the file, the terms, or the page on which none is stated. Where licence is null, why nothing could be examined. Null where the licence is that of a licence file or a statement of the source itself.
	LicenseNote *string `json:"licence_note" jsonschema:"nullable,minLength=1,example=no licence file among the files of the repository"`
	// True if its measurements count in statistics only where a group has no others, because they run lower than those of the tools themselves or nobody checked them. Null if they count like all others.
	Supplementary *bool `json:"supplementary" jsonschema:"nullable,example=true"`
	// Day it was first read for this directory.
	Read Date `json:"read" jsonschema:"example=2026-11-21"`
}
