package record

import "strings"

// URL is the address of a page, http or https.
type URL string

// Valid reports whether u can be followed. It needs a scheme and a host as it is looked up (IDN in its ASCII
// form). It may have no user, and none of the characters that addresses never have.
func (u URL) Valid() bool {
	rest, ok := strings.CutPrefix(string(u), "https://")
	if !ok {
		rest, ok = strings.CutPrefix(string(u), "http://")
	}
	if !ok {
		return false
	}
	host := len(rest)
	for i := range len(rest) { // the bytes of other characters are above these
		switch c := rest[i]; {
		case c <= ' ', c == 0x7f, c == '\\', c == '"', c == '<', c == '>':
			return false
		case i < host && (c == '/' || c == '?' || c == '#'):
			host = i
		}
	}
	return validHost(rest[:host])
}

// validHost reports whether a text is labels of letters, digits and hyphens, joined by single dots, and a port if there is
// one.
func validHost(host string) bool {
	name, port, numbered := strings.Cut(host, ":")
	if numbered && (len(port) == 0 || len(port) > 5 || strings.Trim(port, "0123456789") != "" || len(port) == 5 && port > "65535") {
		return false
	}
	joined := true // a label begins and ends with a letter or digit
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			joined = false
		case c == '-' && i > 0 && name[i-1] != '.':
			joined = true
		case c == '.' && !joined:
			joined = true
		default:
			return false
		}
	}
	return !joined
}

func (URL) valid(s string) bool { return URL(s).Valid() }

func (URL) rule() string { return "must be an address that starts with https:// or http:// and a host" }

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
