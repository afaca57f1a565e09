package pages

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/url"
	"strings"
	"time"

	"modeldex/dataset/text"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// What crawlers and agents read: robots.txt, sitemaps, llms.txt, and the catalog of the API.

// mapSize is how many addresses a sitemap has at most; the protocol allows 50,000.
const mapSize = 10_000

// robots keeps crawlers out of pages of lists under filters, which are endless. Agents read the Markdown of such lists,
// and the data of every page, as llms.txt says.
const robots = `User-agent: *
Disallow: /api/
Disallow: /explore/*?
Disallow: /fit?
Disallow: /compare?
Disallow: /contribute?
Disallow: /changes?
Allow: /api/v1$
Allow: /explore/*.md?

Sitemap: %s/sitemap.xml
`

// Robots is robots.txt.
func Robots(base string) []byte { return fmt.Appendf(nil, robots, base) }

// Security is security.txt by RFC 9116, valid for a year from the release of the dataset; nil without an address to
// write to.
func Security(gen *index.Generation, email, base string) []byte {
	released, err := time.Parse(time.DateOnly, string(gen.Info.Released))
	if email == "" || err != nil {
		return nil
	}
	return fmt.Appendf(nil, "Contact: mailto:%s\nExpires: %s\nPreferred-Languages: en\nCanonical: %s/.well-known/security.txt\n",
		email, released.AddDate(1, 0, 0).Format(time.RFC3339), base)
}

type sitemapIndex struct {
	XMLName xml.Name   `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex"`
	Maps    []location `xml:"sitemap"`
}

