package charts

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"modeldex/snapshot/svg"
)

// evil is a name nobody should have: markup, quotes, control characters, a change of direction, and
// more letters than any drawing has room for.
var evil = `<script>alert("1")</script>&amp;'` + "\x00\x07\u202e\u2066\ufffe\n" + strings.Repeat("W界", 200)

// evilFigures are figures of hostile names and of numbers at the ends of what there is.
func evilFigures() map[string]*Figure {
	nan, inf := math.NaN(), math.Inf(1)
	evilOnes := func(as form) *Figure {
		f := &Figure{Title: evil, Summary: evil, Source: evil, Note: evil, Missing: evil}
		return f.drawn(as)
	}
	at := func(x, y float64) point {
		return point{x: x, y: y, class: "d0", label: evil, tip: evil}
	}
	run := func(tps float64) rowMark { return rowMark{at: tps, low: tps, high: tps, class: "d0", tip: evil} }
	both := axis{evil, true}
	return map[string]*Figure{
		"rows": evilOnes(&rows{axis: evil, rows: []row{
			{evil, []rowMark{run(1e-12), run(1e12), run(nan), run(-1), run(0), run(inf)}}, {evil, []rowMark{run(5)}}, {evil, nil},
		}}),
		"rows of several": evilOnes(&rows{axis: evil, series: []string{evil, evil, "c", "d"}, rows: []row{
			{evil, []rowMark{{at: 1, low: 1, high: 1, class: "d0", tip: evil}, {at: 4, low: 1e-9, high: 1e9, series: 3, class: "d3", tip: evil}}},
		}}),
		"rows of nothing": evilOnes(&rows{rows: []row{{evil, []rowMark{run(nan)}}}}),
		"scatter": evilOnes(&scatter{
			x: both, y: both, line: [][2]float64{{1e-6, 1e6}, {4, 100}},
			points: append(slices.Repeat([]point{at(3, 3)}, 40), at(1e-6, 1e6), at(nan, 1), at(0, 1), at(4, inf), at(4, 100)),
		}),
		"scatter by score": evilOnes(&scatter{
			x: both, y: axis{evil, false}, line: [][2]float64{{1e-9, 100}, {1e-9, 0}, {1e9, 0}},
			points: []point{at(1e-9, 100), at(1e9, 0), at(5, nan), at(5, 50)},
		}),
		"scatter of one point": evilOnes(&scatter{x: axis{evil, false}, y: axis{evil, false}, points: []point{at(2, 2)}}),
		"scatter of nothing":   evilOnes(&scatter{x: both, y: both, points: []point{at(nan, nan)}}),
	}
}

// forms are all forms of a figure.
func forms(f *Figure) map[string]string {
	out := map[string]string{"page": string(f.Inline("figure-1"))}
	for _, scheme := range []Scheme{Auto, Light, Dark} {
		for _, width := range []int{MinWidth, DefaultWidth, MaxWidth} {
			out[fmt.Sprintf("%s %d", scheme, width)] = string(f.SVG(scheme, width))
		}
	}
	return out
}

// harmless are the elements a figure may have.
var harmless = strings.Fields("div svg style title desc g text line circle rect polygon path a")

// TestHostile holds that every form of every figure is well formed, has no element that runs, loads
// or leaves, no style attribute, and no coordinate that is not a number.
func TestHostile(t *testing.T) {
	for name, f := range evilFigures() {
		for form, text := range forms(f) {
			if err := judge(text); err != nil {
				t.Errorf("%s, %s: %v in\n%.600s", name, form, err, text)
			}
		}
		if strings.HasSuffix(name, "nothing") != f.Empty() {
			t.Errorf("%s: empty is %t", name, f.Empty())
		}
	}
}

