package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/httpapi/webhook"
	"modeldex/index"
	"modeldex/quota"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// WebhookView is a webhook as its owner sees it.
type WebhookView struct {
	// Public name of the webhook.
	ID string `json:"id" jsonschema:"example=wh_00abcdefghi"`
	// Where messages are sent.
	URL string `json:"url" jsonschema:"format=uri,example=https://example.com/hooks/modeldex"`
	// Note of its owner.
	Description string `json:"description" jsonschema:"maxLength=200,example=new runs on my card"`
	// Events that are sent to it.
	Events []string `json:"events" jsonschema:"minItems=1,example=benchmark.created"`
	// Filters of benchmarks by name, as in the list of benchmarks; empty means all of them.
	Filters map[string][]string `json:"filters"`
	// How many records a message lists at most.
	MaxRecords int `json:"max_records" jsonschema:"minimum=0,maximum=100,example=100"`
	// active: events are sent. paused: its owner stopped it. disabled: the server stopped it, disabled_reason says why.
	Status string `json:"status" jsonschema:"enum=active,enum=paused,enum=disabled,example=active"`
	// Why the server stopped it; null unless it is disabled.
	DisabledReason *string `json:"disabled_reason" jsonschema:"nullable,example=message msg_1 was not accepted in three days; the last attempt: status 500"`
	// Secret that signs messages: only in the response that made it, never again.
	Secret string `json:"secret,omitempty" jsonschema:"example=whsec_..."`
	// Until when the secret that a rotation replaced signs too; null when none does.
	OldSecretUntil *time.Time `json:"old_secret_until" jsonschema:"nullable"`
	// Messages that wait to be delivered.
	Waiting int `json:"waiting" jsonschema:"minimum=0,maximum=100,example=0"`
	// Since when the message that is tried now fails; null while deliveries succeed.
	FailingSince *time.Time `json:"failing_since" jsonschema:"nullable"`
	// When a message was accepted last; null before the first.
	LastSuccessAt *time.Time `json:"last_success_at" jsonschema:"nullable"`
	// The newest attempt that failed; null before the first.
	LastFailure *AttemptView `json:"last_failure" jsonschema:"nullable"`
	// When the webhook was made.
	CreatedAt time.Time `json:"created_at"`
	// When it was changed last.
	ChangedAt time.Time `json:"changed_at"`
}

// AttemptView is one attempt to deliver a message.
type AttemptView struct {
	// When it began.
	At time.Time `json:"at"`
	// How long it took, in milliseconds.
	DurationMs int64 `json:"duration_ms" jsonschema:"minimum=0,example=42" jsonschema_extras:"unit=ms"`
	// HTTP status of the response; null without a response.
	Status *int `json:"status" jsonschema:"nullable,example=200"`
	// Why it failed; null for a success.
	Error *string `json:"error" jsonschema:"nullable,example=the connection was refused"`
}

// DeliveryView is one message to a webhook and the attempts to deliver it.
type DeliveryView struct {
	// Number of the delivery within its webhook, from 1.
	Number uint64 `json:"number" jsonschema:"minimum=1,example=7"`
	// Id of the message, its header webhook-id: the same for every attempt and in a redelivery.
	MessageID string `json:"message_id" jsonschema:"example=msg_0Z9sZ1mJ9yKQ0Z9sZ1mJ9y"`
	// What the message says.
	Event string `json:"event" jsonschema:"enum=benchmark.created,enum=benchmark.changed,enum=benchmark.withdrawn,enum=dataset.released,enum=webhook.test,example=benchmark.created"`
	// pending: it waits for its first or next attempt. failed: no attempt follows.
	Status string `json:"status" jsonschema:"enum=pending,enum=delivered,enum=failed,example=delivered"`
	// Number of the delivery that this one repeats; null otherwise.
	RedeliveryOf *uint64 `json:"redelivery_of" jsonschema:"nullable,example=3"`
	// Benchmarks it is about.
	Total int `json:"total" jsonschema:"minimum=0,example=12"`
	// When the message was made.
	CreatedAt time.Time `json:"created_at"`
	// When the next attempt is; null when none follows. A message behind another one waits longer.
	NextAttemptAt *time.Time `json:"next_attempt_at" jsonschema:"nullable"`
	// The attempts, oldest first.
	Attempts []AttemptView `json:"attempts"`
	// What is sent, as it is sent; only in the response for one delivery.
	Body *webhook.Message `json:"body,omitempty"`
}

func unixTime(s int64) time.Time { return time.Unix(s, 0).UTC() }

