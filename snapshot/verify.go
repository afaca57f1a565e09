package snapshot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-json"
	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"modeldex/dataset/record"
)

// maxDocumentBytes is the largest document read, about ten times the size of the shipped one.
const maxDocumentBytes = 64 << 20

type checked struct {
	Document *Document // nil when there is a finding
	Findings []Finding // in the order of the places; none: the content and the hash are right
	// Form is the place where the bytes leave the canonical form, nil when they are canonical. A document in another
	// form is right, but is not published: the hash of a published file is that of its bytes.
	Form *Finding
}

// Check reads one document and reports everything wrong with it, rules it states for components, composites and
// confidence included, of each kind at most maxFindings. A read error is a finding of the whole document. Safe for
// concurrent use.
func Check(r io.Reader) checked {
	b, err := io.ReadAll(io.LimitReader(r, maxDocumentBytes+1))
	if err != nil {
		return checked{Findings: []Finding{{Rule: "reading: " + err.Error()}}}
	}
	return check(b)
}

// Verify reports everything that forbids to publish a document: the findings of Check, and a form not canonical.
func Verify(r io.Reader) []Finding {
	c := Check(r)
	return c.all()
}

func (c *checked) all() []Finding {
	if c.Form == nil {
		return c.Findings
	}
	return sortFindings(append(slices.Clone(c.Findings), *c.Form))
}

// check checks the syntax, then what needs no types, then what needs the decoded document.
func check(b []byte) checked {
	if len(b) > maxDocumentBytes {
		return checked{Findings: []Finding{{Rule: fmt.Sprintf("must be at most %d bytes", maxDocumentBytes)}}}
	}
	if fs := checkSyntax(b); len(fs) > 0 {
		return checked{Findings: fs}
	}
	_, _, noVersion := memberSpan(b, versionField)
	if _, _, noHash := memberSpan(b, hashField); noVersion != nil && noHash != nil { // else each of its fields would be a finding
		return checked{Findings: []Finding{{Rule: "is not a snapshot document: it has no " + versionField}}}
	}
	var fs []Finding
	var beside sync.WaitGroup
	beside.Go(func() { fs = checkSchema(b) })
	form, hash := checkForm(b)
	var doc Document
	err := jsonv2.Unmarshal(b, &doc, jsonv2.RejectUnknownMembers(true))
	var semantics []Finding
	if err == nil {
		semantics = checkSemantics(&doc)
	}
	beside.Wait()
	fs = append(fs, hash...)
	if err != nil { // its finding takes the place of what the schema says of the same value
		f := errorFinding(b, err)
		fs = append(slices.DeleteFunc(fs, func(g Finding) bool { return g.Pointer == f.Pointer }), f)
		return checked{Findings: sortFindings(fs), Form: form}
	}
	fs = append(fs, semantics...)
	if len(fs) > 0 {
		return checked{Findings: sortFindings(fs), Form: form}
	}
	return checked{Document: &doc, Form: form}
}

// passed lists shipped documents that pass all checks, in the format of sha256sum. TestPassed writes the list after
// checking each in full.
//
//go:embed passed.txt
var passed string

// checkPublished only decodes documents that passed before the program was made: a third of a start's time otherwise.
func checkPublished(b []byte, sum [sha256.Size]byte) checked {
	var doc Document
	if strings.Contains(passed, fmt.Sprintf("%x", sum)) && jsonv2.Unmarshal(b, &doc, jsonv2.RejectUnknownMembers(true)) == nil {
		return checked{Document: &doc}
	}
	return check(b)
}

// checkSyntax walks all tokens. The validator computes with numbers of any size, so 1e999999999 must stop here.
func checkSyntax(b []byte) []Finding {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	var fs []Finding
	for inside := true; inside && len(fs) < maxFindings; inside = d.StackDepth() > 0 {
		t, err := d.ReadToken()
		if err != nil {
			return append(fs, errorFinding(b, err))
		}
		if t.Kind() == '0' && !finite(t.String()) {
			fs = append(fs, Finding{Pointer: string(d.StackPointer()), Rule: "number must fit a double, got " + clip(t.String())})
		}
	}
	if end := d.InputOffset(); d.StackDepth() == 0 && len(bytes.TrimLeft(b[end:], " \t\r\n")) > 0 {
		fs = append(fs, Finding{Rule: fmt.Sprintf("unexpected data after the document at byte %d", end)})
	}
	return fs
}

// finite reports whether a literal is a finite double that takes no big number to compute.
func finite(literal string) bool {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(f, 0) || len(literal) > 400 {
		return false
	}
	_, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	e, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	return exponent == "" || err == nil && e >= -400 && e <= 400
}

func errorFinding(b []byte, err error) Finding {
	p := record.Explain(b, err)
	f := Finding{Rule: p.Text}
	if p.Text == record.EndsInside {
		f.Rule = "the file ends inside the document"
	}
	var syn *jsontext.SyntacticError
	var sem *jsonv2.SemanticError
	switch {
	case errors.As(err, &syn):
		f.Pointer = string(syn.JSONPointer)
		f.Rule += fmt.Sprintf(", at byte %d", p.Offset)
	case errors.As(err, &sem):
		f.Pointer = string(sem.JSONPointer)
	}
	return f
}

