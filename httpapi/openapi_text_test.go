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
second. Every figure has its source.

## Quick start

1. Get a key. It is shown only once, so save it.

       curl -s -X POST $BASE/api/v1/keys -H 'Content-Type: application/json' \
         -d '{"name":"my dashboard","email":"you@example.com","use_case":"comparing graphics cards"}'

2. List the records you want.

       curl -s "$BASE/api/v1/models?family=llama&max_params_b=9" -H "Authorization: Bearer $KEY"

3. Fetch one record.

       curl -s $BASE/api/v1/models/llama-3.1-8b-instruct -H "Authorization: Bearer $KEY"

## Answers

A list is ` + "`{\"data\": [...], \"meta\": {...}, \"links\": {...}}`" + `, a single record
` + "`{\"data\": {...}, \"meta\": {...}}`" + `. Every field of a record is always present. **null means unknown: it never means 0 and matches no filter.** If a filter or range
excludes records for that reason, the notice ` + "`null_excluded`" + ` gives their number. An empty list means that there are known to be none. meta.total is exact.

New fields may be added to responses without a new version of the API, so ignore fields you do not know. Within version 1,
fields are not renamed and do not change their meaning.

## Filters

Different filters combine with AND. A filter with a set of values accepts several alternatives, repeated
(` + "`vendor=nvidia&vendor=amd`" + `) or separated by commas (` + "`vendor=nvidia,amd`" + `). A closed set rejects other values with 400;
an open filter with an unknown value returns an empty list and the notice ` + "`unknown_value`" + ` with similar values. In place of a
slug you can use any name (a Hugging Face id, an Ollama tag, a marketing name); the notice ` + "`name_resolved`" + ` says how
it was read. If a name fits several records, a filter uses all of them and a question the likeliest; the notice
` + "`read_as`" + ` lists them. An unknown name returns 400 and suggests a similar one. Upper and lower case are the same. Numbers are plain
decimals. Unknown parameters, empty values and repeated single-value parameters return 400. All faults of a request are reported
together.

## Paging

Follow links.next (or the Link header with rel="next") until it is null. A cursor is opaque. It marks the last record
you received, so paging continues without repeats even if the dataset changes. A cursor is valid only with the same filters and sort;
with others the response is 400 ` + "`cursor_mismatch`" + `. limit may change. Unknown values come last in every order.

## Keys and quota

Send the key as ` + "`Authorization: Bearer <key>`" + `, never in the address. ` + chargingText() + `

Months are calendar months in UTC. The burst limit, in calls per second, refills steadily. X-RateLimit-Remaining is the
number of calls left after this one; RateLimit and RateLimit-Policy describe both limits, "burst" and "month",
in the format of the IETF draft. Every 429 has Retry-After, and code says which limit was reached.

## Caching

The body of a 200 depends only on the dataset and the query. Every such response has a strong ETag: send it back as
If-None-Match, and a 304 is free. With If-Match, the response is 412 if the ETag differs, and nothing is changed.
Your own cache may keep data for five minutes (Cache-Control). Responses
about keys and errors must not be cached. Dataset-Version and Dataset-Digest, and meta.dataset_version and
meta.dataset_digest, identify the data behind a response. Several edits may share a version, but each has its own digest.

Outside the API, without a key and as plain files: /robots.txt, /sitemap.xml, /llms.txt, /favicon.ico and
/.well-known/security.txt.

Bodies over 1 KiB are compressed with zstd, br or gzip if Accept-Encoding allows it, and not otherwise.

## Methods and browsers

HEAD is GET without the body and counts the same. OPTIONS is free, needs no key and lists the methods of an address in
Allow (of ` + "`*`" + `: those of the whole server). Any origin may call (CORS): the headers ` + requestHeaders + ` may be sent, and all headers
described here may be read, on errors too. POST bodies are JSON of at most 4 KiB (names to resolve and pairs to fit: 64 KiB), headers at most 16 KiB, addresses at
most 8 KiB.

## Agents

` + "`POST /mcp`" + ` speaks the Model Context Protocol (Streamable HTTP, versions 2025-11-25 and 2026-07-28; requests are stateless). Its
tools are calls of this API with short answers, with the same key and quota. ` + "`modeldex mcp`" + ` does the same over standard input and
output, without a key. In the configuration of a client:

    {"mcpServers": {"modeldex": {"type": "http", "url": "$BASE/mcp", "headers": {"Authorization": "Bearer $KEY"}}}}
    {"mcpServers": {"modeldex": {"command": "modeldex", "args": ["mcp"]}}}

## Notebooks and frames

Any list and any page of the site can be read as a file. With pandas, or with DuckDB after downloading the same address with ` + "`curl -o runs.csv`" + `:

    runs = pandas.read_csv("$BASE/explore/benchmarks.csv?hardware=nvidia-rtx-4090&settings=single_stream&limit=500")
    SELECT model, quantization, median(generation_tps) AS tps FROM 'runs.csv' GROUP BY ALL ORDER BY tps DESC

You can embed answers and charts in your own pages: put ` + "`/embed`" + ` before the address of a page or a chart, such as
` + "`<iframe src=\"$BASE/embed/fit?model=qwen3-8b&hardware=nvidia-rtx-4090\"></iframe>`" + ` or ` + "`/embed/charts/model-speeds?model=qwen3-8b`" + `.

## Errors

Every error, on every path and method, is application/problem+json (RFC 9457); outside /api/, a browser (Accept with
text/html) gets it as a page with the same status. Use code in programs and show detail to people.
errors lists at most 20 faults, each with the allowed values and suggestions (for an unknown address, a similar one);
errors_omitted counts the rest. Faults in a list of the body are named by their index, from 0: ` + "`queries[1].model`, `names[1]`" + `. If similar names were searched for a rejected request, each search counts as one more call towards the burst limit. Include request_id when
you ask for help.

` + codeList() + constantsText())
}

