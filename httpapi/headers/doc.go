// Package headers reads the request headers that determine the format of a response, and writes response headers.
//
// It reads accepted formats (Accepted), byte ranges (RangeOf) and weighted lists (Weight). Lines are the headers to
// send, including those for the limits of a key. It depends on fasthttp only for the call that sets the lines.
package headers
