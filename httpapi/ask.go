package httpapi

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"modeldex/httpapi/encoding"
	"modeldex/httpapi/export"
	"modeldex/httpapi/pages"
	"modeldex/index"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// Answer is the response to a request that came over no connection.
type Answer struct {
	Status      int
	ContentType string
	// Next is the address of the page that follows, empty for none.
	Next string
	ctx  *fasthttp.RequestCtx
}

// WriteTo writes the body. It is called once.
func (a *Answer) WriteTo(w io.Writer) (int64, error) {
	resp := &a.ctx.Response
	if !resp.IsBodyStream() {
		n, err := w.Write(resp.Body())
		return int64(n), err
	}
	n, err := io.Copy(w, resp.BodyStream())
	if closeErr := resp.CloseBodyStream(); err == nil {
		err = closeErr
	}
	return n, err
}

// Encoded is the body in another coding, as the server sends it to callers who accept that one: nil
// where it sends the body as it is.
func (a *Answer) Encoded(name string) []byte {
	resp := &a.ctx.Response
	c := slices.Index(encoding.Names[:], name)
	if resp.IsBodyStream() || len(resp.Body()) <= encoding.CompressFrom || c < 0 || a.ContentType == export.Parquet.ContentType() || a.ContentType == pngType {
		return nil
	}
	return encoding.Compress(resp.Body(), encoding.Coding(c))
}

// Ask answers GET of an address as a caller with a key gets it, without a coding. It takes the path of every request, without a connection. Safe for concurrent use.
func (s *Server) Ask(address, key string) *Answer {
	var req fasthttp.Request
	req.SetRequestURI(address)
	req.Header.SetHost("localhost")
	req.Header.Set(fiber.HeaderAuthorization, "Bearer "+key)
	a := &Answer{ctx: &fasthttp.RequestCtx{}}
	a.ctx.Init(&req, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, nil)
	s.handle(a.ctx)
	h := &a.ctx.Response.Header
	a.Status, a.ContentType = a.ctx.Response.StatusCode(), string(h.ContentType())
	if next, ok := strings.CutSuffix(string(h.Peek("Link")), `>; rel="next"`); ok {
		a.Next = strings.TrimPrefix(next, "<")
	}
	return a
}

// Place is an address whose response can be a file: it needs no choice of the caller's.
type Place struct {
	Address string
	// File is where its file belongs, with slashes: the address without its first slash. An endpoint of the API
	// has .json behind it, a page /index.html.
	File string
	// Kind says what it is, for counts: lists, records, facets, pages, pictures, feeds, dumps, documents.
	Kind string
	// Pages: the response may be the first of several, which Answer.Next leads through.
	Pages bool
	// Optional: there may be none; 404 then is not a failure.
	Optional bool
}

// Places gives every Place of the generation being served, always in the same order. The dumps must
// have been made, see MakeDump.
func (s *Server) Places() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		gen := s.cfg.Live.Current()
		for _, part := range []iter.Seq[Place]{s.fixedPlaces(), s.filePlaces(), listPlaces, s.recordPlaces(gen), feedPlaces(gen)} {
			for p := range part {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// MakeDump makes the dump of the generation being served, where there is none.
func (s *Server) MakeDump(ctx context.Context) error {
	return s.dumps.Make(ctx, s.cfg.Live.Current())
}

func endpointPlace(kind, address string) Place {
	path, _, _ := strings.Cut(address, "?")
	return Place{Address: address, File: onDisk(path) + ".json", Kind: kind}
}

func pagePlace(address string) Place {
	return Place{Address: address, File: strings.TrimPrefix(onDisk(address)+"/index.html", "/"), Kind: "pages"}
}

func filePlace(kind, address string) Place {
	return Place{Address: address, File: onDisk(address), Kind: kind}
}

// onDisk is an address as file hosts look it up.
func onDisk(address string) string {
	path, err := url.PathUnescape(strings.Trim(address, "/"))
	if err != nil {
		panic(err) // addresses of this program
	}
	return path
}

// fixedPlaces are the routes that are one address and take no key.
func (s *Server) fixedPlaces() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for i := range s.routes {
			rt := &s.routes[i]
			if p, ok := rt.fixedPlace(); ok && !yield(p) {
				return
			}
		}
	}
}

