package pages

import (
	"net/url"
	"strings"

	"modeldex/dataset"
	"modeldex/index"
)

// Tool is the page of a tool. ord is its ordinal in the generation.
func (s *Site) Tool(gen *index.Generation, ord uint32, at Place) *Sheet {
	t := decode[toolRecord](gen.Tools.Detail(ord))
	sources, refs := sourcesOf(t.Sources)
	v := &Sheet{
		Frame: recordFrame(gen, at, "/explore/tools", t.Name, t.Description), Kind: "tool", Heading: t.Name, Lead: t.Description, Sources: sources, FactsFirst: true,
		Crumbs: []Link{{Text: "Tools", Href: "/explore/tools"}, {Text: Sentence(string(t.Category)), Href: "/explore/tools?category=" + url.QueryEscape(string(t.Category))}},
	}
	f := facts{refs: refs}
	f.text("Mainly a", "category", string(t.Category))
	f.text("Also a", "also_categories", join(t.AlsoCategories))
	f.text("Made by", "vendor_or_org", str(t.VendorOrOrg))
	f.add("Homepage", "homepage", outside(t.Homepage), "")
	f.add("Source code", "repository", outside(t.Repository), "")
	f.text("Licence", "license", str(t.License))
	f.text("Language", "language", str(t.Language))
	f.text("First release", "first_release", dateText(t.FirstRelease))
	f.text("Maintenance", "maintenance", str(t.Maintenance))
	f.text("Other names", "", strings.Join(t.Aliases, ", "))
	f.text("Slug", "", string(t.Slug))
	v.Groups = append(v.Groups, f.group("About")...)
	f.text("Systems", "platforms", join(deref(t.Platforms)))
	f.text("Backends", "backends", join(deref(t.Backends)))
	f.text("Weight formats", "model_formats", join(deref(t.ModelFormats)))
	f.text("APIs", "api_compatibility", join(deref(t.APICompatibility)))
	v.Groups = append(v.Groups, f.group("Works with")...)
	if t.BenchmarkCount > 0 {
		v.Tables = append(v.Tables, runsOf(gen, index.Tool, string(t.Slug), t.BenchmarkCount))
	}
	s.finishRecord(v, "tools", string(t.Slug), t.Name)
	return v
}

func outside(u *dataset.URL) Cell {
	if u == nil {
		return Cell{}
	}
	return Cell{Text: host(string(*u)), Href: webAddress(string(*u)), Title: string(*u)}
}
