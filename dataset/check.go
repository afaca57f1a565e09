package dataset

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"modeldex/dataset/record"
)

type rule[T any] struct {
	id    string
	about string // in one sentence
	when  when
	check func(c *checker, rec T, p place)
}

// when says when a rule is applied: to every record where it is zero.
type when uint8

const (
	warned when = 1 << iota // where warnings are asked for: the rule has nothing else
	clean                   // to records without a fault of their own, because what cannot be read is zero
)

// A RuleInfo describes one rule of Check.
type RuleInfo struct {
	ID    string // as in Finding.Rule
	Table string // what it is checked of: models, hardware, tools, benchmarks, quantizations or dataset
	About string // in one sentence
}

// Rules lists the rules that Check applies beyond those of single fields, which the schemas have.
func Rules() (out []RuleInfo) {
	out = append(out, describeRules(quantizationsTable, typeRules)...)
	out = append(out, describeRules(modelsDir, modelRules)...)
	out = append(out, describeRules(hardwareDir, hardwareRules)...)
	out = append(out, describeRules(toolsDir, toolRules)...)
	out = append(out, describeRules(qualityDir, qualityRules)...)
	out = append(out, describeRules(benchmarksDir, runRules)...)
	out = append(out, describeRules(benchmarksDir, allRunsRules)...)
	return append(out, describeRules("dataset", datasetRules)...)
}

const quantizationsTable = "quantizations"

func describeRules[T any](table string, rules []rule[T]) (out []RuleInfo) {
	for _, r := range rules {
		out = append(out, RuleInfo{r.id, table, r.about})
	}
	return out
}

type all struct{}

type checker struct {
	*source
	ctx   context.Context // of this one load: once it has ended, the findings mean nothing
	opt   Options
	now   time.Time
	today string // of now, as YYYY-MM-DD
	warn  bool   // look for warnings too
	each  bool   // every line gets its own finding, also where many have the same fault

	modelSlugs, hardwareSlugs, toolSlugs *registry
	keys                                 *registry // of sources.json
	line                                 *Roofline
	typeNames                            map[string]string  // of storage types, by typeLetters
	typeBits                             map[string]float64 // average bits per weight, by storage type
	skipping                             map[Slug]bool      // families with a model in which some layers have no cache
	runs                                 map[Slug]int       // benchmarks by model
	types                                map[string]place   // names of storage types
	toolBackends                         []string           // that any tool has, sorted
	qualityIDs                           map[Slug]place

	rule    string // that is applied
	pending []pendingFinding
	causes  map[any]*cause // of findings that are not pending yet, see because
	named   map[place]int  // measurements that name a model or hardware; nil before it is asked for
}

func newChecker(ctx context.Context, src *source, opt Options) *checker {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	c := &checker{source: src, ctx: ctx, opt: opt, now: opt.Now(), causes: map[any]*cause{}}
	c.today = c.now.UTC().Format(time.DateOnly)
	return c
}

func (c *checker) judge() (Findings, error) {
	if len(c.findings) <= maxFindings { // else references to what was not read would seem wrong
		c.check()
	}
	return c.placed().withoutEchoes(), c.ctx.Err() // what was cut short would seem to have faults, or none
}

func (c *checker) check() {
	c.index()
	apply(c, &c.quantizations, typeRules)
	apply(c, &c.models, modelRules)
	apply(c, &c.hardware, hardwareRules)
	apply(c, &c.tools, toolRules)
	apply(c, &c.quality, qualityRules)
	c.checkBenchmarks()
	c.report()
	c.applyAll(datasetRules)
}

func apply[T any](c *checker, t *table[T], rules []rule[*T]) {
	t.all(func(rec *T, p place) { applyTo(c, rules, rec, p) })
	c.rule = ""
}

func applyTo[T any](c *checker, rules []rule[T], rec T, p place) {
	faulty := c.anyFaulty(p)
	for i := range rules {
		r := &rules[i]
		if r.when&warned != 0 && !c.warn || r.when&clean != 0 && faulty {
			continue
		}
		c.rule = r.id
		r.check(c, rec, p)
	}
}