// fixedPlace is false for routes with parts of the path, for those that need a key or a choice, and
// for those that say something of a process.
func (rt *route) fixedPlace() (Place, bool) {
	form, ending := formOf(rt.path, endings)
	switch {
	case rt.method != http.MethodGet || rt.access != open || strings.ContainsAny(rt.path, ":*+") || rt.tag == "operation" || rt.id == "showDataset" || rt.id == exploreAnyID:
		return Place{}, false
	case rt.list == changesList:
		p := endpointPlace("documents", rt.path+"?limit=500")
		p.Pages = true
		return p, true
	case rt.tag == "pages" && rt.hidden:
		p := filePlace("pages", rt.path)
		p.Optional = true // not every page has every form
		return p, !takesChoice(form)
	case rt.tag == "pages":
		return pagePlace(form), true
	case strings.HasPrefix(rt.path, apiPath):
		p := endpointPlace(rt.tag, rt.path)
		p.Optional = rt.id == "latestSnapshot"
		return p, true
	case ending != "":
		return filePlace("documents", rt.path), true
	default:
		return pagePlace(rt.path), true
	}
}

// takesChoice reports whether the data forms of a page need parameters.
func takesChoice(path string) bool {
	return slices.ContainsFunc(routes, func(rt route) bool { return rt.path == path && rt.list != nil })
}

// filePlaces are the files of the pages, sitemaps, the error pages, schemas, snapshots and dumps.
func (s *Server) filePlaces() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		var out []Place
		for _, a := range s.pages.Assets() {
			out = append(out, filePlace("documents", "/assets/"+a.Name))
		}
		for _, name := range pages.SitemapNames(s.cfg.Live.Current()) {
			out = append(out, filePlace("pages", "/sitemaps/"+name+".xml"))
		}
		for _, c := range codes {
			out = append(out, pagePlace("/problems/"+c.name))
		}
		for _, name := range slices.Sorted(maps.Keys(s.cfg.Schemas)) {
			out = append(out, filePlace("documents", schemasPath+"/"+name))
		}
		for _, d := range s.catalog().List() {
			out = append(out, endpointPlace("snapshots", "/api/v1/snapshots/"+d.Hash))
		}
		for _, d := range s.dumps.List() {
			for _, f := range d.Files {
				out = append(out, filePlace("dumps", dumpAddress(d, f.Name)))
			}
		}
		for _, p := range out {
			if !yield(p) {
				return
			}
		}
	}
}

// listPlaces are the lists without filters, in the largest pages, their pages for people, and the
// facets of all fields.
func listPlaces(yield func(Place) bool) {
	for _, r := range resources {
		list := endpointPlace("lists", fmt.Sprintf("/api/v1/%s?limit=%d", r.name, r.maxLimit))
		list.Pages = true
		facets := endpointPlace("facets", "/api/v1/"+r.facets.path+"?fields="+strings.Join(r.facets.byName["fields"].values, ","))
		if !yield(list) || !yield(facets) || !yieldForms(yield, "/explore/"+r.name, endings) {
			return
		}
	}
}

// yieldForms gives a page in all its forms.
func yieldForms(yield func(Place) bool, address string, forms []string) bool {
	for _, e := range forms {
		kind := "pages"
		if e == pictureEnding {
			kind = "pictures"
		}
		if !yield(filePlace(kind, address+e)) {
			return false
		}
	}
	return yield(pagePlace(address))
}

// recordPlaces are the records, as the API answers them and as pages.
func (s *Server) recordPlaces(gen *index.Generation) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for _, r := range resources {
			forms := recordEndings
			if slices.Contains(s.cfg.NoPictures, r.name) {
				forms = endings
			}
			t := r.table(gen)
			for ord := range uint32(t.Len()) {
				slug := url.PathEscape(t.Slug(ord))
				if !yield(endpointPlace("records", "/api/v1/"+r.name+"/"+slug)) || !yieldForms(yield, "/"+r.name+"/"+slug, forms) {
					return
				}
			}
		}
	}
}

// feedPlaces are the feeds.
func feedPlaces(gen *index.Generation) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		of := func(scope string) bool {
			for _, file := range feedFiles {
				if !yield(filePlace("feeds", "/feeds/"+scope+file)) {
					return false
				}
			}
			return true
		}
		if !of("") {
			return
		}
		for _, r := range []*resource{models, hardware} {
			t := r.table(gen)
			for ord := range uint32(t.Len()) {
				if !of(r.name + "/" + url.PathEscape(t.Slug(ord)) + "/") {
					return
				}
			}
		}
		for _, family := range gen.Models.Values(index.Family) {
			if !of("families/" + url.PathEscape(family) + "/") {
				return
			}
		}
	}
}
