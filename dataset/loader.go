package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"modeldex/dataset/cores"
	"modeldex/dataset/record"
)

// loader holds one load: what was read so far and what was wrong with it.
type loader struct {
	ctx       context.Context // of this one load: once it has ended, what was read so far means nothing
	fsys      fs.FS
	opt       Options
	warn      bool         // look for warnings too
	each      bool         // every line gets its own finding, also where many have the same fault
	listed    []listedFile // while the files are being listed
	files     []string
	sizes     []int64    // by file
	total     int64      // bytes of all files
	reading   sync.Mutex // guards bytesRead, and calls of opt.Progress
	bytesRead int64
	digests   []Digest // by file
	single    []bool   // by file: one object, no array
	unchanged []int32  // by file: its number in the last load, -1 where it is new or changed
	shared    *record.Sharer
	now       time.Time
	today     string // of now, as YYYY-MM-DD

	info          collector[Info]
	quantizations collector[QuantizationType]
	origins       collector[Origin]
	models        collector[Model]
	hardware      collector[Hardware]
	tools         collector[Tool]
	benchmarks    collector[Benchmark]
	backends      map[string]bool // that any tool has, from the check of benchmarks on
	ratios        []float64       // of benchmarks, see Roofline.Ratio; NaN where it is unknown
	changes       collector[record.ChangeLine]

	mu       sync.Mutex
	pending  []pendingFinding
	findings Findings
	// faulty says where the decoder found something, so that nothing is reported twice.
	faulty map[member]bool
	full   atomic.Bool // there are maxFindings findings: the rest is not looked for
}

// A pendingFinding is a finding whose column is not known yet: the bytes of the record were gone
// when it was found.
type pendingFinding struct {
	at       place
	field    string
	text     string
	severity Severity
}

// maxFindings bounds the memory of a report: a gigabyte of broken lines has millions of faults,
// of which a reader looks at the first few.
const maxFindings = 10_000

// member is one field of one record, the record itself where the field is empty.
type member struct {
	at    place
	field string // dotted
}

func newLoader(ctx context.Context, fsys fs.FS, opt Options) *loader {
	if opt.Workers == 0 {
		opt.Workers = cores.Size()
	}
	if opt.chunk == 0 {
		opt.chunk = chunkSize
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	l := &loader{ctx: ctx, fsys: fsys, opt: opt, faulty: map[member]bool{}, shared: record.NewSharer()}
	l.now = opt.Now()
	l.today = l.now.UTC().Format(time.DateOnly)
	return l
}

// last is what the last load remembers, nil where there was none.
func (l *loader) last() *previousLoad {
	if l.opt.Last == nil {
		return nil
	}
	return l.opt.Last.previous
}

// progress is called from all workers.
func (l *loader) progress(n int) {
	if l.opt.Progress == nil {
		return
	}
	l.reading.Lock()
	defer l.reading.Unlock()
	l.bytesRead += int64(n)
	l.opt.Progress(l.bytesRead, l.total)
}

// add is called from all workers.
func (l *loader) add(f Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addLocked(f)
}

func (l *loader) addLocked(f Finding) {
	switch {
	case len(l.findings)+len(l.pending) < maxFindings:
		l.findings = append(l.findings, f)
	case !l.full.Swap(true):
		l.findings = append(l.findings, Finding{Path: f.Path, Line: f.Line, Text: fmt.Sprintf("there are more than %d findings: what follows was not checked", maxFindings)})
	}
}

// fault adds the problems of a record; text begins with the line of at.
func (l *loader) fault(at place, text []byte, problems []record.Problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range problems {
		l.addLocked(l.finding(at, text, p, Fault))
		if !l.full.Load() {
			l.markFaulty(at, p.Field)
		}
	}
}

// markFaulty notes a field and everything it is in.
func (l *loader) markFaulty(at place, field string) {
	for field != "" {
		l.faulty[member{at, field}] = true
		field = field[:max(0, strings.LastIndexByte(field, '.'))]
	}
	l.faulty[member{at: at}] = true
}

// hasFaults reports whether the decoder found something in a file.
func (l *loader) hasFaults(file int32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for m := range l.faulty {
		if m.at.file == file {
			return true
		}
	}
	return false
}

// finding gives a problem its line and column.
func (l *loader) finding(at place, text []byte, p record.Problem, severity Severity) Finding {
	before := text[:min(int(at.col)+p.Offset, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	if p.Text == record.EndsInside && path.Ext(l.files[at.file]) == ".ndjson" {
		p.Text = record.LineEndsInside
	}
	return Finding{
		Path: l.files[at.file], Line: int(at.line) + bytes.Count(before, []byte{'\n'}),
		Col: 1 + utf8.RuneCount(before[start:]), Field: p.Field, Text: p.Text, Severity: severity, broken: p.Broken,
	}
}

func (l *loader) placeText(p place) string { return fmt.Sprintf("%s:%d", l.files[p.file], p.line) }
