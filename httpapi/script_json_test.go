package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// lookJSON follows a path of names and places, such as data.0.slug, into a JSON text. A * takes
// every element of an array and gives the list of what the rest of the path finds in them.
func lookJSON(body []byte, path string) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("the body is no JSON: %w", err)
	}
	return follow(v, strings.Split(path, "."), path)
}

// errNothing is what follow returns where a path leads nowhere.
type errNothing struct{ path, at string }

func (e errNothing) Error() string { return fmt.Sprintf("%s: nothing at %q", e.path, e.at) }

func follow(v any, path []string, whole string) (any, error) {
	for i, step := range path {
		switch have := v.(type) {
		case map[string]any:
			next, ok := have[step]
			if !ok {
				return nil, errNothing{whole, step}
			}
			v = next
		case []any:
			if step == "*" {
				out := []any{}
				for _, element := range have {
					found, err := follow(element, path[i+1:], whole)
					if err != nil {
						return nil, err
					}
					out = append(out, found)
				}
				return out, nil
			}
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(have) {
				return nil, errNothing{whole, step}
			}
			v = have[n]
		default:
			return nil, errNothing{whole, step}
		}
	}
	return v, nil
}

// show writes a value as scripts compare it: texts bare, all else as JSON.
func show(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it came from JSON
	}
	return string(b)
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "text"
	case []any:
		return "list"
	}
	return "object"
}

// ordered says whether a list of texts or numbers rises, or falls where down is set. Equal
// neighbours are in order; nulls come last.
func ordered(list []any, down bool) bool {
	return slices.IsSortedFunc(list, func(a, b any) int {
		if a == nil || b == nil {
			return boolInt(a == nil) - boolInt(b == nil)
		}
		c := 0
		if na, ok := a.(json.Number); ok {
			x, _ := na.Float64()
			y, _ := b.(json.Number).Float64()
			c = boolInt(x > y) - boolInt(x < y)
		} else {
			c = strings.Compare(show(a), show(b))
		}
		if down {
			return -c
		}
		return c
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
