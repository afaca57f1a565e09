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

> Open-weight language models, the hardware and tools that run them, and published tokens-per-second benchmarks. It shows which models run on which hardware, and how fast, with sources. %s, released %s, %s.

To get the data of a page, add .json, .csv or .md to its address: %s/models/llama-3.1-8b-instruct.md. Unknown values are null, never 0. Only compare speeds with matching settings: use settings=single_stream. Measured and estimated speeds are always separate. Cite the address of the page and the day you read it.

## Pages

- [Models](%[4]s/explore/models.md): list with filters; takes the parameters of /api/v1/models
- [Hardware](%[4]s/explore/hardware.md): with runs=MODEL and context=N, hardware that runs a model
- [Tools](%[4]s/explore/tools.md)
- [Benchmarks](%[4]s/explore/benchmarks.md)
- [What runs](%[4]s/fit.md?hardware=nvidia-rtx-4090): models that run on the hardware, best first; with model=, the fit of each quantization
- [Compare](%[4]s/compare.md?hardware=nvidia-rtx-3090,nvidia-rtx-4090): up to four models or hardware records side by side
- [Evaluation scores](%[4]s/snapshots.md): scores of models, with sources and limits
- [Changes](%[4]s/changes.md): what each release changed; filter by table, slug or release
- [Credits](%[4]s/credits.md): who published what, with licences
- [Contribute](%[4]s/contribute): a form that creates and checks a benchmark entry

## Agents

- %[4]s/mcp: Model Context Protocol (Streamable HTTP), with tools for questions, names, models that run, fit, comparisons, benchmarks, statistics and changes. To run it locally, use "modeldex mcp". Resolve names first, give the settings of each speed, say whether it is measured or estimated, and pass on notices.
- ask, resolve and fit can be called a limited number of times a day without a key, here and in the API.

## API

- [OpenAPI 3.1](%[4]s/openapi.json): every endpoint, parameter and error
- [Reference](%[4]s/docs): the documentation for people
- One call gets you a free key: POST %[4]s/api/v1/keys with name, email and use_case. Send it as Authorization: Bearer KEY.
`

// LLMs is llms.txt.
func LLMs(gen *index.Generation, base string) []byte {
	return fmt.Appendf(nil, llmsHead, "Dataset "+gen.Info.Version, gen.Info.Released, gen.Info.License, base)
}
