package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"
)

// object is a JSON object.
type object = map[string]any

// document is the part of an OpenAPI document that schemas of tools are cut out of.
type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Parameters map[string]parameter `json:"parameters"`
		Schemas    map[string]object    `json:"schemas"`
	} `json:"components"`
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Schema      object `json:"schema"`
}

type operation struct {
	Parameters []parameter `json:"parameters"`
	Responses  map[string]struct {
		Content map[string]struct {
			Schema object `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

func readDocument(doc []byte) (*document, error) {
	d := &document{}
	if err := jsonv2.Unmarshal(doc, d); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	return d, nil
}

// parameters are those of a call that a tool takes, in its order. Of a list of pairs they are those of one pair.
func (d *document) parameters(c *call) (out []parameter) {
	all := slices.Clone(d.Paths[c.path]["get"].Parameters)
	for i := range all {
		if all[i].Ref != "" {
			all[i] = d.Components.Parameters[nameOf(all[i].Ref)]
		}
	}
	for _, name := range c.params {
		if i := slices.IndexFunc(all, func(p parameter) bool { return p.Name == name }); i >= 0 {
			out = append(out, all[i])
		}
	}
	return out
}

func nameOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// input is the schema of the arguments of a tool.
func (d *document) input(t *tool) object {
	properties, required := object{}, []string{}
	for i := range t.calls {
		c := &t.calls[i]
		for _, p := range d.parameters(c) {
			if properties[p.Name] != nil {
				continue
			}
			text := short(p.Description)
			if c.pairs && slices.Contains(pairNames, p.Name) {
				text = "One or more, separated by commas. " + text
			}
			schema := argument(p.Schema, text)
			if value, ok := c.defaults[p.Name]; ok {
				schema["description"] = fmt.Sprintf("%s Default: %s.", schema["description"], value)
				delete(schema, "default")
			}
			properties[p.Name] = schema
			if p.Required && len(t.calls) == 1 {
				required = append(required, p.Name)
			}
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// argument is the schema of one argument. A list is a text with commas, which agents write without mistakes.
func argument(schema object, text string) object {
	out := object{"type": schema["type"], "description": text}
	items, isList := schema["items"].(object)
	if isList {
		out["type"] = "string"
		if values, closed := items["enum"].([]any); closed {
			names := make([]string, len(values))
			for i, v := range values {
				names[i] = fmt.Sprint(v)
			}
			out["description"] = text + " Values: " + strings.Join(names, ", ") + "."
		}
		return out
	}
	for _, name := range []string{"enum", "default", "minimum", "maximum"} {
		if v, ok := schema[name]; ok {
			out[name] = v
		}
	}
	return out
}

// output is the schema of the structured answer of a tool.
func (d *document) output(t *tool) object {
	var data []any
	meta := object{}
	for i := range t.calls {
		c := &t.calls[i]
		answer := d.resolved(d.answerOf(c))
		members, _ := answer["properties"].(object)
		if c.path == askPath {
			asked := d.resolved(members["data"].(object))["properties"].(object)
			meta = object{"call": d.kept(asked["call"], nil), "detail": d.kept(asked["detail"], nil), "reading": d.kept(asked["reading"], c.keep)}
			data = append(data, object{"description": "The answer to call; null where there is none."})
			continue
		}
		data = append(data, d.kept(members["data"], c.keep))
		about, _ := members["meta"].(object)
		about, _ = d.resolved(about)["properties"].(object)
		for _, name := range c.meta {
			meta[name] = d.kept(about[name], nil)
		}
	}
	schema := object{"anyOf": data}
	if len(data) == 1 {
		schema = data[0].(object)
	}
	text := func(s string) object { return object{"type": "string", "description": s} }
	out := object{
		"data":            schema,
		"settings":        object{"type": "object", "description": "What the answer assumes: the arguments and the defaults of those left out."},
		"same_in_all":     object{"type": "object", "description": "Members that every row has with the same value, taken out of the rows."},
		"omitted":         object{"type": "integer", "description": "Rows that match and are left out to keep the answer short. Narrow the question to see others."},
		"null":            text("What null means: not published or not known, never 0."),
		"texts":           text("How to treat names and texts that come from records."),
		"dataset_version": text("Version of the dataset that was asked."),
		"notices":         object{"type": "array", "items": object{"type": "string"}, "description": "What was left out of the answer and why. Pass it on."},
	}
	maps.Copy(out, meta)
	return object{"type": "object", "properties": out, "required": []string{"data", "null", "texts"}}
}

// answerOf is the schema of the 200 of a call.
func (d *document) answerOf(c *call) object {
	return d.Paths[c.path][strings.ToLower(c.method())].Responses["200"].Content["application/json"].Schema
}

// resolved is a schema without a reference at its top. What is beside a reference describes this use of it.
func (d *document) resolved(schema object) object {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return schema
	}
	out := maps.Clone(d.Components.Schemas[nameOf(ref)])
	if text, ok := schema["description"]; ok {
		out["description"] = text
	}
	return out
}

// kept is a schema reduced to the members with dotted names; without names it is kept whole.
func (d *document) kept(schema any, names []string) any {
	from, ok := schema.(object)
	if !ok {
		return object{}
	}
	from = d.resolved(from)
	out := object{}
	for _, name := range []string{"type", "enum"} {
		if v, ok := from[name]; ok {
			out[name] = v
		}
	}
	if text, ok := from["description"].(string); ok && from["properties"] == nil {
		out["description"] = short(text)
	}
	if items, ok := from["items"]; ok {
		out["items"] = d.kept(items, names)
	}
	if options, ok := from["oneOf"].([]any); ok {
		list := make([]any, len(options))
		for i, one := range options {
			list[i] = d.kept(one, names)
		}
		out["oneOf"] = list
	}
	members, ok := from["properties"].(object)
	if !ok {
		return out
	}
	properties := object{}
	for name, member := range members {
		if rest, ok := below(names, name); ok {
			properties[name] = d.kept(member, rest)
		}
	}
	out["properties"] = properties
	return out
}

// short is the first sentence of a text: agents read the schemas of all tools at once.
func short(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}

// below are the names inside a member, and whether the member is kept at all.
func below(names []string, member string) (rest []string, ok bool) {
	if len(names) == 0 {
		return nil, true
	}
	for _, name := range names {
		head, tail, dotted := strings.Cut(name, ".")
		if head != member {
			continue
		}
		if ok = true; dotted {
			rest = append(rest, tail)
		}
	}
	return rest, ok
}
