package dataset

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestPlaces checks line and column in the forms a text archive cannot show: line ends, marks,
// missing ends, long lines.
func TestPlaces(t *testing.T) {
	const good = `{"slug": "t%d", "name": "Tool %d", "category": "runner", "description": "Does things."}`
	line := func(n int) string { return fmt.Sprintf(good, n, n) }
	bad := strings.Replace(line(9), `"runner"`, `"x"`, 1) // the value is in column 46
	const text = `category: must be one of runner, gui, server, orchestrator, finetuner, quantizer, agent, ide, got "x"`
	pretty := strings.NewReplacer(", ", ",\n  ", "{", "{\n  ", "}", "\n}").Replace(bad)
	for _, tt := range []struct {
		name, file, data string
		want             []string
	}{
		{"unix lines", "tools/a.ndjson", line(1) + "\n" + bad + "\n", []string{"2:46: " + text}},
		{"dos lines", "tools/a.ndjson", line(1) + "\r\n" + bad + "\r\n" + line(2) + "\r\n", []string{"2:46: " + text}},
		{"no end of line", "tools/a.ndjson", line(1) + "\n" + bad, []string{"2:46: " + text}},
		{"blank lines", "tools/a.ndjson", "\n \r\n" + line(1) + "\n\n" + bad + "\n\n", []string{"5:46: " + text}},
		{"blanks before", "tools/a.ndjson", "\t  " + bad + "  \n", []string{"1:49: " + text}},
		{"mark", "tools/a.ndjson", "\ufeff" + bad + "\n" + line(1), []string{"1:1: must not begin with a byte order mark", "1:46: " + text}},
		{"mark in .json", "tools/t9.json", "\ufeff" + bad, []string{"1:1: must not begin with a byte order mark", "1:46: " + text}},
		{"mark on the second line", "tools/a.ndjson", line(1) + "\n\ufeff" + line(2), []string{"2:1: not JSON: invalid character '\\ufeff' at start of value"}},
		{"one object", "tools/t9.json", bad, []string{"1:46: " + text}},
		{"one object on lines", "tools/t9.json", pretty, []string{"4:15: " + text}},
		{"one object on dos lines", "tools/t9.json", strings.ReplaceAll(pretty, "\n", "\r\n"), []string{"4:15: " + text}},
		{"object after blank lines", "tools/t9.json", "\n\n  " + bad + "\n", []string{"3:48: " + text}},
		{"list on one line", "tools/a.json", "[" + line(1) + ", " + bad + "]", []string{fmt.Sprintf("1:%d: ", len(line(1))+3+46) + text}},
		{"list on lines", "tools/a.json", "[\n" + line(1) + ",\n  " + bad + "\n]\n", []string{"3:48: " + text}},
		{"list of objects on lines", "tools/a.json", "[" + line(1) + ",\n" + pretty + "]", []string{"5:15: " + text}},
		{"wide characters before", "tools/a.ndjson", strings.Replace(bad, "Tool 9", "Töööl 🏃🏃", 1), []string{"1:48: " + text}},
		{"invalid utf-8", "tools/a.ndjson", strings.Replace(line(1), "Tool", "T\xffol", 1), []string{"1:26: name: not JSON: invalid UTF-8; the file must be in UTF-8"}},
		{"control character", "tools/a.ndjson", strings.Replace(line(1), "Tool", "T\x00ol", 1), []string{"1:26: name: not JSON: invalid character '\\x00' in string (expecting non-control character)"}},
		{"long line", "tools/a.ndjson", line(1) + "\n" + strings.Replace(bad, "Tool 9", strings.Repeat("n", 1_000_000), 1) + "\n" + bad, []string{"2:1000040: " + text, "3:10: slug: \"t9\" is a duplicate of tools/a.ndjson:2", "3:46: " + text}},
		{"line too long", "tools/a.ndjson", line(1) + "\n" + strings.Repeat("n", 1<<20+1) + "\n" + bad, []string{"2: the line has more than 1 MiB"}},
		{"list and clash on one line", "tools/a.json", "[" + line(1) + "," + line(1) + "]", []string{fmt.Sprintf("1:%d: slug: \"t1\" is a duplicate of tools/a.json:1", len(line(1))+2+10)}},
		{"deep nesting", "tools/a.ndjson", strings.Repeat("[", 100_000), []string{"1:10001: not JSON: exceeded max depth"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := ""
			for _, w := range tt.want {
				want += tt.file + ":" + w + "\n"
			}
			fsys, _ := fixtureFS(&txtar.Archive{})
			fsys[tt.file] = &fstest.MapFile{Data: []byte(tt.data)}
			if got := findingsOf(t, fsys, Options{}); got != want {
				t.Fatalf("findings\n%s\nwant\n%s", got, want)
			}
		})
	}
}
