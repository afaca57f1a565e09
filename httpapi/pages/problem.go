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

// Docs is the reference page of the API.
func (s *Site) Docs() []byte {
	return s.render("docs.html", &Frame{
		Place: Place{Path: "/docs"}, Title: "API reference", Section: "/docs", Description: "Every endpoint of the modeldex API, with parameters, responses and errors.",
		Styles: []string{"swagger-ui.css", "docs.css"}, Scripts: []string{"swagger-ui-bundle.js", "docs.js"},
	})
}
