package pages

// A Failure is an error as a page for people.
type Failure struct {
	Frame
	Status                           int
	Code, Heading, Detail, RequestID string
	Support                          string // address to write to; empty: none
	Faults                           []Fault
	Back                             *Link
	Choices                          []Link // one of which the reader meant
	Form                             *Ask   // what was asked, to be changed; nil: nothing was
}

// A Fault is one thing wrong with an address. Name is empty for a parameter without a name.
type Fault struct {
	Name, Value, Detail string
	Near                []Link // what the reader may have meant
}

// Label is the name as it is on pages; empty without one.
func (f Fault) Label() string {
	if f.Name == "" {
		return ""
	}
	return Label(f.Name)
}

// Failure is the page of an error.
func (s *Site) Failure(v *Failure) []byte {
	v.Title, v.Unlisted = v.Heading, true
	return s.render("failure.html", v)
}
