// Package connections keeps the connections of callers: how many there are, how long they may wait, and how the bytes of a
// response leave.
//
// A Limit bounds the open connections and what their callers have not read yet. Listen gives a listener with those
// bounds; a connection too many is told why (Refusal) and closed, and the one that waited longest or reads most slowly
// makes room. Every write has a deadline by its length, so that each caller reads at a least speed.
//
// fasthttp writes the bytes of most responses. Three kinds of body leave in another way: SendShared sends a large body
// of the cache, and SendParts the rows of a page, in one system call with their head (see body.go for why that is
// safe); Limit.SendStream sends a body that is made while it is sent. OnState and ErrLineFeed are of the head of a
// request (see head.go).
//
// The package knows fasthttp, and no server, request or response of ours. A connection belongs to the goroutine that
// serves it; everything else is safe for concurrent use.
package connections
