package record

import "strings"

// URL is the address of a page, http or https.
type URL string

// Valid reports whether u can be followed: a scheme, a host and no blanks.
func (u URL) Valid() bool {
	rest, ok := strings.CutPrefix(string(u), "https://")
	if !ok {
		rest, ok = strings.CutPrefix(string(u), "http://")
	}
	if !ok || rest == "" || rest[0] == '/' {
		return false
	}
	for i := range len(rest) { // the bytes of other characters are above these
		if c := rest[i]; c <= ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

func (URL) valid(s string) bool { return URL(s).Valid() }

func (URL) rule() string { return "must be an address that starts with https:// or http://" }

// OriginKey returns the key of the repository or site that a page is of, see Origin: the host without
// www, and for GitHub the owner and name of the repository.
func (u URL) OriginKey() string {
	_, rest, _ := strings.Cut(string(u), "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(strings.ToLower(rest), "/")
	host = strings.TrimPrefix(host, "www.")
	if host == "raw.githubusercontent.com" { // the files of the same repositories
		host = "github.com"
	}
	if host != "github.com" {
		return host
	}
	owner, path, _ := strings.Cut(path, "/")
	name, _, _ := strings.Cut(path, "/")
	return strings.TrimRight(host+"/"+owner+"/"+name, "/")
}
