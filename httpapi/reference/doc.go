// Package reference turns an OpenAPI 3.1 document into the content of reference pages: groups of endpoints with their
// parameters, bodies, responses, errors and a sample call, and the objects in responses.
//
//   - A Reference is the whole document, in the order of the document.
//   - A Group is the endpoints of one tag, the parameters several of them share, and the objects that
//     they refer to more directly than any other group does.
//   - An Endpoint is one address and method.
//   - An Entry is a parameter, a field, a header or an object, with its type in words.
//
// The pages use the same bytes as /openapi.json, so the two always agree. Texts of the document are Markdown without
// HTML. The package does not depend on HTTP or templates. A Reference is immutable and safe for concurrent use.
package reference
