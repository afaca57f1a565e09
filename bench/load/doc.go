// Package load sends requests to a server over raw keep-alive connections, as fast as it responds
// (closed loop) or at a fixed rate (open loop).
//
// The client is made to cost little beside the server it shares the cores with: a few threads,
// each with its own epoll set and its own share of the connections, requests made
// before the measurement starts, responses read into one buffer per thread and checked for status and
// length only. It knows plain HTTP/1.1 without TLS, one request at a time per connection.
//
// An open loop sends at its rate whether or not responses have arrived: a request that finds no
// free connection waits, and its latency counts from the time it was due, so that the
// figures of a server that stalls include the requests which had to wait.
//
// It needs Linux.
package load
