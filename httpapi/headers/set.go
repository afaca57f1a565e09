package headers

// Set is a set of headers that many requests do not have. Looking one up costs as much as
// reading the line of another, so each is looked for only where reading the head has met it.
type Set uint8

// The headers, SeveralLines for one of them that is on several, and Every for all of this.
const (
	Accept Set = 1 << iota
	AcceptEncoding
	IfNoneMatch
	IfMatch
	Origin
	SeveralLines
	Every Set = 1<<iota - 1
)

// With adds the header with a name to a set, if it is one of those.
func (s Set) With(name []byte) Set {
	switch {
	case len(name) == len("accept") && EqualFold(name, "accept"):
		return s.add(Accept)
	case len(name) == len("accept-encoding") && EqualFold(name, "accept-encoding"):
		return s.add(AcceptEncoding)
	case len(name) == len("if-none-match") && EqualFold(name, "if-none-match"):
		return s.add(IfNoneMatch)
	case len(name) == len("if-match") && EqualFold(name, "if-match"):
		return s.add(IfMatch)
	case len(name) == len("origin") && EqualFold(name, "origin"):
		return s.add(Origin)
	}
	return s
}

func (s Set) add(which Set) Set {
	if s&which != 0 {
		which = SeveralLines
	}
	return s | which
}
