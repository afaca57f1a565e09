package httpapi

import (
	"net"
	"syscall"
	"unsafe"
)

// A vector sends pieces of memory with one system call. It belongs to one connection.
//
// It calls the kernel without telling the scheduler. The socket does not block, so the call is
// plain work: some tens of microseconds of copying. Told of it, the scheduler takes the
// processor away from a call that lasts longer than twenty, starts another thread for it, and
// puts the caller to sleep until one is free again, which cost more than the handler.
type vector struct {
	conn  net.Conn
	raw   syscall.RawConn       // nil where conn is no TCP connection
	step  func(fd uintptr) bool // push, bound once: binding it allocates
	parts []syscall.Iovec       // what was added; its room is kept
	left  []syscall.Iovec       // those of parts that are not sent
	sent  int
	err   error
}

// mostParts is how many pieces one call takes (UIO_MAXIOV of Linux).
const mostParts = 1024

// of takes the connection to send on.
func (v *vector) of(c net.Conn) {
	v.conn = c
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		v.raw, v.step = raw, v.push
	}
}

// add puts a piece behind the others.
func (v *vector) add(p []byte) {
	if len(p) == 0 {
		return
	}
	part := syscall.Iovec{Base: unsafe.SliceData(p)}
	part.SetLen(len(p))
	v.parts = append(v.parts, part)
}

// drop forgets what was added.
func (v *vector) drop() {
	clear(v.parts) // nothing sent may be kept alive
	v.parts, v.left = v.parts[:0], nil
}

// send waits until all pieces are on their way, as long as the connection's deadline lets it,
// and returns how many bytes are. The vector is empty then.
func (v *vector) send() (int, error) {
	defer v.drop()
	v.sent, v.err, v.left = 0, nil, v.parts
	if v.raw == nil {
		return v.sendSingly()
	}
	err := v.raw.Write(v.step)
	if err == nil {
		err = v.err
	}
	return v.sent, err
}

func (v *vector) sendSingly() (int, error) {
	for _, p := range v.left {
		n, err := v.conn.Write(unsafe.Slice(p.Base, p.Len))
		if v.sent += n; err != nil {
			return v.sent, err
		}
	}
	return v.sent, nil
}

// push sends what the socket takes; false means that it is full and has to be waited for.
func (v *vector) push(fd uintptr) (done bool) {
	for len(v.left) > 0 {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&v.left[0])), uintptr(min(len(v.left), mostParts)))
		switch errno {
		case 0:
			v.skip(int(n))
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			v.err = errno
			return true
		}
	}
	return true
}

// skip leaves out what was sent.
func (v *vector) skip(n int) {
	v.sent += n
	for len(v.left) > 0 && n >= int(v.left[0].Len) {
		n -= int(v.left[0].Len)
		v.left = v.left[1:]
	}
	if n > 0 {
		p := &v.left[0]
		p.Base = (*byte)(unsafe.Add(unsafe.Pointer(p.Base), n))
		p.SetLen(int(p.Len) - n)
	}
}
