package httpapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"modeldex/index"

	"modeldex/httpapi/query"
)

// TestRouteTexts holds that no text of a route is hidden behind that of its parameters, and that none of a
// route without a key speaks of a price.
func TestRouteTexts(t *testing.T) {
	unused := sortedKeys(routeTexts)
	for i := range routes {
		rt := &routes[i]
		text := routeText(rt)
		if own := routeTexts[rt.id]; own != "" {
			unused = slices.DeleteFunc(unused, func(id string) bool { return id == rt.id })
			if text != own {
				t.Errorf("%s is described as %q, want %q", rt.id, text, own)
			}
		}
		if rt.access == open && strings.HasPrefix(rt.path, apiPath) && strings.Contains(text, "charged") {
			t.Errorf("%s %s takes no key and speaks of a price: %s", rt.method, rt.path, text)
		}
	}
	if len(unused) > 0 {
		t.Errorf("texts without a route: %v", unused)
	}
}

// TestAnswersAsDescribed asks the API for what it seldom answers, and holds each answer against the OpenAPI document: faults,
// versions that are gone, and all of it before a dataset is loaded.
func TestAnswersAsDescribed(t *testing.T) {
	t.Parallel()
	paths := []string{
		"/api/v1/changes", "/api/v1/changes?since=1999-01-01", "/api/v1/models/llama-2-7b/changes", "/api/v1/models/llama-2-7b/changes?since=1999-01-01", "/api/v1/models/nothing/changes", "/api/v1/nothing",
		"/api/v1/dataset", "/api/v1/dumps", "/api/v1/dumps/latest/nothing", "/api/v1/schemas", "/api/v1/schemas/nothing.json", "/api/v1/snapshots", "/api/v1/snapshots/latest", "/api/v1/snapshots/" + strings.Repeat("0", 64),
	}
	for name, live := range map[string]*index.Live{"loaded": mustSmallLive(t), "not loaded": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, live)
			for _, path := range paths {
				for _, accept := range []string{"", "text/html,*/*;q=0.8", "application/json;q=0", "text/csv"} {
					for _, method := range []string{http.MethodGet, http.MethodHead} {
						a := s.ask(t, method, path, "Accept", accept)
						if err := validateAnswer(a.method, a.path, a.status, a.header, a.body); err != nil {
							t.Errorf("Accept %q: %v", accept, err)
						}
					}
				}
			}
		})
	}
}

// TestParametersAreRead sends every parameter of every endpoint a value it cannot have, with what the endpoint requires
// and without: each response must be 400 and name the parameter, so that no documented parameter is passed over.
func TestParametersAreRead(t *testing.T) {
	s := smallService(t)
	faulty := func(path string, args url.Values, name string) {
		t.Helper()
		a := s.ask(t, "GET", path+"?"+args.Encode(), "Accept", "application/json")
		var p Problem
		if err := json.Unmarshal(a.body, &p); err != nil {
			t.Fatalf("GET %s?%s: %v: %.200s", path, args.Encode(), err, a.body)
		}
		if !slices.ContainsFunc(p.Errors, func(f Fault) bool { return f.Name == name }) || a.status != http.StatusBadRequest {
			t.Errorf("GET %s?%s: status %d, errors %+v, want 400 and an error of %s", path, args.Encode(), a.status, p.Errors, name)
		}
	}
	inPath := map[string]string{"models": "llama-2-7b"}
	for _, list := range []string{"benchmarks", "quality"} {
		var first struct{ ID string }
		if err := json.Unmarshal(s.list(t, "/api/v1/"+list+"?limit=1").Data[0], &first); err != nil {
			t.Fatal(err)
		}
		inPath[list] = first.ID
	}
	for i := range routes {
		rt := &routes[i]
		list := rt.list
		if rt.record != nil {
			list = rt.record.detail
		}
		if list == nil || rt.method != "GET" {
			continue
		}
		path := pathParam.ReplaceAllStringFunc(strings.Replace(rt.docPath(), ":preset", "model-speeds", 1), func(m string) string {
			if has := inPath[rt.tag]; has != "" {
				return has
			}
			_, example := pathText(rt, strings.Trim(m, "{}"))
			return example
		})
		required := url.Values{}
		for i := range list.params {
			if pm := &list.params[i]; pm.Required != "" {
				required.Set(pm.Name, cmp.Or(queryExamples[rt.id][pm.Name], "llama-2-7b"))
				faulty(path, url.Values{}, pm.Name)
			}
		}
		for i := range list.params {
			pm := &list.params[i]
			args := url.Values{pm.Name: {badValue(pm)}}
			faulty(path, args, pm.Name)
			for name, values := range required {
				if name != pm.Name {
					args[name] = values
				}
			}
			faulty(path, args, pm.Name)
		}
	}
}

// badValue is a value that a parameter cannot have.
func badValue(pm *query.Param) string {
	switch {
	case pm.Many && pm.Enum == nil && pm.Kind != query.Whole && pm.Kind != query.Flag:
		return "a,,b"
	case pm.Kind == query.Text && pm.Enum == nil:
		return strings.Repeat("a b ", 600)
	case pm.Above:
		return "0"
	}
	return "no such value"
}

// TestNamesInAddresses: every address of a model leads from a name with a slash in it, escaped or not, to the slug.
func TestNamesInAddresses(t *testing.T) {
	s := smallService(t)
	const slug, name = "llama-2-7b", "meta-llama/Llama-2-7b-hf"
	asked := 0
	for i := range routes {
		rt := &routes[i]
		path := strings.NewReplacer("*", "{slug}", "+", "{slug}", ":file", "benchmarks.atom").Replace(rt.docPath())
		if rt.method != "GET" || !strings.Contains(path, "models/{slug}") {
			continue
		}
		asked++
		for _, form := range []string{name, url.PathEscape(name)} {
			a := s.ask(t, "GET", strings.Replace(path, "{slug}", form, 1))
			if want := strings.Replace(path, "{slug}", slug, 1); a.status != http.StatusMovedPermanently || a.header.Get("Location") != want {
				t.Errorf("GET %s: status %d to %q, want 301 to %s", strings.Replace(path, "{slug}", form, 1), a.status, a.header.Get("Location"), want)
			}
			if form == name { // OpenAPI knows the escaped form only
				continue
			}
			if err := validateAnswer(a.method, a.path, a.status, a.header, a.body); err != nil {
				t.Errorf("GET %s: %v", a.path, err)
			}
		}
	}
	if asked < 4 {
		t.Errorf("%d addresses of a model were asked, want the record, its changes, page and feed", asked)
	}
}
