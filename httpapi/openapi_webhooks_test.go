package httpapi

import (
	"strings"

	"modeldex/httpapi/query"
	"modeldex/httpapi/webhook"
	"modeldex/quota/hooks"
)

// webhookSchemas writes out the records of messages, which are bytes of lists.
func webhookSchemas(made map[string]object) {
	data, _ := made["WebhookMessageData"].get("properties")
	fields := data.(object)
	fields.set("records", obj("type", "array", "description", "The benchmarks, newest run date first; at most max_records and 256 KiB. Empty for dataset.released and a test.",
		"maxItems", webhook.MaxRecords, "items", ref("schemas", "WebhookMessageRecord")))
	record, _ := made["WebhookMessageRecord"].get("properties")
	fields = record.(object)
	fields.set("record", obj("description", "The benchmark as in lists; null if it was removed.", "oneOf", []any{ref("schemas", "Benchmark"), obj("type", "null")}))
	view, _ := made["Webhook"].get("properties")
	fields = view.(object)
	fields.set("filters", obj("type", "object", "description", "Filters as in the benchmark list, by name; empty means all benchmarks.",
		"propertyNames", obj("enum", query.Names(hookFilters.params)), "additionalProperties", obj("type", "array", "minItems", 1, "items", obj("type", "string"))))
}

// webhookEnvelopes are the bodies of requests and responses about webhooks.
func webhookEnvelopes() object {
	hook := ref("schemas", "Webhook")
	withSecret := append(ref("schemas", "Webhook"), member{"required", []string{"secret"}})
	notices := closedObject("Notices about the filters.", "notices", obj("type", "array", "description", "Filters with unknown values, and names that were read by rules.", "items", ref("schemas", "Notice")))
	var out object
	out.set("NewWebhookAnswer", closedObject("A webhook with its secret, shown only once.", "data", withSecret, "meta", notices))
	out.set("WebhookChangeAnswer", closedObject("The updated webhook.", "data", hook, "meta", notices))
	out.set("WebhookAnswer", closedObject("One webhook.", "data", hook))
	out.set("WebhookSecretAnswer", closedObject("The webhook with its new secret, shown only once.", "data", withSecret))
	out.set("WebhookList", closedObject("The webhooks of the key, oldest first.", "data", obj("type", "array", "description", "The webhooks.", "maxItems", webhook.MaxPerKey, "items", hook)))
	out.set("WebhookAttemptAnswer", closedObject("The result of a test message.", "data", ref("schemas", "WebhookAttempt")))
	created := draftSchema("What to send, and where to send it.")
	created.set("required", []string{"url"})
	out.set("NewWebhook", created)
	out.set("WebhookChange", draftSchema("The fields to change."))
	closedFilterSchemas(&out)
	out.set("WebhookRotation", obj("type", "object", "description", "Grace period for the old secret.", "properties", obj(
		"grace_seconds", obj("type", "integer", "minimum", 0, "maximum", 604800, "default", int(webhook.DefaultGrace.Seconds()),
			"description", "How long the old secret also signs, in seconds.", "examples", []int{3600}),
	), "additionalProperties", false))
	return out
}

// hookFilterSchema is the value of one filter in a body: one value of the type that the list of benchmarks takes, or a
// list. A number or a truth value may also be a text, so that filters can be sent back as they were answered.
func hookFilterSchema(pm *query.Param) object {
	one, most := hookFilterValue(pm)
	if _, closed := one.get("enum"); closed {
		one = ref("schemas", closedFilterName(pm))
	} else if kind, _ := one.get("type"); kind != "string" {
		text := obj("type", "string", "minLength", 1)
		return obj("anyOf", []any{obj("type", "array", "items", obj("anyOf", []any{one, text}), "minItems", 1, "maxItems", most), one, text})
	}
	return obj("anyOf", []any{obj("type", "array", "items", one, "minItems", 1, "maxItems", most), one})
}

// hookFilterValue is one value of a filter, and how many of them it takes.
func hookFilterValue(pm *query.Param) (one object, most any) {
	one, most = paramSchema(pm), 1
	if items, several := one.get("items"); several {
		most, _ = one.get("maxItems")
		one = items.(object)
	}
	return one, most
}

