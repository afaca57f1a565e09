package httpapi

import (
	"fmt"
	"slices"
	"strings"

	"modeldex/httpapi/changes"
	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/index"
)

// pin makes a request see the generation that as_of names. What is wrong with the form of as_of is
// left to the parser.
func (s *Server) pin(req *request) *failure {
	list := req.route.list
	if req.route.record != nil {
		list = req.route.record.detail
	}
	if list == nil || query.Find(list.params, "as_of") == nil {
		return nil
	}
	ref := string(req.ctx.QueryArgs().Peek("as_of"))
	if _, bad := versionRef(ref); ref == "" || bad != "" {
		return nil
	}
	awaited := s.awaited(ref) // before what is kept is looked at: it goes from the one to the other
	kept := s.cfg.Live.Kept()
	gen := findKept(kept, ref)
	switch {
	case gen == nil && awaited:
		return &failure{code: notReady, retryAfter: 2, detail: fmt.Sprintf("The dataset %s was served before this server started, and is being loaded again. Try again after Retry-After seconds.", *clip(ref))}
	case gen == nil:
		return keptFailure(kept, ref)
	}
	req.gen, req.content, req.pinned = gen, contentOfKept(gen), true
	return nil
}

// findKept is the newest generation of a version or digest, nil for none.
func findKept(kept []*index.Generation, ref string) *index.Generation {
	for _, gen := range kept {
		if namesDataset(ref, gen.Info.Version, gen.Digest.String()) {
			return gen
		}
	}
	return nil
}

// namesDataset reports whether as_of=ref is the dataset of a version and digest.
func namesDataset(ref, version, digest string) bool {
	return version == ref || len(ref) >= changes.ShortDigest && strings.HasPrefix(digest, ref)
}

// awaited reports whether ref is a dataset that is still being loaded from its dump.
func (s *Server) awaited(ref string) bool {
	return s.cfg.Earlier != nil && slices.ContainsFunc(s.cfg.Earlier(), func(e export.Served) bool { return namesDataset(ref, e.Version, e.Digest) })
}

// keptFailure names what is kept. Versions count up, so that one beyond the newest is nearest to that;
// all others are before the oldest that is kept, or were never served.
func keptFailure(kept []*index.Generation, ref string) *failure {
	fault := Fault{In: "query", Name: "as_of", Value: clip(ref), Detail: "is not a dataset that this server keeps"}
	for _, gen := range kept {
		fault.Allowed = append(fault.Allowed, gen.Info.Version+" "+gen.Digest.String()[:changes.ShortDigest])
	}
	nearest := kept[len(kept)-1]
	if newest := kept[0]; laterVersion(ref, newest.Info.Version) {
		nearest = newest
	}
	fault.Suggestion = nearest.Digest.String()[:changes.ShortDigest]
	return &failure{code: versionGone, faults: []Fault{fault}, detail: fmt.Sprintf(
		"None of the datasets this server keeps is %s. The nearest is version %s, digest %s. GET /api/v1/dumps has the newest as files, to be kept by those who need it longer.",
		*clip(ref), nearest.Info.Version, nearest.Digest)}
}

// laterVersion compares versions such as 2026.9.30 and 2026.11.22 number by number.
func laterVersion(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		if !query.Digits(as[i]) || !query.Digits(bs[i]) {
			return false
		}
		x, y := strings.TrimLeft(as[i], "0"), strings.TrimLeft(bs[i], "0")
		if len(x) != len(y) {
			return len(x) > len(y)
		}
		if x != y {
			return x > y
		}
	}
	return len(as) > len(bs)
}
