package httpapi

import (
	"net/http"
	"slices"

	"modeldex/httpapi/query"
	"modeldex/httpapi/suggest"
)

type code struct {
	name   string
	status int
	title  string
	// help says what it means and what to do next; it is the detail where a handler has
	// nothing more precise to say, and the text of /problems/{code}.
	help string
}

// ours reports whether the log names an error of this kind. The others of 5xx are the choice of the
// caller, or pass by themselves while many ask.
func (c *code) ours() bool {
	return c.status >= http.StatusInternalServerError && c != notReady && c != versionNotSupported && c != webhooksUnsupported
}

var codes []*code

func newCode(name string, status int, title, help string) *code {
	c := &code{name, status, title, help}
	codes = append(codes, c)
	return c
}

// The errors of the API.
var (
	invalidParameter    = newCode("invalid_parameter", 400, "Invalid parameter", "A parameter has an invalid value. errors lists all problems with the request.")
	unknownParameter    = newCode("unknown_parameter", 400, "Unknown parameter", "This route does not accept one of the parameters. See /docs for the routes and their parameters.")
	invalidCursor       = newCode("invalid_cursor", 400, "Invalid cursor", "The cursor is damaged or was not made by this service. Start again without it, and use only cursors from links.next.")
	cursorMismatch      = newCode("cursor_mismatch", 400, "Cursor from another query", "The cursor was made with different filters or a different sort order. Keep both unchanged while paging, or start again without the cursor.")
	invalidJSON         = newCode("invalid_json", 400, "Invalid JSON", "The body is not the JSON object that this route expects.")
	invalidField        = newCode("invalid_field", 400, "Invalid field", "A field of the body has an invalid value. errors lists all problems with the request.")
	badRequest          = newCode("bad_request", 400, "Malformed request", "The request is not well-formed HTTP.")
	missingKey          = newCode("missing_key", 401, "API key missing", "Send your key as \"Authorization: Bearer <key>\". One call gets you a free key: POST /api/v1/keys.")
	invalidKey          = newCode("invalid_key", 401, "API key unknown", "This key was never issued. Check that you copied all of it, or get a new one: POST /api/v1/keys.")
	keyRevoked          = newCode("key_revoked", 403, "API key revoked", "This key was permanently revoked. Get a new one: POST /api/v1/keys.")
	keySuspended        = newCode("key_suspended", 403, "API key suspended", "This key is suspended. Write to the support address to get it reactivated.")
	keyRotated          = newCode("key_rotated", 403, "API key replaced", "This key was rotated and its grace period has ended. Use the key that the rotation returned.")
	tierRequired        = newCode("tier_required", 403, "Higher tier required", "This request needs a higher-tier key; the detail says which tier. The rest of the request is valid.")
	notFound            = newCode("not_found", 404, "Not found", "No record has this name. errors lists similar names, if there are any.")
	unknownRoute        = newCode("unknown_route", 404, "Unknown address", "This address does not exist. See /docs for the routes.")
	methodNotAllowed    = newCode("method_not_allowed", 405, "Method not allowed", "This address does not support that method. The Allow header lists the methods it supports.")
	notAcceptable       = newCode("not_acceptable", 406, "Not acceptable", "None of the formats in the Accept header is available. Data is sent as application/json; lists, statistics and records are also available as text/csv, application/x-ndjson and application/vnd.apache.parquet.")
	requestTimeout      = newCode("request_timeout", 408, "Request timeout", "The request did not arrive in time. Send it again.")
	tooManyKeys         = newCode("too_many_keys", 409, "Too many keys", "This e-mail address already has the maximum number of active keys. Revoke one first: DELETE /api/v1/keys/self.")
	tooManyWebhooks     = newCode("too_many_webhooks", 409, "Too many webhooks", "This key already has 20 webhooks, the maximum. Delete one first: DELETE /api/v1/webhooks/{id}.")
	versionGone         = newCode("version_gone", 410, "Version gone", "That version of the dataset is not a recorded release, so the changes since then are unknown. Fetch the lists again, then ask for changes since the dataset_version that they report. errors names the oldest known version.")
	lengthRequired      = newCode("length_required", 411, "Length required", "Send the body with a Content-Length, not a Transfer-Encoding.")
	preconditionFailed  = newCode("precondition_failed", 412, "Precondition failed", "The ETag in If-Match is out of date. Repeat the request without If-Match to get the current version.")
	bodyTooLarge        = newCode("body_too_large", 413, "Body too large", "The body is too large. The limit is 4 KiB; 64 KiB for POST /api/v1/resolve, /api/v1/fit and /mcp; 224 KiB for the form at /contribute.")
	uriTooLong          = newCode("uri_too_long", 414, "Address too long", "The address is longer than 8 KiB. Request fewer values at once.")
	unsupportedType     = newCode("unsupported_media_type", 415, "Unsupported media type", "Send the body as application/json.")
	rangeNotSatisfiable = newCode("range_not_satisfiable", 416, "Range not satisfiable", "The file does not contain these bytes. Content-Range gives its size.")
	quotaExhausted      = newCode("quota_exhausted", 429, "Monthly quota used up", "You have used all your calls for this month. The quota resets at the time in X-RateLimit-Reset, which is Retry-After seconds from now.")
	burstExceeded       = newCode("burst_exceeded", 429, "Too many requests at once", "You are sending calls faster than your key's tier allows. Wait for Retry-After seconds; rejected calls are not counted.")
	signupLimited       = newCode("signup_limited", 429, "Too many sign-ups", "Your IP address has reached the maximum number of new keys per hour. Try again after Retry-After seconds.")
	tooManyConnections  = newCode("too_many_connections", 429, "Too many connections", "Your address has too many connections open. Reuse connections instead of opening new ones, or try again after Retry-After seconds.")
	pageLimited         = newCode("page_limited", 429, "Too many page requests", "Your address has made too many requests without a key. Try again after Retry-After seconds. Programs should use the API; one call gets you a free key: POST /api/v1/keys.")
	trialUsedUp         = newCode("trial_used_up", 429, "Daily calls without a key used up", "Your address has used up today's calls without a key. Get a free key with one call, POST /api/v1/keys, or try again after Retry-After seconds.")
	headersTooLarge     = newCode("headers_too_large", 431, "Headers too large", "The request's headers are larger than 16 KiB.")
	internal            = newCode("internal", 500, "Internal error", "Something went wrong on our side. If it keeps happening, report request_id to the support address.")
	webhooksUnsupported = newCode("webhooks_unsupported", 501, "Webhooks not supported", "Webhooks are not available on this server, because it stores its keys in etcd. Poll GET /api/v1/changes instead.")
	serverBusy          = newCode("server_busy", 503, "Server busy", "The server has reached its limit of open connections. Try again after Retry-After seconds.")
	notReady            = newCode("not_ready", 503, "Not ready", "No dataset is loaded yet. Try again after Retry-After seconds.")
	ledgerUnavailable   = newCode("ledger_unavailable", 503, "Ledger unavailable", "The server cannot count calls at the moment, so it rejects them. Try again after Retry-After seconds.")
	versionNotSupported = newCode("http_version_not_supported", 505, "HTTP version not supported", "This server speaks HTTP/1.1 and HTTP/1.0. For HTTP/2 put a proxy in front of it.")
)