func judge(text string) error {
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		start, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if !strings.Contains(" "+strings.Join(harmless, " ")+" ", " "+start.Name.Local+" ") {
			return fmt.Errorf("an element %s", start.Name.Local)
		}
		for _, a := range start.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Value))
			switch {
			case a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src":
				return fmt.Errorf("an attribute %s", a.Name.Local)
			case a.Name.Local == "href" && strings.HasPrefix(value, "javascript:"):
				return fmt.Errorf("an address %s", a.Value)
			case strings.Contains(value, "nan") && start.Name.Local != "a", strings.Contains(value, "+inf"), strings.Contains(value, "url("):
				return fmt.Errorf("%s=%q of %s", a.Name.Local, a.Value, start.Name.Local)
			}
		}
	}
}

var textAt = regexp.MustCompile(`<text x="([-\d.]+)" y="([-\d.]+)"(?: text-anchor="(\w+)")?(?: class="([^"]*)")?>([^<]*)</text>`)

// TestLabelsApart holds that no label covers another or leaves the drawing, with hostile names too.
// Widths are those of the estimate, which is on the safe side for common fonts.
func TestLabelsApart(t *testing.T) {
	for name, f := range evilFigures() {
		for _, width := range []int{MinWidth, 360, DefaultWidth, MaxWidth} {
			d := &svg.Drawing{ID: "x"}
			f.drawInto(d, width, canvas{}) // without title and source, which are lines of their own
			if over := overlaps(t, d.String(), float64(width)); len(over) > 0 {
				t.Errorf("%s at %d: %q", name, width, over)
			}
		}
	}
}

// overlaps lists labels that cover others, or are outside.
func overlaps(t *testing.T, text string, width float64) (out []string) {
	t.Helper()
	type label struct {
		box
		text string
	}
	var seen []label
	for _, m := range textAt.FindAllStringSubmatch(text, -1) {
		x, errX := strconv.ParseFloat(m[1], 64)
		y, errY := strconv.ParseFloat(m[2], 64)
		if errX != nil || errY != nil {
			t.Fatal(m[0])
		}
		size := fontSize
		if strings.Contains(m[4], "small") {
			size = smallSize
		}
		w := svg.TextWidth(unescaped.Replace(m[5]), size)
		switch m[3] {
		case "end":
			x -= w
		case "middle":
			x -= w / 2
		}
		l := label{box{x + 1, y - size*0.6, x + w - 1, y}, m[5]}
		if l.left < -2 || l.right > width+2 {
			out = append(out, fmt.Sprintf("outside: %.0f to %.0f %.40s", l.left, l.right, m[5]))
		}
		for _, o := range seen {
			if l.meets(o.box) {
				out = append(out, fmt.Sprintf("%.40s / %.40s", l.text, o.text))
			}
		}
		seen = append(seen, l)
	}
	return out
}

// TestNamesOfHardwareStayApart holds that where names have little room, the words that tell them apart are shown: those of
// the maker go first.
func TestNamesOfHardwareStayApart(t *testing.T) {
	s := &scatter{x: axis{"Price", true}, y: axis{"Bandwidth", true}, points: []point{{x: 200, y: 360, label: "NVIDIA GeForce RTX 3060"}}}
	for i, name := range []string{"NVIDIA GeForce RTX 2060 SUPER", "AMD Radeon RX 6750 GRE 12GB", "AMD Radeon RX 9060 XT 16GB", "Intel Arc B580"} {
		s.points = append(s.points, point{x: 150 + 100*float64(i), y: 250 + 80*float64(i), label: name})
	}
	drawing := &svg.Drawing{ID: "x"}
	(&Figure{}).drawn(s).drawInto(drawing, DefaultWidth, canvas{})
	for _, label := range []string{"RTX 2060 SUPER", "RX 6750 GRE 12GB", "RX 9060 XT 16GB", "Arc B580"} {
		if !strings.Contains(drawing.String(), label+"</text>") {
			t.Errorf("the scatter does not show %q", label)
		}
	}
	for _, c := range []struct {
		name  string
		width float64
		want  string
	}{
		{"NVIDIA RTX A4000", 200, "NVIDIA RTX A4000"},
		{"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 260, "RTX PRO 6000 Blackwell Max-Q Wor…"},
		{"Apple M2 Ultra (GPU cores not stated)", 240, "M2 Ultra (GPU cores not stated)"},
		{"NVIDIA GeForce RTX 4060 Ti 16GB", 150, "RTX 4060 Ti 16GB"},
		{"NVIDIA GeForce RTX 4060 Ti 16GB", 190, "GeForce RTX 4060 Ti 16GB"},
	} {
		if got := clipName(c.name, fontSize, c.width); got != c.want {
			t.Errorf("clipName(%q, %v) = %q, want %q", c.name, c.width, got, c.want)
		}
	}
}

var unescaped = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "&#39;", "'", "&#34;", `"`)

