package dataset

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"modeldex/dataset/ndjson"
	"modeldex/dataset/record"
)

// This file is where findings become few: many that follow from one mistake are one finding, and each gets its column.

// fewRepeats is how many findings may have one and the same cause and be reported one by one.
const fewRepeats = 3

// A cause is what findings may have in common: a name that many lines refer to, a figure that many speeds are judged by,
// a file that was copied.
type cause struct {
	found []pendingFinding
	few   func() string // ends the text of each of a few findings; may be nil
	// many makes one finding of more than fewRepeats. It returns false where each is reported.
	many func(found []pendingFinding) (pendingFinding, bool)
}

// because notes a finding that may have its cause, which the key identifies, in common with others, unless one of the
// field explains it.
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

// report adds the findings that were noted, one for those of which many have one cause.
func (c *checker) report() {
	for _, cause := range c.causes {
		found := cause.found
		switch {
		case len(found) > fewRepeats && !c.each:
			slices.SortStableFunc(found, func(a, b pendingFinding) int { return comparePlaces(a.at, b.at) })
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

// placed looks up the columns of all findings of rules, and returns them with the others in order of place. It reads
// each file with findings once more.
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
		out = append(out[:maxFindings], Finding{Path: last.Path, Line: last.Line, Text: fmt.Sprintf("there are more than %d findings: what follows was not checked", maxFindings)})
	}
	out.sort()
	return out
}

// placed returns findings about the records of a file with their columns.
func (f *file) placed(c *checker, records map[place][]pendingFinding) (out Findings) {
	_ = f.eachRecord(c.ctx, c, func(at place, text []byte) {
		for _, found := range records[at] {
			offset := record.Locate(text[at.col:], found.field)
			placed := f.finding(at, text, record.Problem{Offset: offset, Field: found.field, Text: found.text})
			placed.Severity, placed.Rule, placed.Record = found.severity, found.rule, f.slugOf(text[at.col:])
			out = append(out, placed)
		}
		delete(records, at)
	})
	for at, fs := range records { // the file has changed since: no column
		for _, found := range fs {
			out = append(out, Finding{Path: f.name, Line: int(at.line), Field: found.field, Text: found.text, Severity: found.severity, Rule: found.rule})
		}
	}
	return out
}

func (f *file) eachRecord(ctx context.Context, c *checker, visit func(at place, text []byte)) error {
	in, err := c.open(ctx, f.name)
	if err != nil {
		return err
	}
	defer in.Close()
	if path.Ext(f.name) == ".ndjson" {
		return ndjson.Each(in, func(line int, text []byte) error {
			visit(place{file: f.number, line: int32(line)}, text)
			return nil
		})
	}
	b, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	b = []byte(strings.TrimPrefix(string(b), string(ndjson.ByteOrderMark)))
	spans, _, _ := record.Split(b)
	f.walk(b, spans, visit)
	return nil
}

// withoutEchoes leaves out findings that only follow from another; they come in order of place. Such are those
// between the marks of a merge conflict. Of many lines in a row that are no records, such as one record over
// several lines, the first finding stays.
func (fs Findings) withoutEchoes() Findings {
	if !slices.ContainsFunc(fs, func(f Finding) bool { return f.broken }) {
		return fs
	}
	out, inConflict := fs[:0:0], "" // path of the file
	for i := 0; i < len(fs); i++ {
		f := fs[i]
		if inConflict != f.Path {
			inConflict = ""
		}
		switch {
		case strings.HasPrefix(f.Text, record.Conflict):
			if mark := strings.TrimPrefix(f.Text, record.Conflict); strings.HasPrefix(mark, ">") {
				inConflict = ""
			} else {
				inConflict = f.Path
			}
		case inConflict != "":
			continue
		case f.broken && path.Ext(f.Path) == ".ndjson":
			last := fs.brokenRun(i)
			if lines := fs[last].Line - f.Line; lines > fewRepeats {
				f.Text += fmt.Sprintf("; %s up to line %d have no record: a record is one line", record.Counted(lines, "more line"), fs[last].Line)
				i = last
			}
		}
		out = append(out, f)
	}
	return out
}

// brokenRun is the last finding of the lines in a row that are no records, from the one at i on.
func (fs Findings) brokenRun(i int) int {
	for i+1 < len(fs) && fs[i+1].broken && fs[i+1].Path == fs[i].Path && fs[i+1].Line <= fs[i].Line+1 && !strings.HasPrefix(fs[i+1].Text, record.Conflict) {
		i++
	}
	return i
}
