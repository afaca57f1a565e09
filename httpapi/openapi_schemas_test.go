package httpapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/httpapi/rows"
	"modeldex/httpapi/webhook"
	"modeldex/quota"
	"modeldex/snapshot"

	"github.com/goccy/go-json/jsontext"
	"github.com/invopop/jsonschema"
)

// The schemas of bodies are made from the Go types that render them and from their comments.
// The generator is needed by tests only and stays out of the server.

// publicNames are the names schemas have where the Go type has another.
var publicNames = map[string]string{
	"View": "Webhook", "AttemptView": "WebhookAttempt", "Message": "WebhookMessage", "MessageData": "WebhookMessageData",
	"Changes": "WebhookMessageDataset", "MessageRecord": "WebhookMessageRecord", "MessageLinks": "WebhookMessageLinks",
	"KeyView": "Key", "File": "DumpFile", "Info": "SnapshotInfo", "ValueCount": "FacetValue", "QuotaView": "KeyQuota",
	"BurstView": "KeyBurst", "DatasetView": "Dataset", "Counts": "DatasetCounts", "Refused": "RefusedLoad", "Row": "Change", "NameView": "ResolvedName", "AskView": "AskedQuestion", "ReadingView": "Reading", "ReadNameView": "ReadName", "Candidate": "NameCandidate",
	"Answer": "Fit", "Best": "FitBest", "Size": "FitSize", "Memory": "FitMemory", "Bytes": "FitBytes", "Cache": "FitCache", "Available": "FitAvailable", "Share": "FitShare",
	"MaxContexts": "FitMaxContext", "Evidence": "FitEvidence", "Speed": "FitSpeed", "Measured": "FitMeasured", "MeasuredRun": "FitMeasuredRun", "Estimate": "FitEstimate",
	"Weight": "FitWeight", "Checked": "FitValidated", "Slowdown": "FitFilled", "Cost": "FitCost",
	"Group": "StatsGroup", "Pivot": "StatsPivot", "FacetRow": "Facet",
}

// rendered are the types whose values are bodies or parts of bodies; what they hold follows.
var rendered = []any{
	rows.Group{},
	rows.Pivot{},
	StatsMeta{},
	FacetRow{},
	rows.Model{},
	rows.ModelDetail{},
	rows.Hardware{},
	rows.Tool{},
	rows.Quality{},
	rows.Benchmark{},
	ListMeta{},
	Links{},
	RecordMeta{},
	Notice{},
	snapshot.Info{},
	export.Dump{},
	SchemaInfo{},
	Endpoint{},
	Problem{},
	Fault{},
	KeyView{},
	KeyUsage{},
	DatasetView{},
	Health{},
	changes.Row{},
	webhook.View{},
	webhook.Message{},
	webhook.MessageRecord{},
	fit.Answer{},
	NameView{},
	AskView{},
}

// typeSchemas gives the schema of every rendered type and of those it holds, in order of name.
func typeSchemas() object {
	r := &jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true, Mapper: scalarSchema, Namer: publicName}
	for pkg, dir := range map[string]string{"modeldex/dataset": "../dataset", "modeldex/dataset/fit": "../dataset/fit", "modeldex/dataset/resolve": "../dataset/resolve", "modeldex/dataset/record": "../dataset/record", "modeldex/quota": "../quota", "modeldex/quota/hooks": "../quota/hooks", "modeldex/snapshot": "../snapshot", "modeldex/index": "../index", "modeldex/httpapi": "./", "modeldex/httpapi/changes": "./changes", "modeldex/httpapi/export": "./export", "modeldex/httpapi/query": "./query", "modeldex/httpapi/rows": "./rows", "modeldex/httpapi/webhook": "./webhook"} {
		if err := r.AddGoComments(pkg, dir); err != nil {
			panic(err)
		}
	}
	made := map[string]object{}
	for _, v := range rendered {
		for name, s := range r.Reflect(v).Definitions {
			made[name] = tidySchema(s)
			describe(name, made[name])
			describeFields(name, made[name])
			typeFields(name, made[name])
		}
	}
	webhookSchemas(made)
	for _, name := range selectable {
		withoutRequired(made, name)
	}
	var out object
	for _, name := range sortedKeys(made) {
		out.set(name, made[name])
	}
	return out
}

