package httpapi

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"mime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"modeldex/httpapi/usage"
	"modeldex/httpapi/webhook"
	"modeldex/quota"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/gofiber/fiber/v2"
)

// KeyView is what a caller sees of a key. The person behind it is never shown.
type KeyView struct {
	// Public name of the key.
	ID string `json:"id" jsonschema:"example=key_00abcdefghi"`
	// The key itself: only in the answer that issued it, never again.
	Key string `json:"key,omitempty" jsonschema:"example=mdx_..."`
	// End of the key, to tell several apart.
	Hint string `json:"hint" jsonschema:"example=mdx_…x9Zq"`
	// Name given at sign-up.
	Name string `json:"name" jsonschema:"example=my dashboard"`
	// Plan.
	Tier string `json:"tier" jsonschema:"example=free"`
	// State of the key.
	Status string `json:"status" jsonschema:"enum=active,enum=suspended,enum=revoked,example=active"`
	// Monthly allowance.
	Quota QuotaView `json:"quota"`
	// Allowance of calls at once.
	Burst BurstView `json:"burst"`
	// When the key was issued.
	CreatedAt time.Time `json:"created_at"`
	// Until when the key that a rotation replaced works beside this one; null when none does.
	OldKeyUntil *time.Time `json:"old_key_until" jsonschema:"nullable"`
}

// QuotaView is the monthly allowance of a key.
type QuotaView struct {
	// Calls a month.
	Limit uint64 `json:"limit" jsonschema:"example=1000"`
	// Always month: calendar months in UTC.
	Period string `json:"period" jsonschema:"enum=month,example=month"`
	// When the next month begins.
	ResetsAt time.Time `json:"resets_at"`
}

// BurstView is how many calls may come at once.
type BurstView struct {
	// Calls.
	Rate int `json:"rate" jsonschema:"example=10"`
	// Seconds.
	PerSeconds int `json:"per_seconds" jsonschema:"example=1"`
}

// KeyUsage is the state of the calling key and what it has used.
type KeyUsage struct {
	KeyView
	// Calls counted this month.
	Used uint64 `json:"used" jsonschema:"example=17"`
	// Calls left this month.
	Remaining uint64 `json:"remaining" jsonschema:"example=983"`
	// Calls of every month on record, oldest first.
	Usage []quota.MonthCalls `json:"usage"`
	// Calls of the last 31 days on which there were any, oldest first, in UTC. Written once per minute: after a crash up to a minute may be missing, which used is not.
	Days []usage.Day `json:"days"`
	// Where the month is going.
	Forecast usage.Forecast `json:"forecast"`
}

// keyView is the view at a time. The account lists old secrets from the first to stop working to
// the last.
func keyView(a quota.Account, secret string, now time.Time) KeyView {
	v := KeyView{
		ID: a.ID.String(), Key: secret, Hint: a.Hint, Name: a.Name, Tier: a.Tier, Status: a.Status.String(),
		Quota:     QuotaView{a.Limit, "month", a.ResetsAt},
		Burst:     BurstView{a.Burst.Rate, a.Burst.PerSeconds},
		CreatedAt: a.CreatedAt,
	}
	for _, until := range a.OldUntil {
		if until.After(now) {
			v.OldKeyUntil = &until
		}
	}
	return v
}

// data wraps what a route of keys answers. Such answers are never kept by caches.
func data(status int, v any) (*response, *failure) {
	b, err := jsonv2.Marshal(map[string]any{"data": v}, jsonv2.Deterministic(true))
	if err != nil {
		return nil, &failure{code: internal, cause: err}
	}
	return uncached(status, b), nil
}

// ledgerFailure answers when the ledger could not take a change.
func ledgerFailure(err error) (*response, *failure) {
	return nil, &failure{code: ledgerUnavailable, retryAfter: 1, cause: err}
}

// logKey logs a change that the owner of a key made. Changes by operators are logged by operator.Audit.
func (s *Server) logKey(what string, a *quota.Account) {
	s.cfg.Log.Info(what, "id", a.ID.String(), "tier", a.Tier, "by", "its owner")
}

