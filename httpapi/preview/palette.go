package preview

import (
	"image"
	"image/color"
	"slices"
)

// plain are the colours that are drawn; all others are between two of them, at the edges of letters.
var plain = []color.RGBA{paper, card, ink, soft, line, accent, tint}

// flat is the picture with a palette, which makes its file half as large, or the picture itself where
// it has more than 256 colours. Colours between the plain ones are taken in steps of eight, which
// cannot be seen at the edge of a letter.
func (p *picture) flat() image.Image {
	places := map[color.RGBA]uint8{}
	var palette color.Palette
	out := image.NewPaletted(p.Bounds(), nil)
	var last color.RGBA // of the pixel before, as drawn
	at := uint8(0)
	for i := 0; i < len(p.Pix); i += 4 {
		drawn := color.RGBA{p.Pix[i], p.Pix[i+1], p.Pix[i+2], 0xff}
		if i > 0 && drawn == last {
			out.Pix[i/4] = at
			continue
		}
		last = drawn
		if !slices.Contains(plain, drawn) {
			drawn = color.RGBA{drawn.R | 7, drawn.G | 7, drawn.B | 7, 0xff}
		}
		known, ok := places[drawn]
		if !ok {
			if len(palette) == 256 {
				return p
			}
			known = uint8(len(palette))
			palette, places[drawn] = append(palette, drawn), known
		}
		at = known
		out.Pix[i/4] = at
	}
	out.Palette = palette
	return out
}