// optionalTime is null for 0.
func optionalTime(s int64) *time.Time {
	if s == 0 {
		return nil
	}
	t := unixTime(s)
	return &t
}

func optionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func attemptView(a *quota.Attempt) *AttemptView {
	v := &AttemptView{At: unixTime(a.At), DurationMs: a.Millis, Error: optionalText(a.Error)}
	if a.Status != 0 {
		v.Status = &a.Status
	}
	return v
}

func webhookView(h *quota.Hook, secret string, now time.Time) *WebhookView {
	v := &WebhookView{
		ID: h.Key.Hook.String(), URL: h.URL, Description: h.Description, Events: h.Events, Filters: filterLists(h.Filters), MaxRecords: h.MaxRecords,
		Status: string(h.State), DisabledReason: optionalText(h.Reason), Secret: secret, Waiting: h.Queued,
		FailingSince: optionalTime(h.FailingSince), LastSuccessAt: optionalTime(h.LastSuccess), CreatedAt: unixTime(h.Created), ChangedAt: unixTime(h.Changed),
	}
	if h.LastFailure != nil {
		v.LastFailure = attemptView(h.LastFailure)
	}
	for _, s := range h.Secrets[1:] {
		if s.Until > now.Unix() && (v.OldSecretUntil == nil || s.Until > v.OldSecretUntil.Unix()) {
			v.OldSecretUntil = optionalTime(s.Until)
		}
	}
	return v
}

func deliveryView(d *quota.Delivery) DeliveryView {
	v := DeliveryView{
		Number: d.Seq, MessageID: d.Message, Event: d.Event, Status: string(d.State), Total: d.Total, CreatedAt: unixTime(d.Created), Attempts: []AttemptView{},
	}
	if d.Of != 0 {
		v.RedeliveryOf = &d.Of
	}
	if d.State == quota.DeliveryPending {
		v.NextAttemptAt = optionalTime(d.NextAt)
	}
	for i := range d.Attempts {
		v.Attempts = append(v.Attempts, *attemptView(&d.Attempts[i]))
	}
	return v
}

// hookFilters are the parameters of the list of benchmarks that a webhook can have as filters.
var hookFilters = newHookFilters()

func newHookFilters() *resource {
	r := resource{name: "benchmarks", singular: "benchmark", table: benchmarksOf, normal: benchmarks.normal, maxLimit: benchmarks.maxLimit}
	for _, pm := range benchmarks.params {
		switch pm.kind {
		case sortKey, pageLimit, cursorToken, fieldNames, keptRef, fileFormat: // of responses
		default:
			if pm.kind < oneName {
				r.params = append(r.params, pm)
			}
		}
	}
	return withNames(r)
}

// readFilters reads the member filters of a body: names of parameters with a text, number or truth
// value, or a list of them. It returns the canonical query string.
func readFilters(raw jsontext.Value, gen *index.Generation) (canonical string, notices []Notice, f *failure) {
	bad := func(name, detail string) *failure {
		return fail(&invalidField, Fault{In: "body", Name: name, Detail: detail})
	}
	var members map[string]jsontext.Value
	if raw.Kind() == 'n' {
		return "", nil, nil
	}
	if err := jsonv2.Unmarshal(raw, &members); err != nil {
		return "", nil, bad("filters", "must be an object of filters, as in the list of benchmarks")
	}
	var args fasthttp.Args
	for _, name := range slices.Sorted(maps.Keys(members)) {
		values := []jsontext.Value{members[name]}
		if values[0].Kind() == '[' {
			if err := jsonv2.Unmarshal(values[0], &values); err != nil {
				return "", nil, bad("filters."+*clip(name), "must be a value or a list of values")
			}
		}
		for _, v := range values {
			text := string(v)
			switch v.Kind() {
			case '"':
				_ = jsonv2.Unmarshal(v, &text) // it is a text
			case '0', 't', 'f':
			default:
				return "", nil, bad("filters."+*clip(name), "must be a text, a number, true or false, or a list of them")
			}
			args.Add(name, text)
		}
	}
	p := &parser{r: hookFilters, gen: gen, values: map[string][]string{}, in: "body", prefix: "filters."}
	q, f := p.parse(&args)
	if f != nil {
		return "", nil, f
	}
	_, canonical, _ = strings.Cut(q.canonical, "?")
	return canonical, q.notices, nil
}

