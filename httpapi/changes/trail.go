package changes

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/index"
)

// A Trail is the way from an edition of the dataset that a caller has to the one being served.
type Trail struct {
	Steps []*Step // oldest first
	// Gap says that the records being served are not those of the last release recorded, and what
	// happened between them is not known in full: it was not recorded.
	Gap bool

	past *Past
	gen  *index.Generation
}

// Trail finds the way from an edition to a generation; false where what is known does not lead
// there. An empty since means from the first edition known.
func (p *Past) Trail(gen *index.Generation, since string) (t Trail, ok bool) {
	t.past, t.gen = p, gen
	recorded, loads := p.upTo(gen)
	from := -1
	if since != "" {
		var base int
		if from, base = find(recorded, loads, since); from < 0 && base < 0 {
			return t, false
		} else if base >= 0 {
			return Trail{past: p, gen: gen, Steps: loads[base+1:]}, lastDropped(loads) <= base
		}
	}
	// The recorded release that this process loaded last leads over to its own loads.
	for i := len(loads) - 1; i >= 0; i-- {
		at := indexOf(recorded, loads[i].Digest)
		if at < 0 || at < from {
			continue
		}
		t.Steps = slices.Concat(recorded[from+1:at+1], loads[i+1:])
		return t.whole(loads[i+1:], since)
	}
	t.Steps = recorded[from+1:]
	if len(loads) > 0 { // the first load has no changes
		t.Gap = len(recorded) > 0
		t.Steps = slices.Concat(t.Steps, loads[1:])
		return t.whole(loads, since)
	}
	return t, true
}

// whole says whether the changes of all loads of a trail are there. Without a place to begin the
// trail begins behind those that were given up.
func (t Trail) whole(loads []*Step, since string) (Trail, bool) {
	last := lastDropped(t.Steps)
	if last >= 0 && since == "" {
		t.Steps = t.Steps[last+1:]
		return t, true
	}
	return t, lastDropped(loads) < 0
}

// Recorded are the recorded releases up to a generation, oldest first.
func (p *Past) Recorded(gen *index.Generation) []*Step {
	recorded, _ := p.upTo(gen)
	return recorded
}

// upTo leaves out what came behind a generation.
func (p *Past) upTo(gen *index.Generation) (recorded, loads []*Step) {
	recorded, loads = p.recorded, p.loads
	for len(loads) > 0 && loads[len(loads)-1].gen > gen.Number {
		loads = loads[:len(loads)-1]
	}
	if at := indexOf(recorded, gen.Digest.String()); at >= 0 {
		recorded = recorded[:at+1]
	}
	return recorded, loads
}

func lastDropped(steps []*Step) int {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].dropped {
			return i
		}
	}
	return -1
}

// State names what the trail was made from: the state of the history, and the load being served. The way to an edition can
// become known after the edition is served.
func (t *Trail) State() string {
	return strconv.FormatUint(t.past.Number, 10) + " " + strconv.FormatUint(t.gen.Number, 10)
}

// Leads reports whether a trail leads to the edition with a digest.
func (t *Trail) Leads(digest string) bool { return indexOf(t.Steps, digest) >= 0 }

func indexOf(steps []*Step, digest string) int {
	return slices.IndexFunc(steps, func(s *Step) bool { return s.Digest == digest })
}

// How much of a digest or a commit names an edition of the dataset.
const (
	ShortDigest = 12
	shortCommit = 7
)

// Named reports whether a step is what a version, a digest or a commit names.
func (s *Step) Named(ref string) bool {
	return s.Version == ref || s.hashed(ref)
}

// hashed reports whether ref is the beginning of the digest or the commit of a step.
func (s *Step) hashed(ref string) bool {
	return len(ref) >= ShortDigest && strings.HasPrefix(s.Digest, ref) || len(ref) >= shortCommit && s.Commit != nil && strings.HasPrefix(*s.Commit, ref)
}

// find finds the edition a caller has among the releases, else among the loads; -1 in both for
// neither. A version means the first edition of it, because the caller may have any; a digest the last,
// for those are all the same. A day means the edition before the releases of that day.
func find(recorded, loads []*Step, since string) (release, load int) {
	version := func(s *Step) bool { return s.Version == since }
	if at := slices.IndexFunc(recorded, version); at >= 0 {
		return at, -1
	}
	if at := slices.IndexFunc(loads, version); at >= 0 {
		return -1, at
	}
	for i := len(recorded) - 1; i >= 0; i-- {
		if recorded[i].hashed(since) {
			return i, -1
		}
	}
	for i := len(loads) - 1; i >= 0 && len(since) >= ShortDigest; i-- {
		if strings.HasPrefix(loads[i].Digest, since) {
			return -1, i
		}
	}
	if _, err := time.Parse(time.DateOnly, since); err != nil || len(recorded) == 0 || since < string(recorded[0].Released) {
		return -1, -1
	}
	at := slices.IndexFunc(recorded, func(s *Step) bool { return string(s.Released) >= since })
	if at < 0 {
		at = len(recorded)
	}
	return max(0, at-1), -1
}

// FirstDay is the first day from which a caller can go on: that of the oldest recorded release; empty where none is.
func (p *Past) FirstDay(gen *index.Generation) string {
	if recorded, _ := p.upTo(gen); len(recorded) > 0 {
		return string(recorded[0].Released)
	}
	return ""
}

// Nearest is the version of the oldest edition from which a caller can go on.
func (p *Past) Nearest(gen *index.Generation) string {
	recorded, loads := p.upTo(gen)
	if len(recorded) > 0 {
		return recorded[0].Version
	}
	if last := lastDropped(loads); last < len(loads)-1 {
		return loads[max(0, last)].Version
	}
	return gen.Info.Version
}
