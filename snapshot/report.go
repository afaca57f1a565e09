package snapshot

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

type name struct {
	Source SourceID
	Raw    string
}

// Report says what a build did with its inputs. All lists are sorted.
type Report struct {
	Hash        string
	Bytes       int
	Models      int
	Scores      int
	BySources   [4]int // models by number of sources with scores
	Confidence  ConfidenceCounts
	InDirectory []string       // slugs of the directory that became model keys
	Unmatched   []name         // in no table and by no rule: models of their own under their slug form
	ByRule      []name         // not in the alias table, joined by their normal form or the directory
	Contested   []string       // slugs of the directory that more than one model wanted, and names that mean several
	NotChosen   []name         // a second name of a model in one source; only named in the document
	Dropped     []name         // names without a letter or digit
	Skipped     map[string]int // "source_a: why" -> rows not taken
}

func (r *Report) fill(doc *Document, out []byte) {
	r.Hash, r.Bytes = doc.OutputHash, len(out)
	r.Models, r.Scores = int(doc.Meta.ModelCount), int(doc.Meta.ScoreCount)
	r.Confidence = doc.Meta.ConfidenceCounts
	for i := range doc.Models {
		r.BySources[len(doc.Models[i].SourceIDs)]++
	}
	for _, names := range [][]name{r.Unmatched, r.ByRule, r.NotChosen, r.Dropped} {
		slices.SortFunc(names, func(a, b name) int {
			return cmp.Or(strings.Compare(string(a.Source), string(b.Source)), strings.Compare(a.Raw, b.Raw))
		})
	}
	r.Unmatched, r.ByRule, r.Dropped = slices.Compact(r.Unmatched), slices.Compact(r.ByRule), slices.Compact(r.Dropped)
}

func (r *Report) skip(id SourceID, why string) {
	if r.Skipped == nil {
		r.Skipped = map[string]int{}
	}
	r.Skipped[string(id)+": "+why]++
}

// WriteTo prints the report for a maintainer. The bytes are the same for the same inputs.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "snapshot %s: %d bytes\n", r.Hash, r.Bytes)
	fmt.Fprintf(&b, "models: %d, of them with 1, 2, 3 sources: %d, %d, %d\n", r.Models, r.BySources[1], r.BySources[2], r.BySources[3])
	fmt.Fprintf(&b, "scores: %d\n", r.Scores)
	fmt.Fprintf(&b, "confidence: high %d, moderate %d, low %d\n", r.Confidence.High, r.Confidence.Moderate, r.Confidence.Low)
	fmt.Fprintf(&b, "in the directory: %d\n", len(r.InDirectory))
	for _, k := range slices.Sorted(maps.Keys(r.Skipped)) {
		fmt.Fprintf(&b, "rows skipped: %s: %d\n", k, r.Skipped[k])
	}
	section(&b, "matched by rule, not by the alias table", r.ByRule)
	section(&b, "second name of a model, not used", r.NotChosen)
	section(&b, "without a usable name, left out", r.Dropped)
	if len(r.Contested) > 0 {
		fmt.Fprintf(&b, "contested names: %d\n  %s\n", len(r.Contested), strings.Join(r.Contested, "\n  "))
	}
	section(&b, "unmatched (kept as models of their own)", r.Unmatched)
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func section(b *strings.Builder, title string, names []name) {
	fmt.Fprintf(b, "%s: %d\n", title, len(names))
	for _, n := range names {
		fmt.Fprintf(b, "  %s %s\n", n.Source, n.Raw)
	}
}
