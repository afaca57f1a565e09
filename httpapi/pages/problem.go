package pages

// Code is a kind of error of the API.
type Code struct {
	Name, Title, Help string
	Status            int
}

type problem struct {
	Frame
	Code, Heading, Help string
	Status              int
	All                 []Code
}

// Problem is the page of a kind of error; all lists every kind.
func (s *Site) Problem(c Code, all []Code) []byte {
	return s.render("problem.html", &problem{
		Frame: Frame{Place: Place{Path: "/problems/" + c.Name}, Title: c.Title, Description: c.Help}, Code: c.Name, Heading: c.Title, Help: c.Help, Status: c.Status, All: all,
	})
}
