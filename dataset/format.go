package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"modeldex/dataset/ndjson"
	"modeldex/dataset/record"
	"modeldex/dataset/wholefile"
)

// Format rewrites the record files below dir in canonical format (see record.Pretty and record.Line), in order of slug,
// or run date and id. It returns the paths it changed, sorted. Each file is replaced whole or not at all. A file with
// faults stays as it is; the Findings of such files are the error, after the others were written.
func Format(dir string) (changed []string, err error) {
	return format(Dir(dir), func(name string, b []byte) error {
		return wholefile.WriteBytes(filepath.Join(dir, filepath.FromSlash(name)), b)
	})
}

// FormatCheck returns the paths Format would change, sorted, and as the error the Findings of those it could not.
func FormatCheck(fsys fs.FS) (would []string, err error) {
	return format(fsys, func(string, []byte) error { return nil })
}

func format(fsys fs.FS, write func(name string, b []byte) error) (changed []string, err error) {
	list, err := listFiles(fsys, false)
	if err != nil {
		return nil, err
	}
	// Check reports missing fields.
	findings := slices.DeleteFunc(list.findings, func(f Finding) bool { return !f.unreadable })
	var errs []error
	for _, f := range list.files {
		old, formed, err := f.formatted(fsys)
		findings = append(findings, f.findings...)
		if err == nil && formed != nil && !bytes.Equal(old, formed) {
			if err = write(f.name, formed); err == nil {
				changed = append(changed, f.name)
			}
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return changed, err
	}
	if len(findings) > 0 {
		findings.sort()
		return changed, findings
	}
	return changed, nil
}

func (f *file) formatted(fsys fs.FS) (old, formed []byte, err error) {
	in, err := open(context.Background(), fsys, f.name)
	if err == nil {
		defer in.Close()
		old, err = io.ReadAll(in)
	}
	if err == nil {
		f.shared, f.records = record.NewSharer(), new(tables)
		err = f.decode(bytes.NewReader(bytes.TrimPrefix(old, ndjson.ByteOrderMark)))
	}
	if err != nil && !errors.Is(err, errTooMany) {
		f.readFailed(err)
	}
	if len(f.findings) > 0 {
		return nil, nil, nil
	}
	formed, err = f.records.tableOf(kindOf(f.name)).format(f)
	return old, formed, err
}

func (t *table[T]) format(f *file) ([]byte, error) {
	slices.SortStableFunc(t.recs, func(a, b *T) int { return strings.Compare(sortKey(a), sortKey(b)) })
	switch {
	case f.single:
		return File(f.name, t.recs[0])
	case path.Ext(f.name) == ".json":
		return record.Pretty(t.recs)
	}
	out := []byte{} // an empty file has a form, too
	for _, rec := range t.recs {
		line, err := record.Line(rec)
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// sortKey is the order of the records of a file: new benchmarks are last. Records without a key stay where they are.
func sortKey(rec any) string {
	switch rec := rec.(type) {
	case *QuantizationType:
		return ""
	case *Quality:
		return string(rec.Model) + "\x00" + rec.Quantization + "\x00" + string(rec.ID)
	case *Benchmark:
		return textOf(rec.RunDate) + "\x00" + string(rec.ID)
	}
	return keyOf(rec)
}

// schemaFiles are the schemas for editors, by what a file holds. An array has no place to name one.
var schemaFiles = map[string]string{
	infoFile:    "schemas/dataset.schema.json",
	modelsDir:   "../schemas/model.schema.json",
	hardwareDir: "../schemas/hardware.schema.json",
	toolsDir:    "../schemas/tool.schema.json",
}

var schemaMember = regexp.MustCompile(`^\s*\{(\s*"\$schema"\s*:\s*"([^"]*)"\s*,)`)

// withoutSchema blanks the member that names the right schema. One that names another is an unknown field.
func withoutSchema(name string, b []byte) []byte {
	m := schemaMember.FindSubmatchIndex(b)
	if m == nil || string(b[m[4]:m[5]]) != schemaFiles[kindOf(name)] {
		return b
	}
	out := bytes.Clone(b)
	for i := m[2]; i < m[3]; i++ {
		if out[i] != '\n' && out[i] != '\r' {
			out[i] = ' '
		}
	}
	return out
}

// schemaOfOther is the folder whose schema a file of another folder names, and where it does; else empty.
func schemaOfOther(name string, b []byte) (folder string, offset int) {
	m := schemaMember.FindSubmatchIndex(b)
	if m == nil || path.Dir(name) == "." {
		return "", 0
	}
	for kind, schema := range schemaFiles {
		if schema == string(b[m[4]:m[5]]) && kind != kindOf(name) && kind != infoFile {
			return kind, m[4] - 1
		}
	}
	return "", 0
}

// File gives a record in the form of its own .json file: that of Pretty, with the schema for editors first.
func File(name string, rec any) ([]byte, error) {
	b, err := record.Pretty(rec)
	schema, ok := schemaFiles[kindOf(path.Clean(name))]
	if err != nil || !ok {
		return b, err
	}
	return append([]byte("{\n  \"$schema\": \""+schema+"\",\n"), bytes.TrimPrefix(b, []byte("{\n"))...), nil
}
