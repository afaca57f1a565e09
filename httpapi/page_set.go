package httpapi

import (
	"sync"

	"modeldex/httpapi/pages"
)

// pagePolicy lets a page load scripts, styles, images and data from this origin and nothing
// else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

const (
	htmlType     = "text/html; charset=utf-8"
	markdownType = "text/markdown; charset=utf-8"
)

// pageSet is the pages, and those of them that stay the same while the program runs.
type pageSet struct {
	*pages.Site
	// documents maps an address below / to its response.
	documents map[string]*document
	styles    map[string]*document        // name of a style sheet without its hash -> its response
	problems  map[string]func() *document // code of an error -> its page, made when first asked for
	codes     []pages.Code
}

// newPages makes the pages that never change.
func newPages(cfg pages.Config) *pageSet {
	p := &pageSet{Site: pages.New(cfg), documents: map[string]*document{}, styles: map[string]*document{}, problems: map[string]func() *document{}}
	p.documents["openapi.json"] = newOpenAPI()
	for _, a := range p.Assets() {
		p.documents["assets/"+a.Name] = newDocumentForms(a.Body, form{contentType: a.ContentType, forever: true})
		if ofOtherBuild.MatchString(a.Name) {
			p.styles[ofOtherBuild.ReplaceAllString(a.Name, ".css")] = newDocumentForms(a.Body, form{contentType: a.ContentType, passing: true})
		}
	}
	page := func(body []byte) *document {
		return newDocumentForms(body, form{contentType: htmlType, policy: pagePolicy})
	}
	for _, c := range codes {
		p.codes = append(p.codes, pages.Code{Name: c.name, Title: c.title, Help: c.help, Status: c.status})
	}
	for _, c := range p.codes {
		p.problems[c.Name] = sync.OnceValue(func() *document { return page(p.Problem(c, p.codes)) })
	}
	return p
}