// filterLists is a canonical query string as lists of values by name.
func filterLists(canonical string) map[string][]string {
	out := map[string][]string{}
	values, _ := url.ParseQuery(canonical) // written by readFilters
	for name, list := range values {
		if pm := hookFilters.byName[name]; len(list) == 1 && pm != nil && pm.multiple() {
			list = strings.Split(list[0], ",")
		}
		out[name] = list
	}
	return out
}

// MatchBenchmarks returns those of the benchmarks ords, which rise, that match filters as a webhook
// has them: the canonical query string of the list of benchmarks. Without filters all match, also the throughput results
// that the list leaves out unless their scenario is asked for.
func MatchBenchmarks(gen *index.Generation, filters string, ords []uint32) ([]uint32, error) {
	if filters == "" {
		return ords, nil
	}
	var args fasthttp.Args
	args.Parse(filters)
	q, f := hookFilters.parse(&args, gen)
	if f != nil {
		return nil, errors.New(sentences(f.faults, f.omitted))
	}
	return gen.Benchmarks.Among(q.Query, ords), nil
}

// HasWebhooks reports whether keys of a tier may have webhooks: all but those of the free one.
func HasWebhooks(tier string) bool { return tier != quota.FreeTier && tier != quota.NoTier }

// hookOwner is the account of a request about webhooks.
func (s *Server) hookOwner(req *request) (quota.ID, *failure) {
	tier := req.call.Standing().Tier
	switch {
	case !HasWebhooks(tier):
		return 0, &failure{code: &tierRequired, detail: fmt.Sprintf("Webhooks need a key of the tier %s; this key is of the tier %s. Write to the support address to have it changed.", paidTiers(s.cfg.Keeper.Tiers()), tier)}
	case s.cfg.Hooks == nil:
		return 0, fail(&webhooksUnsupported)
	}
	return req.call.ID(), nil
}

// hookChanger is hookOwner for a request that changes something: a secret that was rotated out may
// be in a stranger's hands.
func (s *Server) hookChanger(req *request) (quota.ID, *failure) {
	id, f := s.hookOwner(req)
	if f != nil {
		return 0, f
	}
	if verdict := s.cfg.Keeper.CheckCurrent(req.digest); verdict != quota.Admitted {
		_, f := s.changed(req, verdict, nil, nil)
		return 0, f
	}
	return id, nil
}

// hookKey is the webhook that the path names.
func (s *Server) hookKey(req *request, owner func(*request) (quota.ID, *failure)) (k quota.HookKey, f *failure) {
	if k.Account, f = owner(req); f != nil {
		return k, f
	}
	if f := req.noParameters(); f != nil && req.route.id != "listDeliveries" {
		return k, f
	}
	var ok bool
	if k.Hook, ok = quota.ParseHookID(req.param("id")); !ok {
		return k, noHook()
	}
	return k, nil
}

func noHook() *failure {
	return &failure{code: &notFound, detail: "This key has no webhook of that id. GET /api/v1/webhooks lists those it has."}
}

// hookFailure words an error of the service.
func hookFailure(err error) *failure {
	var faults webhook.Faults
	switch {
	case errors.As(err, &faults):
		f := fail(&invalidField)
		for _, one := range faults {
			f.faults = append(f.faults, Fault{In: "body", Name: one.Field, Detail: one.Detail})
		}
		f.detail = sentences(f.faults, 0)
		return f
	case errors.Is(err, quota.ErrNoHook):
		return noHook()
	case errors.Is(err, quota.ErrNoDelivery):
		return &failure{code: &notFound, detail: "This webhook has no delivery of that number, or not any more: the newest 100 are kept for 30 days."}
	case errors.Is(err, quota.ErrTooManyHooks):
		return fail(&tooManyWebhooks)
	case errors.Is(err, quota.ErrQueueFull):
		return fail(&webhookQueueFull)
	}
	_, f := ledgerFailure(err)
	return f
}

// createWebhook answers a new webhook with its secret.
func createWebhook(s *Server, req *request) (*response, *failure) {
	owner, f := s.hookChanger(req)
	if f != nil {
		return nil, f
	}
	draft, notices, f := readDraft(req)
	if f != nil {
		return nil, f
	}
	h, secret, err := s.cfg.Hooks.Create(context.Background(), owner, *draft)
	if err != nil {
		return nil, hookFailure(err)
	}
	resp, f := withNotices(fiber.StatusCreated, webhookView(&h, secret, req.started), notices)
	if f == nil {
		resp.set(fiber.HeaderLocation, "/api/v1/webhooks/"+h.Key.Hook.String())
	}
	return resp, f
}

