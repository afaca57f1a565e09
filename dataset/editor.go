package dataset

import (
	"bytes"
	"path"
	"regexp"

	"modeldex/dataset/record"
)

// schemaFiles are the schemas editors check the record files against, by what a file holds. An
// array has no place to name one.
var schemaFiles = map[string]string{
	infoFile:    "schemas/dataset.schema.json",
	modelsDir:   "../schemas/model.schema.json",
	hardwareDir: "../schemas/hardware.schema.json",
	toolsDir:    "../schemas/tool.schema.json",
}

// schemaMember is the member that names the schema, as the first of a file's object.
var schemaMember = regexp.MustCompile(`^\s*\{(\s*"\$schema"\s*:\s*"([^"]*)"\s*,)`)

// withoutSchema blanks the member of a record file that names its schema for editors: it is the file's, not the
// record's. The other bytes keep their places. One that names another schema is left, and is an unknown field.
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

// schemaOfOther is the folder of the records that a file of another folder says it has, and where it says so; empty
// where it does not.
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

// File gives a record in the form of its own .json file, which has this path below the
// dataset directory. The form is that of Pretty, with the schema for editors first.
func File(name string, rec any) ([]byte, error) {
	b, err := record.Pretty(rec)
	schema, ok := schemaFiles[kindOf(path.Clean(name))]
	if err != nil || !ok {
		return b, err
	}
	return append([]byte("{\n  \"$schema\": \""+schema+"\",\n"), bytes.TrimPrefix(b, []byte("{\n"))...), nil
}
