package pages

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/url"
	"time"

	"modeldex/index"
)

// What crawlers and agents read: robots.txt, the sitemap, security.txt and llms.txt.

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

var views = []string{"/", "/explore/models", "/explore/hardware", "/explore/tools", "/explore/benchmarks", "/fit", "/compare", "/snapshots", "/changes", "/credits", "/contribute", "/about", "/docs"}

// mapSize is how many addresses a sitemap may have by its protocol.
const mapSize = 50_000

// Sitemap lists the pages that are not records, and those of models, hardware, tools and benchmarks, as many as it may.
func Sitemap(gen *index.Generation, base string) []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	n := 0
	add := func(path string) {
		if n++; n <= mapSize {
			b.WriteString("\n<url><loc>")
			must(xml.EscapeText(&b, []byte(base+path)))
			b.WriteString("</loc></url>")
		}
	}
	for _, v := range views {
		add(v)
	}
	for _, kind := range kinds {
		t := tableOf(gen, kind)
		for ord := range min(t.Len(), mapSize) {
			add("/" + kind + "/" + url.PathEscape(t.Slug(uint32(ord))))
		}
	}
	b.WriteString("\n</urlset>\n")
	return b.Bytes()
}

const llmsHead = `# modeldex

> A directory of open-weight language models, the hardware they run on, the tools that run them, and published measurements of tokens per second. It answers which model runs on what, and how fast, with the evidence. %s, released %s, %s.

Every page of records and figures has its data at the same address with .json, .csv or .md appended: %s/models/llama-3.1-8b-instruct.md. An unpublished figure is null, never 0. Compare speeds only if their settings match: use settings=single_stream. Measurements and estimates are never mixed into one figure. Cite the address of the page and the day you read it.

## Pages

- [Models](%[4]s/explore/models.md): list with filters; takes the parameters of /api/v1/models
- [Hardware](%[4]s/explore/hardware.md): with runs=MODEL and context=N, the hardware that runs a model
- [Tools](%[4]s/explore/tools.md)
- [Benchmarks](%[4]s/explore/benchmarks.md)
- [What runs](%[4]s/fit.md?hardware=nvidia-rtx-4090): models that run on hardware, best first; with model= the verdict of each size
- [Compare](%[4]s/compare.md?hardware=nvidia-rtx-3090,nvidia-rtx-4090): up to four side by side
- [Model intelligence](%[4]s/snapshots.md): scores with sources and limits
- [Changes](%[4]s/changes.md): releases and what they did to records; table, slug and release narrow it
- [Credits](%[4]s/credits.md): who published what, with licences
- [Contribute](%[4]s/contribute): a form that makes and checks the line of a measurement

## Agents

- %[4]s/mcp: Model Context Protocol (Streamable HTTP), with tools for questions, names, what runs, fit, comparisons, benchmarks, statistics and changes. On your own machine: the command "modeldex mcp". Resolve names first, state the settings of every speed, say whether it was measured or is an estimate, and pass notices on.
- ask, resolve and fit answer some calls a day without a key, here and in the API.

## API

- [OpenAPI 3.1](%[4]s/openapi.json): every endpoint, parameter and error
- [Reference](%[4]s/docs): for people
- One call gets you a free key: POST %[4]s/api/v1/keys with name, email and use_case. Send it as Authorization: Bearer KEY.
`

// LLMs is llms.txt.
func LLMs(gen *index.Generation, base string) []byte {
	return fmt.Appendf(nil, llmsHead, "Dataset "+gen.Info.Version, gen.Info.Released, gen.Info.License, base)
}
