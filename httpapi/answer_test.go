package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"modeldex/dataset/record"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// asked is a request as a test sends it. The path is sent as it is, query included.
type asked struct {
	method, path string
	header       http.Header
	body         []byte
}

// answer is what came back for it.
type answer struct {
	asked
	status int
	header http.Header
	raw    []byte // the body as sent
	body   []byte // the body decoded
}

// fetch sends a request over plain HTTP and reads the whole answer.
func fetch(rt http.RoundTripper, addr string, q asked) (*answer, error) {
	req := &http.Request{
		Method: q.method, URL: &url.URL{Scheme: "http", Host: addr, Opaque: q.path}, Host: addr,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: q.header.Clone(),
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if len(q.body) > 0 { // net/http would send an empty one in chunks
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(q.body)), int64(len(q.body))
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("%s %.100s: %w", q.method, q.path, err)
	}
	return readAnswer(q, resp)
}

func readAnswer(q asked, resp *http.Response) (*answer, error) {
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %.100s: reading the body: %w", q.method, q.path, err)
	}
	a := &answer{asked: q, status: resp.StatusCode, header: resp.Header, raw: raw}
	if a.body, err = decodeBody(raw, resp.Header.Get("Content-Encoding")); err != nil {
		return nil, fmt.Errorf("%s %.100s: decoding the body: %w", q.method, q.path, err)
	}
	return a, nil
}

func decodeBody(raw []byte, coding string) ([]byte, error) {
	if len(raw) == 0 {
		return raw, nil // HEAD
	}
	switch coding {
	case "":
		return raw, nil
	case "br":
		return io.ReadAll(brotli.NewReader(bytes.NewReader(raw)))
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case "zstd":
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.DecodeAll(raw, nil)
	}
	return nil, fmt.Errorf("unknown coding %q", coding)
}

// What every answer has to be, whatever was asked: the rules of the API that no single script
// could watch over. complaints collects what one answer breaks.
type complaints struct {
	a    *answer
	list []string
}

func (c *complaints) want(ok bool, format string, args ...any) {
	if !ok {
		c.list = append(c.list, fmt.Sprintf(format, args...))
	}
}

// checkAnswer returns what an answer breaks.
func checkAnswer(a *answer) []string {
	c := &complaints{a: a}
	c.everywhere()
	switch {
	case a.status >= 400:
		c.problem()
	case a.status == http.StatusNotModified:
		c.notModified()
	case a.status == http.StatusOK && a.isData() && a.method != http.MethodPost:
		c.dataBody()
	}
	if a.isKeyed() && !a.beforeKey() {
		c.standing()
	}
	if a.isData() && !a.beforeKey() {
		c.want(a.header.Get("Dataset-Version") != "" || a.status == http.StatusServiceUnavailable, "no Dataset-Version")
	}
	if a.method == http.MethodHead {
		c.want(len(a.raw) == 0, "an answer to HEAD has a body of %d bytes", len(a.raw))
	}
	if err := validateAnswer(a.method, a.path, a.status, a.header, a.body); err != nil {
		c.want(false, "against the OpenAPI document: %v", err)
	}
	return c.list
}

var dataPath = regexp.MustCompile(`^/api/v1/(models|hardware|tools|benchmarks|fit|ask|resolve)(/|\?|$)`)

// isData says whether the address is one of the counted ones.
func (a *answer) isData() bool {
	if path, _, _ := strings.Cut(a.path, "?"); strings.HasSuffix(path, "/changes") { // of records; they need no key
		return false
	}
	return dataPath.MatchString(a.path) && (a.method == http.MethodGet || a.method == http.MethodHead || a.method == http.MethodPost && (a.path == "/api/v1/fit" || strings.HasPrefix(a.path, resolvePath)))
}

func (a *answer) isKeyed() bool {
	return a.isData() || strings.HasPrefix(a.path, "/api/v1/keys/self") && a.method != http.MethodOptions
}

// beforeKey says whether the request was rejected before its address was known: the head of the request
// could not be read.
func (a *answer) beforeKey() bool {
	return a.status == 408 || a.status == 431 || a.code() == "bad_request" || a.code() == "unknown_route" && !a.isData()
}

