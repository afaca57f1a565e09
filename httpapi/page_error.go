package httpapi

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/record"
	"modeldex/dataset/text"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/query"
)

// wantsPage reports whether an error is shown as a page: to a browser, at an address that is not the
// API's.
func (req *request) wantsPage() bool {
	h := &req.ctx.Request.Header
	read := h.IsGet() || h.IsHead() || h.IsPost() && string(req.ctx.Path()) == contributePath
	return read && bytes.Contains(req.peek("Accept"), []byte("text/html")) && !bytes.HasPrefix(req.ctx.Path(), []byte("/api/"))
}

// plainError is an error in the words of a visitor, who knows nothing of parameters, routes and headers.
type plainError struct{ heading, text string }

// plainErrors are the errors that a visitor of the pages can meet.
var plainErrors = map[*code]plainError{
	invalidParameter:   {"This address has no answer", "Part of it is a value this site does not know:"},
	unknownParameter:   {"This address has no answer", "It asks for something this page does not know:"},
	invalidCursor:      {"This part of the list was not found", "The link to it is damaged. The list itself is still there."},
	cursorMismatch:     {"This part of the list was not found", "The link to it belongs to a list with other filters. The list itself is still there."},
	notFound:           {"Not found", "Nothing here has this name. It may be spelt in another way, or not be listed yet."},
	unknownRoute:       {"There is no such page", "The address may be mistyped, or the link that led here is wrong."},
	versionGone:        {"That is too long ago", "What changed since then is no longer recorded. The changes that are recorded are still there."},
	pageLimited:        {"Too many pages in a short time", "More pages were asked for from your network than this site gives at once. Programs are better served by the API, with a free key."},
	tooManyConnections: {"Too many connections", "Your network has as many connections to this site open as it may."},
	serverBusy:         {"Too many visitors at the moment", "Everything is here; it only takes a little longer."},
	notReady:           {"The data is being loaded", "This takes a few seconds."},
	internal:           {"Something went wrong here", "The fault is ours, and nothing you did. Please try again."},
	uriTooLong:         {"This address is too long", "Choose fewer filters at once."},
	bodyTooLarge:       {"This is too long for the form", "The form takes 224 KiB at once. Send it in parts."},
}

// failurePage is an error as a page, with the status and the headers of the error.
func (s *Server) failurePage(req *request, f *failure, p *Problem) *response {
	if p.Instance == "/problems" || p.Instance == "/problems/" { // addresses of errors are below it
		return req.moved("/docs/errors")
	}
	v := &pages.Failure{
		Frame:  pages.Frame{Place: pages.Place{Base: s.base(req.ctx), Path: p.Instance}},
		Status: p.Status, Code: p.Code, Heading: p.Title, Detail: p.Detail, RequestID: p.RequestID, Support: p.Support,
	}
	plain, ok := plainErrors[f.code]
	if ok {
		v.Heading = plain.heading
	}
	if ok && (f.detail == "" || len(p.Errors) > 0) {
		v.Detail = plain.text
	}
	if f.retryAfter > 0 {
		v.Detail += " Try again in " + record.Counted(f.retryAfter, "second") + "."
	}
	for i := range p.Errors {
		if f.code == invalidCursor || f.code == cursorMismatch || f.code == unknownRoute {
			break // nobody has typed a cursor, and endpoints of the API are no help to a visitor
		}
		v.Faults = append(v.Faults, req.faultView(&p.Errors[i], v.Faults, s.cfg.Keeper.KeyPrefix())...)
	}
	if len(p.Errors) == 1 && p.Errors[0].In == "query" && slices.Contains([]string{"hardware", "fits"}, p.Errors[0].Name) && p.Errors[0].Detail != tooManyCompared && len(v.Faults) > 0 {
		v.Heading, v.Detail = "This hardware is not known here", "Try the name of the chip alone, such as “M2” for a Mac or “RTX 3060” for a PC; without a graphics card, that of the processor. What fits a machine that is not listed follows from its memory."
		if near := v.Faults[0].Near; p.Instance == "/fit" && len(p.Errors[0].Candidates) > 1 && len(near) > 1 {
			v.Detail = "Is it one of these? If not, try the name of the chip alone, or describe the machine by its memory."
			v.Choices, v.Faults = near, nil
		}
	}
	if len(p.Errors) == 1 && p.Errors[0].Detail == tooManyCompared {
		v.Heading, v.Detail, v.Faults = "Too many to compare", "A comparison has four columns at most. Leave some out.", nil
	}
	v.Back = req.wayOn(f, p, s.cfg.Keeper.KeyPrefix())
	if p.Instance == "/fit" && f.code == invalidParameter && req.gen != nil {
		if v.Form = pages.NewAsk(req.gen, req.shownQuery(s.cfg.Keeper.KeyPrefix())); v.Heading == plain.heading {
			v.Heading, v.Detail = "We could not read this question", "Change it in the form:"
		}
		v.Form.More = v.Form.More || v.Choices == nil // a machine can be described there
	}
	resp := newResponse(p.Status, htmlType, s.pages.Failure(v))
	resp.keep("no-store", openVary+", Accept")
	resp.set("Content-Security-Policy", pagePolicy)
	f.writeHeaders(resp)
	return resp
}