// issueKey answers a sign-up.
func issueKey(s *Server, req *request) (*response, *failure) {
	var form quota.IssueRequest
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	fields := []bodyField{{"name", &form.Name, true}, {"email", &form.Email, true}, {"use_case", &form.UseCase, true}}
	if f := readBody(req.c, fields); f != nil && f.code != invalidField {
		return nil, f
	} else if f := withFaults(f, quota.ValidateIssue(form)); f != nil {
		return nil, f
	}
	from := s.client(req.ctx)
	form.Addr, form.Local = from.Addr, from.Local
	issued, refusal, err := s.cfg.Keeper.Issue(context.Background(), form)
	switch {
	case err != nil:
		_, f := ledgerFailure(err)
		f.detail = "The key could not be written, so none was issued. Try again after Retry-After seconds."
		return nil, f
	case refusal.Reason == quota.TooManyKeys:
		return nil, fail(tooManyKeys)
	case refusal.Reason == quota.SignupLimited:
		return nil, &failure{code: signupLimited, retryAfter: max(1, int64((refusal.RetryAfter+time.Second-1)/time.Second))}
	case refusal.Reason != 0:
		return nil, withFaults(nil, refusal.Faults)
	}
	s.logKey("key issued", &issued.Account)
	return data(fiber.StatusCreated, keyView(issued.Account, issued.Secret.Reveal(), req.started))
}

// withFaults joins the faults of the body's form with those of its values: one a field, for a
// field of the wrong type has no value to judge.
func withFaults[F quota.Fault | webhook.Fault](f *failure, faults []F) *failure {
	if f == nil && len(faults) == 0 {
		return nil
	}
	if f == nil {
		f = fail(invalidField)
	}
	for _, one := range faults {
		q := quota.Fault(one)
		if !slices.ContainsFunc(f.faults, func(have Fault) bool { return have.Name == q.Field }) {
			f.faults = append(f.faults, Fault{In: "body", Name: q.Field, Detail: q.Detail})
		}
	}
	f.detail = sentences(f.faults, f.omitted)
	return f
}

// bodyField is one text member of a body and where it goes.
type bodyField struct {
	name     string
	text     *string
	required bool
}

// readBody reads a JSON object of texts. Faults of fields are returned together; values are not
// repeated in them, because they are personal.
func readBody(c *fiber.Ctx, fields []bodyField) *failure {
	members, f := bodyMembers(c)
	if f != nil {
		return f
	}
	var faults []Fault
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.name
		raw, ok := members[field.name]
		switch {
		case !ok && field.required:
			faults = append(faults, Fault{In: "body", Name: field.name, Detail: "is required"})
		case ok && (raw.Kind() != '"' || jsonv2.Unmarshal(raw, field.text) != nil):
			faults = append(faults, Fault{In: "body", Name: field.name, Detail: "must be text"})
		}
	}
	return bodyFailure(faults, members, names)
}

// bodyFailure joins faults of known fields with the fields that are not known, in order of name;
// nil without either.
func bodyFailure(faults []Fault, members map[string]jsontext.Value, names []string) *failure {
	var all faultList
	for _, f := range faults {
		all.add(invalidField, f)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(names, name) {
			continue
		}
		if f := all.add(invalidField, unknownName("body", name, noField, names)); f != nil {
			f.Suggestion = all.Nearest(f.Name, names)
		}
	}
	return all.failure()
}

// bodyMembers reads the members of a JSON object.
func bodyMembers(c *fiber.Ctx) (map[string]jsontext.Value, *failure) {
	if f := checkMediaType(c); f != nil {
		return nil, f
	}
	members := map[string]jsontext.Value{}
	body := bytes.Clone(c.Request().Body()) // as it was sent; the members point into it
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return nil, &failure{code: invalidJSON, detail: "The body begins with a byte order mark, which JSON does not have. Send it without the first three bytes."}
	}
	if err := jsonv2.Unmarshal(body, &members); err != nil || members == nil {
		detail := "The body must be one JSON object."
		if len(body) == 0 {
			detail = "The body is empty. It must be one JSON object."
		}
		var syntax *jsontext.SyntacticError
		switch place := errors.As(err, &syntax); {
		case len(body) == 0:
		case place && (!utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0): // Latin-1, UTF-16
			detail = "The body is not in UTF-8, as JSON has to be: look around byte " + string(appendInt(nil, syntax.ByteOffset)) + "."
		case place && errors.Is(err, jsontext.ErrDuplicateName):
			detail = "The body has two members of one name: look around byte " + string(appendInt(nil, syntax.ByteOffset)) + "."
		case place: // its own text may show the body, its place may not
			detail = "The body is not valid JSON: look around byte " + string(appendInt(nil, syntax.ByteOffset)) + "."
		}
		return nil, &failure{code: invalidJSON, detail: detail}
	}
	return members, nil
}