// code is the code of a problem, empty where the answer is none.
func (a *answer) code() string {
	var p struct {
		Code string `json:"code"`
	}
	if a.status < 400 || json.Unmarshal(a.body, &p) != nil {
		return ""
	}
	return p.Code
}

// exposed are the headers a page of another origin must be able to read.
var exposed = []string{
	"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Tier", "X-RateLimit-Reset", "RateLimit-Policy", "RateLimit",
	"X-Request-Id", "Dataset-Version", "Dataset-Digest", "ETag", "Link", "Retry-After", "Location",
}

func (c *complaints) everywhere() {
	h := c.a.header
	c.want(h.Get("X-Request-Id") != "", "no X-Request-Id")
	c.want(h.Get("Access-Control-Allow-Origin") == "*", "Access-Control-Allow-Origin is %q, want *", h.Get("Access-Control-Allow-Origin"))
	c.want(h.Get("X-Content-Type-Options") == "nosniff", "no X-Content-Type-Options: nosniff")
	list := h.Get("Access-Control-Expose-Headers")
	for _, name := range exposed {
		c.want(slices.Contains(strings.Split(list, ", "), name) == (c.a.asked.header.Get("Origin") != ""), "Access-Control-Expose-Headers is %q, Origin %q", list, c.a.asked.header.Get("Origin"))
	}
	for name, values := range h {
		c.want(len(values) == 1 || name == "Vary", "header %s comes %d times", name, len(values))
	}
	c.want(c.a.status != http.StatusInternalServerError, "status 500: %s", c.a.body)
}

// contractCodes are the codes of each error status.
var contractCodes = map[int][]string{
	400: {"invalid_parameter", "unknown_parameter", "invalid_cursor", "cursor_mismatch", "invalid_json", "invalid_field", "bad_request"},
	401: {"missing_key", "invalid_key"},
	403: {"key_revoked", "key_suspended", "key_rotated", "tier_required"},
	404: {"not_found", "unknown_route"},
	405: {"method_not_allowed"},
	406: {"not_acceptable"},
	408: {"request_timeout"},
	409: {"too_many_keys", "too_many_webhooks"},
	410: {"version_gone"},
	411: {"length_required"},
	412: {"precondition_failed"},
	413: {"body_too_large"},
	414: {"uri_too_long"},
	415: {"unsupported_media_type"},
	416: {"range_not_satisfiable"},
	429: {"quota_exhausted", "burst_exceeded", "signup_limited", "too_many_connections", "page_limited"},
	431: {"headers_too_large"},
	500: {"internal"},
	501: {"webhooks_unsupported"},
	503: {"not_ready", "ledger_unavailable", "server_busy"},
	505: {"http_version_not_supported"},
}

func (c *complaints) problem() {
	h, status := c.a.header, c.a.status
	c.want(h.Get("Content-Type") == "application/problem+json", "an error is sent as %q", h.Get("Content-Type"))
	c.want(h.Get("Cache-Control") == "no-store", "an error has Cache-Control %q, want no-store", h.Get("Cache-Control"))
	c.want(h.Get("ETag") == "" && h.Get("Content-Encoding") == "", "an error has an ETag or a Content-Encoding")
	c.want(status != 401 || strings.HasPrefix(h.Get("WWW-Authenticate"), "Bearer"), "401 without WWW-Authenticate: Bearer")
	c.want(status != 405 || h.Get("Allow") != "", "405 without Allow")
	if status == 429 || status == 503 {
		seconds, err := strconv.Atoi(h.Get("Retry-After"))
		c.want(err == nil && seconds >= 1, "%d with Retry-After %q", status, h.Get("Retry-After"))
	}
	if c.a.method != http.MethodHead {
		c.problemBody()
	}
}

