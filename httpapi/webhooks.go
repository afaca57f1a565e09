package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
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

// ofHook answers a request about webhooks. The key names the one of the path, if the path has one. A request that changes
// something needs the current secret: one that was rotated out may be in a stranger's hands.
func ofHook(answer func(*Server, *request, hooks.Key) (*response, *failure)) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
		tier := req.call.Standing().Tier
		if !HasWebhooks(tier) {
			return nil, &failure{code: tierRequired, detail: fmt.Sprintf("Webhooks need a key in the tier %s; this key is in the tier %s. Write to the support address to upgrade.", paidTiers(s.cfg.Keeper.Tiers()), tier)}
		}
		if s.cfg.Hooks == nil {
			return nil, fail(webhooksUnsupported)
		}
		if req.route.method != fiber.MethodGet {
			if verdict := s.cfg.Keeper.CheckCurrent(req.digest); verdict != quota.Admitted {
				return s.changed(req, verdict, nil, nil)
			}
		}
		id, ok := hooks.ParseID(req.param("id"))
		if f := req.noParameters(); f != nil {
			return nil, f
		}
		if !ok && strings.Contains(req.route.path, ":id") {
			return nil, hookFailure(hooks.ErrNoHook)
		}
		return answer(s, req, hooks.Key{Account: req.call.ID(), Hook: id})
	}
}

// hookFailure words an error of the service.
func hookFailure(err error) *failure {
	switch {
	case errors.Is(err, hooks.ErrNoHook):
		return &failure{code: notFound, detail: "This key has no webhook with that id. GET /api/v1/webhooks lists its webhooks."}
	case errors.Is(err, hooks.ErrTooMany):
		return fail(tooManyWebhooks)
	}
	_, f := ledgerFailure(err)
	return f
}

// hookData answers a webhook with its secret, and with notices about its filters unless they are nil, or why there is
// none.
func hookData(req *request, status int, h *hooks.Hook, secret string, notices []Notice, err error) (*response, *failure) {
	if err != nil {
		return nil, hookFailure(err)
	}
	members := map[string]any{"data": webhook.ViewOf(h, filterLists(h.Filters), secret, req.started)}
	if notices != nil {
		members["meta"] = map[string]any{"notices": notices}
	}
	return jsonObject(status, members)
}

// createWebhook answers a new webhook with its secret.
func createWebhook(s *Server, req *request, k hooks.Key) (*response, *failure) {
	set, notices, f := s.readWebhook(req, k)
	if f != nil {
		return nil, f
	}
	h, secret, err := s.cfg.Hooks.Create(context.Background(), k.Account, set)
	resp, f := hookData(req, fiber.StatusCreated, &h, secret, notices, err)
	if f == nil {
		resp.set(fiber.HeaderLocation, "/api/v1/webhooks/"+h.Key.Hook.String())
	}
	return resp, f
}

// WebhookChange is the fields of a webhook to change.
type WebhookChange struct {
	// Where to send messages: an https URL with a public host and port 443, 1024 or above.
	URL string `query:"url,strict"`
	// Description for its owner.
	Description string `query:"description,strict"`
	// Events to send; default benchmark.created.
	Events jsontext.Value `query:"events"`
	// Filters of the list of benchmarks; null or empty selects every benchmark. With filters, throughput results match
	// only if scenario is one of them, as in the list.
	Filters jsontext.Value `query:"filters"`
	// Maximum number of records in a message.
	MaxRecords int `query:"max_records,min=0,max=100,strict"`
	// paused stops messages; active resumes with the waiting ones.
	Status hooks.State `query:"status,strict"`
}

// maxDescription is the longest note, in characters.
const maxDescription = 200