type sitemap struct {
	XMLName xml.Name   `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	URLs    []location `xml:"url"`
}

type location struct {
	Loc string `xml:"loc"`
	Mod string `xml:"lastmod,omitempty"`
}

// views are the pages that are not records.
var views = []string{"/", "/explore/models", "/explore/hardware", "/explore/tools", "/explore/benchmarks", "/fit", "/compare", "/snapshots", "/changes", "/credits", "/contribute", "/about", "/docs"}

// SitemapIndex lists the sitemaps of a generation.
func SitemapIndex(gen *index.Generation, base string) []byte {
	var out sitemapIndex
	for _, name := range sitemapNames(gen) {
		out.Maps = append(out.Maps, location{base + "/sitemaps/" + name + ".xml", string(gen.Info.Released)})
	}
	return asXML(out)
}

// sitemapNames are the names of the sitemaps of a generation.
func sitemapNames(gen *index.Generation) []string {
	out := []string{"views-1"}
	for _, kind := range kinds {
		for n := 1; (n-1)*mapSize < tableOf(gen, kind).Len(); n++ {
			out = append(out, fmt.Sprintf("%s-%d", kind, n))
		}
	}
	return out
}

// Sitemap is the sitemap with a name, such as models-1; nil if there is none.
func Sitemap(gen *index.Generation, base, name string) []byte {
	kind, part, _ := strings.Cut(name, "-")
	var n int
	if _, err := fmt.Sscanf(part, "%d", &n); err != nil || n < 1 || fmt.Sprint(n) != part {
		return nil
	}
	var out sitemap
	if kind == "views" && n == 1 {
		for _, v := range views {
			out.URLs = append(out.URLs, location{base + v, string(gen.Info.Released)})
		}
		return asXML(out)
	}
	t := tableOf(gen, kind)
	if t == nil || (n-1) >= t.Len()/mapSize+1 {
		return nil
	}
	for ord := (n - 1) * mapSize; ord < min(n*mapSize, t.Len()); ord++ {
		out.URLs = append(out.URLs, location{Loc: base + "/" + kind + "/" + url.PathEscape(t.Slug(uint32(ord)))})
	}
	if out.URLs == nil {
		return nil
	}
	return asXML(out)
}

func asXML(v any) []byte {
	b, err := xml.Marshal(v)
	must(err)
	return append(append([]byte(xml.Header), b...), '\n')
}

// APICatalog is the catalog of the API by RFC 9727, a linkset of RFC 9264.
func APICatalog(base string) []byte {
	link := func(path, media string) []any {
		return []any{map[string]any{"href": base + path, "type": media}}
	}
	b, err := jsonv2.Marshal(map[string]any{"linkset": []any{map[string]any{
		"anchor":       base + "/api/v1",
		"service-desc": link("/openapi.json", "application/vnd.oai.openapi+json;version=3.1"),
		"service-doc":  link("/docs", "text/html"),
		"service-meta": link("/llms.txt", "text/plain"),
		"status":       link("/readyz", "application/json"),
	}}}, indented)
	must(err)
	return append(b, '\n')
}

// Endpoint is an endpoint of the API, for llms-full.txt.
type Endpoint struct{ Method, Path, Summary, Key string }

const llmsHead = `# modeldex

> A directory of open-weight language models, the hardware they run on, the tools that run them, and published measurements of tokens per second. It answers which model runs on what, and how fast, with the evidence. %s, released %s, %s.

Every page of records and figures has its data at the same address with .json, .csv or .md appended: %s/models/llama-3.1-8b-instruct.md. An unpublished figure is null, never 0. Speeds compare only where settings agree: use settings=single_stream. Measurements and estimates are never mixed into one figure. Cite the address of the page and the day you read it.

## Pages

- [Models](%[4]s/explore/models.md): list with filters, the parameters are those of /api/v1/models
- [Hardware](%[4]s/explore/hardware.md): with runs=MODEL and context=N, the hardware that runs a model
- [Tools](%[4]s/explore/tools.md)
- [Benchmarks](%[4]s/explore/benchmarks.md)
- [What runs](%[4]s/fit.md?hardware=nvidia-rtx-4090): models that run on hardware, best first; with model= the verdict of each size
- [Compare](%[4]s/compare.md?hardware=nvidia-rtx-3090,nvidia-rtx-4090): up to four side by side
- [Model intelligence](%[4]s/snapshots.md): scores with sources and limits
- [Changes](%[4]s/changes.md): releases and what they did to records; table, slug, field and release narrow it
- [Credits](%[4]s/credits.md): who published what, with licences
- [Contribute](%[4]s/contribute): a form that makes and checks the line of a measurement

## API

- [OpenAPI 3.1](%[4]s/openapi.json): every endpoint, parameter and error
- [Reference](%[4]s/docs): for people
- [Catalog](%[4]s/.well-known/api-catalog): RFC 9727
- A free key takes one call: POST %[4]s/api/v1/keys with name, email and use_case. Send it as Authorization: Bearer KEY.
`

// LLMs is llms.txt.
func LLMs(gen *index.Generation, base string) []byte {
	return fmt.Appendf(nil, llmsHead, "Dataset "+gen.Info.Version, gen.Info.Released, gen.Info.License, base)
}

// namesPerKind is how many records llms-full.txt names of each kind: as many as a page of the API.
const namesPerKind = 200

// LLMsFull is llms-full.txt: llms.txt, every endpoint, and the records with the most benchmarks.
func LLMsFull(gen *index.Generation, base string, endpoints []Endpoint) []byte {
	b := bytes.NewBuffer(LLMs(gen, base))
	b.WriteString("\n## Endpoints\n\n")
	for _, e := range endpoints {
		fmt.Fprintf(b, "- %s %s: %s (%s)\n", e.Method, e.Path, mdText(e.Summary), e.Key)
	}
	for _, kind := range kinds[:3] {
		l := lists[kind]
		t := tableOf(gen, kind)
		page := t.Select(index.Query{Sort: index.Sort{Field: index.BenchmarkCount, Desc: true}, Limit: namesPerKind})
		fmt.Fprintf(b, "\n## %s: the %d of %d with the most benchmarks\n\n", l.heading, len(page.Ords), page.Total)
		for _, ord := range page.Ords {
			slug := t.Slug(ord)
			fmt.Fprintf(b, "- [%s](%s/%s/%s.md): %s\n", mdText(nameOf(t, slug)), base, kind, slug, text.Count(int(t.Number(index.BenchmarkCount, ord)), "benchmark", "benchmarks"))
		}
	}
	return b.Bytes()
}
