package httpapi

import (
	"bytes"
	"context"
	"slices"
	"time"

	"modeldex/httpapi/fairuse"
	"modeldex/httpapi/headers"
	"modeldex/quota"

	"github.com/gofiber/fiber/v2"
)

// gate lets requests in: by their key, or by what their address may still ask for without one.
type gate struct {
	keeper  keeper
	callers *callers
	fairUse *fairuse.Limiter // requests without a key, by address
	trial   *fairuse.Daily   // calls of trial routes without a key, by address
	keyed   []*route         // the routes that ask for a key
}

// admit reads the caller's key, if the route asks for one, and has the keeper decide the call.
// Nil means go on, with the call held. The key itself is hashed on the spot and goes nowhere else.
func (g *gate) admit(req *request) *failure {
	if g.keeper == noKeys {
		return nil
	}
	switch req.route.access {
	case open:
		return g.spendPage(req, pageCost(req))
	case shown: // rejected for another reason, whatever the key
		if (req.route != &rejected || g.showsStanding(req)) && g.identify(req) == nil {
			g.decide(req, g.keeper.AdmitFree(req.digest))
		}
		return nil
	}
	if f := g.identify(req); f != nil {
		if req.route.trial && f.code == missingKey && f.detail == "" && g.trial != nil {
			return g.tryOut(req)
		}
		return f
	}
	if req.route.access == charged || req.route.sends {
		return g.decide(req, g.keeper.Admit(req.digest))
	}
	return g.decide(req, g.keeper.AdmitFree(req.digest))
}

func (g *gate) tryOut(req *request) *failure {
	req.tried = g.trial.Take(g.callers.client(req.ctx).Addr, req.started)
	if !req.tried {
		return &failure{code: trialUsedUp, retryAfter: max(1, fairuse.NextDay(req.started).Unix()-req.started.Unix())}
	}
	return nil
}

func (g *gate) trialStanding(req *request) quota.Standing {
	if g.trial == nil || req.route.access != open && !req.route.trial {
		return quota.Standing{Tier: quota.NoTier, Reset: quota.MonthOf(req.started).End().Unix()}
	}
	limit, left := g.trial.Left(g.callers.client(req.ctx).Addr, req.started)
	return quota.Standing{Tier: "trial", Limit: uint64(limit), Remaining: uint64(left), Reset: fairuse.NextDay(req.started).Unix()}
}

// noKeys is the keeper of a server without keys. Requests are let in before it is asked for a decision.
var noKeys keeper = withoutKeys{}

type withoutKeys struct{ keeper }

func (withoutKeys) KeyPrefix() string                       { return "mdx" }
func (withoutKeys) Stats() quota.Stats                      { return quota.Stats{} }
func (withoutKeys) Warnings() []string                      { return nil }
func (withoutKeys) Ready(context.Context) error             { return nil }
func (withoutKeys) Tiers() quota.Tiers                      { return quota.Tiers{} }
func (withoutKeys) CheckCurrent(quota.Digest) quota.Verdict { return quota.UnknownKey }

const malformedKey = "The key is malformed: its length, prefix or checksum is wrong. Check that you copied all of it, or get a new one: POST /api/v1/keys."

// identify reads the key into the request's digest. The checksum of a key is looked at only if no account has
// the digest, see decide.
func (g *gate) identify(req *request) *failure {
	header := req.ctx.Request.Header.Peek(fiber.HeaderAuthorization)
	if f := g.keyInQuery(req, len(header) == 0); f != nil {
		return f
	}
	token, f := bearer(header)
	if f != nil {
		return f
	}
	digest, ok := quota.DigestOf(token, g.keeper.KeyPrefix())
	if !ok {
		return &failure{code: invalidKey, detail: malformedKey}
	}
	req.digest = digest
	return nil
}

