package httpapi

// headerSet is a set of headers that many requests do not have. Looking one up costs as much as
// reading the line of another, so each is looked for where malformed has met it only.
type headerSet uint8

const (
	acceptHeader headerSet = 1 << iota
	acceptEncodingHeader
	ifNoneMatchHeader
	ifMatchHeader
	originHeader
	severalLines           // one of them is on several lines
	everyHeader  headerSet = 1<<iota - 1
)

// with adds the header with a name to a set, if it is one of those.
func (s headerSet) with(name []byte) headerSet {
	switch {
	case len(name) == len("accept") && equalFold(name, "accept"):
		return s.add(acceptHeader)
	case len(name) == len("accept-encoding") && equalFold(name, "accept-encoding"):
		return s.add(acceptEncodingHeader)
	case len(name) == len("if-none-match") && equalFold(name, "if-none-match"):
		return s.add(ifNoneMatchHeader)
	case len(name) == len("if-match") && equalFold(name, "if-match"):
		return s.add(ifMatchHeader)
	case len(name) == len("origin") && equalFold(name, "origin"):
		return s.add(originHeader)
	}
	return s
}

func (s headerSet) add(which headerSet) headerSet {
	if s&which != 0 {
		which = severalLines
	}
	return s | which
}
