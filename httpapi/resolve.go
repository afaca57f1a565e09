package httpapi

import (
	"fmt"
	"net/url"
	"strings"

	"modeldex/dataset/resolve"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/gofiber/fiber/v2"
)

const (
	// mostNames is how many names one request may ask for.
	mostNames = 200
)

var resolveParams = []string{"q", "kind"}

// NameView is what one name means.
type NameView struct {
	// The name as it was sent.
	Input string `json:"input" jsonschema:"example=unsloth/Qwen3-8B-GGUF:Q4_K_M"`
	// Kind of the record, or the kind that was asked for; null where neither is known.
	Kind *string `json:"kind" jsonschema:"nullable,enum=model,enum=hardware,enum=tool,example=model"`
	// The record. Null where the name is unknown, fits several records, or is only similar to one.
	Slug *string `json:"slug" jsonschema:"nullable,example=qwen3-8b"`
	// Name of that record.
	Name *string `json:"name" jsonschema:"nullable,example=Qwen3 8B"`
	// exact: the name is a slug, a name or an alias. parsed: read by rules, every word is accounted for. near: the candidates are guesses, and slug is null. Null where nothing was found, or the name is ambiguous without a record of its own.
	Confidence *string `json:"confidence" jsonschema:"nullable,enum=exact,enum=parsed,enum=near,example=parsed"`
	// The name fits more than one product, or is only a part of the name of one; the candidates are these. slug is then null, or the record kept for measurements that do not say which of them it was.
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
	// How the name was read, or why there is not a record.
	Reason string `json:"reason" jsonschema:"example=name without what says how it is stored"`
	// Records it may be where there is no single one, best first, at most five.
	Candidates []NameCandidate `json:"candidates"`
}

// NameCandidate is a record that a name may mean.
type NameCandidate struct {
	// Kind of the record.
	Kind string `json:"kind" jsonschema:"enum=model,enum=hardware,enum=tool,example=hardware"`
	// The record.
	Slug string `json:"slug" jsonschema:"example=nvidia-rtx-4060-ti-16gb"`
	// Name of the record.
	Name string `json:"name" jsonschema:"example=NVIDIA GeForce RTX 4060 Ti 16GB"`
	// Why it may be meant.
	Reason string `json:"reason" jsonschema:"example=one of the products with this name"`
}

func nameView(a resolve.Answer) NameView {
	v := NameView{
		Input: a.Input, Kind: known(string(a.Kind)), Slug: known(string(a.Slug)), Name: known(a.Name), Confidence: known(string(a.Confidence)),
		Ambiguous: a.Ambiguous, Quantization: known(a.Quantization), Format: known(a.Format), ParamsB: known(a.ParamsB),
		MemoryGB: known(a.MemoryGB), Count: known(a.Count), Reason: a.Reason, Candidates: make([]NameCandidate, len(a.Candidates)),
	}
	if a.Partial() {
		v.Reason = resolve.NotWhole + a.Reason
	}
	for i, c := range a.Candidates {
		v.Candidates[i] = NameCandidate{string(c.Kind), string(c.Slug), c.Name, c.Reason}
	}
	return v
}

// nameAsked is one name a caller sent.
type nameAsked struct {
	name string
	kind resolve.Kind
}

// resolveName answers GET: one name in the query.
func resolveName(s *Server, req *request) (*response, *failure) {
	var faults faultList
	one := map[string]string{}
	for name, value := range req.ctx.QueryArgs().All() {
		n, v := string(name), string(value)
		_, twice := one[n]
		switch {
		case n != "q" && n != "kind":
			if f := faults.add(unknownParameter, unknownName("query", n, noParameter, resolveParams)); f != nil {
				f.Suggestion = faults.Parameter(*clip(n), resolveParams)
			}
		case twice:
			faults.add(invalidParameter, Fault{In: "query", Name: n, Detail: "must be given once"})
		}
		one[n] = v
	}
	if q, ok := one["q"]; !ok {
		faults.add(invalidParameter, Fault{In: "query", Name: "q", Detail: "is required"})
	} else if why := badName(q); why != "" {
		faults.add(invalidParameter, Fault{In: "query", Name: "q", Value: clip(q), Detail: why})
	}
	kind := one["kind"]
	if _, given := one["kind"]; given && !isKind(kind) {
		faults.add(invalidParameter, kindFault("query", "kind", kind))
	}
	if f := faults.failure(); f != nil {
		return nil, f
	}
	address := resolvePath + "?q=" + url.QueryEscape(one["q"])
	if kind != "" {
		address = resolvePath + "?kind=" + kind + "&q=" + url.QueryEscape(one["q"])
	}
	return s.cached(req, address, func() ([]byte, string) {
		return withMeta(req.gen, nameView(req.gen.Names.Resolve(resolve.Kind(kind), one["q"]))), ""
	}), nil
}