// Problem is the body of every error, as defined by RFC 9457, with additional members.
type Problem struct {
	// URL of a page about this kind of error.
	Type string `json:"type" jsonschema:"format=uri-reference,example=/problems/invalid_parameter"`
	// Short name of the kind of error.
	Title string `json:"title" jsonschema:"example=Invalid parameter"`
	// The HTTP status.
	Status int `json:"status" jsonschema:"minimum=400,maximum=599,example=400"`
	// What went wrong, and how to fix it.
	Detail string `json:"detail" jsonschema:"example=vendor must be one of nvidia\\, amd\\, intel\\, apple\\, qualcomm"`
	// Path of the request.
	Instance string `json:"instance" jsonschema:"example=/api/v1/hardware"`
	// Kind of error, for programs.
	Code string `json:"code" jsonschema:"example=invalid_parameter"`
	// Id of the request, as in the X-Request-Id header.
	RequestID string `json:"request_id" jsonschema:"example=5f0c1a9b3e-0000000017"`
	// Problems with the request, at most 20.
	Errors []Fault `json:"errors,omitempty" jsonschema:"maxItems=20"`
	// Number of further problems that are not listed; omitted if 0.
	ErrorsOmitted int `json:"errors_omitted,omitzero" jsonschema:"minimum=1,example=3"`
	// Support address; only on 403 and 500.
	Support string `json:"support,omitempty" jsonschema:"example=support@localhost"`
}

// Fault is one problem with a request.
type Fault = query.Fault

type failure struct {
	code   *code
	detail string // empty: the code's help
	faults []Fault
	// omitted counts the faults that are not listed; searches counts the searches for suggestions, each of which costs one
	// call of the burst limit.
	omitted, searches int
	// retryAfter is in seconds; 0 sends no Retry-After.
	retryAfter int64
	allow      string // the Allow header
	close      bool   // the connection is closed after the response
	cause      error  // for the log only
}

func fail(c *code, faults ...Fault) *failure { return &failure{code: c, faults: faults} }

func failureOf(l *query.Faults) *failure {
	if l.Code == "" {
		return nil
	}
	i := slices.IndexFunc(codes, func(c *code) bool { return c.name == l.Code })
	return &failure{code: codes[i], detail: l.Text(), faults: l.List, omitted: l.Omitted, searches: l.Searches}
}

// noSuch is about a name in a path that is none of those there are.
func noSuch(detail, param, name, why string, allowed []string) *failure {
	fault := Fault{In: "path", Name: param, Value: clip(name), Detail: why, Allowed: allowed, Suggestion: new(suggest.Suggester).Nearest(name, allowed)}
	return &failure{code: notFound, detail: detail, faults: []Fault{fault}}
}

func badParameter(name, value, detail string) *failure {
	var faults query.Faults
	faults.Add(query.InvalidParameter, Fault{In: "query", Name: name, Value: clip(value), Detail: detail})
	return failureOf(&faults)
}

func clip(v string) *string { return query.Clip(v) }
