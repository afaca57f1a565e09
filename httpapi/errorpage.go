package httpapi

import (
	"bytes"
	"net/url"
	"strings"

	"modeldex/dataset/record"
	"modeldex/httpapi/pages"
)

// wantsPage reports whether an error is shown as a page: to a browser, at an address that is not the
// API's.
func (req *request) wantsPage() bool {
	h := &req.ctx.Request.Header
	read := h.IsGet() || h.IsHead() || h.IsPost() && string(req.ctx.Path()) == contributePath
	return read && bytes.Contains(req.peek(acceptHeader, "Accept"), []byte("text/html")) && !bytes.HasPrefix(req.ctx.Path(), []byte("/api/"))
}

// failurePage is an error as a page, with the status and the headers of the error.
func (s *Server) failurePage(req *request, f *failure, p *Problem) *response {
	v := &pages.Failure{
		Frame:  pages.Frame{Place: pages.Place{Base: s.base(req.ctx), Path: p.Instance}},
		Status: p.Status, Code: p.Code, Heading: p.Title, Detail: p.Detail, RequestID: p.RequestID, Support: p.Support,
	}
	if len(p.Errors) > 0 {
		v.Detail = f.code.help
	}
	for i := range p.Errors {
		v.Faults = append(v.Faults, req.faultView(&p.Errors[i], v.Faults, s.cfg.Keeper.KeyPrefix())...)
	}
	if f.code == &unknownRoute {
		v.Faults = req.sameName(p.Instance)
	}
	if kind, _, ok := strings.Cut(strings.TrimPrefix(p.Instance, "/"), "/"); ok && resourceNamed(kind) != nil {
		v.Back = &pages.Link{Text: "All " + kind, Href: "/explore/" + kind}
	} else if req.ctx.QueryArgs().Len() > 0 {
		v.Back = &pages.Link{Text: "Without these filters", Href: p.Instance}
	}
	resp := newResponse(p.Status, htmlType, s.pages.Failure(v))
	resp.keep("no-store", openVary+", Accept")
	resp.set("Content-Security-Policy", pagePolicy)
	f.writeHeaders(resp)
	return resp
}

func resourceNamed(name string) *resource {
	for _, r := range resources {
		if r.name == name {
			return r
		}
	}
	return nil
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
	out := pages.Fault{Detail: f.Detail}
	if f.Name != "" {
		out.Name = f.subject()
	}
	if f.Value != nil {
		out.Value = record.Printable(*f.Value)
	}
	if link != nil {
		out.Near = []pages.Link{*link}
	}
	return []pages.Fault{out}
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
	return &pages.Link{Text: f.Suggestion, Href: path + "?" + query.Encode(), NoFollow: true}
}

// sameName are the records whose name is the last part of an address that nothing is served at.
func (req *request) sameName(path string) []pages.Fault {
	if req.gen == nil {
		return nil
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	var links []pages.Link
	for _, r := range []*resource{models, hardware, tools} {
		if slug, ok := r.table(req.gen).Resolve(name); ok && name != "" {
			links = append(links, pages.Link{Text: slug, Href: "/" + r.name + "/" + url.PathEscape(slug)})
		}
	}
	if links == nil {
		return nil
	}
	return []pages.Fault{{Name: name, Detail: "is the name of a record.", Near: links}}
}
