package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestDrawingIsXML: every shape with every style is well formed, and text stays text.
func TestDrawingIsXML(t *testing.T) {
	evil := `<script>alert("x")</script> & more`
	for _, style := range []Style{{}, {Class: "soft", Anchor: "end", Colour: "#123456", Stroke: 2, Opacity: 0.5, Tip: evil}} {
		d := &Drawing{Width: 100, Height: 50, Title: evil}
		d.Text(1, 2, evil, style)
		d.Line(1, 2, 3, 4, style)
		d.Circle(1, 2, 3, style)
		d.Rect(1, 2, 3, 4, style)
		d.Polygon([][2]float64{{1, 2}, {3, 4}, {5, 6}}, style)
		d.Polyline([][2]float64{{1, 2}, {3, 4}}, style)
		if got := d.String(); strings.Contains(got, "<script") || got != d.String() {
			t.Errorf("markup of a text went into the drawing, or two writings differ:\n%s", got)
		}
		dec := xml.NewDecoder(strings.NewReader(d.String()))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, d)
			}
		}
	}
}

// TestNumbers: coordinates are written as the shortest text of the nearest tenth.
func TestNumbers(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	values := []float64{0, math.Copysign(0, -1), 0.04, -0.04, 0.05, -0.05, 0.95, -0.95, 1e14, -1e14, 1e15, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), 99.99, -12.3}
	for range 10000 {
		values = append(values, (rng.Float64()-0.5)*math.Pow(10, float64(rng.IntN(18))))
	}
	for _, v := range values {
		if got, want := string(appendNumber(nil, v)), strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64); got != want {
			t.Errorf("seed %d: %v is written %s, want %s", seed, v, got, want)
		}
	}
}

// TestEscaped: text is escaped whether it is plain or not.
func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{"": "", "RTX 4090": "RTX 4090", "\x7f~": "\x7f~", "a<b": "a&lt;b", `'"&>`: "&#39;&#34;&amp;&gt;", "a\tb\n\r\x00": "a b  \uFFFD", "é\xff": "é\uFFFD"} {
		d := &Drawing{}
		if d.escaped(text); string(d.body) != want {
			t.Errorf("%q is written %q, want %q", text, d.body, want)
		}
	}
}
