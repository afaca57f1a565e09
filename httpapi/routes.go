package httpapi

import (
	"cmp"
	"strings"
)

// routes are all routes of the public listener, in the order of the documentation. All requests take the same steps:
// see handler.
var routes = buildRoutes()

func buildRoutes() []route {
	out := []route{
		{method: "POST", path: "/api/v1/keys", id: "issueKey", tag: "keys", summary: "Get a free key; it is shown only once", answer: issueKey},
		{method: "GET", path: "/api/v1/keys/self", id: "showKey", tag: "keys", summary: "Usage and status of your key", access: keyed, answer: showKey},
		{method: "DELETE", path: "/api/v1/keys/self", id: "revokeKey", tag: "keys", summary: "Revoke your key permanently", access: keyed, answer: revokeKey},
		{method: "POST", path: "/api/v1/keys/self/rotate", id: "rotateKey", tag: "keys", summary: "Replace your key and keep its usage counts", access: keyed, answer: rotateKey},
	}
	out = append(out, route{method: "GET", path: "/api/v1/benchmarks/stats", id: "benchmarkStats", summary: "Benchmark statistics by hardware, model or other fields", tag: "benchmarks", access: charged, list: statsList, answer: showStats})
	for _, r := range resources {
		out = append(out, r.routes()...)
	}
	out = append(append(out, pageRoutes()...), crawlerRoutes()...)
	out = append(append(out, contributeRoutes()...), figureRoutes()...)
	out = append(out, feedRoutes()...)
	out = append(out, webhookRoutes()...)
	return append(out,
		route{method: "GET", path: fitPath, id: "showFit", tag: "fit", summary: "Whether a model runs on given hardware, and how fast", access: charged, trial: true, list: fitList, answer: showFit},
		route{method: "POST", path: fitPath, id: "postFit", tag: "fit", summary: "The best quantization for each of up to 100 model-hardware pairs", access: charged, answer: postFit},
		route{method: "GET", path: askPath, id: "ask", tag: "fit", summary: "Answer a question in plain English", access: charged, trial: true, list: askList, answer: showAsk},
		route{method: "GET", path: resolvePath, id: "resolveName", tag: "names", summary: "Find the record that a name refers to", access: charged, trial: true, list: nameList, answer: resolveName},
		route{method: "POST", path: resolvePath, id: "resolveNames", tag: "names", summary: "Find the records that up to 200 names refer to", access: charged, answer: resolveNames},
		route{method: "GET", path: "/api/v1/changes", id: "listChanges", tag: "dataset", summary: "Changes to records by release, field by field", list: changesList, answer: ofData(listChanges)},
		route{method: "GET", path: "/api/v1/dataset", id: "showDataset", tag: "dataset", summary: "The dataset in use: version, digest, counts, dates and licence", answer: bare(showDataset)},
		route{method: "GET", path: "/api/v1/dumps", id: "listDumps", tag: "dumps", summary: "The complete dataset as files", answer: bare(listDumps)},
		route{method: "GET", path: "/api/v1/dumps/:edition/:file", doc: "/api/v1/dumps/{edition}/{file}", id: "getDump", pages: documentCost, tag: "dumps", summary: "One file of a dump; its content never changes", answer: bare(getDump)},
		route{method: "GET", path: "/api/v1/snapshots", id: "listSnapshots", tag: "snapshots", summary: "List snapshots of evaluation scores, newest first", answer: bare(listSnapshots)},
		route{method: "GET", path: "/api/v1/snapshots/latest", id: "latestSnapshot", pages: documentCost, tag: "snapshots", summary: "The newest snapshot", answer: bare(latestSnapshot)},
		route{method: "GET", path: "/api/v1/snapshots/:hash", doc: "/api/v1/snapshots/{hash}", id: "getSnapshot", pages: documentCost, tag: "snapshots", summary: "One snapshot by its hash; its content never changes", answer: bare(snapshotByHash)},
		route{method: "GET", path: apiPath, id: "listEndpoints", tag: "documents", summary: "List the endpoints of the API", answer: bare(static("api"))},
		route{method: "GET", path: schemasPath, id: "listSchemas", tag: "documents", summary: "List the JSON Schemas", answer: bare(listSchemas)},
		route{method: "GET", path: "/api/v1/schemas/:name.json", doc: "/api/v1/schemas/{name}.json", id: "getSchema", tag: "documents", summary: "One JSON Schema, for snapshots or dataset records", answer: bare(showSchema)},
		route{method: "POST", path: mcpPath, id: "mcp", tag: "documents", answer: answerMCP},
		route{method: "GET", path: "/healthz", id: "alive", tag: "operation", answer: alive},
		route{method: "GET", path: "/readyz", id: "ready", tag: "operation", answer: ready},
		route{method: "GET", path: "/openapi.json", id: "openapi", pages: 1, tag: "documents", answer: static("openapi.json")},
		route{method: "GET", path: "/docs", id: "docs", tag: "pages", answer: docs},
		route{method: "GET", path: "/docs/:part", id: "docsPart", tag: "pages", answer: docs},
		route{method: "GET", path: "/problems/:code", id: "problem", tag: "documents", answer: showProblem},
		route{method: "GET", path: "/assets/:name", id: "asset", tag: "documents", answer: asset},
	)
}

