// Package static writes the responses of a server as files, for hosts that serve files only.
//
// Every file is the body of a response of httpapi.Server, requested in memory, so that files and server
// cannot differ. Beside a body that the server would compress are its compressed forms, with .gz,
// .br and .zst after the name. The same dataset, program and flags give the same bytes. The one
// difference from a server: a page does not name a picture that was not exported.
//
// Everything is written beside the directory and put in its place when it is complete (wholedir): an export
// that ends early leaves the old directory as it was. The next export removes what a killed one left.
//
// The layout follows the addresses:
//
//	/                              index.html
//	/models/qwen3-8b               models/qwen3-8b/index.html, beside models/qwen3-8b.json, .csv, .md and .png
//	/api/v1/models                 api/v1/models.json, its further pages api/v1/models.2.json and so on
//	/api/v1/models/qwen3-8b        api/v1/models/qwen3-8b.json
//	/api/v1/models/facets          api/v1/models/facets.json, of all fields
//	/feeds/benchmarks.atom         feeds/benchmarks.atom
//	/api/v1/dumps/EDITION/FILE     api/v1/dumps/EDITION/FILE
//	                               files.ndjson: every file with address, media type, size and SHA-256
//	                               export.json: what was exported, and the counts
//
// Addresses with parameters are not exported, except the lists and facets above: filters, search, what
// fits, comparisons and charts need a server.
package static
