package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestDrawingIsXML: every shape with every style is well formed, and text stays text.
func TestDrawingIsXML(t *testing.T) {
	evil := `<script>alert("x")</script> & more`
	for _, style := range []Style{{}, {Class: "soft", Anchor: "end", Colour: "#123456", Stroke: 2, Tip: evil}} {
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

// TestEscaped: text is escaped whether it is plain or not.
func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{"": "", "RTX 4090": "RTX 4090", "\x7f~": "\x7f~", "a<b": "a&lt;b", `'"&>`: "&#39;&#34;&amp;&gt;", "a\tb\n\r\x00": "a b  \uFFFD", "é\xff": "é\uFFFD"} {
		if got := escape(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}

// TestScales holds that ticks are inside the scale, apart, and at least two on any useful range.
func TestScales(t *testing.T) {
	t.Parallel()
	for _, log := range []bool{false, true} {
		for _, r := range [][2]float64{{1, 2}, {3, 3}, {0.001, 0.0011}, {1, 1e9}, {35, 240}, {1e-12, 1e12}, {99, 101}} {
			for _, length := range []float64{200, 700} {
				s := NewScale(log, r[0], r[1], 0, length)
				ticks := s.Ticks(40)
				if len(ticks) < 1 {
					t.Errorf("log %t, %v, %v: no ticks", log, r, length)
				}
				for i, v := range ticks {
					if at := s.At(v); at < -0.01 || at > length+0.01 {
						t.Errorf("log %t, %v: tick %v is at %v of %v", log, r, v, at, length)
					}
					if i > 0 && s.At(v)-s.At(ticks[i-1]) < 30 {
						t.Errorf("log %t, %v: ticks %v and %v are %v apart", log, r, ticks[i-1], v, s.At(v)-s.At(ticks[i-1]))
					}
				}
			}
		}
	}
}
