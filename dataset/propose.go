package dataset

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"modeldex/dataset/record"
)

// ProposedFile is the name that findings about proposed lines have as their path. It is the name of
// no year, so that a line of any year may be in it.
const ProposedFile = benchmarksDir + "/proposed.ndjson"

// ErrNoFiles is returned by Propose for a set that no load made.
var ErrNoFiles = errors.New("the set was not read from files")

// Propose checks benchmark lines by the rules of Check, as if they were a further file of the
// dataset that set was read from. It returns the faults and warnings about these lines in order
// of place, each with ProposedFile as its path and the number of the line.
//
// The lines are compared with the benchmarks of the set that a rule could compare them with: those
// of the same hardware and tool, those with their figures, and those with their ids. The cost is one look at every benchmark
// of the set and a check of those. opt.Now is the clock and opt.Review a further rule; the other options
// are not used. The set is
// not changed. Safe for concurrent use.
func Propose(set *Set, lines []byte, opt Options) (Findings, error) {
	k := set.previous
	if k == nil {
		return nil, ErrNoFiles
	}
	l := newLoader(context.Background(), nil, Options{Workers: 1, Now: opt.Now, Review: opt.Review})
	l.warn, l.each = true, true
	for _, f := range k.files {
		l.files, l.single = append(l.files, f.name), append(l.single, f.single)
	}
	l.files, l.single = append(l.files, ProposedFile), append(l.single, false)
	own := len(l.files) - 1

	var proposed collector[Benchmark]
	decodeLines(l, proposed.put, record.Decode[Benchmark], own, 1, lines)
	proposed.close()
	l.origins.put(k.origins.chunk())
	l.quantizations.put(k.quantizations.chunk())
	l.models.put(k.models.chunk())
	l.hardware.put(k.hardware.chunk())
	l.tools.put(k.tools.chunk())
	l.benchmarks.put(alike(&k.benchmarks, proposed.recs))
	l.benchmarks.put(chunk[Benchmark]{at: place{file: int32(own)}, recs: proposed.recs, places: proposed.places, undecodable: proposed.undecodable})
	l.closeCollectors()

	l.checkRuns(
		register(l, &l.models, "model", modelNames),
		register(l, &l.hardware, "hardware", hardwareNames),
		register(l, &l.tools, "tool", toolNames),
		l.checkOrigins(),
	)
	l.checkUnlikely()
	l.pending = slices.DeleteFunc(l.pending, func(f pendingFinding) bool { return int(f.at.file) != own })
	l.placeLines(own, lines)
	l.findings.sort()
	return l.findings, nil
}

// chunk is all records of a kind. It shares their memory.
func (p *previous[T]) chunk() chunk[T] { return chunk[T]{recs: p.recs, places: p.places} }

// alike are the benchmarks that a rule could compare proposed ones with: see groupOf, settingOf
// and measurementOf, which all have hardware and tool in them, and figuresOf, which has neither.
func alike(all *previous[Benchmark], proposed []*Benchmark) (out chunk[Benchmark]) {
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
			out.recs, out.places = append(out.recs, b), append(out.places, all.places[i])
		}
	}
	return out
}

// placeLines adds the pending findings, which are all about the lines of one file.
func (l *loader) placeLines(file int, lines []byte) {
	records := map[place][]pendingFinding{}
	for _, f := range l.pending {
		records[f.at] = append(records[f.at], f)
	}
	l.pending = nil
	l.placeIn(int32(file), bytes.NewReader(lines), records)
}
