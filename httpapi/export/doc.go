// Package export writes records as files: CSV, NDJSON and Parquet of any list of rows, and the
// dumps of a whole dataset.
//
// A Schema is the columns of a kind of row. It is made from the Go type that the JSON rows are
// rendered from, so that files and JSON cannot differ. A row comes in as its finished JSON and goes
// through an Encoder, which writes it in a Format; Reader turns an encoder into bytes that are made
// while they are read, in bounded memory.
//
// # Columns
//
// The members of a nested object are columns of their own, with dotted names such as
// architecture.context_length. All are null where the object is null. A list is one column, and so
// is an object whose members are not fixed. The columns of a file are the same for every row and
// every page, in the order of the JSON members.
//
// # CSV
//
// RFC 4180: UTF-8 without byte order mark, commas, lines that end with CR LF, and always a header.
// Cells are quoted where they have to be. A null is an empty cell, an empty text is "" in quotes.
// Numbers, true and false are written as in JSON; lists and open objects as compact JSON.
//
// Spreadsheets run a cell that begins with =, +, -, @, a tab or a line end as a formula. Texts that
// begin so (or with the full-width forms of these characters) get an apostrophe before them, which
// tells spreadsheets that this is text. Texts in which only apostrophes come before such a
// character get one as well, so that the rule can be undone. Where a text begins with one or more
// apostrophes and then one of these characters, remove the first apostrophe. Numbers are never
// changed: a negative number begins with - and stays a number.
//
// # NDJSON
//
// One row per line, byte for byte as the JSON list has it.
//
// # Parquet
//
// Flat columns with the same dotted names, compressed with zstd: texts as STRING, whole numbers as
// INT64, other numbers as DOUBLE, flags as BOOLEAN, lists of texts as LIST of STRING, other lists and
// open objects as JSON. Dates are texts, because sources give some only as a year or a month. What
// can be null is optional. The key-value metadata names the dataset (modeldex.dataset_version,
// modeldex.dataset_digest, modeldex.licence, modeldex.title), and modeldex.columns is a JSON list of
// name, type, nullable, unit and description of every column. Equal rows give equal bytes.
//
// The package knows neither HTTP nor queries. Schemas are immutable and safe for concurrent use;
// encoders and readers belong to one goroutine.
package export
