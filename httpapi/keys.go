package httpapi

import (
	"context"
	"time"

	"modeldex/httpapi/query"
	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/gofiber/fiber/v2"
)

// KeyView is an API key as its owner sees it. Personal data is never shown.
type KeyView struct {
	// Public name of the key.
	ID string `json:"id" jsonschema:"example=key_00abcdefghi"`
	// The key itself; only in the response that issued it.
	Key string `json:"key,omitempty" jsonschema:"example=mdx_..."`
	// End of the key, to tell your keys apart.
	Hint string `json:"hint" jsonschema:"example=mdx_…x9Zq"`
	// Name given at sign-up.
	Name string `json:"name" jsonschema:"example=my dashboard"`
	// Plan.
	Tier string `json:"tier" jsonschema:"example=free"`
	// State of the key.
	Status string `json:"status" jsonschema:"enum=active,enum=suspended,enum=revoked,example=active"`
	// Monthly allowance.
	Quota QuotaView `json:"quota"`
	// Burst limit.
	Burst BurstView `json:"burst"`
	// When the key was issued.
	CreatedAt time.Time `json:"created_at"`
	// Until when the key before the last rotation still works; null if it does not.
	OldKeyUntil *time.Time `json:"old_key_until" jsonschema:"nullable"`
}

// QuotaView is the monthly allowance of a key.
type QuotaView struct {
	// Calls per month.
	Limit uint64 `json:"limit" jsonschema:"example=1000"`
	// Always month: calendar months in UTC.
	Period string `json:"period" jsonschema:"enum=month,example=month"`
	// When the next month begins.
	ResetsAt time.Time `json:"resets_at"`
}

// BurstView is the burst limit of a key.
type BurstView struct {
	// Calls.
	Rate int `json:"rate" jsonschema:"example=10"`
	// Seconds.
	PerSeconds int `json:"per_seconds" jsonschema:"example=1"`
}

// KeyUsage is the calling key and its usage.
type KeyUsage struct {
	KeyView
	// Calls counted this month.
	Used uint64 `json:"used" jsonschema:"example=17"`
	// Calls left this month.
	Remaining uint64 `json:"remaining" jsonschema:"example=983"`
	// Calls per month, oldest first.
	Usage []quota.MonthCalls `json:"usage"`
}

// keyView is the view at a time. The account lists old secrets from the first to stop working to the last.
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
	return jsonObject(status, map[string]any{"data": v})
}

// jsonObject answers an object with these members.
func jsonObject(status int, members map[string]any) (*response, *failure) {
	b, err := jsonv2.Marshal(members, jsonv2.Deterministic(true))
	if err != nil {
		return nil, &failure{code: internal, cause: err}
	}
	return uncached(status, b), nil
}

// ledgerFailure answers when the ledger could not take a change.
func ledgerFailure(err error) (*response, *failure) {
	return nil, &failure{code: ledgerUnavailable, retryAfter: 1, cause: err}
}

func (s *Server) logKey(what string, a *quota.Account) {
	s.cfg.Log.Info(what, "id", a.ID.String(), "tier", a.Tier, "by", "its owner")
}

// NewKey is who asks for a key and what for.
type NewKey struct {
	// Short description of what the key is for; shown with its usage.
	Name string `query:"name,required,strict"`
	// E-mail address of the owner. It is stored, but never shown or logged.
	Email string `query:"email,required,strict"`
	// What the key will be used for.
	UseCase string `query:"use_case,required,strict"`
}

func issueKey(s *Server, req *request) (*response, *failure) {
	body, f := readBody(req, query.Of[NewKey]())
	if f != nil {
		return nil, f
	}
	var given NewKey
	body.Into(&given)
	form := quota.IssueRequest{Name: given.Name, Email: given.Email, UseCase: given.UseCase}
	if f := withFaults(&body.Faults, quota.ValidateIssue(form)); f != nil {
		return nil, f
	}
	from := s.client(req.ctx)
	form.Addr, form.Unlimited = from.Addr, from.Local
	issued, refusal, err := s.cfg.Keeper.Issue(context.Background(), form)
	result := "issued"
	if err != nil {
		result = "failed"
	} else if refusal.Reason != 0 {
		result = "refused"
	}
	s.metrics.SignUps(result).Inc()
	switch {
	case err != nil:
		_, f := ledgerFailure(err)
		f.detail = "The key could not be stored, so no key was issued. Try again after Retry-After seconds."
		return nil, f
	case refusal.Reason == quota.TooManyKeys:
		return nil, fail(tooManyKeys)
	case refusal.Reason == quota.SignupLimited:
		return nil, &failure{code: signupLimited, retryAfter: max(1, int64((refusal.RetryAfter+time.Second-1)/time.Second))}
	case refusal.Reason != 0:
		return nil, withFaults(&body.Faults, refusal.Faults)
	}
	s.logKey("key issued", &issued.Account)
	return data(fiber.StatusCreated, keyView(issued.Account, issued.Secret.Reveal(), req.started))
}

// withFaults joins the faults of the form of a body with those of its values: one a field, for a field of the wrong type
// has no value to judge. It is nil without either.
func withFaults(have *query.Faults, faults []quota.Fault) *failure {
	for _, one := range faults {
		if !have.Of(one.Field) {
			have.Add(query.InvalidField, Fault{In: "body", Name: one.Field, Detail: one.Detail})
		}
	}
	return failureOf(have)
}

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
	view := keyView(account, "", req.started)
	return data(fiber.StatusOK, KeyUsage{view, account.Used, account.Remaining, months})
}

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
	grace, f := readGrace(req, 0)
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
			f.detail = "This key was rotated. Until its grace period ends it can read data, but not manage keys. Use the key that the rotation returned."
		}
		return nil, f
	}
	return done()
}

// Rotation is how an old secret ends.
type Rotation struct {
	// How long the old secret still works, in seconds. 0 ends it at once.
	GraceSeconds *int64 `query:"grace_seconds,min=0,max=604800,strict"`
}

// readGrace reads how long the old secret may go on after a rotation. The body may be left out.
func readGrace(req *request, usual time.Duration) (time.Duration, *failure) {
	if f := req.noParameters(); f != nil || len(req.c.Body()) == 0 {
		return usual, f
	}
	body, f := readBody(req, query.Of[Rotation]())
	if f != nil {
		return 0, f
	}
	var given Rotation
	if body.Into(&given); given.GraceSeconds != nil {
		usual = time.Duration(*given.GraceSeconds) * time.Second
	}
	return usual, failureOf(&body.Faults)
}
