package importer

import (
	"errors"
	"fmt"
	"strings"

	"modeldex/dataset/ndjson"
	"modeldex/snapshot"
)

// neutral reads rows in the neutral form.
func neutral(folder folder, files []string, total int64) (snapshot.Capture, error) {
	c := snapshot.Capture{TotalReported: total, From: "neutral rows of " + strings.Join(files, ", ")}
	var errs []error
	for _, name := range files {
		b, err := readFile(folder, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rows, err := DecodeRows(folder.place(name), b)
		if err != nil {
			errs = append(errs, err)
		}
		c.Rows = append(c.Rows, rows...)
	}
	return c, errors.Join(errs...)
}

// DecodeRows decodes NDJSON rows; name goes into errors as name:line. Members a row does not
// have are ignored, since captures carry extras; a line without source, config, split, row,
// model or metric is an error.
func DecodeRows(name string, b []byte) ([]snapshot.Row, error) {
	var rows []snapshot.Row
	var errs []error
	for line, text := range ndjson.Lines(1, b) {
		r := snapshot.Row{At: snapshot.Place{File: name, Line: line}}
		err := unmarshalLine(text, &r)
		if member := lacks(r); err == nil && member != "" {
			err = fmt.Errorf("%s: must be given", member)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.At, err))
		}
		if rows = append(rows, r); len(errs) == maxErrors {
			break
		}
	}
	return rows, errors.Join(errs...)
}

// maxErrors is how many lines that cannot be read are named.
const maxErrors = 100

// lacks names the first member a row cannot do without and has not.
func lacks(r snapshot.Row) string {
	switch {
	case r.Source == "":
		return "source"
	case r.Config == "":
		return "config"
	case r.Split == "":
		return "split"
	case r.Row < 1:
		return "row"
	case r.ModelRaw == "":
		return "model_raw"
	case r.Metric == "":
		return "metric"
	}
	return ""
}
