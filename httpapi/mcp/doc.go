// Package mcp answers the Model Context Protocol: tools with which agents ask the API.
//
// A tool is a call of the API with fewer parameters and a shorter answer. Its schemas are cut out of the
// OpenAPI document, its answers out of the answers of the API, so that both say the same. The package knows no
// HTTP server: an Ask sends a call on behalf of the caller, with his key and his quota.
//
// An answer is under 4 KiB as a whole, with its text, its structured form and its links. Rows that do not fit
// are left out, and the answer says how many.
package mcp
