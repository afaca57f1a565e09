// Package wiretest attacks the connections of a running server and checks every response against
// its request.
//
// Run opens many connections and sends legal and illegal HTTP/1.1 over them: several requests in
// one segment, requests cut at any byte, bodies that look like requests, HEAD, conditional requests,
// new requests, and garbage. Some callers read slowly, some go away. Before that it sends every
// request alone, on a connection of its own. The response to it among others must be the same: status,
// headers and every byte of the body, in the order of the requests, none lost and none twice.
//
// The tests of httpapi run it, directly and through real proxies.
package wiretest
