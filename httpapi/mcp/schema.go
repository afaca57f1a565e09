package mcp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"
)

// object is a JSON object.
type object = map[string]any

// document is the OpenAPI document that schemas of tools are cut out of.
type document map[string]any

func readDocument(doc []byte) (d document, err error) {
	if err := jsonv2.Unmarshal(doc, &d); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	return d, nil
}

// at is the object at a path below v, with references followed; nil where there is none.
func (d document) at(v any, path ...string) object {
	from, _ := v.(object)
	if ref, ok := from["$ref"].(string); ok {
		from = d.at(object(d), strings.Split(ref, "/")[1:]...)
	}
	if len(path) == 0 {
		return from
	}
	return d.at(from[path[0]], path[1:]...)
}

// parameters are the parameters of a call that a tool takes, by name. A list of pairs has those of one pair.
func (d document) parameters(c *call) map[string]object {
	out := map[string]object{}
	all, _ := d.at(object(d), "paths", c.path, "get")["parameters"].([]any)
	for _, p := range all {
		p := d.at(p)
		if name, _ := p["name"].(string); slices.Contains(c.params, name) {
			out[name] = p
		}
	}
	return out
}

// asides are what a description says about the call that a parameter belongs to, and behind the first statement, which
// agents do not need: they read the schemas of all tools at once.
var (
	asides   = regexp.MustCompile(`^With (fits|runs): |[.;] .*|\.$`)
	overlong = regexp.MustCompile(`^(.{20,80}?)(:| \(|, (for|with|without)) .{40,}`)
)

// mostValues is how many values of a list are named; the error of a wrong one names all.
const mostValues = 14

// input is the schema of the arguments of a tool.
func (d document) input(t *tool) object {
	properties, required := object{}, []string{}
	for i := range t.calls {
		c := &t.calls[i]
		for name, p := range d.parameters(c) {
			text := overlong.ReplaceAllString(asides.ReplaceAllString(fmt.Sprint(p["description"]), ""), "$1")
			schema := argument(d.at(p["schema"]), text)
			had, twice := properties[name].(object)
			switch {
			case twice && name == "sort":
				schema["description"] = fmt.Sprintf("%s; with %s %s", had["description"], c.main, strings.TrimPrefix(schema["description"].(string), text+": "))
			case twice:
				continue
			case c.pairs && slices.Contains(pairNames, name):
				schema["description"] = text + "; several with commas"
			}
			if value, ok := c.defaults[name]; ok {
				schema["default"] = value
			}
			properties[name] = schema
			if p["required"] == true && len(t.calls) == 1 {
				required = append(required, name)
			}
		}
	}
	slices.Sort(required)
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// argument is the schema of one argument. A list is a text with commas, which agents write without mistakes; its values,
// and the orders of rows, are in its description.
func argument(schema object, text string) object {
	out := object{"type": schema["type"], "description": text}
	values, _ := schema["enum"].([]any)
	if items, isList := schema["items"].(object); isList {
		values, _ = items["enum"].([]any)
		out["type"] = "string"
	} else if len(values) < 2 || values[1] != fmt.Sprint("-", values[0]) {
		for _, name := range []string{"enum", "default"} {
			if v, ok := schema[name]; ok {
				out[name] = v
			}
		}
		return out
	}
	var names []string
	for _, v := range values {
		if name := fmt.Sprint(v); !strings.HasPrefix(name, "-") {
			names = append(names, name)
		}
	}
	if len(names) > mostValues {
		names = append(names[:mostValues], "…")
	}
	if names != nil {
		out["description"] = text + ": " + strings.Join(names, ", ")
	}
	return out
}

// output is the schema of the structured answer of a tool. Only members and types are in it: Instructions explain those
// that all tools share, and an answer has its units in its names.
func (d document) output(t *tool) object {
	out := object{
		"same_in_all": object{"type": "object"}, "omitted": object{"type": "integer"},
		"notices": object{"type": "array", "items": object{"type": "string"}},
	}
	var data []any
	for i := range t.calls {
		c := &t.calls[i]
		answer := d.answerOf(c)
		if c.path == askPath {
			asked := d.at(answer, "data", "properties")
			maps.Copy(out, object{"call": d.kept(asked["call"], nil), "detail": d.kept(asked["detail"], nil), "reading": d.kept(asked["reading"], c.keep)})
			data = append(data, object{})
			continue
		}
		data = append(data, d.kept(answer["data"], c.keep))
		for _, name := range c.meta {
			out[name] = d.kept(d.at(answer, "meta", "properties")[name], nil)
		}
	}
	if out["data"] = data[0]; len(data) > 1 {
		out["data"] = object{"anyOf": data}
	}
	return object{"type": "object", "properties": out, "required": []string{"data"}}
}

// answerOf are the schemas of the members of a good answer to a call.
func (d document) answerOf(c *call) object {
	return d.at(object(d), "paths", c.path, strings.ToLower(c.method()), "responses", "200", "content", "application/json", "schema", "properties")
}

// kept is a schema reduced to its types and the members with dotted names; without names all members are kept.
func (d document) kept(schema any, names []string) any {
	from := d.at(schema)
	if options, ok := from["oneOf"].([]any); ok { // something, or null
		out, _ := d.kept(options[0], names).(object)
		out["type"] = []any{out["type"], "null"}
		return out
	}
	out := object{}
	if kind, ok := from["type"]; ok {
		out["type"] = kind
	}
	if items, ok := from["items"]; ok {
		out["items"] = d.kept(items, names)
	}
	if members, ok := from["properties"].(object); ok {
		properties := object{}
		for name, member := range members {
			if rest, ok := below(names, name); ok {
				properties[name] = d.kept(member, rest)
			}
		}
		out["properties"] = properties
	}
	return out
}

// below are the names inside a member, and whether the member is kept at all.
func below(names []string, member string) (rest []string, ok bool) {
	ok = len(names) == 0
	for _, name := range names {
		if name == member {
			ok = true
		} else if tail, inside := strings.CutPrefix(name, member+"."); inside {
			ok, rest = true, append(rest, tail)
		}
	}
	return rest, ok
}
