package changes

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/diff"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/index"
)

// Refused is a load that was not taken; the last good dataset goes on.
type Refused struct {
	// When the load ended.
	At time.Time `json:"at"`
	// What is wrong, in a line: the number of findings and the first, or why the files could not be read.
	Text string `json:"text" jsonschema:"example=1 finding: hardware/nvidia-rtx-4090.json:4:13: vendor: must be one of nvidia\\, amd\\, intel\\, apple\\, qualcomm"`
	// Number of findings; 0 where the files could not be read.
	FindingCount int `json:"finding_count" jsonschema:"minimum=0,example=1"`
	// The first 20 findings, in order of place: path, line, column, field and a sentence.
	Findings []string `json:"findings" jsonschema:"example=hardware/nvidia-rtx-4090.json:4:13: vendor: must be one of nvidia\\, amd\\, intel\\, apple\\, qualcomm"`

	served uint64 // number of the generation that went on; 0 if there was none
}

// ShownFindings is how many findings of a rejected load are shown; modeldex check lists them all.
const ShownFindings = 20

func newRefused(at time.Time, err error) *Refused {
	r := &Refused{At: at, Text: record.Clip(err.Error(), 1000), Findings: []string{}}
	var findings dataset.Findings
	if !errors.As(err, &findings) {
		return r
	}
	r.FindingCount = len(findings)
	for _, f := range findings[:min(len(findings), ShownFindings)] {
		r.Findings = append(r.Findings, record.Clip(f.String(), 1000))
	}
	r.Text = fmt.Sprintf("%d %s: %s", len(findings), record.Noun(len(findings), "finding", "findings, the first"), r.Findings[0])
	return r
}

// History is what happened to the records, and the newest rejected load. From release to release it is what the
// dataset recorded, from load to load what this process saw. Only the reloader writes to it. The zero value is
// empty. Safe for concurrent use; readers do not wait.
type History struct {
	refused  atomic.Pointer[Refused]
	refusals atomic.Uint64
	taking   sync.Mutex
	past     atomic.Pointer[Past] // never written to once stored
}

// Past is one state of a History. It does not change.
type Past struct {
	Number   uint64 // counts the states, from 0 of an empty History
	log      *history.Log
	recorded []*Step // of log, oldest first
	loads    []*Step // by generation
}

// Bounds of what is held of past loads. A change is a few hundred bytes, so that they are some 20
// MB at most.
const (
	maxSteps    = 256
	maxRows     = 50_000
	maxStepRows = 10_000
	maxRowBytes = 32 << 20
)

// Step is how one edition of the dataset came from the one before: a release, or a load of this
// process.
type Step struct {
	*history.Step
	Recorded bool   // in a release
	gen      uint64 // of a load
	bytes    int    // of the values of a load, about
	LeftOut  int    // number of changes of a load that are not in Entries, because they are beyond a bound
	dropped  bool   // the changes of the load were given up for those of newer ones
	// records finds the records of the newest loads; nil in others.
	records func() diff.Records
}

// Refuse notes that a load was rejected while served went on, and returns what callers are shown of it.
func (h *History) Refuse(err error, served *index.Generation) *Refused {
	r := newRefused(time.Now().UTC(), err)
	if served != nil {
		r.served = served.Number
	}
	h.refusals.Add(1)
	h.refused.Store(r)
	return r
}

// Accept ends a rejection without a new generation: the files are those being served again.
func (h *History) Accept() { h.refused.Store(nil) }

// Refusals is how many loads were rejected; 0 of a nil History.
func (h *History) Refusals() uint64 {
	if h == nil {
		return 0
	}
	return h.refusals.Load()
}

// Refused is the newest load, where that was rejected; nil otherwise. A rejection ends at the moment in which a
// newer generation is served, so that no answer shows both.
func (h *History) Refused(served *index.Generation) *Refused {
	if h == nil {
		return nil
	}
	r := h.refused.Load()
	if r != nil && served != nil && served.Number > r.served {
		return nil
	}
	return r
}

// Record notes what changed from the generation being served to the next, number gen, which was made of set. It
// must come before gen is published: a response made from gen then finds the way to it. The first has no changes.
func (h *History) Record(gen uint64, set *dataset.Set, c *diff.Changes) {
	s := &Step{Step: c.Step(set), gen: gen, records: sync.OnceValue(func() diff.Records { return diff.NewRecords(set) })}
	if s.LeftOut = max(0, len(s.Entries)-maxStepRows); s.LeftOut > 0 {
		s.Entries = slices.Clone(s.Entries[:maxStepRows])
	}
	for _, e := range s.Entries {
		s.bytes += 200 + len(e.Record)
		for _, f := range e.Fields {
			s.bytes += 100 + len(f.Old) + len(f.New)
		}
	}
	h.change(func(p *Past) {
		p.loads = dropOld(append(slices.Clone(p.loads), s))
		p.take(set.Releases)
	})
}

// Releases takes the recorded releases of a set whose records are those being served.
func (h *History) Releases(set *dataset.Set) {
	h.change(func(p *Past) { p.take(set.Releases) })
}

// change stores the next state.
func (h *History) change(do func(p *Past)) {
	h.taking.Lock()
	defer h.taking.Unlock()
	next := *h.Now()
	next.Number++
	do(&next)
	h.past.Store(&next)
}

// Now is the state of the moment, an empty one of a nil History.
func (h *History) Now() *Past {
	if h != nil {
		if p := h.past.Load(); p != nil {
			return p
		}
	}
	return &Past{}
}

func (p *Past) take(log *history.Log) {
	if p.log == log {
		return
	}
	p.log, p.recorded = log, nil
	if log == nil {
		return
	}
	for i := range log.Steps {
		p.recorded = append(p.recorded, &Step{Step: &log.Steps[i], Recorded: true})
	}
}

// dropOld gives up the changes of old loads until the rest fits. Those of the newest stay whatever
// their size, which maxStepRows bounds.
func dropOld(loads []*Step) []*Step {
	const withRecords = 2 // one being served, and one that requests may still use
	rows, size := 0, 0
	for i := len(loads) - 1; i >= 0; i-- {
		s := *loads[i]
		rows, size = rows+len(s.Entries), size+s.bytes
		if i < len(loads)-withRecords {
			s.records = nil
		}
		if i < len(loads)-1 && (rows > maxRows || size > maxRowBytes) {
			bare := history.Step{Release: s.Release}
			s.Step, s.bytes, s.dropped = &bare, 0, true
		}
		loads[i] = &s
	}
	return loads[max(0, len(loads)-maxSteps):]
}