// withNotices is data with what is to be said about its filters.
func withNotices(status int, v *WebhookView, notices []Notice) (*response, *failure) {
	if notices == nil {
		notices = []Notice{}
	}
	b, err := jsonv2.Marshal(struct {
		Data any `json:"data"`
		Meta any `json:"meta"`
	}{v, map[string]any{"notices": notices}}, jsonv2.Deterministic(true))
	if err != nil {
		return nil, &failure{code: &internal, cause: err}
	}
	return uncached(status, b), nil
}

var draftFields = []string{"url", "description", "events", "filters", "max_records", "status"}

// readDraft reads the body of a new or changed webhook. All faults of its form are returned together.
func readDraft(req *request) (*webhook.Draft, []Notice, *failure) {
	members, f := bodyMembers(req.c)
	if f != nil {
		return nil, nil, f
	}
	var d webhook.Draft
	var faults []Fault
	read := func(name string, into any, rule string) {
		if raw, ok := members[name]; ok && (raw.Kind() == 'n' || jsonv2.Unmarshal(raw, into) != nil) {
			faults = append(faults, Fault{In: "body", Name: name, Detail: rule})
		}
	}
	var state *string
	read("url", &d.URL, "must be text")
	read("description", &d.Description, "must be text")
	read("events", &d.Events, "must be a list of "+strings.Join(webhook.Events, ", "))
	read("max_records", &d.MaxRecords, "must be a whole number from 0 to 100")
	read("status", &state, "must be active or paused")
	if state != nil {
		d.State = (*quota.HookState)(state)
	}
	var notices []Notice
	if raw, ok := members["filters"]; ok {
		if req.gen == nil {
			return nil, nil, &failure{code: &notReady, retryAfter: 1}
		}
		canonical, said, f := readFilters(raw, req.gen)
		if f != nil {
			faults = append(faults, f.faults...)
		}
		d.Filters, notices = &canonical, said
	}
	return &d, notices, bodyFailure(faults, members, draftFields)
}

// listWebhooks answers every webhook of the key: there are at most 20.
func listWebhooks(s *Server, req *request) (*response, *failure) {
	owner, f := s.hookOwner(req)
	if f != nil {
		return nil, f
	}
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	hooks, err := s.cfg.Hooks.List(context.Background(), owner)
	if err != nil {
		return nil, hookFailure(err)
	}
	views := make([]*WebhookView, len(hooks))
	for i := range hooks {
		views[i] = webhookView(&hooks[i], "", req.started)
	}
	return data(fiber.StatusOK, views)
}

func showWebhook(s *Server, req *request) (*response, *failure) {
	k, f := s.hookKey(req, s.hookOwner)
	if f != nil {
		return nil, f
	}
	h, err := s.cfg.Hooks.Get(context.Background(), k)
	if err != nil {
		return nil, hookFailure(err)
	}
	return data(fiber.StatusOK, webhookView(&h, "", req.started))
}

// changeWebhook changes the fields that the body has.
func changeWebhook(s *Server, req *request) (*response, *failure) {
	k, f := s.hookKey(req, s.hookChanger)
	if f != nil {
		return nil, f
	}
	draft, notices, f := readDraft(req)
	if f != nil {
		return nil, f
	}
	h, err := s.cfg.Hooks.Update(context.Background(), k, *draft)
	if err != nil {
		return nil, hookFailure(err)
	}
	return withNotices(fiber.StatusOK, webhookView(&h, "", req.started), notices)
}

func deleteWebhook(s *Server, req *request) (*response, *failure) {
	k, f := s.hookKey(req, s.hookChanger)
	if f != nil {
		return nil, f
	}
	if err := s.cfg.Hooks.Delete(context.Background(), k); err != nil {
		return nil, hookFailure(err)
	}
	resp := newResponse(fiber.StatusNoContent, "", nil)
	resp.set(fiber.HeaderCacheControl, "no-store")
	return resp, nil
}

// rotateWebhook answers a new secret. The body may be left out.
func rotateWebhook(s *Server, req *request) (*response, *failure) {
	k, f := s.hookKey(req, s.hookChanger)
	if f != nil {
		return nil, f
	}
	grace := webhook.DefaultGrace
	if len(req.c.Body()) > 0 {
		members, f := bodyMembers(req.c)
		if f != nil {
			return nil, f
		}
		if len(members) > 0 {
			if grace, f = graceSeconds(req.c); f != nil {
				return nil, f
			}
		}
	}
	h, secret, err := s.cfg.Hooks.Rotate(context.Background(), k, grace)
	if err != nil {
		return nil, hookFailure(err)
	}
	return data(fiber.StatusOK, webhookView(&h, secret, req.started))
}

