// Package connections bounds the connections of callers: how many there are, and how slowly their callers may read.
//
// A Limit bounds the open connections, those of one address, and the bytes that callers have not read yet. Listen gives
// a listener with those bounds; a connection too many is told why (Refusal) and closed, and the slowest reader makes
// room. Every write has a deadline by its length, so that each caller reads at a least speed. SendStream sends a
// body that is made while it is sent.
//
// MaxConnsPerIP and Concurrency of fasthttp do not suffice: they know neither proxies nor networks of IPv6, and count
// nothing.
//
// The package knows fasthttp, and no server, request or response of ours. Everything is safe for concurrent use.
package connections