// resolveNames answers POST: up to mostNames names in the body, charged as one call.
func resolveNames(_ *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	names, f := readNames(req.c)
	if f != nil {
		return nil, f
	}
	req.call.SpendBurst((len(names) - 1) / namesPerCall)
	views := make([]NameView, len(names))
	for i, n := range names {
		views[i] = nameView(req.gen.Names.Resolve(n.kind, n.name))
	}
	resp := uncached(fiber.StatusOK, withMeta(req.gen, views))
	resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	return resp, nil
}

// badName says why a name cannot be asked for, empty where it can.
func badName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "must not be empty"
	case len(name) > resolve.MaxName:
		return fmt.Sprintf("must be at most %d bytes long, got %d", resolve.MaxName, len(name))
	}
	return ""
}

func isKind(text string) bool {
	for _, k := range resolve.Kinds {
		if string(k) == text {
			return true
		}
	}
	return false
}

func kindFault(in, name, value string) Fault {
	allowed := make([]string, len(resolve.Kinds))
	for i, k := range resolve.Kinds {
		allowed[i] = string(k)
	}
	return Fault{In: in, Name: name, Value: clip(value), Detail: "must be one of " + strings.Join(allowed, ", "), Allowed: allowed}
}

// readNames reads the body of POST: {"names": [...]}, where an entry is a text or an object with
// q and kind. Every fault is listed, up to the bound of a request.
func readNames(c *fiber.Ctx) ([]nameAsked, *failure) {
	members, f := bodyMembers(c)
	if f != nil {
		return nil, f
	}
	var (
		faults  []Fault
		entries []jsontext.Value
	)
	raw, ok := members["names"]
	switch {
	case !ok:
		faults = append(faults, Fault{In: "body", Name: "names", Detail: "is required"})
	case raw.Kind() != '[' || jsonv2.Unmarshal(raw, &entries) != nil:
		faults = append(faults, Fault{In: "body", Name: "names", Detail: "must be a list"})
	case len(entries) == 0 || len(entries) > mostNames:
		faults = append(faults, Fault{In: "body", Name: "names", Detail: fmt.Sprintf("must have 1 to %d entries, got %d", mostNames, len(entries))})
		entries = nil
	}
	names := make([]nameAsked, len(entries))
	for i, entry := range entries {
		var more []Fault
		names[i], more = readName(fmt.Sprintf("names[%d]", i), entry)
		faults = append(faults, more...)
	}
	return names, bodyFailure(faults, members, []string{"names"})
}

// readName reads one entry.
func readName(at string, entry jsontext.Value) (n nameAsked, faults []Fault) {
	var object struct {
		Q    string `json:"q"`
		Kind string `json:"kind"`
	}
	switch entry.Kind() {
	case '"':
		if jsonv2.Unmarshal(entry, &object.Q) != nil {
			return n, []Fault{{In: "body", Name: at, Detail: "must be text"}}
		}
	case '{':
		if jsonv2.Unmarshal(entry, &object, jsonv2.RejectUnknownMembers(true)) != nil {
			return n, []Fault{{In: "body", Name: at, Detail: "must have the fields q and, where it is known, kind, both of them text"}}
		}
	default:
		return n, []Fault{{In: "body", Name: at, Detail: "must be text or an object with the fields q and kind"}}
	}
	if why := badName(object.Q); why != "" {
		faults = append(faults, Fault{In: "body", Name: at, Value: clip(object.Q), Detail: why})
	}
	if object.Kind != "" && !isKind(object.Kind) {
		faults = append(faults, kindFault("body", at+".kind", object.Kind))
	}
	return nameAsked{object.Q, resolve.Kind(object.Kind)}, faults
}