// bearer takes the token out of an Authorization header. The slice is the request's own and ends with it.
func bearer(header []byte) ([]byte, *failure) {
	header = bytes.TrimSpace(header)
	if len(header) == 0 {
		return nil, fail(missingKey)
	}
	scheme, token, _ := bytes.Cut(header, []byte{' '})
	if !headers.EqualFold(scheme, "bearer") {
		return nil, &failure{code: missingKey, detail: "The Authorization header must use the Bearer scheme. Send your key as \"Authorization: Bearer <key>\"."}
	}
	if token = bytes.TrimSpace(token); len(token) == 0 {
		return nil, fail(missingKey)
	}
	return token, nil
}

var secretNames = []string{"key", "api_key", "apikey", "api-key", "access_token", "token", "authorization"}

// keyInQuery rejects a key in the address, where logs and proxies keep it. A value that is a key is one. So is,
// where bare, a parameter named like one: bare says that the request has no header with a key.
func (g *gate) keyInQuery(req *request, bare bool) *failure {
	args := req.ctx.Request.URI().QueryString()
	if len(args) == 0 {
		return nil
	}
	// Most queries end here: a value can be a key only if it has the prefix, plain or escaped.
	prefix := g.keeper.KeyPrefix()
	if !bare && bytes.IndexByte(args, '%') < 0 && !bytes.Contains(args, []byte(prefix)) {
		return nil
	}
	for name, value := range req.ctx.QueryArgs().All() {
		_, isKey := quota.ParseKey(value, prefix)
		if isKey || bare && isSecretName(name) {
			return &failure{
				code:   invalidKey,
				detail: "Do not send keys in the URL, where logs record them. Rotate this key with POST /api/v1/keys/self/rotate, and send the new one as \"Authorization: Bearer <key>\".",
				faults: []Fault{{In: "query", Name: *clip(string(name)), Detail: "must not contain a key"}},
			}
		}
	}
	return nil
}

func isSecretName(name []byte) bool {
	for _, n := range secretNames {
		if headers.EqualFold(name, n) {
			return true
		}
	}
	return false
}

// decide notes the keeper's decision about the call and returns the caller's failure for a
// verdict other than admitted. An unknown key has no standing of its own; all others show theirs.
func (g *gate) decide(req *request, call quota.Call) *failure {
	req.call = call
	req.keyed = call.Verdict != quota.UnknownKey
	if call.Verdict == quota.Admitted {
		return nil
	}
	f := &failure{code: ledgerUnavailable}
	switch req.call.Verdict {
	case quota.UnknownKey:
		f.code = invalidKey
		token, _ := bearer(req.ctx.Request.Header.Peek(fiber.HeaderAuthorization))
		if _, couldBe := quota.ParseKey(token, g.keeper.KeyPrefix()); !couldBe {
			f.detail = malformedKey
		}
	case quota.Revoked:
		f.code = keyRevoked
	case quota.Suspended:
		f.code = keySuspended
	case quota.Rotated:
		f.code = keyRotated
	case quota.BurstExceeded:
		f.code = burstExceeded
	case quota.QuotaExhausted:
		f.code = quotaExhausted
	}
	if f.code.status == fiber.StatusTooManyRequests || f.code == ledgerUnavailable {
		f.retryAfter = req.call.Standing().RetrySeconds() // at least 1; for the others waiting does not help
	}
	return f
}

// showsStanding reports whether the address of a request asks for a key, by one method or another. Its responses
// show what is left of the quota of the key, or that there is no key.
func (g *gate) showsStanding(req *request) bool {
	if req.route.access != shown {
		return req.route.access >= keyed
	}
	address := string(req.ctx.Path())
	return slices.ContainsFunc(g.keyed, func(rt *route) bool { return rt.matches(address) })
}

// spendPage takes the cost of a request from the allowance of its address. Requests from this
// machine that came through no proxy are exempt.
func (g *gate) spendPage(req *request, cost int) *failure {
	if cost == 0 || g.fairUse == nil {
		return nil
	}
	from := g.callers.client(req.ctx)
	if from.Local {
		return nil
	}
	wait := g.fairUse.Take(from.Addr, cost, req.started)
	if wait == 0 {
		return nil
	}
	return &failure{code: pageLimited, retryAfter: int64((wait + time.Second - 1) / time.Second)}
}
