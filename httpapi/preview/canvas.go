package preview

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// shade is a place in the palette. The first are the plain colours.
type shade uint8

// The plain colours: those of the pages in the light scheme.
const (
	paper shade = iota
	card
	ink
	soft
	line
	accent
	tint
	plainShades
)

var plain = [plainShades]color.RGBA{
	paper:  {0xfb, 0xfa, 0xf7, 0xff},
	card:   {0xff, 0xff, 0xff, 0xff},
	ink:    {0x17, 0x1b, 0x1f, 0xff},
	soft:   {0x55, 0x5f, 0x69, 0xff},
	line:   {0xde, 0xdb, 0xd3, 0xff},
	accent: {0x0b, 0x6b, 0x53, 0xff},
	tint:   {0xe4, 0xf1, 0xec, 0xff},
}

// steps is how many shades there are from one plain colour to another: edges of letters are smooth,
// and all of them fit into a palette.
const steps = 8

// blends are the pairs that are drawn, what is below first; edges are between the two.
var blends = [][2]shade{
	{paper, ink},
	{paper, soft},
	{paper, accent},
	{paper, line},
	{paper, tint},
	{card, ink},
	{card, soft},
	{line, card},
	{accent, card},
	{tint, accent},
}

// mixture is what canvases share: the palette, and over. over is the nearest colour to what a shade becomes under
// a plain colour, with a cover from 0 to steps.
type mixture struct {
	colours color.Palette
	over    [][plainShades][steps + 1]shade
}

// mixed is made with the first canvas: most starts of the program draw nothing.
var mixed = sync.OnceValue(mix)

func mix() *mixture {
	var p color.Palette
	for _, c := range plain {
		p = append(p, c)
	}
	between := func(a, b color.RGBA, cover int) color.RGBA {
		one := func(a, b uint8) uint8 { return uint8((int(a)*(steps-cover) + int(b)*cover + steps/2) / steps) }
		return color.RGBA{one(a.R, b.R), one(a.G, b.G), one(a.B, b.B), 0xff}
	}
	for _, pair := range blends {
		for cover := 1; cover < steps; cover++ {
			p = append(p, between(plain[pair[0]], plain[pair[1]], cover))
		}
	}
	over := make([][plainShades][steps + 1]shade, len(p))
	for under := range p {
		for c := range plain {
			for cover := range steps + 1 {
				over[under][c][cover] = shade(p.Index(between(p[under].(color.RGBA), plain[c], cover)))
			}
		}
	}
	return &mixture{p, over}
}

// canvas is a drawing that is under way, in shades of one palette. It has what a drawing needs again
// and again, and is for one goroutine.
type canvas struct {
	*image.Paletted
	over   [][plainShades][steps + 1]shade
	mask   image.Alpha
	shape  vector.Rasterizer
	faces  map[face]font.Face
	buffer *png.EncoderBuffer // nil until the first is encoded
}

func newCanvas() *canvas {
	m := mixed()
	return &canvas{Paletted: image.NewPaletted(image.Rect(0, 0, Width, Height), m.colours), over: m.over, faces: map[face]font.Face{}}
}

// clear makes the canvas paper.
func (c *canvas) clear() {
	clear(c.Pix) // paper is the first shade
}

// png is the file of the drawing. The quickest compression makes it 8 % larger than the usual one, in a
// seventh of the time (BenchmarkDraw).
func (c *canvas) png() []byte {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: c}).Encode(&b, c.Paletted); err != nil {
		panic(err) // into memory, of a valid picture
	}
	return b.Bytes()
}

// Get and Put keep the buffer of the encoder.
func (c *canvas) Get() *png.EncoderBuffer  { return c.buffer }
func (c *canvas) Put(b *png.EncoderBuffer) { c.buffer = b }

// cover draws a colour through a mask, of which at is the place on the canvas.
func (c *canvas) cover(mask *image.Alpha, at image.Point, with shade) {
	size := mask.Bounds().Size()
	area := image.Rectangle{Min: at, Max: at.Add(size)}.Intersect(c.Rect)
	if area.Empty() {
		return
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		covers := mask.Pix[(y-at.Y)*mask.Stride+area.Min.X-at.X:][:area.Dx()]
		row := c.Pix[y*c.Stride+area.Min.X:][:area.Dx()]
		for x, a := range covers {
			switch a {
			case 0:
			case 0xff:
				row[x] = uint8(with)
			default:
				row[x] = uint8(c.over[row[x]][with][(int(a)*steps+127)/255])
			}
		}
	}
}

// box fills a rectangle with round corners.
func (c *canvas) box(x, y, w, h, r float64, with shade) {
	const k = 0.5523 // of a Bézier curve that looks like a quarter of a circle
	if w <= 0 || h <= 0 {
		return
	}
	r = min(r, w/2, h/2)
	left, top := float64(int(x)), float64(int(y))
	wide, high := int(w)+3, int(h)+3
	c.shape.Reset(wide, high)
	c.shape.DrawOp = draw.Src
	at := func(dx, dy float64) (float32, float32) { return float32(x - left + dx), float32(y - top + dy) }
	move := func(dx, dy float64) { a, b := at(dx, dy); c.shape.MoveTo(a, b) }
	to := func(dx, dy float64) { a, b := at(dx, dy); c.shape.LineTo(a, b) }
	curve := func(bx, by, cx, cy, dx, dy float64) {
		b1, b2 := at(bx, by)
		c1, c2 := at(cx, cy)
		d1, d2 := at(dx, dy)
		c.shape.CubeTo(b1, b2, c1, c2, d1, d2)
	}
	q := r * (1 - k)
	move(r, 0)
	to(w-r, 0)
	curve(w-q, 0, w, q, w, r)
	to(w, h-r)
	curve(w, h-q, w-q, h, w-r, h)
	to(r, h)
	curve(q, h, 0, h-q, 0, h-r)
	to(0, r)
	curve(0, q, q, 0, r, 0)
	c.shape.ClosePath()
	if cap(c.mask.Pix) < wide*high {
		c.mask.Pix = make([]uint8, wide*high)
	}
	c.mask.Pix, c.mask.Stride, c.mask.Rect = c.mask.Pix[:wide*high], wide, image.Rect(0, 0, wide, high)
	c.shape.Draw(&c.mask, c.mask.Rect, image.Opaque, image.Point{})
	c.cover(&c.mask, image.Pt(int(left), int(top)), with)
}

// write draws a line of text with its base at y.
func (c *canvas) write(x, y float64, s string, with shade, f font.Face) {
	dot := fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}
	before := rune(-1)
	for _, r := range s {
		if before >= 0 {
			dot.X += f.Kern(before, r)
		}
		at, mask, from, wide, _ := f.Glyph(dot, r) // an empty box for what the font does not have
		if alpha, ok := mask.(*image.Alpha); ok && from == alpha.Rect.Min {
			c.cover(alpha, at.Min, with)
		}
		dot.X += wide
		before = r
	}
}
