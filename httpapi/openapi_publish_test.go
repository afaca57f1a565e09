package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// The document that is published is a part of the one that responses are validated by: what generators of clients need,
// in the forms that they read. Clients have one type for each body and one for each kind of error.

// published is what callers get of the whole document.
func published(whole object) object {
	out := slices.Clone(whole)
	paths, _ := whole.get("paths")
	var kept object
	for _, path := range paths.(object) {
		if !strings.HasPrefix(path.name, "/api/") {
			continue
		}
		var methods object
		for _, op := range path.value.(object) {
			methods.set(op.name, publishedOperation(op.value.(object)))
		}
		kept.set(path.name, methods)
	}
	components, _ := whole.get("components")
	schemas, _ := components.(object).get("schemas")
	out.set("components", obj("schemas", plainSchemas(schemas.(object)), "responses", publishedProblems()))
	security, _ := components.(object).get("securitySchemes")
	headers, _ := components.(object).get("headers")
	parameters, _ := components.(object).get("parameters")
	shared, _ := out.get("components")
	c := shared.(object)
	c.set("headers", headers)
	c.set("parameters", plainSchemas(shareParameters(kept, parameters.(object), schemas.(object))))
	out.set("paths", plainSchemas(kept))
	c.set("securitySchemes", security)
	out.set("components", c)
	return withoutUnused(out)
}

// publishedOperation keeps of an operation its parameters, its JSON body and its JSON response. Errors are one response
// beside those that clients act upon.
func publishedOperation(op object) object {
	out := slices.Clone(op)
	responses, _ := op.get("responses")
	var kept object
	for _, r := range responses.(object) {
		switch {
		case r.name[0] == '2':
			kept.set(r.name, publishedResponse(r.value.(object)))
		case r.name == "401" || r.name == "404" || r.name == "429":
			kept.set(r.name, ref("responses", "Problem"+r.name))
		}
	}
	kept.set("default", ref("responses", "Problem"))
	out.set("responses", kept)
	return out
}

// publishedHeaders are the headers of responses that clients read.
var publishedHeaders = []string{"ETag", "Link", "Location", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}

func publishedResponse(r object) object {
	out := slices.Clone(r)
	if headers, ok := r.get("headers"); ok {
		out.set("headers", slices.DeleteFunc(slices.Clone(headers.(object)), func(m member) bool { return !slices.Contains(publishedHeaders, m.name) }))
	}
	if content, ok := r.get("content"); ok {
		if body, isJSON := content.(object).get(jsonType); isJSON {
			out.set("content", obj(jsonType, body))
		}
	}
	return out
}

// publishedProblems are the responses of errors: those that clients act upon, and one for all others.
func publishedProblems() object {
	problem := func(text string, list []*code, headers ...string) object {
		return obj("description", text, "headers", headersOf(open, headers...),
			"content", obj("application/problem+json", obj("schema", ref("schemas", "Problem"), "examples", problemExamples(list))))
	}
	byStatus := map[int][]*code{}
	for _, c := range codes {
		status := c.status
		if status != http.StatusUnauthorized && status != http.StatusNotFound && status != http.StatusTooManyRequests {
			status = 0
		}
		byStatus[status] = append(byStatus[status], c)
	}
	return obj(
		"Problem", problem("The request was rejected or failed; code and detail say why.", byStatus[0]),
		"Problem401", problem("The key is missing or unknown.", byStatus[http.StatusUnauthorized], "WWW-Authenticate"),
		"Problem404", problem("No record has this name; the response suggests similar names.", byStatus[http.StatusNotFound]),
		"Problem429", problem("The monthly quota is used up, or calls come too fast.", byStatus[http.StatusTooManyRequests], "Retry-After"),
	)
}

// shareParameters makes components of the parameters that several operations have, and refers to them in their place.
func shareParameters(paths, shared, schemas object) object {
	counts := map[string]int{}
	each := func(visit func(tag string, list []any, i int)) {
		for _, path := range paths {
			for _, op := range path.value.(object) {
				list, _ := op.value.(object).get("parameters")
				tags, _ := op.value.(object).get("tags")
				params, _ := list.([]any)
				for i := range params {
					visit(tags.([]string)[0], params, i)
				}
			}
		}
	}
	text := func(p any) string {
		b, err := p.(object).MarshalJSON()
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	each(func(_ string, list []any, i int) { counts[text(list[i])]++ })
	names := map[string]string{}
	each(func(tag string, list []any, i int) {
		p := list[i].(object)
		name, named := p.get("name")
		same := text(p)
		if !named || counts[same] < 2 {
			return
		}
		if names[same] == "" {
			names[same] = titleCase(tag) + componentName(name.(string))
			if schema, ok := schemas.get(titleCase(tag)); ok { // whose member of this name has this name in generated clients
				properties, _ := schema.(object).get("properties")
				if _, member := properties.(object).get(name.(string)); member {
					names[same] += "Filter"
				}
			}
			for _, taken := shared.get(names[same]); taken; _, taken = shared.get(names[same]) {
				names[same] += "2"
			}
			shared.set(names[same], p)
		}
		list[i] = ref("parameters", names[same])
	})
	return shared
}

// componentName writes a name such as min_tps as MinTps.
func componentName(name string) string {
	var out string
	for word := range strings.SplitSeq(name, "_") {
		out += titleCase(word)
	}
	return out
}

// plainSchemas writes schemas in the forms that all generators read: no alternatives but null, no exclusive bounds.
func plainSchemas(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainSchemas(v[i])
		}
		return out
	case object:
		for _, word := range []string{"anyOf", "oneOf"} {
			list, ok := v.get(word)
			alternatives, _ := list.([]any)
			if !ok || len(alternatives) == 0 || isNull(alternatives[len(alternatives)-1]) {
				continue
			}
			one := slices.Clone(alternatives[0].(object)) // the others are described in words
			for _, m := range v {
				if m.name != word {
					one.set(m.name, m.value)
				}
			}
			v = one
		}
		var out object
		for _, m := range v {
			if _, number := m.value.(object); m.name != "exclusiveMinimum" || number {
				out = append(out, member{m.name, plainSchemas(m.value)})
			}
		}
		return out
	}
	return v
}

func isNull(schema any) bool {
	o, _ := schema.(object)
	kind, _ := o.get("type")
	return kind == "null"
}

// withoutUnused drops the components that nothing refers to.
func withoutUnused(doc object) object {
	components, _ := doc.get("components")
	for {
		b, err := doc.MarshalJSON()
		if err != nil {
			panic(err)
		}
		dropped := false
		var kept object
		for _, section := range components.(object) {
			var used object
			for _, m := range section.value.(object) {
				if section.name == "securitySchemes" || strings.Contains(string(b), `"#/components/`+section.name+`/`+m.name+`"`) {
					used = append(used, m)
				} else {
					dropped = true
				}
			}
			kept.set(section.name, used)
		}
		components = kept
		if doc.set("components", kept); !dropped {
			return doc
		}
	}
}