func checkSchema(b []byte) []Finding {
	var v any
	d := json.NewDecoder(bytes.NewReader(b)) // half the time of jsonschema.UnmarshalJSON
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return []Finding{errorFinding(b, err)}
	}
	var ve *jsonschema.ValidationError
	if err := compiled().Validate(v); errors.As(err, &ve) {
		return leaves(nil, ve, message.NewPrinter(language.English))
	}
	return blanks(nil, nil, v)
}

// blanks finds empty texts; unknown values must be null or absent.
func blanks(fs []Finding, at []string, v any) []Finding {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			fs = blanks(fs, append(at, name), member)
		}
	case []any:
		for i, entry := range v {
			fs = blanks(fs, append(at, strconv.Itoa(i)), entry)
		}
	case string:
		if strings.TrimSpace(v) == "" && len(fs) < maxFindings {
			fs = append(fs, Finding{Pointer: pointer(at...), Rule: "must not be empty"})
		}
	}
	return fs
}

// leaves collects the innermost causes. "must be null" says nothing beside another branch of a choice.
func leaves(fs []Finding, e *jsonschema.ValidationError, p *message.Printer) []Finding {
	if len(fs) >= maxFindings {
		return fs
	}
	if len(e.Causes) == 0 {
		return append(fs, leaf(e, p))
	}
	for _, c := range e.Causes {
		if t, ok := c.ErrorKind.(*kind.Type); ok && len(e.Causes) > 1 && len(t.Want) == 1 && t.Want[0] == "null" {
			continue
		}
		fs = leaves(fs, c, p)
	}
	return fs
}

func leaf(e *jsonschema.ValidationError, p *message.Printer) Finding {
	f := Finding{Pointer: pointer(e.InstanceLocation...), Rule: "schema: " + record.Clip(e.ErrorKind.LocalizedString(p), 300)}
	// the place is the member itself where the schema forbids one that is present
	if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok && len(extra.Properties) == 1 {
		f.Pointer += pointer(extra.Properties[0])
		f.Rule = "is not a known field"
	}
	if gone, ok := e.ErrorKind.(*kind.Required); ok && len(gone.Missing) == 1 {
		f.Pointer += pointer(gone.Missing[0])
	}
	return f
}

// checkForm finds where the bytes leave the canonical form, nil for nowhere, and checks the hash of that form.
func checkForm(b []byte) (form *Finding, hash []Finding) {
	c := jsontext.Value(bytes.Clone(b))
	err := c.Canonicalize()
	if err != nil {
		return nil, []Finding{errorFinding(b, err)}
	}
	at := 0
	for at < min(len(b), len(c)) && b[at] == c[at] {
		at++
	}
	if at < max(len(b), len(c)) {
		d := jsontext.NewDecoder(bytes.NewReader(b))
		for err == nil && d.InputOffset() <= int64(at) {
			_, err = d.ReadToken()
		}
		form = &Finding{Rule: fmt.Sprintf("must be in the RFC 8785 canonical form, differs at byte %d", at)}
		if err == nil {
			form.Pointer = string(d.StackPointer())
		}
	}
	want, value, err := hashCanonical(c)
	if got := strings.Trim(string(value), `"`); err == nil && got != want { // a missing field is the schema's finding
		hash = []Finding{{Pointer: "/" + hashField, Rule: "must be the hash of the document, " + want + ", got " + clip(got)}}
	}
	return form, hash
}

const maxFindings = 1000

// Finding is one violation of a rule.
type Finding struct {
	Path    string // file or address; empty when the check was given bytes
	Pointer string // RFC 6901 JSON pointer of the place; empty for the whole document
	Rule    string // what must hold, and what was found
}

// String gives "path#pointer: rule"; the whole document is "#".
func (f Finding) String() string {
	return f.Path + "#" + f.Pointer + ": " + f.Rule
}

func sortFindings(fs []Finding) []Finding {
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.Path, b.Path),
			strings.Compare(a.Pointer, b.Pointer),
			strings.Compare(a.Rule, b.Rule),
		)
	})
	return slices.Compact(fs)
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(escapeToken.Replace(t))
	}
	return b.String()
}

func clip(s string) string { return record.Clip(s, 40) }

// schemaJSON is made from the Go types by TestSchemaGolden -update and compared by it.
//
//go:generate go test -run ^TestSchemaGolden$ -update .
//go:embed schema/service-model-intelligence-snapshot-v1.json
var schemaJSON []byte

// compiled is compiled when the first document is checked: most commands check none.
var compiled = sync.OnceValue(func() *jsonschema.Schema {
	const at = "mem:///" + SchemaVersion + ".json"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaJSON))
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	s, failed := (*jsonschema.Schema)(nil), c.AddResource(at, doc)
	if failed == nil {
		s, failed = c.Compile(at)
	}
	if err := errors.Join(err, failed); err != nil {
		panic(fmt.Sprintf("snapshot schema: %v", err)) // it is embedded
	}
	return s
})

// Schema returns the JSON Schema (draft 2020-12) of the document. The caller owns the bytes.
func Schema() []byte { return bytes.Clone(schemaJSON) }

// schemaURL is the address of the schema. A relative one holds wherever the document is served (RFC 3986, section 4.2).
func schemaURL(base string) string {
	return strings.TrimRight(base, "/") + SchemaPath
}
