package record

import "regexp"

// Slug is a record's stable public key: groups of lower-case letters and digits joined by
// single dots or hyphens, at most MaxSlug bytes.
type Slug string

// MaxSlug is the longest slug, in bytes: it must fit in a file name and an address.
const MaxSlug = 100

// SlugPattern is the form of a slug as a regular expression, for schemas.
const SlugPattern = `^[a-z0-9]+([.-][a-z0-9]+)*$`

var slugForm = regexp.MustCompile(SlugPattern)

// Valid reports whether s has the form of a slug.
func (s Slug) Valid() bool { return len(s) <= MaxSlug && slugForm.MatchString(string(s)) }

func (Slug) valid(s string) bool { return Slug(s).Valid() }

func (Slug) rule() string {
	return "must be lower-case letters and digits in groups joined by single dots or hyphens, at most 100 bytes"
}

// Reserved reports whether a slug is a word of the API's addresses, /api/v1/models/facets for one, so that no record
// can be read under it.
func (s Slug) Reserved() bool { return s == "facets" || s == "stats" }