// shownQuery is the parameters of a request, without the keys in them.
func (req *request) shownQuery(prefix string) url.Values {
	query := url.Values{}
	for name, value := range req.ctx.QueryArgs().All() {
		query.Add(hideKeys(string(name), prefix), hideKeys(string(value), prefix))
	}
	return query
}

// wayOn is where a visitor goes from an error, besides the front page; nil: nowhere.
func (req *request) wayOn(f *failure, p *Problem, prefix string) *pages.Link {
	query := req.shownQuery(prefix)
	at := func(text string) *pages.Link {
		if len(query) == 0 {
			return &pages.Link{Text: text, Href: p.Instance}
		}
		return &pages.Link{Text: text, Href: p.Instance + "?" + query.Encode()}
	}
	kind, _, nested := strings.Cut(strings.TrimPrefix(p.Instance, "/"), "/")
	switch {
	case !bytes.Equal(req.ctx.Method(), []byte("GET")):
		return nil
	case f.retryAfter > 0 || f.code == internal:
		return at("Try again")
	case f.code == invalidCursor || f.code == cursorMismatch:
		query.Del("cursor")
		return at("To the start of the list")
	case nested && resourceNamed(kind) != nil:
		return &pages.Link{Text: "All " + kind, Href: "/explore/" + kind}
	case len(query) > 0 && f.code != unknownRoute:
		query = url.Values{}
		return at("The same page without it")
	}
	return nil
}

func resourceNamed(name string) *resource {
	for _, r := range resources {
		if r.name == name {
			return r
		}
	}
	return nil
}

// labelOf is the name of a parameter in the words of the pages.
func labelOf(f *Fault) string {
	for prefix, word := range map[string]string{"min_": "Least ", "max_": "Most "} {
		if field, ok := strings.CutPrefix(f.Name, prefix); ok {
			return word + strings.ToLower(pages.Label(field))
		}
	}
	if f.Name == "q" {
		return "Search"
	}
	return f.Subject()
}