// selectable are the records of which the parameter fields selects members.
var selectable = []string{"Model", "ModelDetail", "Hardware", "Tool", "Benchmark", "Quality"}

// fieldsName is the name of a schema with some of the members of another.
func fieldsName(name string) string { return name + "Fields" }

// withoutRequired makes the schema of what fields leaves of an object: the same members, and those of the
// objects in them, none of which must be there.
func withoutRequired(made map[string]object, name string) {
	if made[fieldsName(name)] != nil {
		return
	}
	made[fieldsName(name)] = object{} // before what it holds, which may hold it
	out := optional(made, made[name]).(object)
	out.set("description", "The fields of "+name+" named by the parameter fields.")
	made[fieldsName(name)] = out
}

// optional is a schema without required members.
func optional(made map[string]object, v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = optional(made, v[i])
		}
		return out
	case object:
		var out object
		for _, m := range v {
			name, isText := m.value.(string)
			name = strings.TrimPrefix(name, "#/components/schemas/")
			_, isObject := made[name].get("properties")
			switch _, isSchema := m.value.(object); {
			case m.name == "required" && !isSchema: // not a field of that name
			case m.name == "$ref" && isText && isObject:
				withoutRequired(made, name)
				out.set("$ref", "#/components/schemas/"+fieldsName(name))
			default:
				out.set(m.name, optional(made, m.value))
			}
		}
		return out
	default:
		return v
	}
}

// describe drops the Go name a type's comment begins with.
func describe(name string, schema object) {
	text, _ := schema.get("description")
	words := strings.Fields(fmt.Sprint(text))
	if len(words) < 3 || words[0] != name && publicNames[words[0]] != name {
		return
	}
	if words = words[1:]; words[0] == "is" || words[0] == "are" {
		words = words[1:]
	}
	words[0] = strings.ToUpper(words[0][:1]) + words[0][1:]
	schema.set("description", strings.Join(words, " "))
}

// fieldTexts describe fields of types of the ground floor, whose comments speak of the ledger.
var fieldTexts = map[string]string{
	"MonthCalls":       "The calls of one month.",
	"MonthCalls.month": "Calendar month in UTC.",
	"MonthCalls.calls": "Calls in that month.",
}

func describeFields(name string, schema object) {
	if text := fieldTexts[name]; text != "" {
		schema.set("description", text)
	}
	fields, _ := schema.get("properties")
	for i, f := range fields.(object) {
		if text := fieldTexts[name+"."+f.name]; text != "" {
			field := f.value.(object)
			field.set("description", text)
			fields.(object)[i].value = kindFirst(field)
		}
	}
}

// fieldTypes are the types of fields that Go knows as any; none is any value.
var fieldTypes = map[string]object{
	"FieldChange.old":       {},
	"FieldChange.new":       {},
	"StatsPivot.rows":       arrayOf(obj("type", []string{"string", "null"})),
	"StatsPivot.columns":    arrayOf(obj("type", []string{"string", "null"})),
	"StatsPivot.values":     arrayOf(arrayOf(obj("type", []string{"number", "null"}))),
	"StatsPivot.comparable": arrayOf(arrayOf(obj("type", []string{"boolean", "null"}))),
}

func arrayOf(items object) object { return obj("type", "array", "items", items) }

func typeFields(name string, schema object) {
	fields, _ := schema.get("properties")
	for i, f := range fields.(object) {
		if own := fieldTypes[name+"."+f.name]; own != nil {
			field := f.value.(object)
			if text, _ := field.get("description"); len(own) == 0 {
				field = obj("description", text)
			}
			for _, m := range own {
				field.set(m.name, m.value)
			}
			fields.(object)[i].value = kindFirst(field)
		}
	}
}

func publicName(t reflect.Type) string {
	if name := publicNames[t.Name()]; name != "" {
		return name
	}
	return t.Name()
}

