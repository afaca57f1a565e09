package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"modeldex/snapshot"
)

// neutral reads rows in the neutral form.
func neutral(folder fs.FS, files []string, total int64) (snapshot.Capture, error) {
	c := snapshot.Capture{TotalReported: total, From: "neutral rows of " + strings.Join(files, ", ")}
	var errs []error
	for _, name := range files {
		b, err := readFile(folder, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rows, err := DecodeRows(name, b)
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
	rows, err := decodeLines[snapshot.Row](name, b)
	if err != nil {
		return nil, err
	}
	var errs []error
	for i, r := range rows {
		if missing := lacks(r); missing != "" {
			errs = append(errs, fmt.Errorf("%s: row %d: %s: must be given", name, i+1, missing))
		}
	}
	return rows, errors.Join(errs...)
}

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
