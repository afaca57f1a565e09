package httpapi

// headerSet is a set of headers that many requests do not have. Looking one up costs as much as
// reading the line of another, so each is looked for where malformed has met it only.
type headerSet uint8

const (
	acceptHeader headerSet = 1 << iota
	acceptEncodingHeader
	ifNoneMatchHeader
	originHeader
	everyHeader headerSet = 1<<iota - 1
)

// with adds the header with a name to a set, if it is one of those.
func (s headerSet) with(name []byte) headerSet {
	switch {
	case len(name) == len("accept") && equalFold(name, "accept"):
		return s | acceptHeader
	case len(name) == len("accept-encoding") && equalFold(name, "accept-encoding"):
		return s | acceptEncodingHeader
	case len(name) == len("if-none-match") && equalFold(name, "if-none-match"):
		return s | ifNoneMatchHeader
	case len(name) == len("origin") && equalFold(name, "origin"):
		return s | originHeader
	}
	return s
}
