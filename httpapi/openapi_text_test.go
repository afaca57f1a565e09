package httpapi

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/fit"
)

// about is the description of the whole document: what a caller needs to know before the first route.
func about() string {
	return strings.TrimSpace(`
A directory of open-weight language models, the hardware and tools that run them, and measured speeds in tokens per
second. Every number links to its source.

## Quick start

1. Get a key. It is shown only once, so save it.

       curl -s -X POST $BASE/api/v1/keys -H 'Content-Type: application/json' \
         -d '{"name":"my dashboard","email":"you@example.com","use_case":"comparing graphics cards"}'

2. List the records you want.

       curl -s "$BASE/api/v1/models?family=llama&max_params_b=9" -H "Authorization: Bearer $KEY"

3. Fetch one record.

       curl -s $BASE/api/v1/models/llama-3.1-8b-instruct -H "Authorization: Bearer $KEY"

## Responses

A list is ` + "`{\"data\": [...], \"meta\": {...}, \"links\": {...}}`" + `, a single record
` + "`{\"data\": {...}, \"meta\": {...}}`" + `. Every field of a record is always present. **null means unknown: it never means 0 and matches no filter.** If a filter or range
excludes records for that reason, the notice ` + "`null_excluded`" + ` says how many. An empty list means that there are known to be no entries. meta.total is exact.

We may add fields to responses without a new API version, so ignore fields you do not know. Within version 1,
we never rename a field or change its meaning.

## Filters

Different filters combine with AND. A filter can take several values, repeated
(` + "`vendor=nvidia&vendor=amd`" + `) or separated by commas (` + "`vendor=nvidia,amd`" + `). A filter with a fixed set of values rejects others with 400;
an open filter with an unknown value returns an empty list and the notice ` + "`unknown_value`" + ` with similar values. In place of a
slug you can use any name (a Hugging Face id, an Ollama tag, a marketing name); the notice ` + "`name_resolved`" + ` says how
it was read. If a name matches several records, a filter matches all of them, and a question is answered using the likeliest one; the notice
` + "`read_as`" + ` lists them. An unknown name returns 400 and suggests a similar one. Letter case does not matter. Numbers are plain
decimals. Unknown parameters, empty values and repeated single-value parameters return 400. The response lists all errors
at once.

## Paging

Follow links.next (or the Link header with rel="next") until it is null. Treat cursors as opaque. A cursor marks the last record
you received, so a page never repeats records, even if the dataset changes. A cursor works only with the same filters and sort;
with others the response is 400 ` + "`cursor_mismatch`" + `. You can change limit between pages. Unknown values come last in every sort order.

## Keys and quota

Send the key as ` + "`Authorization: Bearer <key>`" + `, never in the URL. ` + chargingText() + `

Months are calendar months in UTC. The burst allowance refills steadily. X-RateLimit-Remaining is the
number of calls left after this one; RateLimit and RateLimit-Policy describe both limits, "burst" and "month",
in the format of the IETF draft. Every 429 response has a Retry-After header, and its ` + "`code`" + ` field tells you which limit you hit.

## Caching

The body of a 200 depends only on the dataset and the query. It has a strong ETag. Send it back as
If-None-Match; a 304 is free. With If-Match, the response is 412 if the ETag differs, and the request changes nothing.
You can cache data for five minutes (Cache-Control). Do not cache responses
about keys, or errors. Dataset-Version and Dataset-Digest, and meta.dataset_version and
meta.dataset_digest, identify the data behind a response. Several edits can share a version, but each has its own digest.

These plain files are outside the API and need no key: /robots.txt, /sitemap.xml, /llms.txt, /favicon.ico and
/.well-known/security.txt.

Bodies over 1 KiB are compressed with zstd, br or gzip if Accept-Encoding allows it.

## Methods and browsers

HEAD is GET without the body and costs the same. OPTIONS is free, needs no key and lists the methods of a path in
Allow (for ` + "`*`" + `, those of the whole server). Any origin can call the API (CORS): it can send the headers ` + requestHeaders + `, and can read all headers
described here, including on errors. POST bodies are JSON of at most 4 KiB (64 KiB for resolve and fit), headers at most 16 KiB, URLs at
most 8 KiB.

## Agents

` + "`POST /mcp`" + ` speaks the Model Context Protocol (Streamable HTTP, versions 2025-11-25 and 2026-07-28; requests are stateless). Its
tools make calls to this API and shorten the responses; they use the same key and quota. ` + "`modeldex mcp`" + ` does the same over standard input and
output, without a key. In a client's configuration:

    {"mcpServers": {"modeldex": {"type": "http", "url": "$BASE/mcp", "headers": {"Authorization": "Bearer $KEY"}}}}
    {"mcpServers": {"modeldex": {"command": "modeldex", "args": ["mcp"]}}}

## Notebooks and embedding

You can read any list and any page as a file. With pandas, or with DuckDB after downloading the same URL with ` + "`curl -o runs.csv`" + `:

    runs = pandas.read_csv("$BASE/explore/benchmarks.csv?hardware=nvidia-rtx-4090&settings=single_stream&limit=500")
    SELECT model, quantization, median(generation_tps) AS tps FROM 'runs.csv' GROUP BY ALL ORDER BY tps DESC

You can embed answers and charts in your own pages: put ` + "`/embed`" + ` before the path of a page or chart, such as
` + "`<iframe src=\"$BASE/embed/fit?model=qwen3-8b&hardware=nvidia-rtx-4090\"></iframe>`" + ` or ` + "`/embed/charts/model-speeds?model=qwen3-8b`" + `.

## Errors

Every error is application/problem+json (RFC 9457); outside /api/, a browser (Accept with
text/html) gets a page with the same status. In programs, branch on ` + "`code`" + `; show ` + "`detail`" + ` to people.
errors lists at most 20 problems, each with the allowed values and a suggestion;
errors_omitted counts the rest. Items of a list in the body are named by their index, from 0: ` + "`queries[1].model`, `names[1]`" + `. Each search for similar names counts as one more call towards the burst limit. Include request_id when
you ask for help.

` + codeList() + constantsText())
}

