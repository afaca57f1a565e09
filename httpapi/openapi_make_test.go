package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"modeldex/httpapi/cursor"
	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/snapshot"
)

// apiVersion is the version of the document. The first change after a release raises it: the patch for texts and
// corrections, the minor for additions, the major for what breaks callers. Released ones are in testdata/openapi/versions.
const apiVersion = "2.5.0"

// makeOpenAPI makes the document that is published.
func makeOpenAPI() []byte { return finished(published(wholeDocument())) }

// wholeDocument describes every response of every route. It is made from the table of routes, the parameters, the list of
// errors and the types that render bodies. Responses are validated by it.
func wholeDocument() object {
	schemas := typeSchemas()
	for _, m := range append(envelopes(), snapshotSchemas()...) {
		schemas.set(m.name, m.value)
	}
	return obj(
		"openapi", "3.1.0",
		"info", obj("title", "modeldex", "version", apiVersion, "summary", "Open-weight models, hardware, tools and benchmarks as JSON.",
			"description", about(), "contact", obj("name", "The operator of this server", "url", "/about"),
			"license", obj("name", "MIT", "identifier", "MIT")),
		"servers", []any{obj("url", "/", "description", "The origin this document was fetched from.")},
		"tags", tags(),
		"paths", paths(),
		"webhooks", webhookOperations(),
		"x-constants", constants(),
		"components", obj("schemas", schemas, "responses", problemResponses(), "headers", headerComponents(),
			"parameters", obj("IfNoneMatch", ifNoneMatch()),
			"securitySchemes", obj("bearer", obj("type", "http", "scheme", "bearer", "description", "An API key from POST /api/v1/keys."))),
	)
}

// finished is the text of a document, whose numbers have formats.
func finished(doc object) []byte {
	plain, err := json.Marshal(doc)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	sized, err := orderedJSON(plain)
	if err != nil {
		panic(err)
	}
	const deep = 3 // a line for each path, and for each component
	return append(appendLines(nil, withNumberFormats(sized), deep), '\n')
}

// appendLines writes a value, with a line for each member of the objects above a depth.
func appendLines(dst []byte, v any, deep int) []byte {
	o, isObject := v.(object)
	if !isObject || deep == 0 {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(err)
		}
		return append(dst, bytes.TrimSpace(b.Bytes())...)
	}
	between := "{\n"
	for _, m := range o {
		dst = append(strconv.AppendQuote(append(dst, between...), m.name), ':')
		dst = appendLines(dst, m.value, deep-1)
		between = ",\n"
	}
	return append(dst, "\n}"...)
}

// numberFormats are the formats of numbers without one. Generated clients read a number without a format into 32 bits: digits
// are lost, and the bytes of a model do not fit.
var numberFormats = map[string]string{"integer": "int64", "number": "double"}

// withNumberFormats gives every schema of a number its format, behind its type.
func withNumberFormats(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withNumberFormats(v[i])
		}
	case object:
		var out object
		_, formatted := v.get("format")
		for _, m := range v {
			out = append(out, member{m.name, withNumberFormats(m.value)})
			if f := numberFormat(m.value); m.name == "type" && f != "" && !formatted {
				out = append(out, member{"format", f})
			}
		}
		return out
	}
	return v
}

// numberFormat is the format of the numbers of a type, empty if it has none. A type that has both kinds of numbers has those
// with a fraction.
func numberFormat(kinds any) (format string) {
	list, several := kinds.([]any)
	if !several {
		list = []any{kinds}
	}
	for _, kind := range list {
		name, _ := kind.(string)
		if f, known := numberFormats[name]; known && format != numberFormats["number"] {
			format = f
		}
	}
	return format
}

// tags describes the groups that have routes.
func tags() []any {
	var out []any
	for _, text := range tagTexts {
		if slices.ContainsFunc(routes, func(rt route) bool { return rt.tag == text[0] && strings.HasPrefix(rt.path, "/api/") }) {
			out = append(out, obj("name", text[0], "description", text[1]))
		}
	}
	return out
}

func (rt *route) docPath() string {
	if rt.doc != "" {
		return rt.doc
	}
	return rt.path
}

func paths() object {
	var out object
	for i := range routes {
		rt := &routes[i]
		if !strings.HasPrefix(rt.path, "/api/") {
			continue
		}
		item, _ := out.get(rt.docPath())
		methods, _ := item.(object)
		methods.set(strings.ToLower(rt.method), operation(rt))
		out.set(rt.docPath(), methods)
	}
	return out
}

