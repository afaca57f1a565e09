package verbs

import (
	"fmt"
	"io"
	"io/fs"

	"modeldex/dataset"
	"modeldex/dataset/best"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Env is what a verb may use of the process that it runs in.
type Env struct {
	Stdout, Stderr io.Writer
	// Shipped is the dataset inside the binary.
	Shipped fs.FS
	// Version is the program's.
	Version string
	// CheckSnapshots verifies the documents of the folder snapshots of a dataset, nil for none.
	CheckSnapshots func(files fs.FS) dataset.Findings
	// Evidence is what the newest document of the folder snapshots says of models, nil for nothing.
	Evidence func(files fs.FS) func(model dataset.Slug) []best.Evidence
}

// printed is the form of JSON that verbs print: a missing list is null, and text can be pasted into a page.
var printed = jsonv2.JoinOptions(jsonv2.Deterministic(true), jsonv2.FormatNilSliceAsNull(true), jsonv2.FormatNilMapAsNull(true),
	jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))

// PrintJSON writes a value to standard output, indented.
func (e *Env) PrintJSON(v any) error {
	b, err := jsonv2.Marshal(v, printed)
	if err != nil {
		return err
	}
	_, err = e.Stdout.Write(append(b, '\n'))
	return err
}

// Format is the flag of verbs that print text for people or JSON for programs.
type Format struct {
	Format string `help:"text for people, json for programs." enum:"text,json" default:"text"`
	AsJSON bool   `name:"json" help:"The same as --format=json."`
}

// JSON says whether programs will read the output.
func (f Format) JSON() bool { return formOf(f.Format, f.AsJSON) == "json" }

func formOf(format string, asJSON bool) string {
	switch {
	case asJSON:
		return "json"
	case format == "":
		return "text"
	}
	return format
}

// oneForm is the error of two flags that ask for different forms; an empty format is none.
func oneForm(format string, asJSON bool) error {
	if asJSON && format != "" && format != "json" {
		return fmt.Errorf("--json: is the same as --format=json, got --format=%s too", format)
	}
	return nil
}
