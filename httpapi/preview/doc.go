// Package preview draws the picture that other sites show beside a link to a record: 1200 x 630
// pixels, PNG.
//
// A Card is what is on it: a title, a line below it, a few figures, and bars of measured speeds. Draw
// is a pure function of a Card. Text is text: what does not fit is cut, and a character the fonts do
// not have is drawn as an empty box.
//
// The rasterizer is golang.org/x/image/vector and the fonts are the Go fonts, which are part of the
// same module: BSD licence, about 0.6 MB of the program. Everything is drawn in the shades of one palette,
// straight into the bytes that become the file. A drawing takes about 7 milliseconds of a core, and 2 MB
// that the next one uses again; at most two are made at a time. Draw is safe for concurrent use.
package preview