func operation(rt *route) object {
	security := []any{}
	if rt.access != open {
		security = append(security, obj("bearer", []any{}))
	}
	if rt.trial {
		security = append(security, object{})
	}
	op := obj("operationId", rt.id, "tags", []string{rt.tag}, "summary", rt.summary)
	if text := routeText(rt); text != "" {
		op.set("description", text)
	}
	if params := parameters(rt); params != nil {
		op.set("parameters", params)
	}
	if body := requestBody(rt); body != nil {
		op.set("requestBody", body)
	}
	if rt.id == "createWebhook" {
		op.set("callbacks", obj("message", obj("{$request.body#/url}", webhookOperation("Message", "A webhook message; the section webhooks describes it by event."))))
	}
	op.set("responses", responses(rt))
	op.set("security", security)
	return op
}

var pathParam = regexp.MustCompile(`\{([a-z_]+)\}`)

// pathTexts describe path parameters: what they name and one that is there.
func pathText(rt *route, name string) (text, example string) {
	switch rt.record {
	case models:
		return "Slug of the model, or an alias of it. The slash in an alias such as meta-llama/Llama-3.1-8B-Instruct need not be escaped.", "llama-3.1-8b-instruct"
	case hardware:
		return "Slug of the hardware, or an alias of it.", "nvidia-rtx-4090"
	case tools:
		return "Slug of the tool, or an alias of it.", "llama.cpp"
	case benchmarks:
		return "Id of the benchmark.", "bm-d20987d408c6"
	case quality:
		return "Id of the measurement.", "ql-e24e56a1a3cd"
	}
	if rt.list == recordChanges {
		switch {
		case rt.tag == "quality":
			return "Id of the measurement.", "ql-e24e56a1a3cd"
		case name == "id":
			return "Id of the benchmark.", "bm-d20987d408c6"
		}
		return "Slug of the record. An alias redirects (301); the changes to a removed record stay available.", map[string]string{"models": "llama-3.1-8b-instruct", "hardware": "nvidia-rtx-4090", "tools": "llama.cpp"}[rt.tag]
	}
	switch name {
	case "id":
		return "Id of the webhook.", "wh_00abcdefghi"
	case "edition":
		return "Edition of the dump, SHA-256 of a dataset, or latest.", "latest"
	case "file":
		return "Name of a file from the list of dumps.", "models.ndjson.zst"
	case "hash":
		return "Hash of the document, from output_hash_sha256.", ""
	case "name":
		if rt.id == "getSchema" {
			return "Name of the schema.", snapshot.SchemaVersion
		}
	}
	return "Name of the file, as the pages link it.", ""
}

func parameters(rt *route) (out []any) {
	for _, m := range pathParam.FindAllStringSubmatch(rt.docPath(), -1) {
		text, example := pathText(rt, m[1])
		p := obj("name", m[1], "in", "path", "required", true, "description", text, "schema", obj("type", "string", "minLength", 1))
		if m[1] == "hash" {
			p.set("schema", obj("type", "string", "pattern", "^[0-9a-fA-F]{64}$"))
		}
		if example != "" {
			p.set("example", example)
		}
		out = append(out, p)
	}
	list := rt.list
	if rt.record != nil {
		list = rt.record.detail
	}
	if list != nil {
		for i := range list.params {
			p := queryParam(&list.params[i])
			withExample(rt, &p, &list.params[i])
			out = append(out, p)
		}
	}
	if answersEntry(rt) {
		out = append(out, ref("parameters", "IfNoneMatch"))
	}
	return out
}

// answersEntry says whether a route answers with an entity tag.
func answersEntry(rt *route) bool {
	return rt.access != keyed && rt.method == "GET" && rt.tag != "operation"
}

func ifNoneMatch() object {
	return obj("name", "If-None-Match", "in", "header", "description", "ETag of your copy; the response is 304 if it is still current.",
		"schema", obj("type", "string"))
}

// queryParam describes a parameter of a query string.
func queryParam(pm *query.Param) object {
	p := obj("name", pm.Name, "in", "query", "description", paramText(pm), "schema", paramSchema(pm))
	if pm.Required != "" {
		p.set("required", true)
	}
	if pm.Many && pm.Kind != query.Flag {
		if !pm.Ordered {
			p.set("description", paramText(pm)+fmt.Sprintf(" Several values, repeated or separated by commas, are alternatives; at most %d.", cmp.Or(pm.Most, query.MaxValues)))
		}
		p.set("style", "form")
		p.set("explode", true)
	}
	return p
}

