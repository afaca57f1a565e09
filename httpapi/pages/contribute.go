package pages

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/text"
	"modeldex/httpapi/contribute"
	"modeldex/index"
)

// Contribute is the page that makes benchmark lines of what a reader fills in.
type Contribute struct {
	Frame
	Groups []FormGroup        // of one measurement
	Pasted FormGroup          // of an output of llama-bench
	Names  map[string]Choices // to choose from, by id
	// Checked says that a form was sent; what follows is about it.
	Checked bool
	// Heading says in a few words what came of the form.
	Heading string
	*contribute.Result
	Wrong []FormField // with a fault
	// Ready are the lines as one text, empty without any.
	Ready    string
	Count    int
	Proposal *Proposal
	Command  string // appends the lines to a copy of the dataset and checks it
}

// A FormGroup is fields that belong together.
type FormGroup struct {
	Title  string
	Fields []FormField
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

// Contribute is the page of the form. values are what it begins with, or what was sent; r is what came of that, nil
// before a form was sent.
func (s *Site) Contribute(gen *index.Generation, values url.Values, r *contribute.Result, at Place) []byte {
	v := &Contribute{
		Frame: Frame{
			Place: at, Title: "Contribute a measurement", Section: "/contribute", Canonical: "/contribute", Dataset: stampOf(gen), Unlisted: at.Query != "" || r != nil,
			Description: "Measured tokens per second yourself, or found a published run? Fill in a form or paste what llama-bench printed, and get the finished line of the dataset, checked.",
			Scripts:     []string{"app.js"},
		},
		Result: r, Checked: r != nil, Names: map[string]Choices{},
	}
	for _, kind := range kinds[:3] {
		v.Names["known-"+kind] = mostMeasured(tableOf(gen, kind))
	}
	pasted := values.Get(contribute.KindField) == contribute.PastedForm
	for _, g := range contribute.Groups {
		v.Groups = append(v.Groups, v.group("f-", g, values, r == nil || !pasted))
	}
	v.Pasted = v.group("p-", contribute.Pasted, values, r == nil || pasted)
	if r != nil {
		v.finish(s.cfg.RepositoryURL)
	}
	return s.render("contribute.html", v)
}

// group is fields with their values; mine says whether the values are those of this form.
func (v *Contribute) group(prefix string, g contribute.Group, values url.Values, mine bool) FormGroup {
	out := FormGroup{Title: g.Title}
	for _, f := range g.Fields {
		field := FormField{Field: f, ID: prefix + f.Name, Value: f.Usual}
		if f.Of != "" {
			field.List = "known-" + f.Of
		}
		if given := values.Get(f.Name); mine && given != "" {
			field.Value = given
		}
		if mine && v.Checked {
			field.Faults, field.Warnings = of(v.Result.Faults, f.Name), of(v.Result.Warnings, f.Name)
		}
		if len(field.Faults) > 0 {
			v.Wrong = append(v.Wrong, field)
		}
		out.Fields = append(out.Fields, field)
	}
	return out
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

// finish says what came of the form, and how to go on.
func (v *Contribute) finish(repository string) {
	ready := v.Result.Ready()
	v.Count = len(ready)
	switch wrong := len(v.Wrong); {
	case v.Count > 0:
		v.Heading = text.Count(v.Count, "line is ready", "lines are ready")
	case wrong > 0:
		v.Heading = text.Count(wrong, "field needs", "fields need") + " a look"
	default:
		v.Heading = "No line could be made"
	}
	if v.Title = v.Heading + " · " + "Contribute"; v.Count == 0 {
		return
	}
	byFile := map[string]string{}
	for _, l := range ready {
		v.Ready += l.Text + "\n"
		byFile[l.File] += l.Text + "\n"
	}
	v.Ready = strings.TrimSuffix(v.Ready, "\n")
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		v.Command += "cat >> data/" + file + " <<'LINES'\n" + byFile[file] + "LINES\n"
	}
	v.Command += "modeldex fmt data && modeldex check data"
	if repository != "" {
		v.Proposal = propose(repository, v.Ready+"\n", ready, v.Absolute(v.Path))
	}
}

// A Proposal is the way into the repository of the dataset. Note says what happens behind the link.
type Proposal struct {
	Link
	Note string
}

// longestAddress is how long a prefilled link may be. GitHub answers 414 to addresses of more than
// about 8 KiB.
const longestAddress = 7500

// propose makes the link under which a reader proposes lines. On github.com it leads to the form of a
// new file of benchmarks. Elsewhere it leads to the form of an issue, whose address GitHub, Gitea,
// Forgejo and GitLab spell in two ways. A link that would be too long is left without the lines.
func propose(repository, filled string, lines []contribute.Line, page string) *Proposal {
	base, branch, folder := splitRepository(repository)
	host := ""
	if u, err := url.Parse(base); err == nil {
		host = strings.ToLower(u.Hostname())
	}
	title := "Add " + text.Count(len(lines), "benchmark", "benchmarks")
	if len(lines) == 1 {
		title += " of " + string(lines[0].Model) + " on " + string(lines[0].Hardware)
	}
	out := &Proposal{Link{Text: "Propose as an issue", Href: base + "/issues/new"}, "The issue is filled in with the line. Look at it and send it."}
	query, long := url.Values{"title": {title}}, "body"
	value := title + ", made and checked at " + page + ".\n\n```json\n" + filled + "```\n"
	if host == "github.com" {
		out.Text, out.Note = "Propose on GitHub", "GitHub opens a new file with what is above and makes a pull request of it. You need an account there."
		out.Href = base + "/new/" + url.PathEscape(branch)
		query, long, value = url.Values{"filename": {folder + "benchmarks/" + string(lines[0].ID) + ".ndjson"}, "message": {title}}, "value", filled
	}
	if query.Set(long, value); len(out.Href+query.Encode()) >= longestAddress {
		query.Del(long)
		out.Note = "What is above is too long for a link: copy it first, then paste it there."
	}
	out.Href += "?" + query.Encode()
	return out
}

// give leads to where a reader adds a fact to the record whose page is at a path: to its file on github.com, else to the
// form of an issue, else to the address of the operator.
func give(repository, page string) Link {
	base, branch, folder := splitRepository(repository)
	switch u, err := url.Parse(base); {
	case base == "" || err != nil:
		return Link{Text: "Tell us, with the page that says it", Href: "/about#mistakes"}
	case strings.EqualFold(u.Hostname(), "github.com") && !strings.HasPrefix(page, "/benchmarks/"): // those share a file
		return Link{Text: "Add it to the file, with the page that says it", Href: base + "/edit/" + url.PathEscape(branch) + "/" + folder + page[1:] + ".json"}
	}
	return Link{Text: "Open an issue, with the page that says it", Href: base + "/issues/new"}
}

// splitRepository takes branch and folder off the address of a repository, which may end in
// /tree/BRANCH/FOLDER as GitHub writes it. They are main and data where it does not.
func splitRepository(address string) (base, branch, folder string) {
	base, tree, found := strings.Cut(strings.TrimSuffix(strings.TrimRight(address, "/"), ".git"), "/tree/")
	if !found {
		return base, "main", "data/"
	}
	branch, folder, _ = strings.Cut(tree, "/")
	if folder != "" {
		folder += "/"
	}
	return base, branch, folder
}
