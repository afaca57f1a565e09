// Package charts draws the plots of modeldex as SVG.
//
//   - A Maker makes a Figure of a generation: memory against context, measured speeds by hardware, runs under the roof
//     of the bandwidth, intelligence against speed, price and bandwidth, and the same measurements side by side.
//   - A Figure has a title, a summary in words, a source line, the table of its values, and a form: scatter, rows or
//     lines. The same data give the same bytes.
//   - A figure is written in one of two ways. Inline is for an HTML page: Stylesheet gives the colours, and no
//     element has a style of its own. SVG is a file with its style in it.
//   - A Preset makes a figure of the parameters of an address, /charts/{preset}.svg.
//   - A Badge is one measured speed in a few characters.
//
// Names, units and notes in the data are text, whatever characters they have: they are escaped, and
// cut where they do not fit. Everything here is safe for concurrent use.
package charts