// testWebhook queues a test message.
func testWebhook(s *Server, req *request) (*response, *failure) {
	k, f := s.hookKey(req, s.hookChanger)
	if f != nil {
		return nil, f
	}
	d, err := s.cfg.Hooks.Try(context.Background(), k)
	return queued(d, err)
}

// redeliver queues a message again.
func redeliver(s *Server, req *request) (*response, *failure) {
	k, f := s.hookKey(req, s.hookChanger)
	if f != nil {
		return nil, f
	}
	d, err := s.cfg.Hooks.Redeliver(context.Background(), k, deliveryNumber(req))
	return queued(d, err)
}

// queued answers a delivery that is about to be attempted.
func queued(d quota.Delivery, err error) (*response, *failure) {
	if err != nil {
		return nil, hookFailure(err)
	}
	resp, f := data(fiber.StatusAccepted, deliveryView(&d))
	if f == nil {
		resp.set(fiber.HeaderLocation, fmt.Sprintf("/api/v1/webhooks/%s/deliveries/%d", d.Key.Hook, d.Seq))
	}
	return resp, f
}

// deliveryNumber is 0, which no delivery has, for what is not a number.
func deliveryNumber(req *request) uint64 {
	n, err := strconv.ParseUint(req.param("number"), 10, 63)
	if err != nil || !digits(req.param("number")) {
		return 0
	}
	return n
}

func showDelivery(s *Server, req *request) (*response, *failure) {
	k, f := s.hookKey(req, s.hookOwner)
	if f != nil {
		return nil, f
	}
	d, body, err := s.cfg.Hooks.Delivery(context.Background(), k, deliveryNumber(req))
	if err != nil {
		return nil, hookFailure(err)
	}
	v := deliveryView(&d)
	v.Body = new(webhook.Message)
	if err := jsonv2.Unmarshal(body, v.Body); err != nil {
		return nil, &failure{code: &internal, cause: err}
	}
	return data(fiber.StatusOK, v)
}

// maxDeliveries is how many deliveries a page has at most: all that are kept are twice that.
const maxDeliveries = 100

// listDeliveries answers a page of deliveries, newest first.
func listDeliveries(s *Server, req *request) (*response, *failure) {
	k, f := s.hookKey(req, s.hookOwner)
	if f != nil {
		return nil, f
	}
	numbers, f := pageNumbers(req)
	if f != nil {
		return nil, f
	}
	limit := 20
	if n := numbers["limit"]; n > 0 {
		limit = int(n)
	}
	list, err := s.cfg.Hooks.Deliveries(context.Background(), k, numbers["before"], limit+1)
	if err != nil {
		return nil, hookFailure(err)
	}
	var next *string
	if len(list) > limit {
		list = list[:limit]
		address := fmt.Sprintf("/api/v1/webhooks/%s/deliveries?before=%d&limit=%d", k.Hook, list[limit-1].Seq, limit)
		next = &address
	}
	views := make([]DeliveryView, len(list))
	for i := range list {
		views[i] = deliveryView(&list[i])
	}
	b, err := jsonv2.Marshal(struct {
		Data  []DeliveryView     `json:"data"`
		Links map[string]*string `json:"links"`
	}{views, map[string]*string{"next": next}})
	if err != nil {
		return nil, &failure{code: &internal, cause: err}
	}
	resp := uncached(fiber.StatusOK, b)
	if next != nil {
		resp.set("Link", "<"+*next+`>; rel="next"`)
	}
	return resp, nil
}

// pageNumbers reads the parameters of listDeliveries.
func pageNumbers(req *request) (map[string]uint64, *failure) {
	out := map[string]uint64{}
	var faults faultList
	most := map[string]uint64{"limit": maxDeliveries, "before": 1<<53 - 1}
	for key, value := range req.ctx.QueryArgs().All() {
		name, v := string(key), string(value)
		n, err := strconv.ParseUint(v, 10, 63)
		switch {
		case most[name] == 0:
			faults.add(&unknownParameter, unknownName("query", name, noParameter, []string{"before", "limit"}))
		case out[name] != 0:
			faults.add(&invalidParameter, Fault{In: "query", Name: name, Value: clip(v), Detail: "must be given once"})
		case err != nil || !digits(v) || n == 0 || n > most[name]:
			faults.add(&invalidParameter, Fault{In: "query", Name: name, Value: clip(v), Detail: fmt.Sprintf("must be a whole number from 1 to %d", most[name])})
		default:
			out[name] = n
		}
	}
	return out, faults.failure()
}
