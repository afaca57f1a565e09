package preview

import (
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// Width and Height are the size of a picture, in pixels: what sites that show links ask for.
const (
	Width  = 1200
	Height = 630
)

// Edition names how cards are drawn: another drawing has another one, and so other ETags.
const Edition = "2"

// Card is what a picture shows.
type Card struct {
	// Kind is above the title: model, hardware, tool, benchmark.
	Kind, Title, Lead string
	Figures           []Figure // at most four are shown
	// Bars are measured values, each with its text; at most five are shown.
	BarsTitle string
	Bars      []Bar
	// Foot is the last line: what the picture was made of.
	Foot string
}

// Figure is one value with its name.
type Figure struct{ Label, Value, Note string }

// Bar is one value of several that compare.
type Bar struct {
	Label, Text string
	Value       float64 // at least 0
}

const (
	margin  = 64.0
	inner   = Width - 2*margin
	mostFig = 4
	mostBar = 5
)

// fonts are read when the first picture is drawn.
var fonts = sync.OnceValue(func() (f struct{ regular, bold *opentype.Font }) {
	f.regular, f.bold = parsed(goregular.TTF), parsed(gobold.TTF)
	return f
})

func parsed(ttf []byte) *opentype.Font {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(err) // part of the build
	}
	return f
}

// drawing bounds how many pictures are drawn at a time: one takes a core for its time.
var drawing = make(chan struct{}, 2)

// canvases are those of earlier drawings.
var canvases = sync.Pool{New: func() any { return newCanvas() }}

// Draw draws a card as a PNG.
func Draw(c *Card) []byte {
	drawing <- struct{}{}
	defer func() { <-drawing }()
	p := &picture{canvases.Get().(*canvas)}
	defer canvases.Put(p.canvas)
	p.clear()
	p.head(c)
	y := p.title(c)
	y = p.figures(c, y)
	p.bars(c, y)
	p.text(margin, Height-34, c.Foot, soft, face{size: 21}, inner)
	return p.png()
}

// picture lays out a card.
type picture struct{ *canvas }

// head is the mark of the site and the kind of record.
func (p *picture) head(c *Card) {
	p.box(0, 0, Width, 10, 0, accent)
	p.box(margin, 44, 44, 44, 11, accent)
	for i, h := range []float64{9, 15, 11, 21} { // the bars of the mark
		p.box(margin+9+float64(i)*7.4, 44+33-h, 4, h, 2, card)
	}
	p.text(margin+60, 76, "modeldex", ink, face{size: 30, bold: true}, inner)
	kind := face{size: 24}
	wide := min(p.width(c.Kind, kind), 300)
	p.text(Width-margin-wide, 75, c.Kind, soft, kind, wide+1)
}

// title is the name of the record, on two lines if it is long, and what is said about it. The result
// is where it ends.
func (p *picture) title(c *Card) float64 {
	f := face{size: 66, bold: true}
	lines := p.wrap(c.Title, f, inner, 1)
	if len(lines) > 1 || lines[0] != c.Title {
		f.size = 50
		lines = p.wrap(c.Title, f, inner, 2)
	}
	y := 100.0
	for _, l := range lines {
		y += f.size * 1.12
		p.text(margin, y, l, ink, f, inner)
	}
	if c.Lead != "" {
		y += 46
		p.text(margin, y, c.Lead, soft, face{size: 27}, inner)
	}
	return y
}

// figures are the values that matter most, side by side.
func (p *picture) figures(c *Card, y float64) float64 {
	list := c.Figures[:min(len(c.Figures), mostFig)]
	if len(list) == 0 {
		return y
	}
	const gap = 18.0
	high, wide := 108.0, (inner-gap*(mostFig-1))/mostFig
	label, value, note := face{size: 21}, face{size: 40, bold: true}, face{size: 20}
	y += 28
	if len(c.Bars) == 0 { // the figures are all there is: they take the room
		y += 48
		high, wide = 144, (inner-gap*float64(len(list)-1))/float64(len(list))
		label, value, note = face{size: 25}, face{size: 58, bold: true}, face{size: 25}
		for _, f := range list { // one size for all, at which the longest fits
			for value.size > 30 && p.width(f.Value, value) > wide-40 {
				value.size -= 2
			}
		}
	}
	for i, f := range list {
		x := margin + float64(i)*(wide+gap)
		p.box(x, y, wide, high, 14, line)
		p.box(x+1.5, y+1.5, wide-3, high-3, 12.5, card)
		p.text(x+20, y+label.size+13, f.Label, soft, label, wide-40)
		p.text(x+20, y+high-30, f.Value, ink, value, wide-40)
		at := x + 20 + p.width(f.Value, value) + 10
		if at+p.width(f.Note, note) <= x+wide-14 { // a note is whole or left out
			p.text(at, y+high-30, f.Note, soft, note, wide)
		}
	}
	return y + high
}

// bars compares measured values.
func (p *picture) bars(c *Card, y float64) {
	const high, foot, head = 34.0, 72.0, 48.0
	room := int((Height - foot - y - head) / high)
	list := c.Bars[:max(0, min(len(c.Bars), mostBar, room))]
	if len(list) == 0 {
		return
	}
	y += head - 12
	p.text(margin, y, c.BarsTitle, ink, face{size: 24, bold: true}, inner)
	y += 12
	label, value := face{size: 22}, face{size: 22, bold: true}
	names, texts, most := 0.0, 0.0, 0.0
	for _, b := range list {
		names, texts, most = max(names, p.width(b.Label, label)), max(texts, p.width(b.Text, value)), max(most, b.Value)
	}
	names, texts = min(names, 470), min(texts, 150)
	from := margin + names + 20
	wide := margin + inner - from - texts - 14
	for _, b := range list {
		p.text(margin, y+25, b.Label, ink, label, names)
		length := max(4, wide*b.Value/max(most, 1e-9))
		p.box(from, y+6, wide, 24, 6, tint)
		p.box(from, y+6, length, 24, 6, accent)
		p.text(from+wide+14, y+25, b.Text, ink, value, texts+2)
		y += high
	}
}

// face is a font at a size in pixels.
type face struct {
	size float64
	bold bool
}

// open makes a face ready for this canvas.
func (c *canvas) open(f face) font.Face {
	if open := c.faces[f]; open != nil {
		return open
	}
	of := fonts().regular
	if f.bold {
		of = fonts().bold
	}
	out, err := opentype.NewFace(of, &opentype.FaceOptions{Size: f.size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err) // the sizes are those above
	}
	c.faces[f] = out
	return out
}

func (p *picture) width(s string, f face) float64 {
	return float64(font.MeasureString(p.open(f), clip(s))) / 64
}

// text writes a line with its base at y, cut where it is wider than most.
func (p *picture) text(x, y float64, s string, c shade, f face, most float64) {
	open := p.open(f)
	p.write(x, y, fitting(open, clip(s), most), c, open)
}

// wrap cuts a text into at most so many lines between words. What is left over is cut off the last.
func (p *picture) wrap(s string, f face, most float64, lines int) (out []string) {
	open := p.open(f)
	words, now := splitWords(clip(s)), ""
	for i, w := range words {
		next := w
		if now != "" {
			next = now + " " + w
		}
		if now == "" || float64(font.MeasureString(open, next))/64 <= most {
			now = next
			continue
		}
		if len(out) == lines-1 {
			for _, rest := range words[i:] {
				now += " " + rest
			}
			break
		}
		out, now = append(out, now), w
	}
	return append(out, fitting(open, now, most))
}