// paramText is the description of a parameter: its own, or the comment of the field that declares it.
func paramText(pm *query.Param) string {
	text := pm.Doc
	if text == "" {
		text = fieldComments()[pm.Field]
	}
	if text == "" {
		panic("the parameter " + pm.Name + " has no description")
	}
	if pm.With != "" {
		return "With " + pm.With + ": " + lowerFirst(text)
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// fieldComments are the comments of the fields of the structs that parameters are made of, by names such as Query.Model.
var fieldComments = sync.OnceValue(func() map[string]string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		panic(err)
	}
	files = append(files, "../dataset/fit/query.go")
	out := map[string]string{}
	for _, name := range files {
		f, err := goparser.ParseFile(token.NewFileSet(), name, nil, goparser.ParseComments|goparser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if t, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range t.Fields.List {
					for _, name := range field.Names {
						out[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
					}
				}
			}
			return false
		})
	}
	return out
})

// paramSchema is the schema of the values of a parameter, or of a member of a body.
func paramSchema(pm *query.Param) object {
	one := valueSchema(pm)
	if pm.Many && pm.Kind != query.Flag {
		return obj("type", "array", "items", one, "minItems", 1, "maxItems", cmp.Or(pm.Most, query.MaxValues))
	}
	if pm.Default != "" {
		one.set("default", typedDefault(pm))
	}
	return one
}

// valueSchema is the schema of one value.
func valueSchema(pm *query.Param) object {
	switch {
	case pm.Kind == query.Flag:
		return obj("type", "boolean")
	case pm.Kind == query.Date:
		return obj("type", "string", "format", "date")
	case pm.Kind == query.Whole || pm.Kind == query.Number:
		one := obj("type", map[query.Kind]string{query.Whole: "integer", query.Number: "number"}[pm.Kind], "minimum", pm.Min)
		if pm.Max > 0 {
			one.set("maximum", pm.Max)
		}
		return one
	case pm.Enum != nil:
		return obj("type", "string", "enum", pm.Enum)
	case pm.Name == "cursor":
		return obj("type", "string", "pattern", "^[0-9A-Za-z_-]+$", "maxLength", cursor.MaxLength)
	case pm.Name == "since" || pm.Name == "release":
		return obj("type", "string", "pattern", "^[0-9A-Za-z._+-]+$", "minLength", 1, "maxLength", maxVersionRef)
	case pm.MaxBytes > 0:
		return obj("type", "string", "minLength", 1, "maxLength", pm.MaxBytes)
	default:
		return obj("type", "string", "minLength", 1)
	}
}

func typedDefault(pm *query.Param) any {
	switch pm.Kind {
	case query.Flag:
		return pm.Default == "true"
	case query.Whole, query.Number:
		return json.Number(pm.Default)
	default:
		return pm.Default
	}
}

func requestBody(rt *route) any {
	schema, required := "", true
	switch rt.id {
	case "issueKey":
		schema = "NewKey"
	case "postFit":
		schema = "FitQueries"
	case "resolveNames":
		schema = "NamesToResolve"
	case "rotateKey":
		schema, required = "Rotation", false
	case "rotateWebhook":
		schema, required = "WebhookRotation", false
	case "createWebhook":
		schema = "NewWebhook"
	case "changeWebhook":
		schema = "WebhookChange"
	default:
		return nil
	}
	return obj("required", required, "content", obj(jsonType, obj("schema", ref("schemas", schema), "example", bodyExamples[rt.id])))
}

func jsonContent(schema string) object {
	return obj(jsonType, obj("schema", ref("schemas", schema)))
}

// recordContent is fileContent of records that the parameter fields selects members of.
func recordContent(schema string) object {
	out := fileContent(schema)
	out.set(jsonType, obj("schema", obj("description", "The second form applies with the parameter fields.", "anyOf", []any{ref("schemas", schema), ref("schemas", fieldsName(schema))})))
	return out
}

// fileContent is a body that is JSON or a file.
func fileContent(schema string) object {
	out := jsonContent(schema)
	for _, f := range export.Formats[1:] {
		out.set(f.MediaType(), obj("schema", obj("description", "Rows of the page as "+f.String()+".")))
	}
	return out
}

// responses lists every status the route answers, and as default the errors of requests that never reach it.
func responses(rt *route) object {
	byStatus := map[int]any{}
	for _, s := range success(rt) {
		byStatus[s.status] = s.response
	}
	for _, name := range append(problemsOf(rt), problemsOfAny...) {
		set := findProblems(name)
		if byStatus[set.status()] != nil {
			panic(fmt.Sprintf("%s: status %d twice", rt.id, set.status()))
		}
		byStatus[set.status()] = ref("responses", responseName(set, rt))
	}
	var out object
	for _, status := range sortedStatuses(byStatus) {
		out.set(strconv.Itoa(status), byStatus[status])
	}
	out.set("default", ref("responses", "RefusedEarly"))
	return out
}

