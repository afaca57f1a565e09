//go:build !linux

package httpapi

import "net"

// A vector sends two pieces of memory with one system call, where there is one for it. It
// belongs to one connection.
type vector struct{ conn net.Conn }

func (v *vector) of(c net.Conn) { v.conn = c }

// send returns how many bytes are on their way.
func (v *vector) send(head, body []byte) (int, error) {
	parts := net.Buffers{head, body}
	n, err := parts.WriteTo(v.conn)
	return int(n), err
}