// chargingText says what is counted, from the steps that count: see Server.standing.
func chargingText() string {
	return "On data routes, each 200 or 404 response counts as one call; 301, 304 and all other responses are free. " +
		"Once the monthly quota is used up, every request to these routes returns 429 `quota_exhausted`, even one that would otherwise be free. " +
		"Routes under /api/v1/keys are free. Every call with a key counts towards the burst limit. " +
		"Without a key, each client address can make a limited number of GET calls a day to the ask, fit and resolve routes (30 by default). Such calls are in the `trial` tier, and X-RateLimit-Reset is the end of the day in UTC. " +
		"Routes without a lock in the reference need no key and are free, but each client address has an allowance for them. A large document (a snapshot, a dump file or changes that include full records) counts as five requests; health checks and static files do not count. Once the allowance is used up, the response is 429 `page_limited`."
}

// codeList lists every error code as Markdown.
func codeList() string {
	var b strings.Builder
	for _, c := range codes {
		fmt.Fprintf(&b, "- [`%s`](/problems/%s) %d: %s\n", c.name, c.name, c.status, markdown(c.help))
	}
	return b.String()
}

// quotedTag finds what a reader of Markdown would take for markup.
var quotedTag = regexp.MustCompile(`"([^"]*<[^"]*)"`)

func markdown(text string) string { return quotedTag.ReplaceAllString(text, "`$1`") }

// tagTexts describe the groups of routes, in the order they are shown in.
var tagTexts = [][2]string{
	{"keys", "Get, check, replace or revoke a key."},
	{"models", "Open-weight language models: architecture, key-value cache and quantizations."},
	{"hardware", "Graphics cards, processors, systems on a chip and computers."},
	{"tools", "Software that runs, serves, fine-tunes or quantizes models locally."},
	{"benchmarks", "Published benchmarks in tokens per second."},
	{"quality", "Published measurements of the quality lost by quantization, compared with 16-bit weights: KL divergence, perplexity and test scores."},
	{"fit", "Which models run on which hardware, and how fast, measured or estimated, with sources."},
	{"names", "Find a record by the name that a driver, a model hub or a file uses."},
	{"dataset", "The dataset in use and its changes."},
	{"dumps", "The complete dataset as files: each table as compressed NDJSON, compressed CSV and Parquet, plus the original files and SHA-256 sums."},
	{"snapshots", "Published snapshots of evaluation scores."},
	{"webhooks", "Signed messages about new benchmarks, sent to your server. For pro and enterprise keys only."},
	{"documents", "This OpenAPI description, JSON Schemas and other documents."},
}

