// Package snapshot makes, checks, keeps and draws the model-intelligence snapshot: one JSON
// document of priors about language models, put together from three upstream evaluation
// sources. Nothing in it was measured here, and the document says so.
//
// # Nouns
//
//   - Document: the published object, schema service-model-intelligence-snapshot-v1. Its bytes
//     are always the RFC 8785 canonical form, so one document has one spelling.
//   - Row: one cell of an upstream table, as captured. Capture: all rows of one source.
//   - Alias: a line that says which raw names mean one model key. Directory: the models that
//     have a slug; where a model has one, the slug is the model key.
//   - Reading: what one source says about one of its names in one split (release).
//   - Cell: the scores of one source that share a split, a metric and a category, hence a line of the fit.
//   - Component: what one source says of a model on the common scale.
//   - Finding: one violation that a check reports, with the JSON pointer of the place.
//   - Catalog: all published documents of a folder, verified, newest first. The shipped documents that passed.txt
//     lists by SHA-256 were verified by a test, and are not verified again at each start.
//
// # Common scale
//
// Every source is brought to one scale through the models it shares with others (package linking). Over the models of
// the fit the scale has mean 50 and standard deviation 15. A score has a place on it: level + slope * value. A
// component is the mean of one source over its categories, weighted by precision and moved towards the mean of all
// models by the share that is not known. The composite is the weighted mean of the components; its 95 percent interval
// follows from the sum of the weights. The document states all numbers of the rules in normalization.composite, so
// that Check computes everything again from the scores alone. See Rules for the arithmetic.
//
// Base models, settings of reasoning effort, quantized forms and releases are models and cells of their own.
//
// The package reads no environment, no clock and no network, and logs nothing: generated_at is a parameter. Reading
// captured files is the work of snapshot/importer. Build and Verify share nothing and may run side by side; a Catalog
// never changes after Open and may be read from many goroutines.
package snapshot
