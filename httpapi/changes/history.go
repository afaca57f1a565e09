package changes

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/diff"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/index"
)

// Refused is a rejected load; the last good dataset stays in use.
type Refused struct {
	// When the load ended.
	At time.Time `json:"at"`
	// Summary in one line: the number of findings and the first one, or why the files could not be read.
	Text string `json:"text" jsonschema:"example=1 finding: hardware/nvidia-rtx-4090.json:4:13: vendor: must be one of nvidia\\, amd\\, intel\\, apple\\, qualcomm"`
	// Number of findings; 0 if the files could not be read.
	FindingCount int `json:"finding_count" jsonschema:"minimum=0,example=1"`
	// The first 20 findings, sorted by position: path, line, column, field and a sentence.
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

// History is the recorded releases of the dataset, and the newest rejected load. The zero value is empty. Safe for
// concurrent use; readers do not wait.
type History struct {
	refused  atomic.Pointer[Refused]
	refusals atomic.Uint64
	past     atomic.Pointer[Past]
}

// Past is the releases that a History had at one moment. It does not change.
type Past struct {
	Number  uint64              // counts the states of the History, from 0 of an empty one
	Steps   []history.Step      // oldest first
	records func() diff.Records // of the newest dataset
}

// Refuse records that a load was rejected while served stayed in use, and returns the public view of it.
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

// Take takes the recorded releases of a dataset. It must come before a generation of the set is served.
func (h *History) Take(set *dataset.Set) {
	next := &Past{Number: h.Past().Number + 1, records: sync.OnceValue(func() diff.Records { return diff.NewRecords(set) })}
	if set.Releases != nil {
		next.Steps = set.Releases.Steps
	}
	h.past.Store(next)
}

// Past is the releases of the moment, none of a nil History.
func (h *History) Past() *Past {
	if h != nil {
		if p := h.past.Load(); p != nil {
			return p
		}
	}
	return &Past{}
}
