// Package charts draws the plots of modeldex as SVG.
//
//   - A Maker makes a Figure of a generation: measured speeds of a model by hardware, capability against speed on
//     one machine, and equal measurements side by side.
//   - A Figure has a title, a summary, a source line, the table of its values, and a form: scatter or rows. Equal data
//     give equal bytes.
//   - Inline writes a figure for an HTML page, whose colours come from Stylesheet. SVG writes a file with its own style.
//   - A Preset makes a figure from the parameters of an address, /charts/{preset}.svg.
//
// Names, units and notes from the data are escaped, and cut where they do not fit. Everything is safe for concurrent
// use.
package charts
