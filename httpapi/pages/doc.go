// Package pages makes the pages people read: the front page, lists with filters, one page for each
// record, comparisons, and others.
//
// The nouns:
//
//   - A Site has the templates and their files (assets), parsed once.
//   - A Frame is what every page has: title, address, navigation, other forms of the same data.
//   - A Sheet is a page of facts and tables. It has two forms: HTML and Markdown, made from the same
//     cells, so that they cannot differ.
//   - A Table is what the reader sees below a plot. Plots come from package charts.
//
// Pages read the same generation and the same queries as the API. They decode the finished rows the
// API sends; there is no second path to the data. Nothing here knows HTTP, keys or caches: functions
// take a generation and return bytes. A Site is immutable and safe for concurrent use.
//
// Text in records is text: every value passes through html/template, and the only trusted HTML is
// the SVG of package charts. Pages work without scripts; app.js makes them quicker. No page has inline
// scripts or styles, so that a strict Content-Security-Policy holds.
package pages
