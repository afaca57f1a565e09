package pages

import (
	"net/url"
	"strings"

	"modeldex/dataset/text"
	"modeldex/httpapi/contribute"
	"modeldex/index"
)

// Contribute is the page that makes benchmark lines of what a reader fills in.
type Contribute struct {
	Frame
	Groups []FormGroup // of one measurement
	Pasted FormGroup   // of an output of llama-bench
	Names  []NameList
	// Checked says that a form was sent; what follows is about it.
	Checked bool
	// Heading says in a few words what came of the form.
	Heading string
	*contribute.Result
	// Ready are the lines as one text, empty without any.
	Ready    string
	Count    int
	Proposal *Proposal
	Command  string // appends the lines to a copy of the dataset and checks it
	Files    []string
}

// A FormGroup is fields that belong together.
type FormGroup struct {
	Title  string
	Fields []FormField
	Folded bool
}

// A FormField is a field with what was filled in and what is wrong with it.
type FormField struct {
	contribute.Field
	ID, Value        string
	List             string // id of the names to choose from
	Faults, Warnings []contribute.Fault
}

// Described is the ids of the texts about a field.
func (f *FormField) Described() string {
	var ids []string
	if f.Help != "" {
		ids = append(ids, f.ID+"-help")
	}
	if len(f.Faults)+len(f.Warnings) > 0 {
		ids = append(ids, f.ID+"-fault")
	}
	return strings.Join(ids, " ")
}

// A NameList is names to choose from.
type NameList struct {
	ID      string
	Choices Choices
}

// Contribute is the page before a form was sent; given are values to begin with, by field.
func (s *Site) Contribute(gen *index.Generation, given url.Values, at Place) []byte {
	return s.render("contribute.html", s.contribute(gen, given, nil, at))
}

// Contributed is the page after a form was sent.
func (s *Site) Contributed(gen *index.Generation, sent url.Values, r *contribute.Result, at Place) []byte {
	return s.render("contribute.html", s.contribute(gen, sent, r, at))
}

func (s *Site) contribute(gen *index.Generation, values url.Values, r *contribute.Result, at Place) *Contribute {
	v := &Contribute{
		Frame: Frame{
			Place: at, Title: "Contribute a measurement", Section: "/contribute", Canonical: "/contribute", Dataset: stampOf(gen), Unlisted: at.Query != "" || r != nil,
			Description: "Measured tokens per second yourself, or found a published run? Fill in a form or paste what llama-bench printed, and get the finished line of the dataset, checked.",
			Scripts:     []string{"app.js"},
		},
		Result: r, Checked: r != nil,
	}
	for _, kind := range kinds[:3] {
		v.Names = append(v.Names, NameList{"known-" + kind, mostMeasured(tableOf(gen, kind))})
	}
	form := values.Get(contribute.KindField)
	group := func(prefix string, g contribute.Group, mine bool) FormGroup {
		out := FormGroup{Title: g.Title, Folded: g.Rare}
		for _, f := range g.Fields {
			field := FormField{Field: f, ID: prefix + f.Name}
			if f.Of != "" {
				field.List = "known-" + f.Of
			}
			switch {
			case mine:
				field.Value = values.Get(f.Name)
			case r != nil: // the other form was sent
			default:
				field.Value = values.Get(f.Name)
			}
			if mine && r != nil {
				field.Faults, field.Warnings = of(r.Faults, f.Name), of(r.Warnings, f.Name)
			}
			if field.Value == "" {
				field.Value = f.Usual
			}
			if field.Value != f.Usual || len(field.Faults)+len(field.Warnings) > 0 {
				out.Folded = false
			}
			out.Fields = append(out.Fields, field)
		}
		return out
	}
	for _, g := range contribute.Groups {
		v.Groups = append(v.Groups, group("f-", g, r != nil && form != contribute.PastedForm))
	}
	v.Pasted = group("p-", contribute.Pasted, r != nil && form == contribute.PastedForm)
	if r != nil {
		v.finish(s.cfg.RepositoryURL)
	}
	return v
}

// of are the faults of a field.
func of(list []contribute.Fault, field string) (out []contribute.Fault) {
	for _, f := range list {
		if f.Field == field {
			out = append(out, f)
		}
	}
	return out
}

// Unplaced are the faults that belong to no field.
func (v *Contribute) Unplaced() []contribute.Fault { return of(v.Result.Faults, "") }

// UnplacedWarnings are the warnings that belong to no field.
func (v *Contribute) UnplacedWarnings() []contribute.Fault { return of(v.Result.Warnings, "") }

// Wrong are the fields with a fault.
func (v *Contribute) Wrong() (out []FormField) {
	for _, g := range append(v.Groups, v.Pasted) {
		for _, f := range g.Fields {
			if len(f.Faults) > 0 {
				out = append(out, f)
			}
		}
	}
	return out
}

// Rejected are the lines with a fault.
func (v *Contribute) Rejected() (out []contribute.Line) {
	for _, l := range v.Result.Lines {
		if len(l.Faults) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// Doubtful are the lines with a warning and no fault.
func (v *Contribute) Doubtful() (out []contribute.Line) {
	for _, l := range v.Result.Lines {
		if len(l.Faults) == 0 && len(l.Warnings) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// finish says what came of the form, and how to go on.
func (v *Contribute) finish(repository string) {
	ready := v.Result.Ready()
	v.Count = len(ready)
	switch wrong := len(v.Wrong()); {
	case v.Count > 0:
		v.Heading = text.Count(v.Count, "line is ready", "lines are ready")
		v.Title = v.Heading
	case wrong > 0:
		v.Heading = text.Count(wrong, "field needs", "fields need") + " a look"
	default:
		v.Heading = "No line could be made"
	}
	v.Title = v.Heading + " · " + "Contribute"
	if v.Count == 0 {
		return
	}
	var text strings.Builder
	byFile := map[string][]string{}
	for _, l := range ready {
		text.WriteString(l.Text + "\n")
		if byFile[l.File] == nil {
			v.Files = append(v.Files, l.File)
		}
		byFile[l.File] = append(byFile[l.File], l.Text)
	}
	v.Ready = strings.TrimSuffix(text.String(), "\n")
	for _, file := range v.Files {
		v.Command += "cat >> data/" + file + " <<'LINES'\n" + strings.Join(byFile[file], "\n") + "\nLINES\n"
	}
	v.Command += "modeldex fmt data && modeldex check data"
	if repository != "" {
		v.Proposal = propose(repository, ready, v.Absolute(v.Path))
	}
}