// TestAccessibleName holds that every drawing has a title, a description and a role.
func TestAccessibleName(t *testing.T) {
	f := (&Figure{Title: "A model: its speeds", Summary: "1 run, from 5 to 5 tok/s.", Source: "a source"}).drawn(
		&rows{axis: "Generation speed (tok/s)", rows: []row{{"A card", []rowMark{{at: 5, low: 5, high: 5, class: "d0"}}}}})
	for _, text := range []string{string(f.Inline("x")), string(f.SVG(Auto, 400))} {
		for _, want := range []string{`role="img"`, ">A model: its speeds</title>", ">1 run, from 5 to 5 tok/s.</desc>", "Generation speed (tok/s)"} {
			if !strings.Contains(text, want) {
				t.Errorf("the drawing lacks %s:\n%s", want, text)
			}
		}
	}
	page := string(f.Inline("x"))
	for _, want := range []string{`id="x-w-t"`, `aria-labelledby="x-n-t x-n-d"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the figure lacks %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, "<style") || strings.Contains(page, "style=") {
		t.Error("the figure in a page has a style of its own")
	}
}

// TestClasses holds that the style sheet has a rule for each class that drawings use, and a width for each line.
func TestClasses(t *testing.T) {
	used := map[string]bool{}
	for _, f := range evilFigures() {
		for _, m := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(string(f.SVG(Auto, DefaultWidth)), -1) {
			for _, class := range strings.Fields(m[1]) {
				used[class] = true
			}
		}
	}
	if len(used) < 10 {
		t.Fatalf("drawings use %v", used)
	}
	for class := range used {
		if class != "plot" && !regexp.MustCompile(`\.plot \.`+class+`[,{]`).MatchString(plotCSS) {
			t.Errorf("no rule is for .%s", class)
		}
	}
	for series := range MostCompared {
		if !regexp.MustCompile(`\.` + lineClass(series) + `\b[^{}]*\{[^}]*stroke-width:`).MatchString(plotCSS) {
			t.Errorf("lines of series %d have no width", series)
		}
	}
}

func TestEmbed(t *testing.T) {
	f := &Figure{Title: "A [b] (c)", Address: "/charts/x.svg?model=a(b)", form: &scatter{}}
	e := f.Embed("https://modeldex.example")
	if want := "![A (b) (c)](https://modeldex.example/charts/x.svg?model=a%28b%29)"; e.Markdown != want {
		t.Errorf("Markdown = %s, want %s", e.Markdown, want)
	}
	if want := `<img src="https://modeldex.example/charts/x.svg?model=a%28b%29" alt="A [b] (c)" loading="lazy">`; e.HTML != want {
		t.Errorf("HTML = %s, want %s", e.HTML, want)
	}
	if got := (&Figure{Title: "x", Address: "/y"}).Embed(""); got != nil {
		t.Errorf("a figure without a drawing is embedded: %v", got)
	}
}

// TestSame holds that the same values give the same bytes.
func TestSame(t *testing.T) {
	first, second := evilFigures(), evilFigures()
	for name, f := range first {
		again := forms(second[name])
		for form, text := range forms(f) {
			if text != again[form] {
				t.Errorf("%s, %s: two drawings differ", name, form)
			}
		}
	}
}
