package headers

import (
	"bytes"
	"strings"

	"modeldex/httpapi/export"
)

// Acceptance is what an Accept header lets through.
type Acceptance struct {
	Best export.Format // of all formats: the one with the highest weight, JSON among equals
	Any  bool          // one of the formats may be sent
	JSON bool          // JSON may be sent
}

// everything is what a request without an Accept header accepts.
var everything = Acceptance{Best: export.JSON, Any: true, JSON: true}

// otherNames are names of media types in use beside those of export.Format.MediaType. A caller who
// reads our errors reads our data.
var otherNames = map[string]export.Format{
	"application/problem+json": export.JSON,
	"application/ndjson":       export.NDJSON, "application/jsonl": export.NDJSON, "application/x-jsonlines": export.NDJSON,
	"application/parquet": export.Parquet, "application/x-parquet": export.Parquet,
}

// Accepted reads an Accept header (RFC 9110, 12.5.1): for each format the most specific range
// that names it decides. Parameters of a range do not matter, nor does the case of letters.
func Accepted(header []byte) Acceptance {
	if len(header) == 0 || string(header) == "*/*" || string(header) == "application/json" {
		return everything
	}
	var specific, weight [export.Parquet + 1]int
	for item := range bytes.SplitSeq(header, []byte{','}) {
		kind, params, _ := bytes.Cut(item, []byte{';'})
		name, w := strings.ToLower(string(bytes.TrimSpace(kind))), Weight(params)
		for _, f := range export.Formats {
			if s := specificity(name, f); s > specific[f] {
				specific[f], weight[f] = s, w
			}
		}
	}
	out := Acceptance{JSON: weight[export.JSON] > 0}
	for _, f := range export.Formats {
		if weight[f] > weight[out.Best] {
			out.Best = f
		}
		out.Any = out.Any || weight[f] > 0
	}
	return out
}

// specificity is how precisely a media range names a format, 0 for not at all.
func specificity(name string, f export.Format) int {
	kind, _, _ := strings.Cut(f.MediaType(), "/")
	switch other, ok := otherNames[name]; {
	case name == f.MediaType():
		return 4
	case ok && other == f:
		return 3
	case name == kind+"/*":
		return 2
	case name == "*/*":
		return 1
	default:
		return 0
	}
}
