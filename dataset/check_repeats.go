package dataset

import (
	"fmt"
	"hash/maphash"
	"math"
	"path"
	"reflect"
	"regexp"

	"modeldex/dataset/record"
)

// measurement is what makes two benchmarks one: the same thing measured the same way with the
// same figures. The address does not count, for some tables are published on two pages.
type measurement struct {
	model, hardware, tool           Slug
	quantization, version, backend  string
	devices, users                  int64
	prompt, generated, depth, batch int64
	layers, threads                 int64
	flash, drafted, offload         int8
	os                              string
	promptTPS, generationTPS, ttft  float64
	told                            told
}

// told is what else tells a measurement by whose speeds it cannot be recognised: two machines of one kind may well both
// print 12 tokens per second, but not on the same page with the same words. Zero for others.
type told struct {
	figures               figures
	page                  URL
	day                   Date
	modelRaw, hardwareRaw string
	notes                 string
	watts, gib            float64
}

// sameRun reports whether two benchmarks are one measurement: of one key, and with speeds of few digits, equal but for
// their ids.
func sameRun(a, b *Benchmark) bool {
	m := measurementOf(a)
	if m != measurementOf(b) {
		return false
	}
	if m.told == (told{}) {
		return true
	}
	x, y := *a, *b
	x.ID, y.ID = "", ""
	return reflect.DeepEqual(x, y)
}

// speedDigits is how many digits of speeds tell a measurement, where model, hardware and settings are the same.
const speedDigits = 6

// measurementOf returns the key of a benchmark.
func measurementOf(b *Benchmark) measurement {
	m := measurement{
		model: b.Model, hardware: b.Hardware, tool: b.Tool, devices: b.HardwareCount,
		quantization: valueOf(b.Quantization), version: valueOf(b.ToolVersion), backend: valueOf(b.Backend), os: valueOf(b.OS),
		users: numberOf(b.Concurrency), prompt: numberOf(b.NPrompt), generated: numberOf(b.NGen), depth: numberOf(b.ContextDepth),
		batch: numberOf(b.BatchSize), layers: numberOf(b.NGPULayers), threads: numberOf(b.Threads),
		flash: flagOf(b.FlashAttention), drafted: flagOf(b.SpeculativeDecoding), offload: flagOf(b.PartialOffload),
		promptTPS: twoDecimals(b.PromptTPS), generationTPS: twoDecimals(b.GenerationTPS), ttft: twoDecimals(b.TTFTMs),
	}
	if digits(m.promptTPS)+digits(m.generationTPS) < speedDigits {
		m.told = told{
			page: valueOf(b.SourceURL), day: valueOf(b.RunDate), modelRaw: b.ModelRaw, hardwareRaw: b.HardwareRaw, notes: valueOf(b.Notes),
			watts: twoDecimals(b.PowerWatts), gib: twoDecimals(b.ModelSizeGiB),
		}
		m.told.figures, _ = figuresOf(b)
	}
	return m
}

func valueOf[T ~string](s *T) T {
	if s == nil {
		return ""
	}
	return *s
}

