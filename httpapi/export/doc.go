// Package export writes records as files: CSV, NDJSON and Parquet of any list of rows, and the dumps of a whole dataset.
//
// A Schema is the columns of a kind of row. It is made from the Go type that the JSON rows are rendered from, so that
// files and JSON cannot differ. A row comes in as its finished JSON and goes through an Encoder, which writes it in a
// Format; Reader turns an encoder into bytes that are made while they are read, in bounded memory. README.md says what
// the files are like. Equal rows give equal bytes.
//
// The package knows neither HTTP nor queries. Schemas are immutable and safe for concurrent use; encoders and readers
// belong to one goroutine.
package export