// fileText describes the files of a list, and recordFileText that of a record.
var fileText = "\n\nFiles: format=csv, ndjson or parquet, or the matching Accept header, returns the rows without the envelope; the Link header points to the next page. " +
	"Fields of nested objects are columns with dotted names; a list is one column. CSV cells that a spreadsheet would run as a formula start with an apostrophe. " +
	"limit=all streams every row in one response, for keys above the free tier (others: 403 tier_required). It costs one call per " + strconv.Itoa(rowsPerCall) + " rows or part thereof; if too few calls are left this month, the response is a 429, which costs nothing. " +
	"A truncated response lacks the last HTTP chunk."

const recordFileText = "format=csv, ndjson or parquet, or the matching Accept header, returns the record as a file with one row."

// routeText describes a route beyond its summary.
func routeText(rt *route) string {
	switch {
	case routeTexts[rt.id] != "":
		return routeTexts[rt.id]
	case rt.list == changesList:
		return "Needs no key. Lists changes by release, then by table and slug; a record that changed in several releases has several entries. The releases are part of the dataset, so the response does not depend on the server. The notice changes_unrecorded means that the dataset has edits that are not in a release yet. 410 means that the changes since a version are unknown, and names the oldest known version or day. The notice unknown_value means that slug matches no record and no change. records=true is bulk data: it needs a key if dumps need one, and is rejected if dumps are off. With it, you can update a copy of the older dataset: apply the changes in order, insert record if added, delete it if removed, and set each field. If at is given, replace the part old of the list, at that position, with new."
	case rt.list == recordChanges:
		return "Needs no key. Like the list of all changes, but for one record, which may have been removed."
	case rt.list == fitList:
		return fitText()
	case rt.list == statsList:
		return "All filters of the benchmark list apply. settings=single_stream is the default; settings=all lifts this restriction. Quantiles are of type 7 (linear interpolation at position (n-1)p, as in R and NumPy). More than 10,000 groups return 400. Throughput results and withdrawn measurements are never included; notices say how many match. A 200 costs one call." + fileText
	case rt.list != nil && rt.list.singular == "facet":
		return "Counts the matching records by the values of each field. The count of a field ignores the filter on that field, so you can offer its other values. A 200 costs one call."
	case rt.list == nameList || rt.list == askList:
		return ""
	case rt.list != nil:
		order := "by slug"
		if rt.list.normal != slugOrder {
			order = "by run date, newest first and unknown last, then by id"
		}
		what := "the list contains all records"
		if rt.list == benchmarks {
			what += " except throughput results, which need the scenario filter or an id; the notice throughput_excluded says how many match"
		}
		return fmt.Sprintf("All filters are optional; without any, "+what+". Use the fields parameter to choose which fields to return. Default order: %s. A 200 costs one call.", order) + fileText
	case rt.record == benchmarks:
		return "Use the fields parameter to choose which fields to return. A 200 or 404 costs one call. " + recordFileText
	case rt.record != nil:
		return "An alias redirects (301) to the slug, free of charge. Use the fields parameter to choose which fields to return. A 200 or 404 costs one call. " + recordFileText
	}
	return ""
}

