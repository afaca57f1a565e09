package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/httpapi/webhook"
	"modeldex/index"
	"modeldex/quota"
	"modeldex/quota/hooks"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// HasWebhooks reports whether keys of a tier may have webhooks: all but those of the free one.
func HasWebhooks(tier string) bool { return tier != quota.FreeTier && tier != quota.NoTier }

// hookOwner is the account of a request about webhooks. A request that changes something needs the current secret: one
// that was rotated out may be in a stranger's hands.
func (s *Server) hookOwner(req *request) (quota.ID, *failure) {
	tier := req.call.Standing().Tier
	switch {
	case !HasWebhooks(tier):
		return 0, &failure{code: tierRequired, detail: fmt.Sprintf("Webhooks need a key of the tier %s; this key is of the tier %s. Write to the support address to have it changed.", paidTiers(s.cfg.Keeper.Tiers()), tier)}
	case s.cfg.Hooks == nil:
		return 0, fail(webhooksUnsupported)
	case req.route.method == fiber.MethodGet:
		return req.call.ID(), nil
	}
	if verdict := s.cfg.Keeper.CheckCurrent(req.digest); verdict != quota.Admitted {
		_, f := s.changed(req, verdict, nil, nil)
		return 0, f
	}
	return req.call.ID(), nil
}

// ofHook answers a request about the webhook that its path names.
func ofHook(answer func(*Server, *request, hooks.Key) (*response, *failure)) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
		account, f := s.hookOwner(req)
		if f != nil {
			return nil, f
		}
		if f := req.noParameters(); f != nil && req.route.id != "listDeliveries" {
			return nil, f
		}
		id, ok := hooks.ParseID(req.param("id"))
		if !ok {
			return nil, noHook()
		}
		return answer(s, req, hooks.Key{Account: account, Hook: id})
	}
}

func noHook() *failure {
	return &failure{code: notFound, detail: "This key has no webhook of that id. GET /api/v1/webhooks lists those it has."}
}

// hookFailure words an error of the service.
func hookFailure(err error) *failure {
	switch {
	case errors.Is(err, hooks.ErrNoHook):
		return noHook()
	case errors.Is(err, hooks.ErrNoDelivery):
		return &failure{code: notFound, detail: "This webhook has no delivery of that number, or not any more: the newest 100 are kept for 30 days."}
	case errors.Is(err, hooks.ErrTooMany):
		return fail(tooManyWebhooks)
	case errors.Is(err, hooks.ErrQueueFull):
		return fail(webhookQueueFull)
	}
	_, f := ledgerFailure(err)
	return f
}

// createWebhook answers a new webhook with its secret.
func createWebhook(s *Server, req *request) (*response, *failure) {
	owner, f := s.hookOwner(req)
	if f != nil {
		return nil, f
	}
	draft, notices, f := s.readDraft(req, owner, true)
	if f != nil {
		return nil, f
	}
	h, secret, err := s.cfg.Hooks.Create(context.Background(), owner, *draft)
	if err != nil {
		return nil, hookFailure(err)
	}
	resp, f := withNotices(fiber.StatusCreated, viewOf(&h, secret, req.started), notices)
	if f == nil {
		resp.set(fiber.HeaderLocation, "/api/v1/webhooks/"+h.Key.Hook.String())
	}
	return resp, f
}

func viewOf(h *hooks.Hook, secret string, now time.Time) *webhook.View {
	return webhook.ViewOf(h, filterLists(h.Filters), secret, now)
}

// withNotices is data with what is to be said about its filters.
func withNotices(status int, v *webhook.View, notices []Notice) (*response, *failure) {
	return jsonObject(status, map[string]any{"data": v, "meta": map[string]any{"notices": append([]Notice{}, notices...)}})
}

// WebhookChange is the fields of a webhook to change.
type WebhookChange struct {
	// Where to send messages: https, port 443 or from 1024, a public host.
	URL *string `query:"url,strict"`
	// Note for its owner.
	Description *string `query:"description,strict"`
	// Events to send; benchmark.created if it is left out.
	Events jsontext.Value `query:"events"`
	// Filters of the list of benchmarks; null or empty selects every benchmark. With filters, throughput results match
	// only if scenario is one of them, as in the list.
	Filters jsontext.Value `query:"filters"`
	// How many records a message lists at most.
	MaxRecords *int `query:"max_records,min=0,max=100,strict"`
	// paused stops messages; active goes on with those that wait.
	Status *hooks.State `query:"status,strict"`
}

