//go:build !linux

package httpapi

import "net"

// A vector sends pieces of memory with one system call, where there is one for it. It belongs
// to one connection.
type vector struct {
	conn  net.Conn
	parts net.Buffers
}

// of takes the connection to send on.
func (v *vector) of(c net.Conn) { v.conn = c }

// add puts a piece behind the others.
func (v *vector) add(p []byte) { v.parts = append(v.parts, p) }

// drop forgets what was added.
func (v *vector) drop() { v.parts = nil }

// send returns how many bytes are on their way.
func (v *vector) send() (int, error) {
	defer v.drop()
	n, err := v.parts.WriteTo(v.conn)
	return int(n), err
}
