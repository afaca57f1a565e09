// Package wiretest attacks the connections of a running server and checks every response against
// its request.
//
// Run opens many connections and sends legal and illegal HTTP/1.1 over them: several requests in
// one segment, requests cut at any byte, segments that end where another request would end,
// bodies that look like requests, HEAD, conditional requests, requests that were never sent before,
// garbage, callers that read slowly and callers that go away. Before that it asks for every
// request alone, on a connection of its own; what comes in company must be the same: status,
// headers and every byte of the body, in the order of the requests, none lost and none twice.
//
// The tests of httpapi run a short form, directly and through real proxies; "go run ./bench wire"
// runs the long one.
package wiretest
