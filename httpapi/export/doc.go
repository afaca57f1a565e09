// Package export writes records as files: CSV, NDJSON and Parquet of any list of rows, and the dumps of a whole dataset.
//
// A Schema is the columns of a kind of row. It is made from the Go type behind the JSON rows, so files and JSON always
// agree. An Encoder reads rows as JSON and writes them in a Format; Reader generates the bytes while they are read, in
// bounded memory. README.md describes the files. Equal rows give equal bytes.
//
// The package does not depend on HTTP or queries. Schemas are immutable and safe for concurrent use; encoders and
// readers are not.
package export