// scalarSchema is the schema of types whose values are texts of a form or of a closed set.
func scalarSchema(t reflect.Type) *jsonschema.Schema {
	switch v := reflect.Zero(t).Interface().(type) {
	case jsontext.Value: // written out in webhookSchemas
		return &jsonschema.Schema{Type: "object"}
	case dataset.Slug:
		most := uint64(record.MaxSlug)
		return &jsonschema.Schema{Type: "string", Pattern: record.SlugPattern, MaxLength: &most}
	case dataset.Date:
		return &jsonschema.Schema{Type: "string", Pattern: record.DatePattern}
	case dataset.URL:
		return &jsonschema.Schema{Type: "string", Format: "uri"}
	case quota.Month:
		return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]{4}-(0[1-9]|1[0-2])$`}
	case interface{ Values() []string }:
		s := &jsonschema.Schema{Type: "string"}
		for _, value := range v.Values() {
			s.Enum = append(s.Enum, value)
		}
		return s
	}
	return nil
}

// tidySchema turns what the generator makes into the form OpenAPI 3.1 tools read best.
func tidySchema(s *jsonschema.Schema) object {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	v, err := orderedJSON([]byte(strings.ReplaceAll(string(b), `"#/$defs/`, `"#/components/schemas/`)))
	if err != nil {
		panic(err)
	}
	return tidy(v).(object)
}

func tidy(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = tidy(v[i])
		}
	case object:
		for i := range v {
			v[i].value = tidy(v[i].value)
		}
		if unit, ok := v.get("unit"); ok {
			if _, isText := unit.(string); isText { // a unit of measure, not a field of that name
				v.drop("unit")
				v.set("x-unit", unit)
			}
		}
		return kindFirst(nullable(v))
	}
	return v
}

// kindFirst moves what a reader asks first to the front of a schema.
func kindFirst(o object) object {
	var out object
	for _, name := range []string{"type", "description"} {
		v, ok := o.get(name)
		if _, isSchema := v.(object); ok && !isSchema { // not a field of that name
			out.set(name, v)
		}
	}
	for _, m := range o {
		if _, moved := out.get(m.name); !moved {
			out.set(m.name, m.value)
		}
	}
	return out
}

// nullable writes "one of a plain type and null" as a pair of types, with null in the set.
func nullable(o object) object {
	alternatives, ok := o.get("oneOf")
	if !ok {
		return o
	}
	list := alternatives.([]any)
	plain := list[0].(object)
	kind, ok := plain.get("type")
	if second, _ := list[1].(object).get("type"); len(list) != 2 || second != "null" {
		return o
	}
	if !ok { // a reference: the field's text belongs beside the alternatives
		if text, there := plain.get("description"); there {
			plain.drop("description")
			list[0] = plain
			o.set("description", text)
		}
		return o
	}
	plain = slices.Clone(plain)
	plain.set("type", []any{kind, "null"})
	if enum, ok := plain.get("enum"); ok {
		plain.set("enum", append(enum.([]any), nil))
	}
	for _, m := range o {
		if m.name != "oneOf" {
			plain.set(m.name, m.value)
		}
	}
	return plain
}

// keyOf is the member of a record that fields never leaves out.
func keyOf(record string) string {
	if record == "Benchmark" || record == "Quality" {
		return "id"
	}
	return "slug"
}

