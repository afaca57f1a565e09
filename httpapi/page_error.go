package httpapi

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/record"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/query"
)

// wantsPage reports whether an error is shown as a page: to a browser, at an address that is not the API's.
func (req *request) wantsPage() bool {
	h := &req.ctx.Request.Header
	read := h.IsGet() || h.IsHead() || h.IsPost() && string(req.ctx.Path()) == contributePath
	return read && bytes.Contains(req.peek("Accept"), []byte("text/html")) && !bytes.HasPrefix(req.ctx.Path(), []byte("/api/"))
}

// plainError is an error in the words of a visitor, who knows nothing of parameters, routes and headers.
type plainError struct{ heading, text string }

// plainErrors are the errors that a visitor of the pages can meet.
var plainErrors = map[*code]plainError{
	invalidParameter:   {"We could not show this page", "Please check this value:"},
	unknownParameter:   {"We could not show this page", "The address contains an option we don't recognise:"},
	invalidCursor:      {"This link is damaged", "Go back to the start of the list and page from there."},
	cursorMismatch:     {"This link does not fit the filters", "Go back to the start of the list and page from there."},
	notFound:           {"Not found", "It may be spelled differently or not be listed yet."},
	unknownRoute:       {"Page not found", "The address may be mistyped, or the link you followed may be broken."},
	versionGone:        {"Too long ago", "We no longer have the changes since then."},
	pageLimited:        {"Too many requests", "Your network opened too many pages in a short time. Programs should use the API with a free key."},
	tooManyConnections: {"Too many connections", "Your network has too many open connections to this site."},
	serverBusy:         {"Too many visitors", "Please try again in a moment."},
	notReady:           {"Loading the data", "This takes a few seconds."},
	internal:           {"Something went wrong", "This is our fault. Please try again."},
	uriTooLong:         {"The address is too long", "Use fewer filters at once."},
	bodyTooLarge:       {"Your text is too long", "The form accepts up to 224 KiB at once. Send your text in parts."},
}

func (s *Server) failurePage(req *request, f *failure, p *Problem) *response {
	if p.Instance == "/problems" || p.Instance == "/problems/" { // addresses of errors are below it
		return req.moved("/docs/errors")
	}
	prefix := s.cfg.Keeper.KeyPrefix()
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
			break // visitors do not type cursors, and API endpoints do not help them
		}
		fault := req.faultView(&p.Errors[i], prefix)
		if i > 0 && p.Errors[i].In == "path" { // the same name with another suggestion
			v.Faults[0].Near = append(v.Faults[0].Near, fault.Near...)
			continue
		}
		v.Faults = append(v.Faults, fault)
	}
	v.Back = req.wayOn(f, p, prefix)
	if p.Instance == "/fit" && f.code == invalidParameter && req.gen != nil {
		v.Form = pages.NewAsk(req.gen, req.shownQuery(prefix))
		v.Form.More = true // a machine that is not listed can be described there
	}
	resp := newResponse(p.Status, htmlType, s.pages.Failure(v))
	resp.keep("no-store", openVary+", Accept")
	resp.set("Content-Security-Policy", pagePolicy)
	f.writeHeaders(resp)
	return resp
}

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
		place := pages.Place{Path: p.Instance, Query: query.Encode()}
		return &pages.Link{Text: text, Href: place.Address()}
	}
	kind, _, nested := strings.Cut(strings.TrimPrefix(p.Instance, "/"), "/")
	switch {
	case !bytes.Equal(req.ctx.Method(), []byte("GET")):
		return nil
	case f.retryAfter > 0 || f.code == internal:
		return at("Try again")
	case f.code == invalidCursor || f.code == cursorMismatch:
		query.Del("cursor")
		return at("Back to the start of the list")
	case nested && slices.ContainsFunc(withPages, func(r *resource) bool { return r.name == kind }):
		return &pages.Link{Text: "All " + kind, Href: "/explore/" + kind}
	case len(query) > 0 && f.code != unknownRoute:
		query = url.Values{}
		return at("Open the page without it")
	}
	return nil
}

func (req *request) faultView(f *Fault, prefix string) pages.Fault {
	out := pages.Fault{Detail: f.Detail}
	switch noun, missing := strings.CutPrefix(f.Detail, "no such "); {
	case f.Detail == "is not known":
		out.Detail = "does not match anything we know"
	case f.Detail == query.NoParameter:
		out.Detail = "is not an option on this page"
	case missing && f.Value != nil:
		out.Detail = "is not " + map[bool]string{true: "a "}[noun != hardware.singular] + noun + " we know"
	}
	switch name, most := strings.CutPrefix(f.Name, "max_"); {
	case f.In == "path" && f.Value != nil, f.Name == "":
	case most:
		out.Name = "Maximum " + strings.ToLower(pages.Label(name))
	case strings.HasPrefix(f.Name, "min_"):
		out.Name = "Minimum " + strings.ToLower(pages.Label(strings.TrimPrefix(f.Name, "min_")))
	default:
		out.Name = f.Subject()
	}
	if f.Value != nil {
		out.Value = record.Printable(*f.Value)
	}
	if f.Suggestion != "" {
		name := f.Suggestion
		if req.gen != nil {
			name = pages.NameOf(req.gen, name)
		}
		out.Near = []pages.Link{req.nearLink(f, f.Suggestion, name, prefix)}
	}
	if f.Candidates != nil {
		out.Near = nil
	}
	for _, c := range f.Candidates {
		text := c.Name
		if ord, ok := req.gen.Hardware.Find(string(c.Slug)); ok {
			gb := text + ", " + strconv.FormatFloat(req.gen.Hardware.Number("vram_gb", ord), 'f', -1, 64) + " GB"
			if !strings.HasSuffix(gb, "NaN GB") {
				text = gb
			}
		}
		out.Near = append(out.Near, req.nearLink(f, string(c.Slug), text, prefix))
	}
	if f.Value != nil && f.In == "query" && req.gen != nil {
		out.Near = append(otherPageLinks(req.gen, hideKeys(*f.Value, prefix)), out.Near...)
		if amountOfMemory(*f.Value) != "" && f.Name != "memory_gb" {
			out.Detail = "is a memory size, not a name."
		}
	}
	return out
}

// nearLink is the address with what the reader may have meant; keys in it are not repeated.
func (req *request) nearLink(f *Fault, meant, text, prefix string) pages.Link {
	path := hideKeys(string(req.ctx.Path()), prefix)
	if f.In == "path" {
		kind, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return pages.Link{Text: text, Href: "/" + kind + "/" + url.PathEscape(meant)}
	}
	query := url.Values{}
	for name, values := range req.shownQuery(prefix) {
		for _, v := range values {
			switch {
			case name == f.Name && f.Value == nil: // a wrong name
				query.Add(meant, v)
			case name == f.Name:
				query.Add(name, strings.ReplaceAll(v, *f.Value, meant))
			default:
				query.Add(name, v)
			}
		}
	}
	return pages.Link{Text: text, Href: path + "?" + query.Encode()}
}
