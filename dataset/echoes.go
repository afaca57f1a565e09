package dataset

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"modeldex/dataset/record"
)

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
