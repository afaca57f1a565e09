package record

import (
	"reflect"
	"regexp"

	"github.com/goccy/go-json/jsontext"
)

// Act is what happened to a record between two releases.
type Act string

// Kinds of change. A withdrawn record stays in the dataset and says why; a removed one does not.
const (
	Added     Act = "added"
	Changed   Act = "changed"
	Withdrawn Act = "withdrawn"
	Removed   Act = "removed"
)

// Acts lists what can happen to a record.
var Acts = []Act{Added, Changed, Withdrawn, Removed}

// Values lists what can happen to a record.
func (Act) Values() []string { return Texts(Acts) }

// Release is a line that begins a release; the lines after it are its changes.
type Release struct {
	// Version of the dataset, as dataset.json has it.
	Version string `json:"release" jsonschema:"pattern=^[0-9A-Za-z][0-9A-Za-z.+-]*$,example=2026.11.22"`
	// SHA-256 over the record files, in hex, as the API shows it.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$,example=2c8ce9a193573bd6d92b974c4095eefb2bd88b04863f179e54b8b511199b261f"`
	// Release day of the dataset.
	Released Date `json:"released" jsonschema:"example=2026-11-22"`
	// Git commit the files were read from; null if they came from a directory.
	Commit *string `json:"commit" jsonschema:"nullable,pattern=^[0-9a-f]{40}([0-9a-f]{24})?$,example=b5e8b874c959cb06d9283dcef91d9b3f556095db"`
	// Time of that commit in UTC, as 2026-11-22T04:50:32Z; null if there is none.
	Committed *string `json:"committed" jsonschema:"nullable,pattern=^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$,example=2026-11-22T04:50:32Z"`
	// Digest of the release before this one, to which the changes apply; null for the first.
	After *string `json:"after" jsonschema:"nullable,pattern=^[0-9a-f]{64}$,example=9abf6a22b58c5bee966fd247b17283e561a58a2ffc4d7f8b347d26e33520fbb7"`
}

// Change is a change of some records of one table in a release. Records with the same change share a line.
type Change struct {
	// Kind of record: dataset is dataset.json itself.
	Table ChangeTable `json:"table" jsonschema:"example=benchmarks"`
	// What happened.
	Act Act `json:"change" jsonschema:"example=changed"`
	// Slugs of the records in order: ids of benchmarks, names of quantization types.
	Slugs []string `json:"slugs" jsonschema:"minItems=1,minLength=1,example=bm-d20987d408c6"`
	// Fields with other values; none if the records were added or removed.
	Fields []FieldChange `json:"fields"`
	// The record as it was; of a removed record only, which then is alone in its line.
	Record jsontext.Value `json:"record" jsonschema:"example=null"`
}

// FieldChange is one changed field.
type FieldChange struct {
	// Dotted name of the field.
	Field string `json:"field" jsonschema:"minLength=1,example=generation_tps"`
	// Position (from 0) of the first entry that was added to or removed from a list of objects. The values are then the
	// differing parts of both lists. Null for all other changes.
	At *int64 `json:"at" jsonschema:"nullable,minimum=0,example=2"`
	// Old value; null if it was unknown.
	Old jsontext.Value `json:"old" jsonschema:"example=null"`
	// New value; null if it is unknown.
	New jsontext.Value `json:"new" jsonschema:"example=null"`
}

// ChangeTable is a table that changes are recorded of.
type ChangeTable string

// ChangeTables lists the tables changes are recorded of, in their order: dataset.json, the
// quantization types, and the record folders.
var ChangeTables = []ChangeTable{"dataset", "quantizations", "models", "hardware", "tools", "benchmarks", "quality"}

// Values lists the tables.
func (ChangeTable) Values() []string { return Texts(ChangeTables) }

// ChangeLine is one line of data/changes: one of both.
type ChangeLine struct {
	*Release
	*Change
}

var releaseLine = regexp.MustCompile(`^\s*\{\s*"release"`)

// DecodeChange reads a line of data/changes strictly; a line that begins with the member release is a Release.
func DecodeChange(b []byte, rec *ChangeLine) []Problem {
	*rec = ChangeLine{}
	if releaseLine.Match(b) {
		rec.Release = new(Release)
		return Decode(b, rec.Release)
	}
	rec.Change = new(Change)
	return Decode(b, rec.Change)
}

var anyValue = reflect.TypeFor[jsontext.Value]()