// maxDescription is the longest note, in characters.
const maxDescription = 200

// readDraft reads the body of a new or changed webhook. All faults are returned together, that of the URL last, because
// its name has to be resolved.
func (s *Server) readDraft(req *request, owner quota.ID, created bool) (*webhook.Draft, []Notice, *failure) {
	body, f := readBody(req, query.Of[WebhookChange]())
	if f != nil {
		return nil, nil, f
	}
	var given WebhookChange
	body.Into(&given)
	d := webhook.Draft{URL: given.URL, Description: given.Description, MaxRecords: given.MaxRecords, State: given.Status}
	if d.Description != nil && utf8.RuneCountInString(*d.Description) > maxDescription {
		body.Missing("description", fmt.Sprintf("must have at most %d characters", maxDescription))
	}
	unknown := func(e string) bool { return !slices.Contains(webhook.Events, e) }
	if body.Given("events") && (jsonv2.Unmarshal(given.Events, &d.Events) != nil || len(d.Events) == 0 || slices.ContainsFunc(d.Events, unknown)) {
		if f := body.Fault("events", string(given.Events), "must be one or more of "+strings.Join(webhook.Events, ", ")); f != nil {
			f.Allowed = webhook.Events
		}
	}
	var notices []Notice
	if body.Given("filters") {
		if req.gen == nil {
			return nil, nil, &failure{code: notReady, retryAfter: 1}
		}
		canonical := readFilters(given.Filters, req.gen, body, &notices)
		d.Filters = &canonical
	}
	if d.URL != nil {
		if err := s.cfg.Hooks.CheckURL(context.Background(), owner, *d.URL); err != nil {
			body.Missing("url", err.Error())
		}
	} else if created && !body.Sent("url") {
		body.Missing("url", "is required")
	}
	return &d, notices, failureOf(&body.Faults)
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
	list, err := s.cfg.Hooks.Store.List(context.Background(), owner)
	if err != nil {
		return nil, hookFailure(err)
	}
	views := []*webhook.View{}
	for i := range list {
		views = append(views, viewOf(&list[i], "", req.started))
	}
	return data(fiber.StatusOK, views)
}

func showWebhook(s *Server, req *request, k hooks.Key) (*response, *failure) {
	h, err := s.cfg.Hooks.Store.Get(context.Background(), k)
	if err != nil {
		return nil, hookFailure(err)
	}
	return data(fiber.StatusOK, viewOf(&h, "", req.started))
}

// changeWebhook changes the fields that the body has.
func changeWebhook(s *Server, req *request, k hooks.Key) (*response, *failure) {
	if _, err := s.cfg.Hooks.Store.Get(context.Background(), k); err != nil {
		return nil, hookFailure(err)
	}
	draft, notices, f := s.readDraft(req, k.Account, false)
	if f != nil {
		return nil, f
	}
	h, err := s.cfg.Hooks.Update(context.Background(), k, *draft)
	if err != nil {
		return nil, hookFailure(err)
	}
	return withNotices(fiber.StatusOK, viewOf(&h, "", req.started), notices)
}

func deleteWebhook(s *Server, _ *request, k hooks.Key) (*response, *failure) {
	if err := s.cfg.Hooks.Store.Delete(context.Background(), k); err != nil {
		return nil, hookFailure(err)
	}
	resp := newResponse(fiber.StatusNoContent, "", nil)
	resp.set(fiber.HeaderCacheControl, "no-store")
	return resp, nil
}

// rotateWebhook answers a new secret. The body may be left out.
func rotateWebhook(s *Server, req *request, k hooks.Key) (*response, *failure) {
	grace, f := readGrace(req, webhook.DefaultGrace)
	if f != nil {
		return nil, f
	}
	h, secret, err := s.cfg.Hooks.Rotate(context.Background(), k, grace)
	if err != nil {
		return nil, hookFailure(err)
	}
	return data(fiber.StatusOK, viewOf(&h, secret, req.started))
}

// testWebhook queues a test message.
func testWebhook(s *Server, _ *request, k hooks.Key) (*response, *failure) {
	return queued(s.cfg.Hooks.Try(context.Background(), k))
}

// redeliver queues a message again.
func redeliver(s *Server, req *request, k hooks.Key) (*response, *failure) {
	return queued(s.cfg.Hooks.Redeliver(context.Background(), k, deliveryNumber(req)))
}

