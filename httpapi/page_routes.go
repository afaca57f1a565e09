package httpapi

// pageRoutes are the addresses of pages people read.
func pageRoutes() []route {
	out := []route{
		{method: "GET", path: "/", id: "front", tag: "pages", summary: "Front page", answer: front},
		{method: "GET", path: "/explore/:kind", doc: "/explore/{kind}", id: "explore", tag: "pages", summary: "A list with filters, as a page; with .json, .csv or .md as data", answer: explore},
	}
	for _, r := range resources {
		doc := "{slug}"
		if r == benchmarks {
			doc = "{id}"
		}
		out = append(out, route{method: "GET", path: "/" + r.name + "/*", doc: "/" + r.name + "/" + doc, id: "page" + titleCase(r.singular), tag: "pages", summary: "The page of one " + r.singular + "; with .json, .csv or .md as data", answer: recordPage(r)})
	}
	for _, p := range []struct {
		name, summary string
		list          *resource
		answer        func(*Server, *request) (*response, *failure)
	}{
		{"fit", "What runs on a machine, as a page; with .json, .csv or .md as data", fitView, fitPage},
		{"compare", "Hardware or models side by side, as a page; with .json, .csv or .md as data", compareView, comparePage},
		{"snapshots", "Scores of models with sources and limits, as a page; with .json, .csv or .md as data", nil, snapshotsPage},
		{"changes", "What releases did to records, as a page; with .json, .csv or .md as data", changesView, changesPage},
		{"credits", "Who published what the directory holds, as a page; with .json, .csv or .md as data", nil, creditsPage},
	} {
		out = append(out, route{method: "GET", path: "/" + p.name, id: p.name + "Page", tag: "pages", summary: p.summary, list: p.list, answer: p.answer})
		for _, e := range endings {
			out = append(out, route{method: "GET", path: "/" + p.name + e, hidden: true, id: p.name + "Page" + e, tag: "pages", answer: p.answer})
		}
	}
	out = append(out, route{method: "GET", path: "/about", id: "aboutPage", tag: "pages", summary: "Method, licence, sources and limits", answer: aboutPage})
	for i := range out {
		out[i].answer = remembered(out[i].answer)
	}
	return out
}
