package httpapi

import (
	"bytes"

	"modeldex/httpapi/headers"
	"modeldex/quota"

	"github.com/gofiber/fiber/v2"
)

// admit reads the caller's key, if the route asks for one, and has the keeper decide the call.
// Nil means go on, with the call held. The key itself is hashed on the spot and goes nowhere else.
func (s *Server) admit(req *request) *failure {
	switch req.route.access {
	case open:
		return s.spendPage(req, pageCost(req))
	case shown: // rejected for another reason, whatever the key
		if (req.route != &rejected || s.showsStanding(req)) && s.identify(req) == nil {
			s.decide(req, s.cfg.Keeper.AdmitFree(req.digest))
		}
		return nil
	}
	if f := s.identify(req); f != nil {
		return f
	}
	if req.route.access == charged || req.route.sends {
		return s.decide(req, s.cfg.Keeper.Admit(req.digest))
	}
	return s.decide(req, s.cfg.Keeper.AdmitFree(req.digest))
}

const malformedKey = "The key is malformed: its length, its prefix or its checksum is wrong. Check that it was copied whole, or get a new one: POST /api/v1/keys."

// identify reads the key into the request's digest. The checksum of a key is looked at only if no account has
// the digest, see decide.
func (s *Server) identify(req *request) *failure {
	header := req.ctx.Request.Header.Peek(fiber.HeaderAuthorization)
	if f := s.keyInQuery(req, len(header) == 0); f != nil {
		return f
	}
	token, f := bearer(header)
	if f != nil {
		return f
	}
	digest, ok := quota.DigestOf(token, s.cfg.Keeper.KeyPrefix())
	if !ok {
		return &failure{code: invalidKey, detail: malformedKey}
	}
	req.digest = digest
	return nil
}

// bearer takes the token out of an Authorization header. The slice is the request's own and
// ends with it.
func bearer(header []byte) ([]byte, *failure) {
	header = bytes.TrimSpace(header)
	if len(header) == 0 {
		return nil, fail(missingKey)
	}
	scheme, token, _ := bytes.Cut(header, []byte{' '})
	if !headers.EqualFold(scheme, "bearer") {
		return nil, &failure{code: missingKey, detail: "The Authorization header has another scheme. Send your key as \"Authorization: Bearer <key>\"."}
	}
	if token = bytes.TrimSpace(token); len(token) == 0 {
		return nil, fail(missingKey)
	}
	return token, nil
}

// secretNames are the parameters people put keys into.
var secretNames = []string{"key", "api_key", "apikey", "api-key", "access_token", "token", "authorization"}

// keyInQuery rejects a key in the address, where logs and proxies keep it. A value that is a key is one. So is,
// where bare, a parameter named like one: bare says that the request has no header with a key.
func (s *Server) keyInQuery(req *request, bare bool) *failure {
	args := req.ctx.Request.URI().QueryString()
	if len(args) == 0 {
		return nil
	}
	// Most queries end here: a value can be a key only if it has the prefix, as it is or escaped.
	prefix := s.cfg.Keeper.KeyPrefix()
	if !bare && bytes.IndexByte(args, '%') < 0 && !bytes.Contains(args, []byte(prefix)) {
		return nil
	}
	for name, value := range req.ctx.QueryArgs().All() {
		_, isKey := quota.ParseKey(value, prefix)
		if isKey || bare && isSecretName(name) {
			return &failure{
				code:   invalidKey,
				detail: "Keys are not taken from the address, where logs keep them. Send it as \"Authorization: Bearer <key>\", and rotate this one: POST /api/v1/keys/self/rotate.",
				faults: []Fault{{In: "query", Name: *clip(string(name)), Detail: "must not hold a key"}},
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
func (s *Server) decide(req *request, call quota.Call) *failure {
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
		if _, couldBe := quota.ParseKey(token, s.cfg.Keeper.KeyPrefix()); !couldBe {
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