// chargingText says what is counted, from the steps that count: see Server.standing.
func chargingText() string {
	return "On data routes, each 200 or 404 response counts as one call of the month; 301, 304 and all other responses are free. " +
		"A call is reserved before its response is known, so once the month is used up, every request to these routes returns 429 `quota_exhausted`, even one that would be free. " +
		"Key routes are not counted. Every call with a key counts towards the burst limit. " +
		"Without a key, each client address may make some GET calls a day to ask, fit and resolve (30 unless the operator changes it); the tier is then `trial`, and X-RateLimit-Reset is the end of the day in UTC. " +
		"Routes without security requirements (in the reference: without a lock) need no key and are not counted. Each client address has an allowance for them. A large document (a snapshot, a dump file, changes with whole records) uses five times as much of it as a page; health checks and static files use none. Beyond it the response is 429 `page_limited`."
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
	{"quality", "Published quality losses of quantizations against 16-bit weights: KL divergence, perplexity and test scores."},
	{"fit", "Which models run on which hardware, and how fast, measured or estimated, with sources."},
	{"names", "Find a record by the name that a driver, a model hub or a file uses."},
	{"dataset", "The dataset in use and its changes."},
	{"dumps", "The complete dataset as files: each table as compressed NDJSON, compressed CSV and Parquet, plus the original files and SHA-256 sums."},
	{"snapshots", "Published snapshots of evaluation scores."},
	{"webhooks", "Signed messages about new benchmarks, sent to your server. For keys of the tiers pro and enterprise."},
	{"documents", "This description and other documents."},
}

// fileText describes the files of a list, and recordFileText that of a record.
var fileText = "\n\nFiles: format=csv, ndjson or parquet, or an Accept header that names their media type, gives the rows of the page without the envelope; the header Link leads to the next page. " +
	"Members of nested objects are columns with dotted names, lists are one column. Cells of CSV that a spreadsheet would run as a formula have an apostrophe before them. " +
	"limit=all gives every row in one streamed response, to keys of every tier above free (others: 403 tier_required): a response of n rows costs one call per started " + strconv.Itoa(rowsPerCall) + " rows, and none at all with 429 if fewer are left of the month. " +
	"A response that was cut is incomplete by HTTP: the last chunk is missing."