// routeTexts describe routes by id. They come before what routeText makes of the parameters of a route.
var routeTexts = map[string]string{
	"issueKey":       "Needs no key. data.key contains the secret, which is shown only once. The number of new keys per address per hour, and of active keys per e-mail address, is limited.",
	"postFit":        "Each query takes the parameters of GET as members; a single query needs no list. Each answer has only the best quantization, or the one the query names. The response lists all errors. Costs one call; more than 50 queries count as two calls towards the burst limit.",
	"showKey":        "Free; counts towards the burst limit.",
	"revokeKey":      "Permanent: the key stops working at once. Free.",
	"rotateKey":      "Issues a new secret for the same key; id, quota and counters stay the same. The old secret keeps working for grace_seconds more seconds. Free. The body is optional.",
	"createWebhook":  "For keys of the pro and enterprise tiers. " + hooksText + " All webhook routes except the test are free.",
	"listWebhooks":   "A key has at most 20, so the list is not paginated.",
	"getWebhook":     "status, waiting, failing_since, last_success_at, last_failure and disabled_reason show the state of deliveries.",
	"changeWebhook":  "Omitted fields do not change; filters are replaced as a whole. {\"status\":\"active\"} resumes a paused or disabled webhook with its waiting messages. Events that occurred while the webhook was inactive are not sent; GET /api/v1/changes lists them.",
	"deleteWebhook":  "A request already under way may still arrive.",
	"rotateWebhook":  "For grace_seconds (one day if you send no body), every message is signed with both secrets, so that receivers can switch over.",
	"testWebhook":    "Sends one webhook.test message at once, even for a paused or disabled webhook. The response comes within 30 seconds and contains the receiver's response; it is 200 even if the receiver rejected the message. The webhook itself does not change. A 200 costs one call.",
	"ask":            "Reads a question, a title or a table row in plain words and makes the matching call. reading shows how the question was read, call is the URL of the call, and answer is its response body. If several records match a name, the likeliest one is used, and the others are listed as candidates. unused lists words that were not used. A 200 costs one call.",
	"resolveName":    "Reads Hub ids, file names, Ollama tags, strings from drivers and lspci, and PCI ids. A name with a word that is not understood is unknown, a name that matches several records is ambiguous, and a guess has no slug. An unknown name also returns 200. A 200 costs one call.",
	"resolveNames":   "Like GET, for up to 200 names of any kind; data is in the order of names. A 200 costs one call; more than 100 names count as two calls towards the burst limit.",
	"showDataset":    "Needs no key. Also shows if the newest files were rejected.",
	"listSnapshots":  "Needs no key.",
	"listDumps":      "Free. Needs no key, unless the operator limits dumps to keys above the free tier (then 401 or 403 tier_required; calls with a key count towards the burst limit). The first request makes the dump; if that takes longer than 20 seconds, a 503 says when to try again. A changed dataset has a dump at new URLs.",
	"getDump":        "Free. Take the URL from the list of dumps: its content never changes, so you can cache it forever. latest, or the SHA-256 of the dataset, in place of the edition redirects (307) to it. GET supports one byte range (206) and If-Range; HEAD has no ranges.",
	"latestSnapshot": "Needs no key. The response changes when a document is published; the URL with a hash never does.",
	"getSnapshot":    "Needs no key. You can cache the document forever.",
	"getSchema":      "Needs no key.",
	"listSchemas":    "Needs no key.",
	"listEndpoints":  "Needs no key. The OpenAPI document contains the same list, with parameters and responses.",
}

// fitText describes the route of the front page's question, with the formulas and their sources.
func fitText() string {
	var b strings.Builder
	b.WriteString("A verdict for each quantization of a model on a machine, with the memory it needs, the longest context, and the speed of one request. " +
		"The field missing lists the unknown facts, which are never guessed. speed.measured and speed.estimate are separate; the field use says which one applies. " +
		"Quantizations that lists omit come last (listed is false): those without a known file (not published, measured or in common use), " +
		"and those within 10 % of the size of another that were not measured on the hardware. " +
		"A context above the limit of the model returns 400 unless allow_extended is true. A 200 costs one call.\n\n" +
		"How speeds are estimated: " + fit.Method + ". A measurement counts for all models of the same shape. " +
		"The range of an estimate was tested on measurements from sources kept aside: validated contains the results, and /about/estimates shows them for every class of hardware.\n\nFormulas:\n\n")
	for _, f := range fit.Formulas {
		fmt.Fprintf(&b, "- `%s`: %s ([source](%s))\n", f.ID, f.Text, f.Source)
	}
	return strings.TrimSpace(b.String())
}

// hooksText describes webhooks for the reference.
const hooksText = "Messages follow the Standard Webhooks specification: verify webhook-signature with the secret and one of the specification's libraries, answer 2xx within 15 seconds, and store webhook-id, because a message may arrive twice. " +
	"A release sends one message per event, with up to max_records matching records (at most 256 KiB), complete counts, and a link to all changes. " +
	"Messages arrive in order: the next one is sent after you accept the previous one. A failed message is tried 11 times over three days, then the webhook is disabled; 410 disables it at once. The message stays first in the queue. " +
	"If 100 messages are waiting, the next release also disables the webhook. URLs need https and a public host; redirects are not followed. " +
	"Filters are those of the benchmark list and apply to the current record. A removed record has no fields, so every webhook with the event benchmark.withdrawn gets it."