func sortedStatuses(m map[int]any) []int {
	var out []int
	for status := range m {
		out = append(out, status)
	}
	slices.Sort(out)
	return out
}

// statusResponse is one answer of a route that is not an error.
type statusResponse struct {
	status   int
	response object
}

// answerSchemas are the bodies of routes that are neither lists nor records.
var answerSchemas = map[string]string{
	"showKey": "KeyUsageAnswer", "revokeKey": "KeyAnswer", "rotateKey": "IssuedKeyAnswer", "showDataset": "DatasetAnswer", "resolveNames": "NamesAnswer",
	"postFit": "FitAnswers",
}

func success(rt *route) []statusResponse {
	switch {
	case rt.list == changesList || rt.list == recordChanges:
		content := jsonContent("ChangeList")
		content.set("application/x-ndjson", obj("schema", obj("description", "One change per line, each as an entry of data.")))
		out := withNotModified(rt, "A page of changes, oldest release first.", content, "Link", "Dataset-Version")
		if rt.list == recordChanges {
			out = append(out, statusResponse{301, obj("description", "The name is an alias: Location has the address of the slug.", "headers", headersOf(rt.access, "Cache-Control", "Vary", "Dataset-Version", "Location"))})
		}
		return out
	case rt.tag == "webhooks":
		return webhookSuccess(rt)
	case rt.list == askList:
		return withNotModified(rt, "The reading of the question, and the answer.", jsonContent("AskAnswer"))
	case rt.list == nameList:
		return withNotModified(rt, "The record for the name.", jsonContent("NameAnswer"))
	case rt.list == fitList:
		return withNotModified(rt, "The quantizations of the model, best first.", jsonContent("FitAnswer"))
	case rt.list == statsList:
		return withNotModified(rt, "A page of groups, or a matrix of all groups.", fileContent("StatsAnswer"), "Link", "Content-Disposition")
	case rt.list != nil && rt.list.singular == "facet":
		return withNotModified(rt, "One entry per field.", jsonContent("FacetList"))
	case rt.list != nil:
		return withNotModified(rt, "A page of records.", recordContent(titleCase(strings.TrimSuffix(rt.list.singular, "s"))+"List"), "Link", "Content-Disposition")
	case rt.record != nil:
		out := withNotModified(rt, "The record.", recordContent(titleCase(rt.record.singular)+"Answer"), "Content-Disposition")
		text := "The name is an alias: Location has the address of the slug."
		if rt.record == benchmarks {
			text = "The id is in another case, or has a slash behind it: Location has the address of the benchmark."
		}
		return append(out, statusResponse{301, obj("description", text,
			"headers", headersOf(rt.access, "Cache-Control", "Vary", "Dataset-Version", "Location"))})
	case rt.id == "issueKey":
		return []statusResponse{{201, obj("description", "The new key, shown only once.", "headers", headersOf(open, "Cache-Control"), "content", jsonContent("IssuedKeyAnswer"))}}
	case rt.id == "showDataset":
		return withNotModified(rt, "The dataset being served.", jsonContent("DatasetAnswer"), "Dataset-Version")
	case rt.id == "listDumps":
		return withNotModified(rt, "The files of the newest dump.", jsonContent("DumpAnswer"))
	case rt.id == "getDump":
		body := obj("*/*", obj("schema", obj("description", "The file: application/vnd.apache.parquet, application/zstd, application/ld+json or text/plain.")))
		names := []string{"Content-Disposition", "Accept-Ranges", "Dataset-Version"}
		return append(withNotModified(rt, "The file.", body, names...),
			statusResponse{206, obj("description", "The requested range.", "headers", headersOf(rt.access, append(names, "ETag", "Cache-Control", "Vary", "Content-Range")...), "content", body)},
			statusResponse{307, obj("description", "The newest edition: Location has its address.", "headers", headersOf(rt.access, "Cache-Control", "Vary", "Location"))})
	case rt.id == "listSnapshots":
		return withNotModified(rt, "Every document.", jsonContent("SnapshotList"))
	case rt.id == "listSchemas":
		return withNotModified(rt, "Every schema.", jsonContent("SchemaList"))
	case rt.id == "listEndpoints":
		return withNotModified(rt, "Every endpoint.", jsonContent("EndpointList"))
	case rt.tag == "snapshots":
		return withNotModified(rt, "The document, byte for byte as published.", jsonContent("SnapshotDocument"))
	case rt.id == "getSchema":
		return withNotModified(rt, "The document.", obj(jsonType, obj("schema", obj("type", "object"))))
	default:
		return []statusResponse{{200, obj("description", "Done.", "headers", headersOf(rt.access, append([]string{"Cache-Control"}, datasetVersion(rt)...)...), "content", jsonContent(answerSchemas[rt.id]))}}
	}
}

