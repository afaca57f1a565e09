package httpapi

import (
	"time"

	"modeldex/dataset/mirror"
	"modeldex/httpapi/headers"
)

// A mirror answers with the bytes of its origin. While the origin cannot be asked, it says so in headers, not in
// bodies. So a body stays the function of dataset and query that its ETag names. What callers and the cache have
// stays valid when an origin comes and goes, and bodies can be compared with those of the origin.

// MirrorView is how the dataset compares with the service it is mirrored from.
type MirrorView struct {
	// Address of that service.
	Origin string `json:"origin" jsonschema:"example=https://models.example.org"`
	// Whether the dataset may be behind it: the last check failed.
	Stale bool `json:"stale" jsonschema:"example=false"`
	// When the origin last said that the dataset is the newest; null where that is not known.
	LastSuccess *time.Time `json:"last_success" jsonschema:"nullable"`
	// When the first check failed after that; null where the dataset is not stale.
	Since *time.Time `json:"since" jsonschema:"nullable"`
	// Why the last check failed; null where the dataset is not stale.
	Cause *string `json:"cause" jsonschema:"nullable,example=the origin cannot be reached\\, or the connection broke"`
}

// mirrorView is nil if the dataset is not a mirror.
func (s *Server) mirrorView() *MirrorView {
	if s.cfg.Mirror == nil {
		return nil
	}
	st := s.cfg.Mirror()
	v := &MirrorView{Origin: st.Origin, Stale: st.Stale(), LastSuccess: knownTime(st.Contact)}
	if v.Stale {
		v.Since, v.Cause = &st.Since, &st.Cause
	}
	return v
}

func knownTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// appendStale adds headers that warn callers of a mirror that cannot reach its origin. By Age (RFC 9111, 5.1) their
// caches know how long ago the response was confirmed, and ask again sooner.
func appendStale(lines headers.Lines, st *mirror.State, now time.Time) headers.Lines {
	if !st.Stale() {
		return lines
	}
	lines = lines.Add("Dataset-Notice", `stale; since="`+st.Since.Format(time.RFC3339)+`"`)
	if !st.Contact.IsZero() {
		lines = lines.AddInt("Age", max(0, int64(now.Sub(st.Contact)/time.Second)))
	}
	return lines
}
