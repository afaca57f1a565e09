// Package headers reads the headers of requests that decide the form of a response, and writes those of responses.
//
// Read: which Accept formats (Accepted), which bytes of a file (RangeOf), and lists with weights
// (Weight). Written: Lines are headers as they are sent, those about the limits of a key among them.
// It knows fasthttp for the one call that hands over lines, and no server, request or response.
package headers