// faultView is a fault with links to what the reader may have meant. Faults of one name in the path
// are one fault with several links.
func (req *request) faultView(f *Fault, before []pages.Fault, prefix string) []pages.Fault {
	link := req.nearLink(f, prefix)
	if f.In == "path" && len(before) > 0 && link != nil {
		last := &before[len(before)-1]
		last.Near = append(last.Near, *link)
		return nil
	}
	out := pages.Fault{Detail: strings.Replace(longNumber.ReplaceAllStringFunc(f.Detail, grouped), "several records:", "one of several:", 1)}
	if f.Detail == query.NoParameter {
		out.Detail = "is not something this page can be asked"
	}
	if noun, ok := strings.CutPrefix(f.Detail, "no such "); ok && f.Value != nil {
		out.Detail = "is not the name of a " + noun + " here"
		if noun == hardware.singular {
			out.Detail = "is not the name of hardware here"
		}
	}
	if f.Name != "" && (f.In != "path" || f.Value == nil) {
		out.Name = labelOf(f)
	}
	if f.Value != nil {
		out.Value = record.Printable(*f.Value)
	}
	if link != nil {
		out.Near = []pages.Link{*link}
	}
	if more := req.candidateLinks(f, prefix); len(more) > 0 {
		out.Near = more
	}
	req.lookElsewhere(&out, f, prefix)
	return []pages.Fault{out}
}

// longNumber is a whole number that pages write with commas.
var longNumber = regexp.MustCompile(`\b\d{4,18}\b`)

// grouped writes a whole number as pages do, with commas.
func grouped(digits string) string {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return digits
	}
	return text.Whole(n)
}

// lookElsewhere adds what a text may mean that is no name of the records a parameter takes.
func (req *request) lookElsewhere(out *pages.Fault, f *Fault, prefix string) {
	r := map[string]*resource{"hardware": hardware, "fits": hardware, "model": models, "models": models, "runs": models}[f.Name]
	if r == nil || f.Value == nil || f.In != "query" || req.gen == nil {
		return
	}
	typed := hideKeys(*f.Value, prefix)
	if amountOfMemory(typed) != "" && r == hardware {
		out.Detail = "is an amount of memory, not the name of hardware."
	}
	out.Near = append(meantElsewhere(req.gen, r.table(req.gen), typed), out.Near...)
	if len(out.Near) > 0 {
		return
	}
	for _, slug := range namedIn(req.gen, r.table(req.gen), typed) {
		meant := *f
		meant.Suggestion = slug
		link := req.nearLink(&meant, prefix)
		link.Text = pages.NameOf(req.gen, slug)
		out.Near = append(out.Near, *link)
	}
}

// candidateLinks are the records that a name nobody knows may mean, by their own names.
func (req *request) candidateLinks(f *Fault, prefix string) (links []pages.Link) {
	for _, c := range f.Candidates {
		meant := *f
		meant.Suggestion = string(c.Slug)
		link := req.nearLink(&meant, prefix)
		link.Text = c.Name
		if ord, ok := req.gen.Hardware.Find(string(c.Slug)); ok {
			gb := strconv.FormatFloat(req.gen.Hardware.Number("vram_gb", ord), 'f', -1, 64) + "GB"
			if gb != "NaNGB" && !strings.Contains(strings.ReplaceAll(c.Name, " ", ""), gb) { // some names have it
				link.Text += ", " + strings.TrimSuffix(gb, "GB") + " GB"
			}
		}
		links = append(links, *link)
	}
	return links
}

// nearLink is the address with what the reader may have meant; keys in it are not repeated.
func (req *request) nearLink(f *Fault, prefix string) *pages.Link {
	path := hideKeys(string(req.ctx.Path()), prefix)
	switch {
	case f.Suggestion == "":
		return nil
	case f.In == "path":
		kind, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return &pages.Link{Text: f.Suggestion, Href: "/" + kind + "/" + url.PathEscape(f.Suggestion)}
	}
	query := url.Values{}
	for name, value := range req.ctx.QueryArgs().All() {
		n, v := string(name), string(value)
		switch {
		case n == f.Name && f.Value == nil: // a wrong name
			n = f.Suggestion
		case n == f.Name:
			v = strings.ReplaceAll(v, *f.Value, f.Suggestion)
		}
		query.Add(hideKeys(n, prefix), hideKeys(v, prefix))
	}
	return &pages.Link{Text: f.Suggestion, Href: path + "?" + query.Encode()}
}