// withNotModified is an answer with an entity tag and the 304 that goes with it.
func withNotModified(rt *route, text string, content object, more ...string) []statusResponse {
	names := append([]string{"ETag", "Cache-Control", "Vary"}, more...)
	names = append(names, datasetVersion(rt)...)
	return []statusResponse{
		{200, obj("description", text, "headers", headersOf(rt.access, append(names, "Content-Encoding")...), "content", content)},
		{304, obj("description", "Your copy is still current. Free.", "headers", headersOf(rt.access, names...))},
	}
}

// datasetVersion is on every answer of a route with a key, except before the first load: then
// routes of keys answer, routes of data do not.
func datasetVersion(rt *route) []string {
	switch rt.access {
	case charged:
		return []string{"Dataset-Version"}
	case keyed:
		return []string{"Dataset-Version?"}
	}
	return nil
}

// responseName is the component of a set of problems on a route: routes with a key carry where it
// stands, and those outside the API have the form of a page too.
func responseName(set *problemSet, rt *route) string {
	if rt.access == open && slices.ContainsFunc(routes, func(rt route) bool {
		return rt.access != open && slices.Contains(append(problemsOf(&rt), problemsOfAny...), set.name)
	}) {
		return "Keyless" + set.name
	}
	return set.name
}

const refusedEarlyText = "The request was rejected before routing: it is malformed, too large or too late, or uses an unsupported method."

// problemResponses are the shared answers of errors.
func problemResponses() object {
	var out object
	for i := range problemSets {
		set := &problemSets[i]
		for j := range routes {
			if rt := &routes[j]; slices.Contains(append(problemsOf(rt), problemsOfAny...), set.name) {
				out.set(responseName(set, rt), problemResponse(set.text, set.codes, rt.access))
			}
		}
	}
	out.set("RefusedEarly", problemResponse(refusedEarlyText, refusedEarly, open))
	return out
}

func problemResponse(text string, list []*code, a access) object {
	names := []string{"Cache-Control", "Vary"}
	if a != open {
		names = append(names, "Dataset-Version?")
	}
	switch status := list[0].status; {
	case len(list) > 1 && list[len(list)-1].status != status: // RefusedEarly
		// Those to addresses that take a key show where it stands; a head that cannot be read names no address.
		names = append(names, "Allow", "Dataset-Version?", "X-RateLimit-Limit?", "X-RateLimit-Remaining?", "X-RateLimit-Reset?",
			"X-RateLimit-Tier?", "RateLimit-Policy", "RateLimit")
	case status == 416:
		names = append(names, "Content-Range")
	case status == 401:
		names = append(names, "WWW-Authenticate")
	case status == 429 || status == 503:
		names = append(names, "Retry-After")
	}
	content := obj("application/problem+json", obj("schema", problemSchema(list), "examples", problemExamples(list)))
	return obj("description", text, "headers", headersOf(a, names...), "content", content)
}

// problemSchema narrows Problem to the codes and the status of one answer.
func problemSchema(list []*code) object {
	s := ref("schemas", "Problem")
	statuses := make([]int, len(list))
	for i, c := range list {
		statuses[i] = c.status
	}
	slices.Sort(statuses)
	s.set("properties", obj("code", obj("enum", codeNames(list)), "status", obj("enum", slices.Compact(statuses))))
	return s
}

func codeNames(list []*code) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name
	}
	return names
}

func problemExamples(list []*code) object {
	var out object
	for _, c := range list {
		value := obj("type", "/problems/"+c.name, "title", c.title, "status", c.status, "detail", c.help,
			"instance", "/api/v1/hardware", "code", c.name, "request_id", "5f0c1a9b3e-0000000017")
		switch c {
		case invalidParameter:
			vendors := strings.Join(query.Find(hardware.params, "vendor").Enum, ", ")
			value.set("detail", "vendor must be one of "+vendors)
			value.set("errors", []any{obj("in", "query", "name", "vendor", "value", "nvida",
				"detail", "must be one of "+vendors, "allowed", query.Find(hardware.params, "vendor").Enum, "suggestion", "nvidia")})
		case internal:
			value.set("support", "support@localhost")
		}
		out.set(c.name, obj("summary", c.title, "value", value))
	}
	return out
}