const recordFileText = "format=csv, ndjson or parquet, or an Accept header that names their media type, gives the record as a file of one row."

// routeText describes a route beyond its summary.
func routeText(rt *route) string {
	switch {
	case routeTexts[rt.id] != "":
		return routeTexts[rt.id]
	case rt.list == changesList:
		return "Needs no key. Changes are listed release by release, within one by table and slug: changes of a record in several releases are several entries. The releases are recorded in the dataset, so the response is the same after a restart and on every machine that serves the dataset. The notice changes_unrecorded says that the dataset being served has edits that no release has recorded. 410 says that the changes since a version are not known and names the oldest version, or the oldest day, they are known since. Where slug has a value that no record and no change has, the notice unknown_value says so. records=true is bulk data: it needs a key where the dumps need one, and is rejected where they are off. With it the changes applied in order to a copy of the older dataset give the newer one: put record where added, delete where removed, set each field; where at is known, replace the part old of the list, at that place, by new."
	case rt.list == recordChanges:
		return "Needs no key. Like the list of all changes, for one record; works for removed records too."
	case rt.list == fitList:
		return fitText()
	case rt.list == statsList:
		return "Every filter of the list of benchmarks applies, and settings=single_stream unless settings=all is given. Quantiles are of type 7 (linear interpolation at the place (n-1)p, as in R and NumPy). More than 10,000 groups are 400. Throughput results and withdrawn measurements are never included; notices say how many match. A response 200 is charged as one call." + fileText
	case rt.list != nil && rt.list.singular == "facet":
		return "Counts the records that match the filters by the values of fields. The filter of a field is left out when that field is counted, so that its other values can be offered. A response 200 is charged as one call."
	case rt.list == nameList || rt.list == askList:
		return ""
	case rt.list != nil:
		order := "by slug"
		if rt.list.normal != slugOrder {
			order = "by run date, newest first and unknown last, then by id"
		}
		what := "the whole directory is paged through"
		if rt.list == benchmarks {
			what += ", but for throughput results: they are listed with the filter scenario, or by their id, and the notice throughput_excluded says how many otherwise match"
		}
		return fmt.Sprintf("Every filter may be left out; without any "+what+". With the parameter fields, records have only these fields. Default order: %s. A response 200 is charged as one call.", order) + fileText
	case rt.record == benchmarks:
		return "With the parameter fields, the record has only these fields. Responses 200 and 404 are charged as one call. " + recordFileText
	case rt.record != nil:
		return "An alias is 301 to the address of the slug, free of charge. With the parameter fields, the record has only these fields. Responses 200 and 404 are charged as one call. " + recordFileText
	}
	return ""
}

