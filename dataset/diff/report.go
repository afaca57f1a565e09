package diff

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"modeldex/dataset/record"
)

// Forms lists the forms Changes.Report knows: lines for people, JSON for programs, and
// Markdown for a comment on a pull request.
var Forms = []string{"text", "json", "markdown"}

// Report writes the changes in one of Forms.
//
//   - text: a line per record, marked + added, ~ changed, x withdrawn or - removed, and below it a
//     line a field; last the numbers of each.
//   - json: the object of Changes.
//   - markdown: as text, of at most 60,000 bytes, for comments on GitHub end at 65,536; what does
//     not fit is counted.
func (c *Changes) Report(w io.Writer, form string) error {
	var b bytes.Buffer
	switch form {
	case "text":
		c.text(&b)
	case "json":
		line, err := record.Line(c)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	case "markdown":
		c.markdown(&b)
	default:
		return fmt.Errorf("diff form: must be one of %s, got %q", strings.Join(Forms, ", "), form)
	}
	_, err := b.WriteTo(w)
	return err
}

var actMarks = map[record.Act]byte{record.Added: '+', record.Changed: '~', record.Withdrawn: 'x', record.Removed: '-'}

func (c *Changes) text(b *bytes.Buffer) {
	for i := range c.Records {
		r := &c.Records[i]
		fmt.Fprintf(b, "%c %s/%s\n", actMarks[r.Change], r.Table, r.Slug)
		for _, f := range r.Fields {
			fmt.Fprintf(b, "    %s: %s -> %s\n", f.Field, f.Old, f.New)
		}
	}
	b.WriteString(c.Summary() + "\n")
}

// Summary counts the records of each act, in a line: "2 added, 1 removed", or "no changes".
func (c *Changes) Summary() string {
	count := map[record.Act]int{}
	for i := range c.Records {
		count[c.Records[i].Change]++
	}
	var parts []string
	for _, act := range record.Acts {
		if n := count[act]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, act))
		}
	}
	if parts == nil {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

// mostMarkdown is how much of a comment the records may take, in bytes.
const mostMarkdown = 60_000

func (c *Changes) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "### Dataset %s: %s\n", codeSpan(c.New.Version), c.Summary())
	table, left := "", len(c.Records)
	for i := range c.Records {
		part := c.Records[i].markdown()
		if c.Records[i].Table != table {
			table = c.Records[i].Table
			part = fmt.Sprintf("\n**%s**\n\n", table) + part
		}
		if b.Len()+len(part) > mostMarkdown {
			break
		}
		b.WriteString(part)
		left--
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%d more %s left out here.\n", left, record.Noun(left, "record is", "records are"))
	}
}

func (r *RecordChange) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %s\n", r.Change, codeSpan(r.Slug))
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "  - %s: %s → %s\n", codeSpan(f.Field), codeSpan(shorten(f.Old)), codeSpan(shorten(f.New)))
	}
	return b.String()
}

func shorten(v []byte) string { return record.Clip(string(v), 200) }

// plain keeps what GitHub would read as markup, links or mentions from being read so.
var plain = func() *strings.Replacer {
	pairs := []string{"\n", " "}
	for _, c := range "&<>`@#*_[]\\|~:" {
		pairs = append(pairs, string(c), fmt.Sprintf("&#%d;", c))
	}
	return strings.NewReplacer(pairs...)
}()

func codeSpan(text string) string { return "<code>" + plain.Replace(text) + "</code>" }
