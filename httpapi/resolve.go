package httpapi

import (
	"fmt"
	"net/http"
	"strings"

	"modeldex/dataset/resolve"
	"modeldex/httpapi/query"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// mostNames is how many names one request may ask for.
const mostNames = 200

// nameParams are a name and what it may be of.
type nameParams struct {
	// The name, as you found it.
	Q string `query:"q,required,strict"`
	// Kind of record. Default: all kinds.
	Kind resolve.Kind `query:"kind"`
}

var nameList = &resource{name: "resolve", path: "resolve", singular: "name", params: newNameParams()}

func newNameParams() []query.Param {
	params := query.Of[nameParams]()
	query.Find(params, "q").Check = func(name string) (canonical, fault string) { return name, badName(name) }
	for _, k := range resolve.Kinds {
		kind := query.Find(params, "kind")
		kind.Enum = append(kind.Enum, string(k))
	}
	return params
}

// namesBody is the body of POST /api/v1/resolve.
type namesBody struct {
	// Each a text, or an object that says the kind as well.
	Names jsontext.Value `query:"names,required"`
}

// NameView is what one name means.
type NameView struct {
	// The name that was sent.
	Input string `json:"input" jsonschema:"example=unsloth/Qwen3-8B-GGUF:Q4_K_M"`
	// Kind of the record, or the requested kind; null if neither is known.
	Kind *string `json:"kind" jsonschema:"nullable,enum=model,enum=hardware,enum=tool,example=model"`
	// The record, or the likeliest one if several match. Null if the name is unknown or only similar to a name.
	Slug *string `json:"slug" jsonschema:"nullable,example=qwen3-8b"`
	// Name of that record.
	Name *string `json:"name" jsonschema:"nullable,example=Qwen3 8B"`
	// exact: the name is a slug, name or alias of just this record. parsed: read by rules, with every word understood.
	// likely: the name is not specific enough, and slug is the likeliest of the candidates. near: the candidates are
	// guesses, and slug is null. Null if nothing was found.
	Confidence *string `json:"confidence" jsonschema:"nullable,enum=exact,enum=parsed,enum=likely,enum=near,example=parsed"`
	// Whether the name matches several products, which are the candidates. slug is then the likeliest one, or the record
	// for measurements that do not name the exact product.
	Ambiguous bool `json:"ambiguous" jsonschema:"example=false"`
	// Storage type of the weights found in the name of a model.
	Quantization *string `json:"quantization" jsonschema:"nullable,example=Q4_K_M"`
	// File format found in the name of a model.
	Format *string `json:"format" jsonschema:"nullable,example=gguf"`
	// Number of parameters found in the name of a model, in billions.
	ParamsB *float64 `json:"params_b" jsonschema:"nullable,example=8"`
	// Memory size found in the name of hardware, in GB.
	MemoryGB *float64 `json:"memory_gb" jsonschema:"nullable,example=24"`
	// Number of devices found in the name of hardware.
	Count *int `json:"count" jsonschema:"nullable,example=2"`
	// How the name was read, or why it has no record.
	Reason string `json:"reason" jsonschema:"example=name without the quantization"`
	// Possible records if there is no single one, best first, at most five.
	Candidates []resolve.Candidate `json:"candidates"`
}

func nameView(a resolve.Answer) NameView {
	return NameView{
		Input: a.Input, Kind: known(string(a.Kind)), Slug: known(string(a.Slug)), Name: known(a.Name), Confidence: known(string(a.Confidence)),
		Ambiguous: a.Ambiguous, Quantization: known(a.Quantization), Format: known(a.Format), ParamsB: known(a.ParamsB),
		MemoryGB: known(a.MemoryGB), Count: known(a.Count), Reason: a.Reason, Candidates: append([]resolve.Candidate{}, a.Candidates...),
	}
}

// resolveName answers GET: one name in the query.
func resolveName(s *Server, req *request) (*response, *failure) {
	v := query.Read(nameList.params, req.ctx.QueryArgs().All())
	if f := failureOf(&v.Faults); f != nil {
		return nil, f
	}
	var ask nameParams
	v.Into(&ask)
	return s.cached(req, v.Address(resolvePath), func() ([]byte, string) {
		return withMeta(req.gen, nameView(req.gen.Names.Resolve(ask.Kind, ask.Q))), ""
	}), nil
}

// resolveNames answers POST: up to mostNames names in the body, charged as one call.
func resolveNames(_ *Server, req *request) (*response, *failure) {
	names, f := readNames(req)
	if f != nil {
		return nil, f
	}
	req.call.SpendBurst((len(names) - 1) / namesPerCall)
	views := make([]NameView, len(names))
	for i, n := range names {
		views[i] = nameView(req.gen.Names.Resolve(n.Kind, n.Q))
	}
	resp := uncached(http.StatusOK, withMeta(req.gen, views))
	resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	return resp, nil
}

// badName says why a name is rejected; empty if it is valid.
func badName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "must not be empty"
	case len(name) > resolve.MaxName:
		return fmt.Sprintf("must be at most %d bytes long, got %d", resolve.MaxName, len(name))
	}
	return ""
}

// readNames reads the body of POST: {"names": [...]}, where an entry is a text or an object with q and kind.
func readNames(req *request) ([]nameParams, *failure) {
	body, f := readBody(req, query.Of[namesBody]())
	if f != nil {
		return nil, f
	}
	var entries []jsontext.Value
	raw := jsontext.Value(body.Text("names"))
	switch {
	case len(raw) == 0:
	case raw.Kind() != '[' || jsonv2.Unmarshal(raw, &entries) != nil:
		body.Missing("names", "must be a list")
	case len(entries) == 0 || len(entries) > mostNames:
		body.Missing("names", fmt.Sprintf("must have 1 to %d entries, got %d", mostNames, len(entries)))
		entries = nil
	}
	names := make([]nameParams, len(entries))
	for i, entry := range entries {
		at := fmt.Sprintf("names[%d]", i)
		var members map[string]jsontext.Value
		if entry.Kind() == '{' && jsonv2.Unmarshal(entry, &members) == nil {
			v := query.ReadObject(nameList.params, members, at+".")
			v.Into(&names[i])
			body.Join(&v.Faults)
			continue
		}
		name := *query.Find(nameList.params, "q")
		name.Name = at
		v := query.ReadObject([]query.Param{name}, map[string]jsontext.Value{at: entry}, "")
		names[i].Q = v.Text(at)
		body.Join(&v.Faults)
	}
	return names, failureOf(&body.Faults)
}