func numberOf(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func flagOf(b *bool) int8 {
	switch {
	case b == nil:
		return -1
	case *b:
		return 1
	default:
		return 0
	}
}

// twoDecimals is how llama-bench prints a speed; its machine-readable forms have all digits.
func twoDecimals(v *float64) float64 {
	if v == nil {
		return -1
	}
	return math.Round(*v*100) / 100
}

// digits is how many digits a speed was printed with, 0 for an unknown one.
func digits(v float64) (n int) {
	if v < 0 {
		return 0
	}
	cents := int64(math.Round(v * 100))
	for cents > 0 && cents%10 == 0 {
		cents /= 10
	}
	for ; cents > 0; cents /= 10 {
		n++
	}
	return n
}

// compared marks the hash of a measurement that is compared with others.
const compared = 1 << 63

// measurementHash is equal for equal measurements, and 0 for one that is not compared: withdrawn ones do not count.
func (l *loader) measurementHash(seed maphash.Seed, b *Benchmark, p place) uint64 {
	if b.Withdrawn != nil || len(l.faulty) > 0 && l.faulty[member{at: p}] {
		return 0
	}
	return maphash.Comparable(seed, measurementOf(b)) | compared
}

// checkRepeats checks that no measurement has two ids.
func (l *loader) checkRepeats(hashes *runHashes) {
	c := &l.benchmarks
	seen, found := newFirsts(len(c.recs)), copies{}
	defer found.report(l)
	for i, hash := range hashes.measurements {
		if l.endedAt(i) {
			return
		}
		if hash == 0 {
			continue
		}
		first := seen.first(i, hash, func(k int) bool {
			return sameRun(c.recs[i], c.recs[k])
		})
		if first == i {
			continue
		}
		if b, of := c.recs[i], c.recs[first]; of.ID != b.ID {
			found.add(c.places[i], c.places[first], fmt.Sprintf("%q is the same measurement as %q of %s: keep one, or withdraw one", b.ID, of.ID, l.placeText(c.places[first])))
		}
	}
}

// figures are what a run printed.
type figures [7]float64

// copyDigits is how many digits of figures two runs do not have in common by chance. In the shipped dataset runs that
// share twelve are copies; those that share nine are of one file of weights under several names.
const copyDigits = 12

// figuresOf returns the figures of a benchmark. It is false for one that has too few digits to recognise it by.
func figuresOf(b *Benchmark) (f figures, clear bool) {
	n := 0
	for i, v := range [...]*float64{b.PromptTPS, b.GenerationTPS, b.TotalTPS, b.TTFTMs, b.TTFTP99Ms, b.TPOTMs, b.TPOTP99Ms} {
		f[i] = twoDecimals(v)
		n += digits(f[i])
	}
	return f, n >= copyDigits
}

// checkCopied asks for a look at measurements that have all figures of one of another thing: a source that copied
// a page for the next card, and forgot a part.
func (l *loader) checkCopied() {
	c, seen := &l.benchmarks, map[figures]int{}
	for i, b := range c.recs {
		if l.endedAt(i) {
			return
		}
		f, clear := figuresOf(b)
		if !clear || b.Withdrawn != nil {
			continue
		}
		first, again := seen[f]
		if !again {
			seen[f] = i
			continue
		}
		of := c.recs[first]
		if sameRun(of, b) {
			continue // a finding already
		}
		l.warning(c.places[i], "id", fmt.Sprintf("%q has all figures of %q of %s: look at both pages, and withdraw the one that is a copy", b.ID, of.ID, l.placeText(c.places[first])))
	}
}

// copies are benchmarks that are there before, by the file of either: a copied file has as many as lines.
type copies map[[2]int32][]copied

// copied is one of them, with its finding.
type copied struct {
	at   place
	text string
}

func (c copies) add(p, first place, text string) {
	files := [2]int32{p.file, first.file}
	c[files] = append(c[files], copied{p, text})
}

// report adds a finding for each, or a single one for all of two files where they are many.
func (c copies) report(l *loader) {
	for files, all := range c {
		if len(all) > fewRepeats && !l.each {
			all[0].text += fmt.Sprintf("; %s of this file repeat lines of %s: remove the copies", record.Counted(len(all)-1, "more line"), l.files[files[1]])
			all = all[:1]
		}
		for _, one := range all {
			l.at(one.at, "id", one.text)
		}
	}
}

// yearFile is the name of a file that has the benchmarks of one year. Other numbers are parts.
var yearFile = regexp.MustCompile(`^benchmarks/((?:19|20)[0-9]{2})\.ndjson$`)

// datesOf says what the name of a file of benchmarks says of the run dates in it: the year, or that
// there are none.
func datesOf(name string) (year string, undated bool) {
	if m := yearFile.FindStringSubmatch(name); m != nil {
		year = m[1]
	}
	return year, path.Base(name) == "undated.ndjson"
}

// A yearCheck holds benchmarks to the file of their year: a file that no longer changes can be cached and compared.
type yearCheck struct {
	*loader
	files []fileDates // by file
}

// fileDates is what the name of a file says of the run dates in it, see datesOf.
type fileDates struct {
	year    string
	undated bool
}

func (l *loader) newYearCheck() *yearCheck {
	y := &yearCheck{l, make([]fileDates, len(l.files))}
	for i, name := range l.files {
		y.files[i].year, y.files[i].undated = datesOf(name)
	}
	return y
}

func (y *yearCheck) check(b *Benchmark, p place) {
	file := y.files[p.file]
	if file.undated && b.RunDate != nil {
		y.at(p, "run_date", fmt.Sprintf("must be null in undated.ndjson, got %q", *b.RunDate))
	}
	switch {
	case file.year == "":
	case b.RunDate == nil:
		y.at(p, "run_date", "must not be null in the file of a year")
	case len(*b.RunDate) < 4 || string(*b.RunDate)[:4] != file.year:
		y.at(p, "run_date", fmt.Sprintf("must be in the year of the file, %s, got %q", file.year, *b.RunDate))
	}
}
