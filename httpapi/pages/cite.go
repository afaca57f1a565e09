package pages

import "strings"

func cite(f *Frame, name string) string {
	return "modeldex. " + name + " (dataset " + f.Dataset.Version + "). " + f.Absolute(f.Path) + " (accessed " + f.Dataset.Released + ")."
}

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

var mediaTypes = map[string]string{"JSON": "application/json", "CSV": "text/csv", "MD": "text/markdown"}