// closedFilterName names the schema of the values of a filter, as in FilterComputeUnit. Code generators need a name: the
// values are there alone and in a list, which are two alternatives of one type.
func closedFilterName(pm *query.Param) string {
	name := "Filter"
	for word := range strings.SplitSeq(pm.Name, "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// closedFilterSchemas are the values of each filter that has a closed set of them.
func closedFilterSchemas(out *object) {
	for i := range hookFilters.params {
		pm := &hookFilters.params[i]
		one, _ := hookFilterValue(pm)
		if _, closed := one.get("enum"); closed {
			out.set(closedFilterName(pm), append(obj("description", paramText(pm)), one...))
		}
	}
}

// draftSchema is the body of a new or changed webhook.
func draftSchema(text string) object {
	var filters object
	for i := range hookFilters.params {
		pm := &hookFilters.params[i]
		filters.set(pm.Name, append(obj("description", paramText(pm)), hookFilterSchema(pm)...))
	}
	return obj("type", "object", "description", text, "additionalProperties", false, "properties", obj(
		"url", obj("type", "string", "format", "uri", "maxLength", 2048, "description", "Where to send messages: an https URL with a public host and port 443, 1024 or above.", "examples", []string{"https://example.com/hooks/modeldex"}),
		"description", obj("type", "string", "maxLength", maxDescription, "description", "Description for its owner.", "examples", []string{"new runs on my card"}),
		"events", obj("type", "array", "minItems", 1, "description", "Events to send; default benchmark.created.", "items", obj("type", "string", "enum", webhook.Events), "examples", []any{[]string{webhook.Created, webhook.Withdrawn}}),
		"filters", obj("type", []string{"object", "null"}, "description", "Filters of the benchmark list; null or empty means all benchmarks. With filters, throughput results match only if scenario is one of them, as in the list.", "additionalProperties", false, "properties", filters,
			"examples", []any{obj("hardware", []string{"nvidia-rtx-4090"}, "min_tps", 50)}),
		"max_records", obj("type", "integer", "minimum", 0, "maximum", webhook.MaxRecords, "default", webhook.MaxRecords, "description", "Maximum number of records in a message.", "examples", []int{20}),
		"status", obj("type", "string", "enum", []string{string(hooks.Active), string(hooks.Paused)}, "description", "paused stops messages; active resumes with the waiting ones."),
	))
}

// webhookSuccess is what the routes of webhooks answer.
func webhookSuccess(rt *route) []statusResponse {
	status, schema, more := 200, "", []string{"Cache-Control", "Dataset-Version?"}
	switch rt.id {
	case "createWebhook":
		status, schema, more = 201, "NewWebhookAnswer", append(more, "Location")
	case "changeWebhook":
		schema = "WebhookChangeAnswer"
	case "listWebhooks":
		schema = "WebhookList"
	case "getWebhook":
		schema = "WebhookAnswer"
	case "rotateWebhook":
		schema = "WebhookSecretAnswer"
	case "testWebhook":
		schema = "WebhookAttemptAnswer"
	case "deleteWebhook":
		return []statusResponse{{204, obj("description", "Gone.", "headers", headersOf(keyed, more...))}}
	}
	return []statusResponse{{status, obj("description", "Done.", "headers", headersOf(keyed, more...), "content", jsonContent(schema))}}
}

// webhookOperations describes what receivers get, for code generators.
func webhookOperations() object {
	texts := map[string]string{
		webhook.Created:   "New benchmarks in a release.",
		webhook.Changed:   "Benchmarks with a changed field, or whose withdrawal was reversed.",
		webhook.Withdrawn: "Benchmarks that were withdrawn or removed.",
		webhook.Released:  "A release of the dataset, regardless of filters. It comes after the messages about benchmarks.",
		webhook.Test:      "A requested test.",
	}
	var out object
	for _, event := range append(append([]string{}, webhook.Events...), webhook.Test) {
		out.set(event, webhookOperation(titleCase(event), texts[event]))
	}
	return out
}

// webhookOperation describes the request that a receiver of messages gets.
func webhookOperation(name, summary string) object {
	header := func(name, text, pattern string) object {
		return obj("name", name, "in", "header", "required", true, "description", text, "schema", obj("type", "string", "pattern", pattern))
	}
	return obj("post", obj(
		"operationId", "on"+name, "tags", []string{"webhooks"}, "summary", summary, "description", "See createWebhook for how messages are sent.",
		"parameters", []any{
			header("webhook-id", "Id of the message, which is the same on every attempt.", "^msg_[0-9A-Za-z]{22}$"),
			header("webhook-timestamp", "Time of this attempt, in seconds since 1970.", "^[0-9]+$"),
			header("webhook-signature", "HMAC-SHA256 of id, timestamp and body, joined with dots, as v1 and base64; one per secret, separated by spaces.", "^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)*$"),
		},
		"requestBody", obj("required", true, "content", jsonContent("WebhookMessage")),
		"responses", obj(
			"2XX", obj("description", "Accepted; the message is not sent again."),
			"410", obj("description", "No longer wanted; the webhook is disabled."),
			"default", obj("description", "Not accepted; the message is sent again later, not before Retry-After."),
		),
		"security", []any{},
	))
}
