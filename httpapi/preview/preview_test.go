package preview

import (
	"bytes"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

func sample() *Card {
	return &Card{
		Kind: "Model", Title: "Llama 3.1 8B Instruct", Lead: "Meta · 8.03B parameters · dense · 128k context",
		Figures:   []Figure{{"Parameters", "8.03 B", ""}, {"Context", "128k", "tokens"}, {"Intelligence", "31.2", "28 to 34"}, {"Benchmarks", "1,204", "measured runs"}},
		BarsTitle: "Measured speed, one stream, tokens per second",
		Bars: []Bar{
			{Label: "NVIDIA GeForce RTX 4090", Value: 131, Text: "131"},
			{Label: "NVIDIA GeForce RTX 3090", Value: 111, Text: "111"},
			{Label: "Apple M2 Ultra (76-core GPU)", Value: 64, Text: "64"},
		},
		Foot: "Dataset 2026.11.22",
	}
}

func pixels(t *testing.T, b []byte) map[color.RGBA]int {
	t.Helper()
	im, err := png.Decode(bytes.NewReader(b))
	if err != nil || im.Bounds().Dx() != Width || im.Bounds().Dy() != Height {
		t.Fatalf("%v: not a picture of %d x %d pixels", err, Width, Height)
	}
	out := map[color.RGBA]int{}
	for y := range Height {
		for x := range Width {
			out[color.RGBAModel.Convert(im.At(x, y)).(color.RGBA)]++
		}
	}
	return out
}

// TestDraw: the same card gives the same bytes, and what is on it shows.
func TestDraw(t *testing.T) {
	b := Draw(sample())
	if !bytes.Equal(b, Draw(sample())) {
		t.Error("two drawings of one card differ")
	}
	if len(b) > 100<<10 {
		t.Errorf("%d bytes, want at most 100 KiB", len(b))
	}
	full := pixels(t, b)
	less := sample()
	less.Bars = nil
	bare := pixels(t, Draw(less))
	if full[plain[accent]] < bare[plain[accent]]+10_000 || full[plain[tint]] == 0 || bare[plain[tint]] != 0 {
		t.Errorf("bars do not show: %d pixels of their colour, %d without them", full[plain[accent]], bare[plain[accent]])
	}
	less.Title = ""
	if untitled := pixels(t, Draw(less)); untitled[plain[ink]] >= bare[plain[ink]] {
		t.Errorf("the title does not show: %d dark pixels, %d without it", bare[plain[ink]], untitled[plain[ink]])
	}
}

// TestDrawStrange: any text is drawn, cut where it does not fit; nothing is drawn into the margin.
func TestDrawStrange(t *testing.T) {
	for _, text := range []string{"", " ", "\x00\xff\n\t", strings.Repeat("W", 5000), strings.Repeat("long words ", 500), "שלום 你好 🙂 <script>", "a\u202eb", strings.Repeat("\u0301", 400)} {
		c := &Card{Kind: text, Title: text, Lead: text, BarsTitle: text, Foot: text}
		for range 8 {
			c.Figures = append(c.Figures, Figure{text, text, text})
			c.Bars = append(c.Bars, Bar{Label: text, Text: text, Value: 0})
		}
		im, err := png.Decode(bytes.NewReader(Draw(c)))
		if err != nil {
			t.Fatalf("%.20q: %v", text, err)
		}
		for y := 20; y < Height; y++ {
			for _, x := range []int{2, Width - 3} {
				if got := color.RGBAModel.Convert(im.At(x, y)); got != plain[paper] {
					t.Fatalf("%.20q: the pixel at %d, %d is %v", text, x, y, got)
				}
			}
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	c := sample()
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(Draw(c))))
	}
}
