package export

// Format is a form rows can be written in. The zero value is JSON, which this package does not write.
type Format uint8

// The formats.
const (
	JSON Format = iota
	CSV
	NDJSON
	Parquet
)

// Formats lists all formats, in the order shown to callers.
var Formats = []Format{JSON, CSV, NDJSON, Parquet}

var formats = [...]struct{ name, media, content string }{
	JSON:    {"json", "application/json", "application/json"},
	CSV:     {"csv", "text/csv", "text/csv; charset=utf-8; header=present"},
	NDJSON:  {"ndjson", "application/x-ndjson", "application/x-ndjson"},
	Parquet: {"parquet", "application/vnd.apache.parquet", "application/vnd.apache.parquet"},
}

// String is the name of the format, as the parameter format and names of files spell it.
func (f Format) String() string { return formats[f].name }

// MediaType is the media type without parameters, as an Accept header names it.
func (f Format) MediaType() string { return formats[f].media }

// ContentType is the Content-Type of a file.
func (f Format) ContentType() string { return formats[f].content }

// FormatOf is the format with a name.
func FormatOf(name string) (Format, bool) {
	for _, f := range Formats {
		if f.String() == name {
			return f, true
		}
	}
	return JSON, false
}

// About names the dataset that rows are of. Parquet files carry it in their metadata.
type About struct {
	Title   string
	Version string
	Digest  string // SHA-256 of the dataset, in hex
	Licence string
}
