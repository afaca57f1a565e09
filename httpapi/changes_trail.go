package httpapi

import (
	"slices"
	"strings"
	"time"

	"modeldex/index"
)

// trail is the way from an edition of the dataset that a caller has to the one being served.
type trail struct {
	steps []*step
	// gap says that the records being served are not those of the last release recorded, and what
	// happened between them is not known in full: it was not recorded.
	gap bool
}

// trail finds the way from an edition to a generation; false where what is known does not lead
// there. An empty since means from the first edition known.
func (p *past) trail(gen *index.Generation, since string) (t trail, ok bool) {
	recorded, loads := p.upTo(gen)
	from := -1
	if since != "" {
		var base int
		if from, base = find(recorded, loads, since); from < 0 && base < 0 {
			return t, false
		} else if base >= 0 {
			return trail{steps: loads[base+1:]}, lastDropped(loads) <= base
		}
	}
	// The recorded release that this process loaded last leads over to its own loads.
	for i := len(loads) - 1; i >= 0; i-- {
		at := indexOf(recorded, loads[i].Digest)
		if at < 0 || at < from {
			continue
		}
		t.steps = slices.Concat(recorded[from+1:at+1], loads[i+1:])
		return t.whole(loads[i+1:], since)
	}
	t.steps = recorded[from+1:]
	if len(loads) > 0 { // the first load has no changes
		t.gap = len(recorded) > 0
		t.steps = slices.Concat(t.steps, loads[1:])
		return t.whole(loads, since)
	}
	return t, true
}

// whole says whether the changes of all loads of a trail are there. Without a place to begin the
// trail begins behind those that were given up.
func (t trail) whole(loads []*step, since string) (trail, bool) {
	last := lastDropped(t.steps)
	if last >= 0 && since == "" {
		t.steps = t.steps[last+1:]
		return t, true
	}
	return t, lastDropped(loads) < 0
}

// upTo leaves out what came behind a generation.
func (p *past) upTo(gen *index.Generation) (recorded, loads []*step) {
	recorded, loads = p.recorded, p.loads
	for len(loads) > 0 && loads[len(loads)-1].gen > gen.Number {
		loads = loads[:len(loads)-1]
	}
	if at := indexOf(recorded, gen.Digest.String()); at >= 0 {
		recorded = recorded[:at+1]
	}
	return recorded, loads
}

func lastDropped(steps []*step) int {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].dropped {
			return i
		}
	}
	return -1
}

func indexOf(steps []*step, digest string) int {
	return slices.IndexFunc(steps, func(s *step) bool { return s.Digest == digest })
}

// find finds the edition a caller has among the releases, else among the loads; -1 in both for
// neither. A version means the first edition of it, because the caller may have any; a digest the last,
// for those are all the same. A day means the edition before the releases of that day.
func find(recorded, loads []*step, since string) (release, load int) {
	version := func(s *step) bool { return s.Version == since }
	if at := slices.IndexFunc(recorded, version); at >= 0 {
		return at, -1
	}
	if at := slices.IndexFunc(loads, version); at >= 0 {
		return -1, at
	}
	for i := len(recorded) - 1; i >= 0; i-- {
		s := recorded[i]
		if len(since) >= shortDigest && strings.HasPrefix(s.Digest, since) || len(since) >= shortCommit && s.Commit != nil && strings.HasPrefix(*s.Commit, since) {
			return i, -1
		}
	}
	for i := len(loads) - 1; i >= 0 && len(since) >= shortDigest; i-- {
		if strings.HasPrefix(loads[i].Digest, since) {
			return -1, i
		}
	}
	if _, err := time.Parse(time.DateOnly, since); err != nil || len(recorded) == 0 || since < string(recorded[0].Released) {
		return -1, -1
	}
	at := slices.IndexFunc(recorded, func(s *step) bool { return string(s.Released) >= since })
	if at < 0 {
		at = len(recorded)
	}
	return max(0, at-1), -1
}

// nearest is the version of the oldest edition from which a caller can go on.
func (p *past) nearest(gen *index.Generation) string {
	recorded, loads := p.upTo(gen)
	if len(recorded) > 0 {
		return recorded[0].Version
	}
	if last := lastDropped(loads); last < len(loads)-1 {
		return loads[max(0, last)].Version
	}
	return gen.Info.Version
}
