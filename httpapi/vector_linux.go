package httpapi

import (
	"net"
	"syscall"
	"unsafe"
)

// A vector sends two pieces of memory with one system call. It belongs to one connection.
//
// It calls the kernel without telling the scheduler. The socket does not block, so the call is
// plain work: some tens of microseconds of copying. Told of it, the scheduler takes the
// processor away from a call that lasts longer than twenty, starts another thread for it, and
// puts the caller to sleep until one is free again, which cost more than the handler.
type vector struct {
	conn  net.Conn
	raw   syscall.RawConn       // nil where conn is no TCP connection
	step  func(fd uintptr) bool // push, bound once: binding it allocates
	parts [2]syscall.Iovec      // what is left to send
	sent  int
	err   error
}

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

// send waits until both are on their way, as long as the connection's deadline lets it, and
// returns how many bytes are. Neither may be empty.
func (v *vector) send(head, body []byte) (int, error) {
	if v.raw == nil {
		n, err := v.conn.Write(head)
		if err != nil {
			return n, err
		}
		m, err := v.conn.Write(body)
		return n + m, err
	}
	v.sent, v.err = 0, nil
	for i, p := range [2][]byte{head, body} {
		v.parts[i].Base = unsafe.SliceData(p)
		v.parts[i].SetLen(len(p))
	}
	err := v.raw.Write(v.step)
	v.parts = [2]syscall.Iovec{}
	if err == nil {
		err = v.err
	}
	return v.sent, err
}

// push sends what the socket takes; false means that it is full and has to be waited for.
func (v *vector) push(fd uintptr) (done bool) {
	for v.parts[1].Len > 0 {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&v.parts)), uintptr(len(v.parts)))
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
	for i := range v.parts {
		p := &v.parts[i]
		took := min(n, int(p.Len))
		p.SetLen(int(p.Len) - took)
		if p.Len == 0 {
			p.Base = nil // one past the end may be another's memory
		} else {
			p.Base = (*byte)(unsafe.Add(unsafe.Pointer(p.Base), took))
		}
		n -= took
	}
}
