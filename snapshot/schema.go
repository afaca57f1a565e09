package snapshot

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaJSON is made from the Go types by TestSchemaGolden -update and compared by it.
//
//go:generate go test -run ^TestSchemaGolden$ -update .
//go:embed schema/service-model-intelligence-snapshot-v1.json
var schemaJSON []byte

// compiled is compiled when the first document is checked: most commands check none. It is safe for
// concurrent use and never changes.
var compiled = sync.OnceValue(func() *jsonschema.Schema { return mustCompile(schemaJSON) })

// Schema returns the JSON Schema (draft 2020-12) of the document. The caller owns the bytes.
func Schema() []byte { return bytes.Clone(schemaJSON) }

// schemaURL returns the address of the schema under base, an address without a path such as
// "https://example.org". Without a base it is relative: it holds at every address that serves the
// document, since each serves its schema too (RFC 3986, section 4.2).
func schemaURL(base string) string {
	return strings.TrimRight(base, "/") + SchemaPath
}

// deny rejects every reference that leaves the schema: the default loader reads files.
type deny struct{}

func (deny) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema reference %q: must stay inside the schema", url)
}

// mustCompile panics when the embedded schema is broken: the programmer's mistake.
func mustCompile(b []byte) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		panic(fmt.Sprintf("snapshot schema: %v", err))
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(deny{})
	const at = "mem:///" + SchemaVersion + ".json"
	if err := c.AddResource(at, doc); err != nil {
		panic(fmt.Sprintf("snapshot schema: %v", err))
	}
	s, err := c.Compile(at)
	if err != nil {
		panic(fmt.Sprintf("snapshot schema: %v", err))
	}
	return s
}
