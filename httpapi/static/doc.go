// Package static writes what a server answers as files, for hosts that know nothing but files.
//
// Every file is the body of a response of httpapi.Server, asked in memory, so that files and server
// cannot disagree. Beside a body that the server would compress are its compressed forms, with .gz,
// .br and .zst behind the name. The same dataset, program and flags give the same bytes. The one
// difference from a server: a page whose record got no picture names none.
//
// All is written beside the directory and put in place when it is complete (wholedir), so that an end of
// any kind leaves what was there before. What a killed export left the next one removes.
//
// The layout follows the addresses:
//
//	/                              index.html
//	/models/qwen3-8b               models/qwen3-8b/index.html, beside models/qwen3-8b.json, .csv, .md and .png
//	/api/v1/models                 api/v1/models.json, the pages behind it api/v1/models.2.json and so on
//	/api/v1/models/qwen3-8b        api/v1/models/qwen3-8b.json
//	/api/v1/models/facets          api/v1/models/facets.json, of all fields
//	/feeds/benchmarks.atom         feeds/benchmarks.atom
//	/api/v1/dumps/EDITION/FILE     api/v1/dumps/EDITION/FILE
//	                               files.ndjson: every file with address, media type, size and SHA-256
//	                               export.json: what was exported, and the counts
//
// Addresses with parameters, but for the lists and facets above, are not there: filters, search, what
// fits, comparisons and charts need a server.
package static