// routeTexts describe routes by id. They come before what routeText makes of the parameters of a route.
var routeTexts = map[string]string{
	"issueKey":       "Needs no key. The secret is in data.key and is shown only once. The number of keys per address and hour, and of active keys per e-mail address, is limited.",
	"postFit":        "Each query has the parameters of GET as members; a single query needs no list. Each answer has only the best quantization, or the one the query names. All faults are reported together. Charged as one call; more than 50 queries count as two calls of the burst limit.",
	"showKey":        "Not charged; counts towards the burst limit.",
	"revokeKey":      "Permanent: the key is rejected from now on. Not charged.",
	"rotateKey":      "Issues a new secret for the same key: id, quota and counters stay. The old secret works for grace_seconds more. Not charged. The body is optional.",
	"createWebhook":  "For keys of the tiers pro and enterprise. " + hooksText + " Not charged, like all routes of webhooks but a test.",
	"listWebhooks":   "A key has at most 20, so there are no pages.",
	"getWebhook":     "status, waiting, failing_since, last_success_at, last_failure and disabled_reason show the state of deliveries.",
	"changeWebhook":  "Omitted fields do not change; filters are replaced as a whole. {\"status\":\"active\"} resumes a paused or disabled webhook with its waiting messages. Events from the time it was inactive are not sent: GET /api/v1/changes has them.",
	"deleteWebhook":  "A request under way may still arrive.",
	"rotateWebhook":  "Until grace_seconds are over (a day, if the body is left out) every message has a signature of each secret, so that receivers can switch over.",
	"testWebhook":    "A message of type webhook.test is sent once and at once, even for a paused or disabled webhook. The response, after up to 30 seconds, says what the receiver answered; it is 200 also where the message was not accepted. The webhook itself does not change. A response 200 is charged as one call.",
	"ask":            "Reads a question, a title or a table row in plain words and makes the call that it means. reading says how it was read, call is the address of that call and answer its response body. If several records fit a name, most likely used and the others are candidates. Unused words are listed. A response 200 is charged as one call.",
	"resolveName":    "Reads Hub ids, file names, Ollama tags, strings from drivers and lspci, and PCI ids. Strict: a name with a word it does not understand is unknown, a name that leaves a choice is ambiguous, and a guess has no slug. An unknown name also returns 200. A response 200 is charged as one call.",
	"resolveNames":   "Like the GET, for up to 200 names of any kind in one call; data has the order of names. A response 200 is charged as one call; more than 100 names count as two calls of the burst limit.",
	"showDataset":    "Needs no key. Shows at once when a change of the files was rejected.",
	"listSnapshots":  "Needs no key.",
	"listDumps":      "Free of charge. Needs no key, unless the owner gives dumps to paying keys only (then 401 and 403 tier_required; calls with a key count towards the burst limit). The dump is made on the first request; if that takes longer than 20 seconds, 503 says when to try again. When the dataset changes, its dump gets new addresses.",
	"getDump":        "Free of charge, as the list of dumps. The address is that of an edition, from the list of dumps: its content never changes and may be cached for ever. latest, or the SHA-256 of the dataset, in the place of the edition redirects (307) to it. One range of bytes per GET is answered with 206, If-Range included; HEAD has no ranges.",
	"latestSnapshot": "Needs no key. The response changes when a document is published; the address with a hash never does.",
	"getSnapshot":    "Needs no key. The document may be cached for ever.",
	"getSchema":      "Needs no key.",
	"listSchemas":    "Needs no key.",
	"listEndpoints":  "Needs no key. The same is in the OpenAPI document, with parameters and responses.",
}

// fitText describes the route of the front page's question, with the formulas and their sources.
func fitText() string {
	var b strings.Builder
	b.WriteString("A verdict for each quantization of a model on a machine, with the bytes behind it, the longest context, and the speed of one request. " +
		"Unknown facts are named in missing, never guessed. speed.measured and speed.estimate are separate; use says which one applies. " +
		"Sizes that lists never name come last (listed is false): those of which no file is known (computed, and neither published nor measured nor usual), " +
		"and those whose file differs by less than a tenth from that of another size, unless they were measured on the hardware. " +
		"A context above the limit of the model is 400 unless allow_extended is true. A response 200 is charged as one call.\n\n" +
		"The estimate is " + fit.Method + ". A measurement counts for all models of its shape. " +
		"Its band was compared with measurements whose source was hidden; validated has the figures, and the page /about/estimates those of all classes.\n\nFormulas:\n\n")
	for _, f := range fit.Formulas {
		fmt.Fprintf(&b, "- `%s`: %s ([source](%s))\n", f.ID, f.Text, f.Source)
	}
	return strings.TrimSpace(b.String())
}