func (c *checker) applyAll(rules []rule[all]) { applyTo(c, rules, all{}, place{file: -1}); c.rule = "" }

// A pendingFinding is a finding of a rule whose column is looked up later: the text of its record is not in memory.
type pendingFinding struct {
	at       place
	field    string
	text     string
	severity Severity
	rule     string
}

// at adds a fault of a field, unless the field, or one that it was judged by, has a fault of its own.
func (c *checker) at(p place, field, text string, by ...string) {
	c.add(p, field, text, Fault, by)
}

// warning adds a warning of a field if Check was asked for them, unless a fault explains it.
func (c *checker) warning(p place, field, text string, by ...string) {
	if c.warn {
		c.add(p, field, text, Warning, by)
	}
}

func (c *checker) add(p place, field, text string, severity Severity, by []string) {
	if len(c.pending) <= maxFindings && !c.doubtful(p, field, by...) {
		c.pending = append(c.pending, pendingFinding{p, field, text, severity, c.rule})
	}
}

func (c *checker) doubtful(p place, field string, by ...string) bool {
	return len(c.faulty) > 0 && slices.ContainsFunc(append(by, field), func(name string) bool {
		return name != "" && c.faulty[member{p, name}]
	})
}

var datasetRules = []rule[all]{
	{"dataset-info", "dataset.json contains one object, with a release date that is not in the future.", 0, checkInfo},
	{"model-kin", "A model does not predate its base model and has the same licence; no two models of different shapes have exactly the same size.", warned, checkAgainstBaseModel},
	{"licence-spelling", "Licences are spelled as SPDX ids.", warned, checkLicenses},
	{"hardware-silicon", "A processor is consistent with its integrated GPU, a machine with its chips, and a record with its variants.", warned, checkSilicon},
	{"model-account", "Models from the same account on the Hub have the same organization.", warned, checkAccounts},
	{"copied-field", "A repository, address or PCI id belongs to one record only.", warned, checkOwn},
	{"fp16-siblings", "All hardware of the same architecture has about the same ratio of FP16 to FP32.", warned, checkFP16Siblings},
	{"names-text", "A name does not start like a spreadsheet formula and contains no markup.", warned, checkNameTexts},
	{"hardware-memory", "A card has at most twice the memory of other cards of its architecture.", warned, checkCardMemory},
	{"hardware-price", "A price is less than thirty times that of similar hardware.", warned, checkPeerPrices},
	{"model-context", "The context length is close to that of models of the same shape.", warned, checkContexts},
	{"model-twins", "Models of one family do not differ in just one field of their architecture or cache.", warned, checkTwins},
	{"tool-words", "Tools use the same words for the same thing.", 0, checkToolWords},
	{"credits", "sources.json lists every page that records cite, and no others.", 0, checkCredits},
	{"changes", "Releases are in order, and every recorded change has an effect.", 0, checkChanges},
	{"lost-record", "A record from a past release still exists, or its removal is recorded; benchmarks are never removed.", 0, checkKept},
}

func checkInfo(c *checker, _ all, _ place) {
	switch n := len(c.info.recs); {
	case n > 1:
		c.at(c.info.places[1], "", "the file must contain one object")
	case n == 1:
		c.date(c.info.places[0], "released", &c.info.recs[0].Released)
	case len(c.info.lost) == 0 && c.hasFile(infoFile):
		c.findings = append(c.findings, Finding{Path: infoFile, Text: "the file must contain one object, got none"})
	}
}

func (c *checker) hasFile(name string) bool {
	return slices.ContainsFunc(c.files, func(f *file) bool { return f.name == name })
}

// This file is where findings become few: many that follow from one mistake are one finding, and each gets its column.

// fewRepeats is how many findings may have one and the same cause and be reported one by one.
const fewRepeats = 3

