// Package connections limits the number of client connections, and how slowly clients may read.
//
// A Limit bounds the open connections in total and per address, and the bytes not yet read by clients. Listen returns a
// listener with these limits. It rejects excess connections with a reason (Refusal), and disconnects the slowest reader
// to make room. Every write has a deadline that depends on its length, so clients must read at a minimum speed.
// SendStream sends a body while it is generated.
//
// MaxConnsPerIP and Concurrency of fasthttp are not enough: they do not handle proxies or IPv6 networks, and have no
// metrics.
//
// The package depends only on fasthttp. Everything is safe for concurrent use.
package connections
