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
// Every source is brought to one scale through the models it shares with others. Package linking
// fits a level, a slope and a noise for each category of each release. For each source it fits
// the part that only this source measures. Over the models of the fit the scale has mean 50 and
// standard deviation 15. See rules for the arithmetic, and linking for the model, the fit and
// where both come from.
//
//   - A score has a place on the scale: level + slope * value.
//   - A component is what one source says of a model. It is the mean over its categories, each weighted by its
//     precision, and is then moved towards the mean of all models by the share that is not known. Its weight is
//     its precision.
//   - The composite is the weighted mean of the components. Its 95 percent interval follows from
//     the sum of the weights, and confidence from the width of the interval.
//
// The document states all numbers of the rules as JSON in normalization.composite, so Check
// computes every component, composite and confidence again from the scores alone.
//
// What differs is not mixed: base models, settings of reasoning effort, quantized forms and
// releases are models and cells of their own. Base models get no composite, since no source that
// links the scale has any. Of the arena only English-language and language-neutral categories
// enter.
//
// # Evaluation
//
// Evaluate holds out each source and predicts it from the others, and repeats the fit over samples
// of the models. The limitations of each composite state the result.
//
// # Hash
//
// output_hash_sha256 is the SHA-256 of the canonical JSON of the document with that one field
// set to the empty string. See Hash; data/snapshots/README.md has the check in twenty lines.
//
// # What it does not do
//
// It reads no environment, no clock and no network, and it logs nothing: generated_at is a
// parameter. Reading captured files is the work of snapshot/importer. Serving is elsewhere;
// a Catalog hands out finished bytes.
//
// # Concurrency and cost
//
// Build and Verify share nothing and may run side by side. A Catalog never changes after Open and may be read
// from many goroutines. Verify of the shipped document (6.8 MB) takes about half a second and allocates some
// 200 MB, which it does not keep. A Catalog keeps the bytes of each document and its composites. Reload does
// not verify unchanged files again.
package snapshot
