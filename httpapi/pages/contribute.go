package pages

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"modeldex/dataset/contribute"
	"modeldex/dataset/text"
	"modeldex/index"
)

// Contribute is the page that makes benchmark lines of what a reader fills in.
type Contribute struct {
	Frame
	Groups []FormGroup
	Names  map[string]Choices // to choose from, by id
	// Heading says in a few words what came of the form; empty before one was sent.
	Heading string
	*contribute.Result
	Wrong    []FormField // with a fault
	Ready    string      // the lines as one text
	Proposal Link        // to the issue form of the repository; empty without one
	Cut      bool        // the output has no room in that link
	Command  string      // appends the lines to a copy of the dataset and checks it
}

// A FormGroup is fields that belong together.
type FormGroup struct {
	Title  string
	Fields []FormField
}

// A FormField is a field with what was filled in and what is wrong with it.
type FormField struct {
	contribute.Field
	Value            string
	Faults, Warnings []contribute.Fault
}

// Contribute is the page of the form. values are what it begins with, or what was sent; r is what came of that, nil
// before a form was sent.
func (s *Site) Contribute(gen *index.Generation, values url.Values, r *contribute.Result, at Place) []byte {
	v := &Contribute{
		Frame: s.frame(gen, at, "/contribute", "Contribute a benchmark",
			"Paste the output of llama-bench or fill in the form, and get a checked entry for the dataset."),
		Names: map[string]Choices{},
	}
	v.Unlisted = v.Unlisted || r != nil
	for _, kind := range kinds[:3] {
		v.Names["known-"+kind] = mostMeasured(tableOf(gen, kind))
	}
	v.Result = r
	if r == nil {
		v.Result = &contribute.Result{}
	}
	for _, g := range contribute.Groups {
		group := FormGroup{Title: g.Title}
		for _, f := range g.Fields {
			field := FormField{Field: f, Value: values.Get(f.Name), Faults: of(v.Faults, f.Name), Warnings: of(v.Warnings, f.Name)}
			if r == nil && field.Value == "" {
				field.Value = f.Usual
			}
			if len(field.Faults) > 0 {
				v.Wrong = append(v.Wrong, field)
			}
			group.Fields = append(group.Fields, field)
		}
		v.Groups = append(v.Groups, group)
	}
	if r != nil {
		v.finish(s.cfg.RepositoryURL, values)
	}
	return s.render("contribute.html", v)
}

// of are the faults of a field.
func of(list []contribute.Fault, field string) []contribute.Fault {
	return slices.DeleteFunc(slices.Clone(list), func(f contribute.Fault) bool { return f.Field != field })
}

// finish says what came of the form, and how to go on.
func (v *Contribute) finish(repository string, values url.Values) {
	v.Heading = "No entry could be created"
	if wrong := len(v.Wrong); wrong > 0 {
		v.Heading = text.Count(wrong, "field needs", "fields need") + " attention"
	}
	byFile := map[string]string{}
	for _, l := range v.Lines {
		v.Heading = text.Count(len(v.Lines), "entry is ready", "entries are ready")
		v.Ready += l.Text + "\n"
		byFile[l.File] += l.Text + "\n"
	}
	v.Title = v.Heading + " · Contribute"
	v.Ready = strings.TrimSuffix(v.Ready, "\n")
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		v.Command += "cat >> data/" + file + " <<'LINES'\n" + byFile[file] + "LINES\n"
	}
	v.Command += "modeldex fmt data && modeldex check data"
	if repository != "" {
		v.Proposal.Text = "Submit it as an issue"
		v.Proposal.Href, v.Cut = contribute.IssueAddress(repository, values)
	}
}

// give leads to where a reader adds a fact to the record whose page is at a path: to its file on github.com, else to the
// form of an issue, else to the address of the operator. The address of a repository may end in /tree/BRANCH/FOLDER as
// GitHub writes it; branch and folder are main and data where it does not.
func give(repository, page string) Link {
	base, tree, found := strings.Cut(strings.TrimSuffix(strings.TrimRight(repository, "/"), ".git"), "/tree/")
	if !found {
		tree = "main/data"
	}
	branch, folder, _ := strings.Cut(tree, "/")
	switch u, err := url.Parse(base); {
	case base == "" || err != nil:
		return Link{Text: "If you know, tell us and give your source", Href: "/about#mistakes"}
	case strings.EqualFold(u.Hostname(), "github.com") && !strings.HasPrefix(page, "/benchmarks/"): // those share a file
		return Link{Text: "If you know, edit the file and give your source", Href: base + "/edit/" + url.PathEscape(branch) + path.Join("/", folder, page) + ".json"}
	}
	return Link{Text: "If you know, open an issue and give your source", Href: base + "/issues/new"}
}