// checkMediaType rejects a body that is not declared as plain JSON in UTF-8.
func checkMediaType(c *fiber.Ctx) *failure {
	kind, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	charset, given := params["charset"]
	switch coding := strings.ToLower(c.Get(fiber.HeaderContentEncoding)); {
	case err != nil || kind != jsonType:
		return fail(unsupportedType)
	case given && !strings.EqualFold(charset, "utf-8"):
		return &failure{code: unsupportedType, detail: "JSON is UTF-8. Send the body as application/json, in UTF-8."}
	case coding != "" && coding != "identity":
		return &failure{code: unsupportedType, detail: "Bodies are not decompressed here. Send the body without a Content-Encoding."}
	}
	return nil
}

// showKey answers what the calling key has used.
func showKey(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	account, _, err := s.cfg.Keeper.Self(context.Background(), req.digest)
	if err != nil {
		return ledgerFailure(err)
	}
	months, err := s.cfg.Keeper.Usage(context.Background(), account.ID)
	if err != nil {
		return ledgerFailure(err)
	}
	days, err := s.cfg.Keeper.Days(context.Background(), account.ID)
	if err != nil {
		return ledgerFailure(err)
	}
	use := KeyUsage{KeyView: keyView(account, "", req.started), Used: account.Used, Remaining: account.Remaining, Usage: months}
	use.Days = usage.Days(days, quota.DayOf(req.started))
	use.Forecast = usage.ForecastOf(&account, days, req.started)
	return data(fiber.StatusOK, use)
}

// revokeKey ends the calling key.
func revokeKey(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	account, verdict, err := s.cfg.Keeper.RevokeSelf(context.Background(), req.digest)
	return s.changed(req, verdict, err, func() (*response, *failure) {
		s.logKey("key revoked", &account)
		return data(fiber.StatusOK, keyView(account, "", req.started))
	})
}

// rotateKey replaces the calling key. The body may be left out.
func rotateKey(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	grace, f := graceSeconds(req.c)
	if f != nil {
		return nil, f
	}
	issued, verdict, err := s.cfg.Keeper.Rotate(context.Background(), req.digest, grace)
	return s.changed(req, verdict, err, func() (*response, *failure) {
		s.logKey("key rotated", &issued.Account)
		return data(fiber.StatusOK, keyView(issued.Account, issued.Secret.Reveal(), req.started))
	})
}

// changed answers a change of the calling key that may have come too late: another call may
// have revoked or rotated it since it was admitted.
func (s *Server) changed(req *request, verdict quota.Verdict, err error, done func() (*response, *failure)) (*response, *failure) {
	if err != nil {
		return ledgerFailure(err)
	}
	if req.call.Verdict = verdict; verdict != quota.Admitted {
		f := s.decide(req, req.call)
		if verdict == quota.Rotated { // yet it was admitted: it is an old key in its grace
			f.detail = "This key was replaced by rotation: until its grace ends it may read, but not change keys. Use the key the rotation returned."
		}
		return nil, f
	}
	return done()
}

// longestGrace is how long an old secret may go on after a rotation: a week.
const longestGrace = 604800

func graceSeconds(c *fiber.Ctx) (time.Duration, *failure) {
	if len(c.Body()) == 0 {
		return 0, nil
	}
	members, f := bodyMembers(c)
	if f != nil {
		return 0, f
	}
	var faults []Fault
	var seconds int64
	if raw, ok := members["grace_seconds"]; ok {
		if err := jsonv2.Unmarshal(raw, &seconds); err != nil || raw.Kind() != '0' || seconds < 0 || seconds > longestGrace {
			faults = append(faults, Fault{In: "body", Name: "grace_seconds", Value: clip(string(raw)), Detail: "must be a whole number from 0 to 604800"})
		}
	}
	if f := bodyFailure(faults, members, []string{"grace_seconds"}); f != nil {
		return 0, f
	}
	return time.Duration(seconds) * time.Second, nil
}
