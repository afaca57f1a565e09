package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
)

// problem is the response to a failure: a problem document. It is the only place where a status meets an error.
func (s *Server) problem(req *request, f *failure) *response {
	id := s.requestID(req.number)
	if f.code == internal || f.code.ours() && f.cause != nil {
		s.cfg.Log.Error("request failed", "request_id", id, "code", f.code.name, "cause", f.cause)
	} else if f.code.ours() {
		// A call that is turned away while the ledger is away, or the server is busy. What is away is logged once.
		s.cfg.Log.Debug("request turned away", "request_id", id, "code", f.code.name)
	}
	if f.code.status == http.StatusTooManyRequests {
		tier := quota.NoTier
		if req.keyed {
			tier = req.call.Standing().Tier
		}
		s.metrics.Limited(tier, f.code.name).Inc()
	}
	req.call.SpendBurst(f.searches)
	f = f.withoutKeys(s.cfg.Keeper.KeyPrefix())
	p := problemOf(f, s.cfg.SupportEmail, hideKeys(string(req.ctx.Path()), s.cfg.Keeper.KeyPrefix()), id, s.base(req.ctx))
	if req.wantsPage() {
		return s.failurePage(req, f, p)
	}
	resp := newProblem(f, p)
	if req.gen != nil && (req.route.access >= shown && req.route != &rejected || s.showsStanding(req)) {
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	}
	return resp
}

func problemOf(f *failure, support, path, id, base string) *Problem {
	p := &Problem{
		Type: base + "/problems/" + f.code.name, Title: f.code.title, Status: f.code.status, Detail: f.detail,
		Instance: strings.ToValidUTF8(path, "\uFFFD"), Code: f.code.name, RequestID: id, Errors: f.faults, ErrorsOmitted: f.omitted,
	}
	if p.Detail == "" {
		p.Detail = f.code.help
	}
	p.Detail = strings.ToValidUTF8(p.Detail, "\uFFFD")
	if f.code == internal || f.code.status == http.StatusForbidden {
		p.Support = support
	}
	return p
}

func newProblem(f *failure, p *Problem) *response {
	b, err := jsonv2.Marshal(p)
	if err != nil { // only a text that is not UTF-8 could do this, and none is left
		panic(err)
	}
	resp := uncached(f.code.status, b)
	resp.set("Content-Type", "application/problem+json")
	resp.set("Vary", keyedVary)
	f.writeHeaders(resp)
	return resp
}

func (f *failure) writeHeaders(resp *response) {
	if f.code.status == http.StatusUnauthorized {
		resp.set("WWW-Authenticate", `Bearer realm="modeldex"`)
	}
	if f.allow != "" {
		resp.set("Allow", f.allow)
	}
	if f.retryAfter > 0 {
		resp.lines = resp.lines.AddInt("Retry-After", f.retryAfter)
	}
	if f.close {
		resp.close = true
	}
}

// withoutKeys is the failure with the keys hidden that a caller put into a value: responses are
// logged and shown to others.
func (f *failure) withoutKeys(prefix string) *failure {
	out := *f
	out.detail, out.faults = hideKeys(f.detail, prefix), slices.Clone(f.faults)
	for i := range out.faults {
		fault := &out.faults[i]
		fault.Name, fault.Detail = hideKeys(fault.Name, prefix), hideKeys(fault.Detail, prefix)
		if fault.Value != nil {
			hidden := hideKeys(*fault.Value, prefix)
			fault.Value = &hidden
		}
	}
	return &out
}

// hideKeys replaces what has the form of a key: the prefix, an underscore and letters and digits.
// The checksum is not computed: a key with a typing error is a secret too.
func hideKeys(text, prefix string) string {
	if !strings.Contains(text, prefix+"_") {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, prefix+"_")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n := strings.IndexFunc(after, func(r rune) bool {
			return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
		})
		if n < 0 {
			n = len(after)
		}
		if next := strings.Index(after, prefix+"_"); next >= 0 { // another key right behind this one
			n = min(n, next)
		}
		const leastSecret = 20 // a key has 36, or fewer where the text was clipped
		b.WriteString(prefix + "_")
		if n < leastSecret {
			b.WriteString(after[:n])
		} else {
			b.WriteString("[key]")
		}
		text = after[n:]
	}
}
