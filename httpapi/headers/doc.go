// Package headers reads the headers of requests that decide the form of a response, and writes
// those of responses.
//
// Read: which Accept formats (Accepted), which bytes of a file (RangeOf), and lists with weights
// (Weight). A Set says which of the rarer headers a request has, so that the others are not looked for.
// Written: Lines are headers as they are sent; Plans keeps those about the limits of a key.
// It knows fasthttp for the one call that hands over lines, and no server, request or response.
package headers
