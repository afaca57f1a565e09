package mcp

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMembers: the API has every argument of a tool, and every member that a tool keeps of an answer.
func TestMembers(t *testing.T) {
	b, err := os.ReadFile("../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := readDocument(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tools {
		for j := range tools[i].calls {
			c := &tools[i].calls[j]
			if have := doc.parameters(c); len(have) != len(c.params) {
				t.Errorf("%s: the API has %d of the arguments %v", tools[i].name, len(have), c.params)
			}
			answer := doc.answerOf(c)
			if c.path == askPath {
				answer["data"] = doc.at(answer, "data", "properties", "reading")
			}
			for member, names := range map[string][]string{"data": c.keep, "meta": c.meta} {
				for _, name := range names {
					if !doc.has(answer[member], strings.Split(name, ".")) {
						t.Errorf("%s: the API has no member %s.%s", tools[i].name, member, name)
					}
				}
			}
		}
	}
}

// has reports whether a schema has a member at a path.
func (d document) has(schema any, path []string) bool {
	s := d.at(schema)
	if s == nil || len(path) == 0 {
		return s != nil
	}
	options, _ := s["oneOf"].([]any)
	members, _ := s["properties"].(object)
	return members[path[0]] != nil && d.has(members[path[0]], path[1:]) || s["items"] != nil && d.has(s["items"], path) ||
		slices.ContainsFunc(options, func(one any) bool { return d.has(one, path) })
}
