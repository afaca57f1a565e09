// Package load sends requests to a server over raw keep-alive connections, as fast as it responds
// (closed loop) or at a fixed rate (open loop).
//
// The client shares the cores with the server, so it is made to cost little. It has a few threads,
// each with its own epoll set and its own share of the connections. Requests are made before the
// measurement starts; responses are read into one buffer per thread and checked for status and length
// only. It knows plain HTTP/1.1 without TLS, one request at a time per connection.
//
// An open loop sends at its rate whether or not responses have arrived. A request that finds no free connection
// waits, and its latency counts from the time it was due. So if a server stalls, its figures include the
// requests that had to wait.
//
// It needs Linux.
package load
