package record

// Slug is a record's stable public key: groups of lower-case letters and digits joined by
// single dots or hyphens, at most MaxSlug bytes.
type Slug string

// MaxSlug is the longest slug, in bytes: it must fit in a file name and an address.
const MaxSlug = 100

// SlugPattern is the form of a slug as a regular expression, for schemas.
const SlugPattern = `^[a-z0-9]+([.-][a-z0-9]+)*$`

// Valid reports whether s has the form of a slug. It is called for every line, so it is a
// loop rather than SlugPattern.
func (s Slug) Valid() bool {
	if s == "" || len(s) > MaxSlug {
		return false
	}
	joined := true // a slug starts and ends with a letter or digit
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			joined = false
		case (c == '.' || c == '-') && !joined:
			joined = true
		default:
			return false
		}
	}
	return !joined
}

func (Slug) valid(s string) bool { return Slug(s).Valid() }

func (Slug) rule() string {
	return "must be lower-case letters and digits in groups joined by single dots or hyphens, at most 100 bytes"
}

// Reserved reports whether a slug is a word of the API's addresses, /api/v1/models/facets for one, so that no record
// can be read under it.
func (s Slug) Reserved() bool { return s == "facets" || s == "stats" }
