package httpapi

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/query"
	"modeldex/index"
)

// typedNumber is a number as people write it in a form: 32k, 32,768 or 24 GB.
var typedNumber = regexp.MustCompile(`(?i)^\s*(\d+|\d{1,3}(?:,\d{3})+)(\.\d+)?\s*(k?)\s*(?:gb|gib|gb/s|tokens?|tok/s|t/s|x)?\s*$`)

// typedNumbers are the parameters of forms that are numbers.
var typedNumbers = []string{"memory_gb", "system_memory_gb", "bandwidth_gbps", "context", "min_tps", "count"}

// normalizeForm are the parameters of a form as the pages take them: without empty ones and units, and with an amount of memory that was
// typed as the name of a machine in its own parameter. changed reports whether that differs from args.
func normalizeForm(args *fasthttp.Args, machine bool) (out *fasthttp.Args, changed bool) {
	out = &fasthttp.Args{}
	for key, value := range args.All() {
		name, v := string(key), string(value)
		if gb := amountOfMemory(v); machine && name == "hardware" && gb != "" && !args.Has("memory_gb") {
			name, v = "memory_gb", gb
		}
		if m := typedNumber.FindStringSubmatch(v); m != nil && slices.Contains(typedNumbers, name) {
			v = strings.ReplaceAll(m[1], ",", "") + m[2]
			if n, err := strconv.ParseFloat(v, 64); err == nil && m[3] != "" { // 32k of context is 32,768 tokens
				v = strconv.FormatFloat(n*1024, 'f', -1, 64)
			}
		}
		if changed = changed || v != string(value) || v == ""; v != "" {
			out.Add(name, v)
		}
	}
	return out, changed
}

// otherPageLinks are the pages that a text may mean that is not what a parameter takes: an amount of memory, or the name of a record.
func otherPageLinks(gen *index.Generation, typed string) (links []pages.Link) {
	if gb := amountOfMemory(typed); gb != "" {
		return []pages.Link{{Text: "what runs in " + gb + " GB", Href: "/fit?memory_gb=" + gb}}
	}
	for _, r := range []*resource{models, hardware, tools} {
		if slug, _ := named(gen, r.table(gen), typed); slug != "" {
			links = append(links, pages.Link{Text: pages.NameOf(gen, slug), Href: "/" + r.name + "/" + slug})
		}
	}
	return links
}

// nearWords are the pages that words may mean that no record of a list has: a record by one of its names, or the same words as
// records spell them.
func nearWords(gen *index.Generation, r *resource, typed string) []pages.Link {
	if links := otherPageLinks(gen, typed); links != nil {
		return links
	}
	t, words := r.table(gen), strings.Fields(typed)
	for _, u := range t.UnknownWords(words, 1) {
		if len(u.Near) == 0 {
			return nil
		}
		for i, w := range words {
			if w == u.Word {
				words[i] = u.Near[0]
			}
		}
	}
	text := strings.Join(words, " ")
	if text == typed || t.Select(index.Query{Words: words, Limit: 1}).Total == 0 {
		return nil
	}
	return []pages.Link{{Text: "“" + record.Printable(text) + "”", Href: "/explore/" + r.name + "?q=" + url.QueryEscape(text)}}
}

// askPage leads to the page that answers a question.
func askPage(_ *Server, req *request) (*response, *failure) {
	p := reader{Values: query.Read(askView.params, req.ctx.QueryArgs().All()), gen: req.gen}
	if f := failureOf(&p.Faults); f != nil {
		return nil, f
	}
	typed := p.Text("q")
	q := req.gen.Names.Read(typed)
	c := callOf(req.gen, q)
	c.Params.Del("limit")
	to := "/explore/models?q=" + url.QueryEscape(strings.Trim(typed, " ?!."))
	fits := c.Params.Get("fits")
	plain := len(strings.Fields(typed)) < 5 && len(q.Models)+len(q.Hardware) < 2 && q.SizeB == 0 && q.MaxPriceUSD == 0 && q.Count < 2 && q.Context == 0
	if len(typed) > resolve.MaxQuestion {
		typed = ""
	}
	switch {
	case plain && amountOfMemory(typed) != "":
		to = "/fit?memory_gb=" + amountOfMemory(typed)
	case plain && len(q.Hardware) == 1 && q.Hardware[0].Slug != "" && q.MemoryGB+q.HostMemoryGB == 0 && len(q.Unused) == 0:
		to = "/hardware/" + string(q.Hardware[0].Slug)
	case c.resource == fitList, c.resource == fitView:
		c.Params.Set("asked", typed)
		to = "/fit?" + c.Params.Encode()
	case c.resource == models && fits != "" && len(c.Params) == 1: // nothing but a machine
		to = "/hardware/" + fits
	case c.resource == models && fits != "" && !c.Params.Has("slug"):
		for _, name := range []string{"fits", "min_params_b", "max_params_b"} {
			c.Params.Del(name)
		}
		c.Params.Set("hardware", fits)
		c.Params.Set("asked", typed)
		to = "/fit?" + c.Params.Encode()
	case c.resource == hardware && len(q.Models) == 1 && len(q.Hardware) == 0 && len(c.Params) == 1: // nothing but a model
		to = "/models/" + c.Params.Get("runs")
	case c.resource == hardware && len(q.Models) == 0 && q.Intent == resolve.Compare:
		to = "/compare?hardware=" + c.Params.Get("slug")
	case c.resource == models && fits == "":
		to = "/compare?models=" + c.Params.Get("slug")
	case c.resource != nil:
		to = "/explore/" + c.resource.name + "?" + c.Params.Encode()
	default:
		if links := otherPageLinks(req.gen, typed); links != nil {
			to = links[0].Href
		}
	}
	return req.seeOther(to, &fasthttp.Args{}), nil
}