// queued answers a delivery that is about to be attempted.
func queued(d hooks.Delivery, err error) (*response, *failure) {
	if err != nil {
		return nil, hookFailure(err)
	}
	resp, f := data(fiber.StatusAccepted, webhook.DeliveryViewOf(&d))
	if f == nil {
		resp.set(fiber.HeaderLocation, fmt.Sprintf("/api/v1/webhooks/%s/deliveries/%d", d.Key.Hook, d.Seq))
	}
	return resp, f
}

// deliveryNumber is 0, which no delivery has, for what is not a number.
func deliveryNumber(req *request) uint64 {
	n, err := strconv.ParseUint(req.param("number"), 10, 63)
	if err != nil || !query.Digits(req.param("number")) {
		return 0
	}
	return n
}

func showDelivery(s *Server, req *request, k hooks.Key) (*response, *failure) {
	d, body, err := s.cfg.Hooks.Delivery(context.Background(), k, deliveryNumber(req))
	if err != nil {
		return nil, hookFailure(err)
	}
	v := webhook.DeliveryViewOf(&d)
	v.Body = body
	return data(fiber.StatusOK, v)
}

// deliveryParams are the parameters of a page of deliveries. All that are kept are twice as many as a page has at most.
type deliveryParams struct {
	// Only deliveries with a lower number, as links.next has it.
	Before int64 `query:"before,min=1,max=9007199254740991"`
	// Maximum number of deliveries per page.
	Limit int `query:"limit,min=1,max=100,default=20"`
}

var deliveryList = &resource{name: "deliveries", singular: "delivery", params: query.Of[deliveryParams]()}

// listDeliveries answers a page of deliveries, newest first.
func listDeliveries(s *Server, req *request, k hooks.Key) (*response, *failure) {
	v := query.Read(deliveryList.params, req.ctx.QueryArgs().All())
	if f := failureOf(&v.Faults); f != nil {
		return nil, f
	}
	limit := int(v.Number("limit"))
	list, err := s.cfg.Hooks.Store.Deliveries(context.Background(), k, uint64(v.Number("before")), limit+1)
	if err != nil {
		return nil, hookFailure(err)
	}
	var next *string
	if len(list) > limit {
		list = list[:limit]
		address := fmt.Sprintf("/api/v1/webhooks/%s/deliveries?before=%d&limit=%d", k.Hook, list[limit-1].Seq, limit)
		next = &address
	}
	views := make([]webhook.DeliveryView, len(list))
	for i := range list {
		views[i] = webhook.DeliveryViewOf(&list[i])
	}
	resp, f := jsonObject(fiber.StatusOK, map[string]any{"data": views, "links": map[string]*string{"next": next}})
	if f == nil && next != nil {
		resp.set("Link", "<"+*next+`>; rel="next"`)
	}
	return resp, f
}

// hookFilters are the parameters of the list of benchmarks that a webhook can have as filters: those that choose rows.
var hookFilters = newHookFilters()

func newHookFilters() *resource {
	r := *benchmarks
	r.params = slices.DeleteFunc(slices.Clone(benchmarks.params), func(p query.Param) bool {
		return p.Name != "q" && query.Find(query.Of[pageParams](), p.Name) != nil
	})
	return &r
}

// readFilters reads the member filters of a body: names of parameters with a text, number or truth value, or a list of
// them. It returns the canonical query string. Faults are added to those of the body.
func readFilters(raw jsontext.Value, gen *index.Generation, body *query.Values, notices *[]Notice) (canonical string) {
	var members map[string]jsontext.Value
	if raw.Kind() == 'n' {
		return ""
	}
	if err := jsonv2.Unmarshal(raw, &members); err != nil {
		body.Missing("filters", "must be an object of filters, as in the list of benchmarks")
		return ""
	}
	q, _ := hookFilters.parse(query.ReadObject(hookFilters.params, members, "filters."), gen, export.JSON)
	body.Join(&q.Faults)
	*notices = q.notices
	return q.Values.Canonical()
}

// filterLists is a canonical query string as lists of values by name.
func filterLists(canonical string) map[string][]string {
	out := map[string][]string{}
	values, _ := url.ParseQuery(canonical) // written by readFilters
	for name, list := range values {
		if p := query.Find(hookFilters.params, name); len(list) == 1 && p != nil && p.Many {
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
	q, f := hookFilters.parse(query.Read(hookFilters.params, args.All()), gen, export.JSON)
	if f != nil {
		return nil, errors.New(f.detail)
	}
	return gen.Benchmarks.Among(q.Query, ords), nil
}