// envelopes are the schemas of whole answers: hand-made, for rows are copied into them as bytes.
func envelopes() object {
	var out object
	for _, e := range []struct{ record, list, one string }{
		{"Model", "ModelList", ""},
		{"ModelDetail", "", "ModelAnswer"},
		{"Hardware", "HardwareList", "HardwareAnswer"},
		{"Tool", "ToolList", "ToolAnswer"},
		{"Benchmark", "BenchmarkList", "BenchmarkAnswer"},
		{"Quality", "QualityList", "QualityAnswer"},
		{"Change", "ChangeList", ""},
		{"Fit", "", "FitAnswer"},
	} {
		if slices.Contains(selectable, e.record) {
			some := append(ref("schemas", fieldsName(e.record)), member{"required", []string{keyOf(e.record)}})
			if e.list != "" {
				out.set(fieldsName(e.list), closedObject("A page of a list, asked for with the parameter fields.", "data", obj("type", "array", "description", "The records of this page, in order.", "items", some), "meta", ref("schemas", "ListMeta"), "links", ref("schemas", "Links")))
			}
			if e.one != "" {
				out.set(fieldsName(e.one), closedObject("One record, asked for with the parameter fields.", "data", some, "meta", ref("schemas", "RecordMeta")))
			}
		}
		row := ref("schemas", e.record)
		if e.list != "" {
			out.set(e.list, closedObject("A page of a list.", "data", obj("type", "array", "description", "The records of this page, in order.", "items", row), "meta", ref("schemas", "ListMeta"), "links", ref("schemas", "Links")))
		}
		if e.one != "" {
			out.set(e.one, closedObject("One record.", "data", row, "meta", ref("schemas", "RecordMeta")))
		}
	}
	for _, pair := range [][2]string{{"SchemaList", "SchemaInfo"}, {"EndpointList", "Endpoint"}} {
		out.set(pair[0], closedObject("All schemas.", "data", obj("type", "array", "description", "In order.", "items", ref("schemas", pair[1]))))
	}
	out.set("StatsAnswer", closedObject("Statistics by group.", "data", obj("description", "The groups of this page, or with shape=pivot a matrix of all groups.", "oneOf", []any{
		obj("type", "array", "description", "The groups of this page, in order.", "items", ref("schemas", "StatsGroup")), ref("schemas", "StatsPivot"),
	}), "meta", ref("schemas", "StatsMeta"), "links", ref("schemas", "Links")))
	out.set("FacetList", closedObject("Counts by field.", "data", obj("type", "array", "description", "One entry per field, in the requested order.", "items", ref("schemas", "Facet")), "meta", ref("schemas", "ListMeta"), "links", ref("schemas", "Links")))
	issued := append(ref("schemas", "Key"), member{"required", []string{"key"}})
	out.set("IssuedKeyAnswer", closedObject("The new key, shown only once.", "data", issued))
	out.set("KeyAnswer", closedObject("The calling key.", "data", ref("schemas", "Key")))
	out.set("KeyUsageAnswer", closedObject("The calling key and its usage.", "data", ref("schemas", "KeyUsage")))
	out.set("DatasetAnswer", closedObject("The dataset being served.", "data", ref("schemas", "Dataset")))
	out.set("DumpAnswer", closedObject("The files of a dump.", "data", ref("schemas", "Dump")))
	out.set("SnapshotList", closedObject("Every published snapshot document, newest first.", "data", obj("type", "array", "description", "The documents.", "items", ref("schemas", "SnapshotInfo"))))
	out.set("FitAnswers", closedObject("Answers in the order of the queries.", "data", obj("type", "array", "description", "The answers, each with only the best quantization.", "items", ref("schemas", "Fit")), "meta", ref("schemas", "RecordMeta")))
	out.set("FitQueries", fitQueriesSchema())
	out.set("AskAnswer", closedObject("The answer to a question.", "data", ref("schemas", "AskedQuestion"), "meta", ref("schemas", "RecordMeta")))
	out.set("NameAnswer", closedObject("The record for a name.", "data", ref("schemas", "ResolvedName"), "meta", ref("schemas", "RecordMeta")))
	out.set("NamesAnswer", closedObject("The records for names, in the order of the request.", "data", obj("type", "array", "description", "One entry for each name.", "items", ref("schemas", "ResolvedName")), "meta", ref("schemas", "RecordMeta")))
	out.set("NamesToResolve", namesSchema())
	for _, m := range webhookEnvelopes() {
		out.set(m.name, m.value)
	}
	out.set("NewKey", bodySchema[NewKey]("Details for a new key."))
	out.set("Rotation", bodySchema[Rotation]("Grace period for the old secret."))
	return out
}