func (c *complaints) problemBody() {
	var p Problem
	dec := json.NewDecoder(bytes.NewReader(c.a.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		c.want(false, "an error is not a problem document: %v in %.200s", err, c.a.body)
		return
	}
	c.want(strings.HasSuffix(p.Type, "/problems/"+p.Code), "type %q does not end with the code %q", p.Type, p.Code)
	c.want(p.Status == c.a.status, "the problem says status %d, the answer %d", p.Status, c.a.status)
	c.want(slices.Contains(contractCodes[p.Status], p.Code), "code %q is none of status %d", p.Code, p.Status)
	c.sentence(p.Detail)
	c.want(p.Title != "" && p.Detail != "", "the problem lacks a title or a detail: %s", c.a.body)
	c.want(p.RequestID == c.a.header.Get("X-Request-Id"), "request_id %q is not X-Request-Id %q", p.RequestID, c.a.header.Get("X-Request-Id"))
	c.want((p.Support != "") == (p.Status == 500 || p.Status == 403), "support is %q on status %d", p.Support, p.Status)
	needsErrors := slices.Contains([]string{"invalid_parameter", "unknown_parameter", "invalid_cursor", "cursor_mismatch", "invalid_field"}, p.Code)
	c.want(!needsErrors || len(p.Errors) > 0, "%s names no fault", p.Code)
	for _, f := range p.Errors {
		c.want(slices.Contains([]string{"query", "path", "header", "body"}, f.In) && f.Detail != "", "a fault lacks its place or its rule: %+v", f)
		c.sentence(f.Detail)
	}
}

// sentence holds a text for people to be one in which they see everything: what a caller sent may be empty, blank or invisible.
func (c *complaints) sentence(text string) {
	_, invisible := record.Invisible(text)
	c.want(!invisible && !strings.Contains(" "+text+" ", "  "), "the sentence %q has a character that is not seen, or a space where something is missing", text)
}

func (c *complaints) notModified() {
	h := c.a.header
	c.want(len(c.a.raw) == 0, "304 has a body of %d bytes", len(c.a.raw))
	c.want(h.Get("ETag") != "" && h.Get("Cache-Control") != "" && h.Get("Vary") != "", "304 lacks ETag, Cache-Control or Vary")
	c.want(h.Get("Content-Encoding") == "", "304 has a Content-Encoding")
}

var strongTag = regexp.MustCompile(`^"[!#-~]+"$`)

// dataBody holds a 200 of a data address to its envelope and its cache headers.
func (c *complaints) dataBody() {
	h := c.a.header
	c.want(strongTag.MatchString(h.Get("ETag")), "ETag %q is not a strong tag", h.Get("ETag"))
	c.want(h.Get("Cache-Control") == "private, max-age=300", "Cache-Control is %q", h.Get("Cache-Control"))
	c.want(h.Get("Vary") == keyedVary || h.Get("Vary") == filedVary, "Vary is %q", h.Get("Vary"))
	isJSON := h.Get("Content-Type") == "application/json"
	c.want(isJSON == (h.Get("Content-Disposition") == ""), "data is sent as %q with Content-Disposition %q", h.Get("Content-Type"), h.Get("Content-Disposition"))
	if c.a.method == http.MethodHead || !isJSON {
		return
	}
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(c.a.body, &envelope); err != nil {
		c.want(false, "the body is no JSON object: %v", err)
		return
	}
	var meta map[string]json.RawMessage
	c.want(json.Unmarshal(envelope["meta"], &meta) == nil, "no meta")
	var version string
	_ = json.Unmarshal(meta["dataset_version"], &version) // "" then
	c.want(version != "" && version == h.Get("Dataset-Version"), "meta.dataset_version %q is not Dataset-Version %q", version, h.Get("Dataset-Version"))
	var digest string
	_ = json.Unmarshal(meta["dataset_digest"], &digest) // "" then
	c.want(len(digest) == 64 && digest == h.Get("Dataset-Digest"), "meta.dataset_digest %q is not Dataset-Digest %q", digest, h.Get("Dataset-Digest"))
	if _, isList := envelope["links"]; isList {
		c.listBody()
		return
	}
	delete(meta, "notices") // how names were read
	c.want(len(envelope) == 2 && len(meta) == 2, "a record's envelope has other members than data and meta.dataset_version, dataset_digest")
}

// listEnvelope is what every list answers.
type listEnvelope struct {
	Data []json.RawMessage `json:"data"`
	Meta struct {
		Total   *int     `json:"total"`
		Count   *int     `json:"count"`
		Limit   *int     `json:"limit"`
		Version string   `json:"dataset_version"`
		Digest  string   `json:"dataset_digest"`
		Notices []Notice `json:"notices"`
	} `json:"meta"`
	Links struct {
		Self string  `json:"self"`
		Next *string `json:"next"`
	} `json:"links"`
}

func (c *complaints) listBody() {
	if path, _, _ := strings.Cut(c.a.path, "?"); strings.HasSuffix(path, "/stats") || strings.HasSuffix(path, "/facets") {
		return // their own envelopes, which the OpenAPI document describes
	}
	var l listEnvelope
	dec := json.NewDecoder(bytes.NewReader(c.a.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil || l.Data == nil || l.Meta.Total == nil || l.Meta.Count == nil || l.Meta.Limit == nil || l.Meta.Notices == nil {
		c.want(false, "the envelope of a list has other members than documented: %v in %.300s", err, c.a.body)
		return
	}
	c.want(*l.Meta.Count == len(l.Data), "count is %d, data has %d records", *l.Meta.Count, len(l.Data))
	c.want(*l.Meta.Count <= *l.Meta.Limit && *l.Meta.Count <= *l.Meta.Total, "count %d is above limit %d or total %d", *l.Meta.Count, *l.Meta.Limit, *l.Meta.Total)
	for _, n := range l.Meta.Notices {
		c.sentence(n.Detail)
	}
	want := ""
	if l.Links.Next != nil {
		want = "<" + *l.Links.Next + `>; rel="next"`
		c.want(*l.Meta.Count == *l.Meta.Limit, "a page of %d of %d records has a next", *l.Meta.Count, *l.Meta.Limit)
	}
	c.want(c.a.header.Get("Link") == want, "Link is %q, want %q", c.a.header.Get("Link"), want)
	c.want(dataPath.MatchString(l.Links.Self), "links.self is %q", l.Links.Self)
}

var (
	policyForm = regexp.MustCompile(`^"burst";q=(\d+);w=(\d+), "month";q=(\d+);w=(\d+)$`)
	limitForm  = regexp.MustCompile(`^"burst";r=(\d+);t=(\d+), "month";r=(\d+);t=(\d+)$`)
)

// standing holds the headers of quota to one another.
func (c *complaints) standing() {
	h := c.a.header
	number := func(name string) int64 {
		n, err := strconv.ParseInt(h.Get(name), 10, 64)
		c.want(err == nil && n >= 0, "%s is %q on status %d", name, h.Get(name), c.a.status)
		return n
	}
	limit, remaining, reset := number("X-RateLimit-Limit"), number("X-RateLimit-Remaining"), number("X-RateLimit-Reset")
	end := time.Unix(reset, 0).UTC()
	c.want(end.Day() == 1 && end.Equal(end.Truncate(24*time.Hour)), "X-RateLimit-Reset %s is not the start of a month in UTC", end)
	keyless := c.a.header.Get("X-RateLimit-Tier") == "none" && slices.Contains([]int{405, 411, 413, 414}, c.a.status)
	if c.a.status == http.StatusUnauthorized || keyless {
		c.want(limit == 0 && remaining == 0 && h.Get("X-RateLimit-Tier") == "none", "%d shows limit %d, remaining %d, tier %q", c.a.status, limit, remaining, h.Get("X-RateLimit-Tier"))
		return
	}
	c.want(limit > 0 && remaining <= limit && h.Get("X-RateLimit-Tier") != "none", "limit %d, remaining %d, tier %q", limit, remaining, h.Get("X-RateLimit-Tier"))
	policy, left := policyForm.FindStringSubmatch(h.Get("RateLimit-Policy")), limitForm.FindStringSubmatch(h.Get("RateLimit"))
	if policy == nil || left == nil {
		c.want(false, "RateLimit-Policy %q or RateLimit %q has another form", h.Get("RateLimit-Policy"), h.Get("RateLimit"))
		return
	}
	month := end.AddDate(0, -1, 0)
	c.want(policy[3] == h.Get("X-RateLimit-Limit"), "the month's policy %s is not X-RateLimit-Limit %d", policy[3], limit)
	c.want(policy[4] == strconv.Itoa(int(end.Sub(month).Seconds())), "the month's window is %s seconds", policy[4])
	c.want(left[3] == h.Get("X-RateLimit-Remaining"), "the month's rest %s is not X-RateLimit-Remaining %d", left[3], remaining)
}

// reportComplaints fails a test with what an answer breaks.
func reportComplaints(tb testing.TB, a *answer) {
	tb.Helper()
	for _, text := range checkAnswer(a) {
		tb.Errorf("%s %.200s: %s", a.method, a.path, text)
	}
}