// problemSet is the errors of one status that a kind of route answers.
type problemSet struct {
	name  string // of the component
	text  string
	codes []*code
}

func (p *problemSet) status() int { return p.codes[0].status }

// The sets, in the order they are documented in. Errors that occur before a route is found are
// the default response of every operation.
var problemSets = []problemSet{
	{"BadListQuery", "A parameter is invalid; errors lists all problems.", []*code{invalidParameter, unknownParameter, invalidCursor, cursorMismatch, badRequest}},
	{"BadQuery", "The route has no such parameter.", []*code{unknownParameter, badRequest}},
	{"BadFitQuery", "A parameter is invalid; errors lists all problems.", []*code{invalidParameter, unknownParameter, badRequest}},
	{"BadBody", "The body is invalid; errors lists all problems.", []*code{invalidJSON, invalidField, unknownParameter, badRequest}},
	{"BadHookBody", "The body or the query is invalid; errors lists all problems.", []*code{invalidJSON, invalidField, unknownParameter, badRequest}},
	{"BadNames", "The body is invalid; errors lists all problems.", []*code{invalidJSON, invalidField, unknownParameter, badRequest}},
	{"Unauthorized", "The key is missing or unknown, or was sent in the URL.", []*code{missingKey, invalidKey}},
	{"NoWebhook", "The key has no such webhook.", []*code{notFound, unknownRoute}},
	{"TooManyWebhooks", "The key has the maximum number of webhooks.", []*code{tooManyWebhooks}},
	{"WebhooksUnsupported", "This server has no webhooks.", []*code{webhooksUnsupported}},
	{"Forbidden", "The key is revoked, replaced or suspended, or its tier does not include this.", []*code{keyRevoked, keySuspended, keyRotated, tierRequired}},
	{"NotFound", "No record has this name; errors suggests similar names.", []*code{notFound, unknownRoute}},
	{"UnknownRoute", "This URL does not exist.", []*code{unknownRoute}},
	{"NotAcceptable", "None of the formats in the Accept header is available.", []*code{notAcceptable}},
	{"TooManyKeys", "The e-mail address has the maximum number of active keys.", []*code{tooManyKeys}},
	{"Gone", "Changes since that version are unknown.", []*code{versionGone}},
	{"BodyTooLarge", "The body is larger than 4 KiB; 64 KiB for names and 224 KiB for the contribution form.", []*code{bodyTooLarge}},
	{"UnsupportedMediaType", "The Content-Type is not JSON, or not a form for the contribution form.", []*code{unsupportedType}},
	{"TooManyRequests", "The monthly quota or the keyless allowance is used up, or calls come too fast.", []*code{quotaExhausted, burstExceeded, trialUsedUp}},
	{"TooFast", "Calls come too fast.", []*code{burstExceeded}},
	{"DumpLimited", "Calls with the key come too fast, or the address has made too many requests without a key.", []*code{burstExceeded, pageLimited}},
	{"PageLimited", "The address has made too many requests without a key.", []*code{pageLimited}},
	{"DumpKey", "Bulk data needs a key above the free tier, and the key is missing or unknown.", []*code{missingKey, invalidKey}},
	{"DumpTier", "Bulk data needs a key above the free tier, and this key is in a lower tier or no longer works.", []*code{keyRevoked, keySuspended, keyRotated, tierRequired}},
	{"RangeNotSatisfiable", "The file does not contain these bytes.", []*code{rangeNotSatisfiable}},
	{"SignupLimited", "The address has reached the maximum number of new keys per hour, or has made too many requests without a key.", []*code{signupLimited, pageLimited}},
	{"PreconditionFailed", "If-Match does not match the current version.", []*code{preconditionFailed}},
	{"InternalError", "Something went wrong on our side; report request_id to support.", []*code{internal}},
	{"Unavailable", "No dataset is loaded, calls cannot be counted, or too many complete results are being sent.", []*code{notReady, ledgerUnavailable, serverBusy}},
	{"LedgerUnavailable", "Keys cannot be changed or calls counted.", []*code{ledgerUnavailable}},
	{"NotReady", "No dataset is loaded yet.", []*code{notReady}},
}

