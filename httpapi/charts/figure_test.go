package charts

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
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
	run := func(tps float64) Run {
		return Run{ID: evil, TPS: tps, Quantization: evil, Settings: evil, Source: "javascript:" + evil}
	}
	priced := func(price, bandwidth, memory float64) Priced {
		return Priced{Name: evil, Href: "javascript:alert(1)", PriceUSD: price, PriceKind: evil, PriceHref: "javascript:alert(2)", BandwidthGBps: bandwidth, MemoryGB: memory}
	}
	fitModels := []FitModel{
		{Name: evil, Score: 100, Quantization: evil, TPS: nan},
		{Name: evil, Score: 0, Quantization: evil, TPS: inf, Measured: true},
		{Name: evil, Score: nan, TPS: 3},
		{Name: evil, Score: 50, TPS: 1e-9, Measured: true},
		{Name: evil, Score: 50, TPS: 1e9, Measured: true},
		{Name: evil, Score: 50, TPS: 0},
	}
	return map[string]*Figure{
		"memory": Memory(MemoryData{Model: evil, Source: evil, Lines: []MemoryLine{
			{Name: evil, Points: []MemoryPoint{{Context: 1024, Weights: 1}, {Context: 1 << 24, Weights: 1 << 60, Cache: 1 << 50, UpperBound: true}}}, {Name: evil}, {Name: "x", Points: []MemoryPoint{{Context: 7, Weights: 1 << 30}}},
		}}),
		"memory of one point": Memory(MemoryData{Model: evil, Lines: []MemoryLine{{Name: evil, Points: []MemoryPoint{{Context: 512, Weights: 1 << 31}}}}}),
		"memory of nothing":   Memory(MemoryData{Model: evil}),
		"sizes":               Sizes(SizesData{Model: evil, Sizes: []Size{{Name: evil, Bytes: 1, BitsPerWeight: nan, Href: "javascript:1"}, {Name: evil, Bytes: math.MaxInt64}, {Name: evil, Bytes: -5}}}),
		"sizes of nothing":    Sizes(SizesData{Model: evil}),
		"speeds": Speeds(SpeedsData{Title: evil, Group: evil, Main: evil, Rows: []SpeedRow{
			{Name: evil, Href: evil, Runs: []Run{run(1e-12), run(1e12), run(nan), run(-1), run(0), run(inf)}}, {Name: evil, Runs: []Run{run(5)}}, {Name: evil},
		}}),
		"speeds of nothing": Speeds(SpeedsData{Title: evil, Rows: []SpeedRow{{Name: evil, Runs: []Run{run(nan)}}}}),
		"roof": Roof(RoofData{Hardware: evil, BandwidthGBps: 1008, Runs: []RoofRun{
			{Run: run(100), Model: evil, GBytesPerToken: 4, BandwidthShare: 0.4}, {Run: run(1e6), Model: evil, GBytesPerToken: 1e-6, BandwidthShare: 3}, {Run: run(nan), GBytesPerToken: nan},
		}}),
		"roof without bandwidth":        Roof(RoofData{Hardware: evil, BandwidthGBps: nan}),
		"roof of nothing":               Roof(RoofData{Hardware: evil, BandwidthGBps: 5}),
		"fits":                          Fits(FitsData{Hardware: evil, Models: fitModels}),
		"fits of nothing":               Fits(FitsData{Hardware: evil}),
		"frontier":                      Frontier(FrontierData{Hardware: evil, Models: fitModels}),
		"frontier of nothing":           Frontier(FrontierData{Hardware: evil}),
		"neighbours":                    Neighbours(NeighboursData{Hardware: evil, Of: priced(1, 1e6, nan), Others: []Priced{priced(1e7, 0.001, 4), priced(nan, 5, 6), priced(0, 0, 0), priced(1, 1e6, nan)}}),
		"neighbours, others of nothing": Neighbours(NeighboursData{Hardware: evil, Of: priced(1, 1e6, nan), Others: []Priced{priced(nan, 5, 6)}}),
		"neighbours of nothing":         Neighbours(NeighboursData{Hardware: evil, Of: priced(nan, nan, nan)}),
		"compare": Compare(CompareData{Title: evil, Row: evil, Series: []Series{{evil, evil}, {evil, evil}, {"c", ""}, {"d", ""}, {"one too many", ""}}, Rows: []CompareRow{
			{Name: evil, Values: []Spread{{N: 1, Low: 1, Mid: 1, High: 1, Href: evil}, {}, {N: 3, Low: 1e-9, Mid: 4, High: 1e9}}}, {Name: evil},
		}}),
		"compare of nothing": Compare(CompareData{Title: evil}),
		"prices":             Prices(PricesData{Title: evil, Work: evil, Items: []PriceItem{{Priced: priced(1000, 1, 24), TPS: 0.001}, {Priced: priced(nan, 1, nan), TPS: nan}, {Priced: priced(1e12, 1, 1e-9), TPS: inf}}}),
		"prices of nothing":  Prices(PricesData{Title: evil, Items: []PriceItem{{Priced: priced(nan, 1, nan), TPS: nan}}}),
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
		if strings.HasSuffix(name, "nothing") != f.Empty() && name != "roof without bandwidth" || f.Empty() && f.Missing == "" {
			t.Errorf("%s: empty is %t, because %q", name, f.Empty(), f.Missing)
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
		w := textWidth(unescaped.Replace(m[5]), size)
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
	priced := func(name string, price, bandwidth float64) Priced {
		return Priced{Name: name, PriceUSD: price, BandwidthGBps: bandwidth, MemoryGB: 12, PriceKind: "street", Street: true}
	}
	d := NeighboursData{Of: priced("NVIDIA GeForce RTX 3060", 200, 360)}
	for i, name := range []string{"NVIDIA GeForce RTX 2060 SUPER", "AMD Radeon RX 6750 GRE 12GB", "AMD Radeon RX 9060 XT 16GB", "Intel Arc B580"} {
		d.Others = append(d.Others, priced(name, 150+100*float64(i), 250+80*float64(i)))
	}
	drawing := &svg.Drawing{ID: "x"}
	Neighbours(d).drawInto(drawing, DefaultWidth, canvas{})
	for _, label := range []string{"RTX 2060 SUPER", "RX 6750 GRE 12GB", "RX 9060 XT 16GB", "Arc B580"} {
		if !strings.Contains(drawing.String(), ">"+label+"</text>") {
			t.Errorf("neighbours does not show %q", label)
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
	f := Sizes(SizesData{Model: "A model", Sizes: []Size{{Name: "Q4_0", Bytes: 4 << 30, BitsPerWeight: 4.5}}, Source: "a source"})
	for _, text := range []string{string(f.Inline("x")), string(f.SVG(Auto, 400))} {
		for _, want := range []string{`role="img"`, ">A model: sizes of its quantizations</title>", ">1 size from 4 GB (Q4_0) to 4 GB (Q4_0).</desc>", "Size of the weights (GB)"} {
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

// TestNotesHoldInBothSchemes holds that what a note says of bars is true of either scheme. A bar that is dark on
// white is bright on black, so notes call bars bold and faint, by their contrast with the paper.
func TestNotesHoldInBothSchemes(t *testing.T) {
	turned := regexp.MustCompile(`(?i)\b(dark|light|bright|pale)\b`)
	bold := 0
	for name, f := range evilFigures() {
		if word := turned.FindString(f.Note); word != "" {
			t.Errorf("%s says %q of what another scheme turns round: %s", name, word, f.Note)
		}
		bold += strings.Count(f.Note, "Faint bars")
	}
	if bold != 2 { // sizes and prices
		t.Errorf("%d notes speak of faint bars, want 2", bold)
	}
	for scheme, css := range map[string]string{"light": plotCSS, "dark": darkCSS} {
		contrast := func(name string) float64 {
			a, b := luminance(t, css, name)+0.05, luminance(t, css, "--p-paper")+0.05
			return max(a, b) / min(a, b)
		}
		if main, other := contrast("--p-0"), contrast("--p-bar"); main < 1.5*other {
			t.Errorf("scheme %s: bars of the class bar-main have contrast %.1f, those of bar %.1f: which are the faint ones?", scheme, main, other)
		}
	}
}

// luminance is that of a colour a style sheet names (WCAG 2.2).
func luminance(t *testing.T, css, name string) (sum float64) {
	t.Helper()
	m := regexp.MustCompile(name + `:#([0-9a-f]+)`).FindStringSubmatch(css)
	if m == nil {
		t.Fatalf("no colour %s", name)
	}
	digits := m[1]
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		part := digits[i*len(digits)/3 : (i+1)*len(digits)/3]
		n, err := strconv.ParseUint(strings.Repeat(part, 2/len(part)), 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func TestEmbed(t *testing.T) {
	f := &Figure{Title: "A [b] (c)", Address: "/charts/x.svg?model=a(b)", draw: func(*canvas) float64 { return 1 }}
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

func TestBadge(t *testing.T) {
	tests := []struct {
		name string
		data BadgeData
		want string
	}{
		{"several runs", BadgeData{"M", "H", "Q4_K_M", 4, 131.2}, "131 tok/s, 4 runs, Q4_K_M"},
		{"a single run", BadgeData{"M", "H", "Q4_K_M", 1, 13.12}, "13.1 tok/s, single run, Q4_K_M"},
		{"none", BadgeData{"M", "H", "", 0, 0}, "not measured"},
		{"none of a quantization", BadgeData{"M", "H", "Q8_0", 0, 0}, "not measured, Q8_0"},
		{"an unknown quantization", BadgeData{"M", "H", "", 2, 0.5}, "0.5 tok/s, 2 runs"},
	}
	for _, test := range tests {
		b := string(Badge(test.data))
		if !strings.Contains(b, ">"+test.want+"</text>") || !strings.Contains(b, "<title>M on H: "+test.want+"</title>") {
			t.Errorf("%s: the badge lacks %q:\n%s", test.name, test.want, b)
		}
	}
	if err := judge(string(Badge(BadgeData{evil, evil, evil, 3, 1}))); err != nil {
		t.Errorf("a badge of hostile names: %v", err)
	}
}

// TestScales holds that ticks are inside the scale, apart, and at least two on any useful range.
func TestScales(t *testing.T) {
	for _, log := range []bool{false, true} {
		for _, r := range [][2]float64{{1, 2}, {3, 3}, {0.001, 0.0011}, {1, 1e9}, {35, 240}, {1e-12, 1e12}, {99, 101}} {
			for _, length := range []float64{200, 700} {
				s := newScale(log, r[0], r[1], 0, length)
				ticks := s.ticks(40)
				if len(ticks) < 1 {
					t.Errorf("log %t, %v, %v: no ticks", log, r, length)
				}
				for i, v := range ticks {
					if at := s.at(v); at < -0.01 || at > length+0.01 {
						t.Errorf("log %t, %v: tick %v is at %v of %v", log, r, v, at, length)
					}
					if i > 0 && s.at(v)-s.at(ticks[i-1]) < 30 {
						t.Errorf("log %t, %v: ticks %v and %v are %v apart", log, r, ticks[i-1], v, s.at(v)-s.at(ticks[i-1]))
					}
				}
			}
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{1234567: "1,234,567", 999.6: "1,000", 131.24: "131", 13.12: "13.1", 1.005: "1", 0.01234: "0.0123", 0: "0", -1234: "-1,234"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %s, want %s", v, got, want)
		}
	}
	if got := short(math.NaN()); got != "unknown" {
		t.Errorf("short(NaN) = %s", got)
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

func BenchmarkSpeeds(b *testing.B) {
	d := SpeedsData{Title: "A model: measured speed by hardware", Group: "Hardware"}
	for i := range 24 {
		row := SpeedRow{Name: fmt.Sprintf("Hardware %d", i)}
		for n := range 40 {
			row.Runs = append(row.Runs, Run{ID: "bm-0", TPS: float64(10 + i*n), Quantization: "Q4_K_M", Settings: "llama.cpp, cuda"})
		}
		d.Rows = append(d.Rows, row)
	}
	b.ReportAllocs()
	for range b.N {
		Speeds(d).SVG(Auto, DefaultWidth)
	}
}

func TestMoney(t *testing.T) {
	for v, want := range map[float64]string{33.3: "33", 8.3: "8.30", 56: "56", 112.5: "113", 0.5: "0.5", 2_500_000: "2.5M"} {
		if got := money(v); got != want {
			t.Errorf("money(%v) = %s, want %s", v, got, want)
		}
	}
}

// TestNumbers holds the forms of numbers in figures.
func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{tenths(68), "68.0"},
		{tenths(1234.56), "1,234.6"},
		{tenths(0.5), "0.5"},
		{tenths(math.NaN()), "unknown"},
		{money(7.5), "7.50"},
		{money(83.33), "83"},
		{money(2873.4), "2,873"},
		{money(2e6), "2M"},
		{whole(1281), "1,281"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
