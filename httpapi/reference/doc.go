// Package reference reads an OpenAPI 3.1 document into what a reference page shows: groups of endpoints with their
// parameters, bodies, responses, errors and a call to copy, and the objects that responses are made of.
//
//   - A Reference is the whole document, in the order of the document.
//   - A Group is the endpoints of one tag, the parameters several of them share, and the objects that
//     they refer to more directly than any other group does.
//   - An Endpoint is one address and method.
//   - An Entry is a parameter, a field, a header or an object, with its type in words.
//
// The pages are made of the same bytes that /openapi.json serves, so that the two cannot disagree.
// Texts of the document are Markdown; HTML in them is left out. Nothing here knows HTTP or
// templates. A Reference is immutable and safe for concurrent use.
package reference