// snapshotSchemas are the schema of the snapshot document and of its parts, as published at
// /api/v1/schemas, under names that begin with Snapshot.
func snapshotSchemas() object {
	v, err := orderedJSON(snapshot.Schema())
	if err != nil {
		panic(err)
	}
	whole := tidy(v).(object)
	parts, _ := whole.get("$defs")
	whole.drop("$defs")
	whole.drop("$schema")
	whole.drop("$id") // with it references would be of a document of its own
	describe("Document", whole)
	out := object{{"SnapshotDocument", prefixRefs(whole)}}
	for _, m := range parts.(object) {
		describe(titleCase(m.name), m.value.(object))
		out.set("Snapshot"+titleCase(m.name), prefixRefs(m.value))
	}
	return out
}

func prefixRefs(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = prefixRefs(v[i])
		}
	case object:
		for i := range v {
			if name, ok := v[i].value.(string); ok && v[i].name == "$ref" {
				v[i].value = "#/components/schemas/Snapshot" + titleCase(strings.TrimPrefix(name, "#/$defs/"))
			} else {
				v[i].value = prefixRefs(v[i].value)
			}
		}
	}
	return v
}

// closedObject is an object all of whose members are always there.
func closedObject(description string, properties ...any) object {
	members := obj(properties...)
	var names []string
	for _, m := range members {
		names = append(names, m.name)
	}
	return obj("type", "object", "description", description, "properties", members, "required", names)
}

func namesSchema() object {
	text := obj("type", "string", "minLength", 1, "maxLength", resolve.MaxName, "description", "The name, as you found it.", "examples", []string{"unsloth/Qwen3-8B-GGUF:Q4_K_M"})
	entry := obj("type", "object", "description", "A name and its kind of record.", "properties", obj("q", text, "kind", obj("type", "string", "enum", resolve.Kinds, "description", "Kind of record.", "examples", []string{"hardware"})),
		"required", []string{"q"}, "additionalProperties", false)
	s := closedObject("Names to resolve.", "names", obj("type", "array", "minItems", 1, "maxItems", mostNames, "description", "Each is a string, or an object with the name and its kind.", "items", obj("oneOf", []any{entry, text})))
	s.set("additionalProperties", false)
	return s
}

// bodySchema is the schema of a body that a struct declares.
func bodySchema[T any](text string) object {
	var members object
	var required []string
	params := query.Of[T]()
	for i := range params {
		pm := &params[i]
		member := append(obj("description", paramText(pm)), paramSchema(pm)...)
		if own := memberSchemas[pm.Field]; own != nil {
			for _, m := range own() {
				member.set(m.name, m.value)
			}
		}
		if members.set(pm.Name, kindFirst(member)); pm.Required != "" {
			required = append(required, pm.Name)
		}
	}
	s := obj("type", "object", "description", text, "properties", members, "additionalProperties", false)
	if required != nil {
		s.set("required", required)
	}
	return s
}

// memberSchemas are what the schemas of members of bodies have beside what their fields declare.
var memberSchemas = map[string]func() object{
	"NewKey.Name": func() object { return obj("maxLength", quota.MaxName, "examples", []string{"my dashboard"}) },
	"NewKey.Email": func() object {
		return obj("maxLength", quota.MaxEmail, "format", "email", "examples", []string{"ada@example.com"})
	},
	"NewKey.UseCase": func() object {
		return obj("maxLength", quota.MaxUseCase, "examples", []string{"Comparing graphics cards for a local assistant."})
	},
	"Rotation.GraceSeconds": func() object { return obj("examples", []int{3600}) },
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// fitQueriesSchema is the body of POST /api/v1/fit, from the table of parameters.
func fitQueriesSchema() object {
	var fields object
	for i := range fitList.params {
		pm := &fitList.params[i]
		field := paramSchema(pm)
		field.set("description", paramText(pm))
		fields.set(pm.Name, field)
	}
	query := obj("type", "object", "description", "One query, with the parameters of GET as members.", "additionalProperties", false, "required", []string{"model"}, "properties", fields)
	list := obj("type", "array", "description", "Several queries. Without it, the other members form one query.", "minItems", 1, "maxItems", maxFitQueries, "items", query)
	return obj("type", "object", "description", "A list of queries, or the members of one query.", "additionalProperties", false,
		"properties", append(obj("queries", list), fields...))
}
