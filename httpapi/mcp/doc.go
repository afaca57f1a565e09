// Package mcp serves the Model Context Protocol, with tools for agents that call the API.
//
// A tool is an API call with fewer parameters and a shorter answer. Its schemas are derived from the OpenAPI document,
// and its answers from API responses, so both always agree. The package does not depend on an HTTP server: an Ask sends
// a call with the caller's key and quota.
//
// An answer is under 4 KiB in total, with its text, structured content and links. It leaves out rows that do not fit
// and says how many.
package mcp