// refusedEarly are the errors of requests that are rejected before a route is found.
var refusedEarly = []*code{
	badRequest, methodNotAllowed, requestTimeout, lengthRequired, bodyTooLarge, uriTooLong, tooManyConnections,
	headersTooLarge, serverBusy, versionNotSupported,
}

// problemsOfAny names the sets that any route may answer.
var problemsOfAny = []string{"PreconditionFailed", "InternalError"}

// problemsOf names the sets a route answers, beside problemsOfAny.
func problemsOf(rt *route) []string {
	var names []string
	switch {
	case rt.tag == "webhooks":
		names = append(names, "Unauthorized", "Forbidden", "NotAcceptable", "Unavailable", "WebhooksUnsupported")
		if rt.sends {
			names = append(names, "TooManyRequests")
		} else {
			names = append(names, "TooFast")
		}
	case rt.access == keyed:
		names = append(names, "Unauthorized", "Forbidden", "NotAcceptable", "TooFast", "LedgerUnavailable")
	case rt.access == charged:
		names = append(names, "Unauthorized", "Forbidden", "NotAcceptable", "TooManyRequests", "Unavailable")
	}
	bulk := rt.tag == "dumps" || rt.list == changesList || rt.list == recordChanges // some of it is for keys alone
	if rt.access == open && !slices.Contains(freeRoutes, rt.id) && !bulk && rt.id != "issueKey" {
		names = append(names, "PageLimited")
	}
	switch {
	case rt.list == changesList:
		return append(names, "BadListQuery", "DumpKey", "DumpTier", "Gone", "DumpLimited", "NotReady")
	case rt.list == recordChanges:
		return append(names, "BadListQuery", "DumpKey", "DumpTier", "NotFound", "Gone", "DumpLimited", "NotReady")
	case rt.list == fitList:
		return append(names, "BadFitQuery")
	case rt.list != nil:
		return append(names, "BadListQuery")
	case rt.record != nil:
		return append(names, "BadListQuery", "NotFound")
	}
	return append(names, map[string][]string{
		"issueKey":       {"BadBody", "TooManyKeys", "BodyTooLarge", "UnsupportedMediaType", "SignupLimited", "LedgerUnavailable"},
		"postFit":        {"BadBody", "BodyTooLarge", "UnsupportedMediaType"},
		"showKey":        {"BadQuery"},
		"revokeKey":      {"BadQuery"},
		"listEndpoints":  {"BadQuery"},
		"rotateKey":      {"BadBody", "BodyTooLarge", "UnsupportedMediaType"},
		"createWebhook":  {"BadBody", "TooManyWebhooks", "BodyTooLarge", "UnsupportedMediaType"},
		"listWebhooks":   {"BadQuery"},
		"getWebhook":     {"BadQuery", "NoWebhook"},
		"changeWebhook":  {"BadHookBody", "NoWebhook", "BodyTooLarge", "UnsupportedMediaType"},
		"deleteWebhook":  {"BadQuery", "NoWebhook"},
		"rotateWebhook":  {"BadHookBody", "NoWebhook", "BodyTooLarge", "UnsupportedMediaType"},
		"testWebhook":    {"BadQuery", "NoWebhook"},
		"ask":            {"BadListQuery"},
		"resolveName":    {"BadListQuery"},
		"resolveNames":   {"BadNames", "BodyTooLarge", "UnsupportedMediaType"},
		"showDataset":    {"BadQuery", "NotReady"},
		"listSnapshots":  {"BadQuery"},
		"listDumps":      {"BadQuery", "DumpKey", "DumpTier", "UnknownRoute", "DumpLimited", "NotReady"},
		"getDump":        {"BadQuery", "DumpKey", "DumpTier", "NotFound", "RangeNotSatisfiable", "DumpLimited", "NotReady"},
		"latestSnapshot": {"BadQuery", "NotFound"},
		"getSnapshot":    {"BadQuery", "NotFound"},
		"getSchema":      {"BadQuery", "NotFound"},
		"listSchemas":    {"BadQuery"},
	}[rt.id]...)
}

func findProblems(name string) *problemSet {
	i := slices.IndexFunc(problemSets, func(p problemSet) bool { return p.name == name })
	if i < 0 {
		panic("no set of problems " + name)
	}
	return &problemSets[i]
}
