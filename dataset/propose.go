package dataset

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"modeldex/dataset/record"
)

// proposedFile is the name that findings about proposed lines have as their path. It is the name of
// no year, so that a line of any year may be in it.
const proposedFile = benchmarksDir + "/proposed.ndjson"

// Propose checks benchmark lines by the rules of Check, as if they were a further file of the
// dataset that set was read from. It returns the faults and warnings about these lines in order
// of place, each with proposedFile as its path and the number of the line.
//
// The lines are compared with the benchmarks of the set that a rule could compare them with: those of the same hardware
// and tool, those with their figures, and those with their ids. The cost is one look at every benchmark of the set and
// a check of those. opt.Now is the clock and opt.Review a further rule; the other options are not used. The set is not
// changed. Safe for concurrent use.
func Propose(set *Set, lines []byte, opt Options) (Findings, error) {
	if set.source == nil {
		return nil, errNoFiles
	}
	own := &file{name: proposedFile, number: int32(len(set.source.files)), shared: record.NewSharer()}
	if err := own.decode(bytes.NewReader(lines)); err != nil && !errors.Is(err, errTooMany) {
		own.readFailed(err)
	}
	src := &source{
		tables: set.source.tables, text: lines, files: append(slices.Clip(set.source.files), own),
		findings: own.findings, faulty: map[member]bool{},
	}
	for _, m := range own.faulty {
		src.faulty[m] = true
	}
	src.benchmarks = alike(&set.source.benchmarks, own.records.benchmarks.recs)
	src.benchmarks.append(&own.records.benchmarks)
	c := newChecker(context.Background(), src, opt)
	c.warn, c.each = true, true
	c.index()
	c.checkBenchmarks()
	c.report()
	c.pending = slices.DeleteFunc(c.pending, func(f pendingFinding) bool { return f.at.file != own.number })
	return c.placed(), nil
}

// alike are the benchmarks that a rule could compare proposed ones with: see groupOf, settingOf
// and measurementOf, which all have hardware and tool in them, and figuresOf, which has neither.
func alike(all *table[Benchmark], proposed []*Benchmark) (out table[Benchmark]) {
	type machine struct{ hardware, tool Slug }
	machines, ids, printed := map[machine]bool{}, map[Slug]bool{}, map[figures]bool{}
	for _, b := range proposed {
		machines[machine{b.Hardware, b.Tool}], ids[b.ID] = true, true
		if f, clear := figuresOf(b); clear {
			printed[f] = true
		}
	}
	for i, b := range all.recs {
		f, clear := figuresOf(b)
		if machines[machine{b.Hardware, b.Tool}] || ids[b.ID] || clear && printed[f] {
			out.add(b, all.places[i])
		}
	}
	return out
}
