// Package load asks a server over raw keep-alive connections, as many questions as it answers
// (closed loop) or as many as a clock says (open loop).
//
// The client is made to cost little beside the server it shares the cores with: a few threads,
// each with its own epoll set and its own share of the connections, requests written down
// before they are sent, answers read into one buffer a thread and looked at no further than
// status and length. It knows plain HTTP/1.1 without TLS, one request at a time a connection.
//
// An open loop sends by its clock whether or not answers have come: a request that finds no
// free connection waits, and its latency counts from the time it was due, so that a server
// which stalls is charged for everything that would have been asked meanwhile.
//
// It needs Linux.
package load