// hooksText describes webhooks for the reference.
const hooksText = "Messages follow the Standard Webhooks specification: check webhook-signature with the secret and one of its libraries, answer 2xx within 15 seconds, and remember webhook-id, because a message may come twice. " +
	"A release sends one message per event, with the records that match the filters up to max_records and 256 KiB, complete counts, and a link to all changes. " +
	"Messages of a webhook come in order: the next one after the one before was accepted. A message that is not accepted is tried 11 times over three days, then the webhook is disabled; 410 disables it at once. The message stays the first to be sent. " +
	"While 100 messages wait, another release disables it too. URLs need https and a public host; redirects are not followed. " +
	"Filters are those of the list of benchmarks and are compared with the record as it is now; a record that is gone has no fields, so every webhook with the event benchmark.withdrawn gets it."

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
	{"BadListQuery", "A parameter is at fault; all faults are listed.", []*code{invalidParameter, unknownParameter, invalidCursor, cursorMismatch, badRequest}},
	{"BadQuery", "The route has no such parameter.", []*code{unknownParameter, badRequest}},
	{"BadFitQuery", "A parameter is at fault; all faults are listed.", []*code{invalidParameter, unknownParameter, badRequest}},
	{"BadBody", "The body is at fault; all faults are listed.", []*code{invalidJSON, invalidField, unknownParameter, badRequest}},
	{"BadHookBody", "The body or the query is at fault; all faults are listed.", []*code{invalidJSON, invalidField, unknownParameter, badRequest}},
	{"BadNames", "The body is at fault; all faults are listed.", []*code{invalidJSON, invalidField, unknownParameter, badRequest}},
	{"Unauthorized", "The key is missing or unknown, or was sent in the address.", []*code{missingKey, invalidKey}},
	{"NoWebhook", "The key has no such webhook.", []*code{notFound, unknownRoute}},
	{"TooManyWebhooks", "The key has the maximum number of webhooks.", []*code{tooManyWebhooks}},
	{"WebhooksUnsupported", "This server has no webhooks.", []*code{webhooksUnsupported}},
	{"Forbidden", "The key is revoked, replaced or suspended, or its tier does not include this.", []*code{keyRevoked, keySuspended, keyRotated, tierRequired}},
	{"NotFound", "No record has this name; similar names are suggested.", []*code{notFound, unknownRoute}},
	{"UnknownRoute", "There is nothing at this address.", []*code{unknownRoute}},
	{"NotAcceptable", "The Accept header rules out every form of the response.", []*code{notAcceptable}},
	{"TooManyKeys", "The e-mail address has the maximum number of active keys.", []*code{tooManyKeys}},
	{"Gone", "Changes since that dataset are not known.", []*code{versionGone}},
	{"BodyTooLarge", "The body is larger than 4 KiB, names than 64 KiB, the form for contributions than 224 KiB.", []*code{bodyTooLarge}},
	{"UnsupportedMediaType", "The body is not declared as JSON; for the form for contributions, as a form.", []*code{unsupportedType}},
	{"TooManyRequests", "The month, or what is free without a key, is used up, or calls come too fast.", []*code{quotaExhausted, burstExceeded, trialUsedUp}},
	{"TooFast", "Calls come too fast.", []*code{burstExceeded}},
	{"DumpLimited", "Calls with the key come too fast, or without one the address has asked for too much.", []*code{burstExceeded, pageLimited}},
	{"PageLimited", "The address has asked for too much without a key.", []*code{pageLimited}},
	{"DumpKey", "Bulk data is for paying keys here, and the key is missing or unknown.", []*code{missingKey, invalidKey}},
	{"DumpTier", "Bulk data is for paying keys here, and the key is none or does not work.", []*code{keyRevoked, keySuspended, keyRotated, tierRequired}},
	{"RangeNotSatisfiable", "The file has no such bytes.", []*code{rangeNotSatisfiable}},
	{"SignupLimited", "The address has created the maximum number of keys per hour, or has made too many requests without a key.", []*code{signupLimited, pageLimited}},
	{"PreconditionFailed", "If-Match names other versions than the one that is served.", []*code{preconditionFailed}},
	{"InternalError", "Something went wrong here; support is where to report request_id.", []*code{internal}},
	{"Unavailable", "No dataset is loaded, or calls cannot be counted, or too many complete results are being sent.", []*code{notReady, ledgerUnavailable, serverBusy}},
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