// A cause is what findings have in common: a name that many lines refer to, a figure, a file that was copied.
type cause struct {
	found []pendingFinding
	few   func() string // ends the text of each of a few findings; may be nil
	// many makes one finding of more than fewRepeats. It returns false if each is reported.
	many func(found []pendingFinding) (pendingFinding, bool)
}

// because notes a finding whose cause, which the key identifies, others may share, unless a fault of the field explains
// it.
func (c *checker) because(key any, f pendingFinding, few func() string, many func([]pendingFinding) (pendingFinding, bool)) {
	if c.doubtful(f.at, f.field) {
		return
	}
	if c.causes[key] == nil {
		c.causes[key] = &cause{few: few, many: many}
	}
	f.rule = c.rule
	c.causes[key].found = append(c.causes[key].found, f)
}

func (c *checker) report() {
	for _, cause := range c.causes {
		found := cause.found
		switch {
		case len(found) > fewRepeats && !c.each:
			slices.SortStableFunc(found, func(a, b pendingFinding) int {
				return cmp.Or(cmp.Compare(a.at.file, b.at.file), cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.col, b.at.col))
			})
			if one, ok := cause.many(found); ok {
				found = []pendingFinding{one}
			}
		case cause.few != nil:
			text := cause.few()
			for i := range found {
				found[i].text += text
			}
		}
		for _, f := range found {
			c.rule = f.rule
			c.add(f.at, f.field, f.text, f.severity, nil)
		}
	}
}

func (c *checker) placed() Findings {
	out := slices.Clone(c.findings)
	byFile := map[int32]map[place][]pendingFinding{} // file -> record -> findings
	for _, f := range c.pending[:min(len(c.pending), max(0, maxFindings+1-len(out)))] {
		if byFile[f.at.file] == nil {
			byFile[f.at.file] = map[place][]pendingFinding{}
		}
		byFile[f.at.file][f.at] = append(byFile[f.at.file][f.at], f)
	}
	for number, records := range byFile {
		out = append(out, c.files[number].placed(c, records)...)
	}
	if len(out) > maxFindings {
		last := out[maxFindings]
		out = append(out[:maxFindings], Finding{Path: last.Path, Line: last.Line, Text: fmt.Sprintf("more than %d findings: the rest was not checked", maxFindings)})
	}
	out.sort()
	return out
}

func (f *file) placed(c *checker, records map[place][]pendingFinding) (out Findings) {
	if in, err := c.open(c.ctx, f.name); err == nil {
		defer in.Close()
		_, _ = f.scan(in, func(at place, text []byte) {
			for _, found := range records[at] {
				offset := record.Locate(text[at.col:], found.field)
				placed := f.finding(at, text, record.Problem{Offset: offset, Field: found.field, Text: found.text})
				placed.Severity, placed.Rule, placed.Record = found.severity, found.rule, f.slugOf(text[at.col:])
				out = append(out, placed)
			}
			delete(records, at)
		})
	}
	for at, fs := range records { // the file has changed since: no column
		for _, found := range fs {
			out = append(out, Finding{Path: f.name, Line: int(at.line), Field: found.field, Text: found.text, Severity: found.severity, Rule: found.rule})
		}
	}
	return out
}

// withoutEchoes keeps the first of many broken lines in a row, such as one record over several lines.
func (fs Findings) withoutEchoes() Findings {
	out := fs[:0:0]
	inRun := func(f Finding) bool {
		return f.broken && path.Ext(f.Path) == ".ndjson" && !strings.HasPrefix(f.Text, record.Conflict)
	}
	for i := 0; i < len(fs); i++ {
		f, first := fs[i], i
		for inRun(f) && i+1 < len(fs) && inRun(fs[i+1]) && fs[i+1].Path == f.Path && fs[i+1].Line <= fs[i].Line+1 {
			i++
		}
		if lines := fs[i].Line - f.Line; lines > fewRepeats {
			f.Text += fmt.Sprintf("; %s up to line %d: a record must be on one line", record.Counted(lines, "more line"), fs[i].Line)
		} else {
			i = first
		}
		out = append(out, f)
	}
	return out
}
