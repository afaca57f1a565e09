package pages

import "strings"

// A Citation is how to cite a page, as text and as BibTeX. The day of access in it is that of the dataset.
type Citation struct{ Text, BibTeX string }

// cite makes the citation of a page.
func cite(f *Frame, name string) *Citation {
	address, title := f.Absolute(f.Path), name+" (dataset "+f.Dataset.Version+")"
	year, _, _ := strings.Cut(f.Dataset.Released, "-")
	return &Citation{
		Text: "modeldex. " + title + ". " + address + " (accessed " + f.Dataset.Released + ").",
		BibTeX: "@misc{modeldex" + year + ",\n  author = {{modeldex}},\n  title = {" + bibEscaper.Replace(title) + "},\n  year = {" + year +
			"},\n  howpublished = {\\url{" + address + "}},\n  urldate = {" + f.Dataset.Released + "},\n  note = {" + bibEscaper.Replace(f.Dataset.License) + "}\n}",
	}
}

// bibEscaper keeps text from being read as TeX.
var bibEscaper = strings.NewReplacer("\\", "\\textbackslash{}", "{", "\\{", "}", "\\}", "&", "\\&", "%", "\\%", "$", "\\$", "#", "\\#", "_", "\\_", "~", "\\textasciitilde{}", "^", "\\textasciicircum{}")

// schemaDataset is the JSON-LD of a page of data: a Dataset of schema.org.
func (f *Frame) schemaDataset(name string) map[string]any {
	license := f.Dataset.License
	if license != "" && !strings.ContainsAny(license, " /") { // an SPDX id
		license = "https://spdx.org/licenses/" + license + ".html"
	}
	return map[string]any{
		"@context": "https://schema.org", "@type": "Dataset", "name": name, "description": f.Description, "url": f.Absolute(f.Path),
		"version": f.Dataset.Version, "dateModified": f.Dataset.Released, "license": license, "isAccessibleForFree": true,
		"creator": map[string]any{"@type": "Organization", "name": "modeldex", "url": f.Absolute("/")},
	}
}

// mediaTypes are the media types of the forms of a page.
var mediaTypes = map[string]string{"JSON": "application/json", "CSV": "text/csv", "MD": "text/markdown"}
