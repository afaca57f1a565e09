// Package charts draws the plots of modeldex as SVG.
//
// The nouns:
//
//   - The data of a plot are plain values: MemoryData, SizesData, SpeedsData, RoofData, FitsData,
//     NeighboursData, FrontierData, CompareData, PricesData.
//   - A Figure is made of them by a pure function: Memory, Sizes, Speeds, Roof, Fits, Neighbours,
//     Frontier, Compare, Prices. It has a title, a summary in words, a source line and the table of
//     the values it shows. The same data give the same bytes.
//   - A figure is written in one of two ways. Inline is for an HTML page: Stylesheet gives the colours, and no
//     element has a style of its own. SVG is a file with its style in it.
//   - A Preset makes a figure of a generation and the parameters of an address, /charts/{preset}.svg.
//   - A badge is one measured speed in a few characters (Badge).
//
// Names, units and notes in the data are text, whatever characters they have: they are escaped, and
// cut where they do not fit.
//
// Everything here is safe for concurrent use.
package charts