// webhookRoutes are the webhooks of the calling key.
func webhookRoutes() []route {
	const one = "/api/v1/webhooks/:id"
	out := []route{
		{method: "POST", path: "/api/v1/webhooks", id: "createWebhook", summary: "Send new benchmarks to a URL; the signing secret is shown only once", answer: ofHook(createWebhook)},
		{method: "GET", path: "/api/v1/webhooks", id: "listWebhooks", summary: "List your key's webhooks", answer: ofHook(listWebhooks)},
		{method: "GET", path: one, id: "getWebhook", summary: "One webhook", answer: ofHook(showWebhook)},
		{method: "PATCH", path: one, id: "changeWebhook", summary: "Change, pause or resume a webhook", answer: ofHook(changeWebhook)},
		{method: "DELETE", path: one, id: "deleteWebhook", summary: "Delete a webhook and its queue", answer: ofHook(deleteWebhook)},
		{method: "POST", path: one + "/rotate", id: "rotateWebhook", summary: "Replace the secret of a webhook; for a while, messages are signed with both", answer: ofHook(rotateWebhook)},
		{method: "POST", path: one + "/test", id: "testWebhook", summary: "Send a test message now and get the receiver's response", sends: true, answer: ofHook(testWebhook)},
	}
	for i := range out {
		rt := &out[i]
		rt.tag, rt.access = "webhooks", keyed
		rt.doc = strings.NewReplacer(":id", "{id}", ":number", "{number}").Replace(rt.path)
	}
	return out
}

func (r *resource) routes() []route {
	one := route{
		method: "GET", path: "/api/v1/" + r.name + "/*", doc: "/api/v1/" + r.name + "/{slug}", id: "get" + titleCase(r.singular),
		summary: "One " + r.singular, tag: r.name, access: charged, record: r, answer: r.one,
	}
	switch r {
	case models:
		one.summary = "One model with its architecture, quantizations, KV cache and benchmarks"
	case hardware:
		one.summary = "One hardware record"
	case quality:
		one.doc, one.summary = "/api/v1/quality/{id}", "One quality measurement of a quantization"
	case benchmarks:
		one.doc = "/api/v1/benchmarks/{id}"
	}
	nouns := cmp.Or(map[*resource]string{hardware: "hardware records", quality: "quality measurements"}[r], r.name)
	past := route{
		method: "GET", path: "/api/v1/" + r.name + "/+/changes", doc: cmp.Or(one.doc, one.path) + "/changes", id: "list" + titleCase(r.singular) + "Changes",
		summary: "Changes to one record by release", tag: r.name, list: recordChanges, answer: ofData(r.changesOf),
	}
	return []route{
		past,
		{method: "GET", path: "/api/v1/" + r.name, id: "list" + titleCase(r.name), summary: "List " + nouns, tag: r.name, access: charged, list: r, answer: r.page},
		{method: "GET", path: "/api/v1/" + r.facets.path, id: "facet" + titleCase(r.name), summary: "Count " + nouns + " by field value, with filters", tag: r.name, access: charged, list: r.facets, answer: facetsOf(r.facets)},
		one,
	}
}

func pageRoutes() []route {
	out := []route{
		{method: "GET", path: "/", id: frontID, tag: "pages", answer: front},
		{method: "GET", path: "/ask", id: "askPage", tag: "pages", list: askView, answer: askPage},
		{method: "GET", path: "/explore", id: "exploreAny", tag: "pages", answer: exploreAny},
		{method: "GET", path: "/explore/:kind", id: "explore", tag: "pages", answer: explore},
	}
	for _, r := range withPages {
		out = append(out, route{method: "GET", path: "/" + r.name + "/*", id: "page" + titleCase(r.singular), tag: "pages", answer: recordPage(r)})
	}
	for _, p := range []struct {
		name    string
		list    *resource
		endings []string
		answer  func(*Server, *request) (*response, *failure)
	}{
		{"fit", fitView, endings, fitPage},
		{"compare", compareView, endings, comparePage},
		{"snapshots", nil, []string{".json", ".md"}, fixed("/snapshots", snapshotsPage)},
		{"changes", changesView, []string{".md"}, changesPage},
		{"credits", nil, []string{".md"}, fixed("/credits", creditsPage)},
	} {
		out = append(out, route{method: "GET", path: "/" + p.name, id: p.name + "Page", tag: "pages", list: p.list, answer: p.answer})
		for _, e := range p.endings {
			out = append(out, route{method: "GET", path: "/" + p.name + e, id: p.name + "Page" + e, tag: "pages", answer: p.answer})
		}
	}
	out = append(out, route{method: "GET", path: "/about", id: "aboutPage", tag: "pages", answer: fixed("/about", aboutPage)},
		route{method: "GET", path: "/about/estimates", id: "estimatesPage", tag: "pages", answer: fixed("/about/estimates", estimatesPage)},
		route{method: "GET", path: "/status", id: "statusPage", tag: "pages", answer: fixed("/status", statusPage)})
	for i := range out {
		if out[i].id != frontID {
			out[i].answer = ofData(out[i].answer)
		}
	}
	return out
}