// readWebhook reads the body of a new or changed webhook; set puts what it has into a webhook. All faults are returned
// together, that of the URL last, because its name has to be resolved.
func (s *Server) readWebhook(req *request, k hooks.Key) (set func(*hooks.Hook), notices []Notice, f *failure) {
	body, f := readBody(req, query.Of[WebhookChange]())
	if f != nil {
		return nil, nil, f
	}
	if utf8.RuneCountInString(body.Text("description")) > maxDescription {
		body.Missing("description", fmt.Sprintf("must have at most %d characters", maxDescription))
	}
	var events []string
	if text := body.Text("events"); text != "" {
		err := jsonv2.Unmarshal([]byte(text), &events)
		unknown := func(e string) bool { return !slices.Contains(webhook.Events, e) }
		if err != nil || len(events) == 0 || slices.ContainsFunc(events, unknown) {
			if f := body.Fault("events", text, "must be one or more of "+strings.Join(webhook.Events, ", ")); f != nil {
				f.Allowed = webhook.Events
			}
		}
	}
	filters := ""
	notices = []Notice{}
	if body.Given("filters") {
		if req.gen == nil {
			return nil, nil, &failure{code: notReady, retryAfter: 1}
		}
		q := readFilters(body, req.gen)
		filters, notices = q.Values.Canonical(), append(notices, q.notices...)
	}
	if body.Given("url") {
		if err := s.cfg.Hooks.CheckURL(k.Account, body.Text("url")); err != nil {
			body.Missing("url", err.Error())
		}
	} else if k.Hook == 0 && !body.Sent("url") {
		body.Missing("url", "is required")
	}
	return func(h *hooks.Hook) {
		given := WebhookChange{URL: h.URL, MaxRecords: h.MaxRecords, Status: h.State}
		body.Into(&given)
		h.URL, h.MaxRecords, h.State = given.URL, given.MaxRecords, given.Status
		if body.Given("description") {
			h.Description = body.Text("description")
		}
		if body.Given("status") {
			h.Reason = ""
		}
		if body.Given("filters") {
			h.Filters = filters
		}
		if events != nil {
			left := func(e string) bool { return !slices.Contains(events, e) }
			h.Events = slices.DeleteFunc(slices.Clone(webhook.Events), left)
		}
	}, notices, failureOf(&body.Faults)
}

// listWebhooks answers every webhook of the key: there are at most 20.
func listWebhooks(s *Server, req *request, k hooks.Key) (*response, *failure) {
	list, err := s.cfg.Hooks.Store.List(context.Background(), k.Account)
	if err != nil {
		return nil, hookFailure(err)
	}
	views := []*webhook.View{}
	for i := range list {
		views = append(views, webhook.ViewOf(&list[i], filterLists(list[i].Filters), "", req.started))
	}
	return data(fiber.StatusOK, views)
}

func showWebhook(s *Server, req *request, k hooks.Key) (*response, *failure) {
	h, err := s.cfg.Hooks.Store.Get(context.Background(), k)
	return hookData(req, fiber.StatusOK, &h, "", nil, err)
}

// changeWebhook changes the fields that the body has.
func changeWebhook(s *Server, req *request, k hooks.Key) (*response, *failure) {
	set, notices, f := s.readWebhook(req, k)
	if f != nil {
		return nil, f
	}
	h, err := s.cfg.Hooks.Update(context.Background(), k, set)
	return hookData(req, fiber.StatusOK, &h, "", notices, err)
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
	return hookData(req, fiber.StatusOK, &h, secret, nil, err)
}

// testWebhook sends a test message and returns the result.
func testWebhook(s *Server, _ *request, k hooks.Key) (*response, *failure) {
	attempt, err := s.cfg.Hooks.Test(context.Background(), k)
	if err != nil {
		return nil, hookFailure(err)
	}
	return data(fiber.StatusOK, webhook.AttemptViewOf(&attempt))
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

// readFilters reads the member filters of a body: parameter names with a string, number, boolean, or a list of them. It
// adds faults to those of the body.
func readFilters(body *query.Values, gen *index.Generation) *listQuery {
	var members map[string]jsontext.Value
	if jsonv2.Unmarshal([]byte(body.Text("filters")), &members) != nil {
		body.Missing("filters", "must be an object with filters of the benchmark list")
	}
	q, _ := hookFilters.parse(query.ReadObject(hookFilters.params, members, "filters."), gen, export.JSON)
	body.Join(&q.Faults)
	return q
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
