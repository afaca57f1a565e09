// Package preview draws the picture that other sites show beside a link to a record: 1200 x 630
// pixels, PNG.
//
// A Card is what is on it: a title, a line below it, a few figures, and bars of measured speeds. Draw
// is a pure function of a Card. Text is text: what does not fit is cut, and a character the fonts do
// not have is drawn as an empty box.
//
// The rasterizer is golang.org/x/image/vector and the fonts are the Go fonts, which are part of the
// same module: BSD licence, some 0.6 MB of the program. A drawing takes about 30 milliseconds and 7 MB
// while it is made; at most two are made at a time. Draw is safe for concurrent use.
package preview
