package export

import (
	"strconv"
	"strings"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// croissantContext is the JSON-LD context of Croissant 1.0, as its specification prints it:
// https://docs.mlcommons.org/croissant/docs/croissant-spec.html#appendix-1-json-ld-context
const croissantContext = `{
  "@language": "en", "@vocab": "https://schema.org/",
  "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
  "rai": "http://mlcommons.org/croissant/RAI/", "data": {"@id": "cr:data", "@type": "@json"},
  "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
  "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
  "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet", "format": "cr:format",
  "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5",
  "parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet", "references": "cr:references",
  "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace", "sc": "https://schema.org/",
  "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform"
}`

// The parts of a description, in the order of the specification.
type (
	croissantDataset struct {
		Context      jsontext.Value    `json:"@context"`
		Type         string            `json:"@type"`
		ConformsTo   string            `json:"conformsTo"`
		Name         string            `json:"name"`
		Description  string            `json:"description"`
		License      string            `json:"license"`
		URL          string            `json:"url"`
		Version      string            `json:"version"`
		Published    string            `json:"datePublished"`
		CiteAs       string            `json:"citeAs"`
		Creator      croissantCreator  `json:"creator"`
		Distribution []croissantFile   `json:"distribution"`
		RecordSet    []croissantRecord `json:"recordSet"`
	}
	croissantCreator struct {
		Type string `json:"@type"`
		Name string `json:"name"`
	}
	croissantFile struct {
		Type        string `json:"@type"`
		ID          string `json:"@id"`
		Name        string `json:"name"`
		ContentURL  string `json:"contentUrl"`
		ContentSize string `json:"contentSize"`
		Format      string `json:"encodingFormat"`
		SHA256      string `json:"sha256"`
	}
	croissantRecord struct {
		Type        string           `json:"@type"`
		ID          string           `json:"@id"`
		Name        string           `json:"name"`
		Description string           `json:"description,omitempty"`
		Key         *croissantRef    `json:"key,omitempty"`
		Field       []croissantField `json:"field"`
	}
	croissantField struct {
		Type        string          `json:"@type"`
		ID          string          `json:"@id"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		DataType    string          `json:"dataType"`
		Repeated    bool            `json:"repeated,omitzero"`
		Source      croissantSource `json:"source"`
	}
	croissantSource struct {
		File    croissantRef `json:"fileObject"`
		Extract struct {
			Column string `json:"column"`
		} `json:"extract"`
	}
	croissantRef struct {
		ID string `json:"@id"`
	}
)

// croissantTypes are the types of columns in the words of schema.org. Texts are repeated.
var croissantTypes = [...]string{Text: "sc:Text", Integer: "sc:Integer", Number: "sc:Float", Flag: "sc:Boolean", Texts: "sc:Text", Any: "sc:Text"}

// croissant describes a dump as Croissant 1.0. Addresses are relative to that of the description.
func croissant(src *Sources, files []*File) []byte {
	d := croissantDataset{
		Context: jsontext.Value(croissantContext), Type: "sc:Dataset", ConformsTo: "http://mlcommons.org/croissant/1.0",
		Name: src.Title, Description: src.Description, License: "https://spdx.org/licenses/" + src.Licence, URL: "./croissant.json",
		Version: src.Version, Published: src.Released, CiteAs: src.Title + ", version " + src.Version + ", " + src.Released + ", SHA-256 " + src.Digest,
		Creator: croissantCreator{"sc:Organization", src.Title},
	}
	for _, f := range files {
		d.Distribution = append(d.Distribution, croissantFile{
			Type: "cr:FileObject", ID: f.Name, Name: f.Name, ContentURL: f.Name, ContentSize: strconv.FormatInt(f.Size, 10) + " B", Format: croissantFormat(f), SHA256: f.SHA256,
		})
	}
	for i := range src.Tables {
		d.RecordSet = append(d.RecordSet, croissantTable(&src.Tables[i]))
	}
	out, err := jsonv2.Marshal(d, jsonv2.FormatNilSliceAsNull(true), jsontext.EscapeForJS(true), jsontext.WithIndent("  "))
	if err != nil {
		panic(err) // texts and numbers
	}
	return append(out, '\n')
}

// croissantFormat is the media type under which the readers of Croissant know a format.
func croissantFormat(f *File) string {
	if strings.HasSuffix(f.Name, ".parquet") {
		return "application/x-parquet"
	}
	return f.MediaType
}

// croissantTable describes a table by its Parquet file. The first column of every table is its key.
func croissantTable(t *Table) croissantRecord {
	name := t.Schema.Name
	r := croissantRecord{Type: "cr:RecordSet", ID: name, Name: name, Description: t.Doc, Key: &croissantRef{name + "/" + t.Schema.Columns[0].Name}}
	for _, c := range t.Schema.Columns {
		f := croissantField{Type: "cr:Field", ID: name + "/" + c.Name, Name: name + "/" + c.Name, Description: c.Doc, DataType: croissantTypes[c.Type], Repeated: c.Type == Texts}
		if c.Unit != "" {
			f.Description = strings.TrimSpace(c.Doc + " Unit: " + c.Unit + ".")
		}
		f.Source.File.ID = name + ".parquet"
		f.Source.Extract.Column = c.Name
		r.Field = append(r.Field, f)
	}
	return r
}
