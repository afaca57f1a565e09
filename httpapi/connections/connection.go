package connections

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// connection is one connection of a caller. It belongs to the goroutine that serves it; only
// Close may be called from others.
type connection struct {
	net.Conn
	direct directBody  // of the response being sent
	shared [2][]byte   // its vector, of a body that is shared
	tail   *directBody // what the next Write sends behind its own bytes; nil: nothing
	vector net.Buffers // being written
	closed atomic.Bool
	head   requestHead // of the request being read

	limit   *Limit       // nil in tests
	from    netip.Addr   // the caller, as the limit counts it
	waiting atomic.Int64 // since when the connection waits for bytes of the caller; 0: it does not
	writing atomic.Int64 // since when a large body waits to be read by the caller; 0: none does
	readBy  deadline
	writeBy deadline
}

// New is a connection that counts in no limit.
func New(c net.Conn) net.Conn { return newConnection(c) }

func newConnection(c net.Conn) *connection { return &connection{Conn: c} }

// Read waits for bytes of the caller. It does not wait for more of a head that has ended.
func (k *connection) Read(p []byte) (int, error) {
	if k.head.odd {
		return 0, ErrLineFeed
	}
	if err := k.readBy.apply(k.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	k.waiting.Store(now())
	n, err := k.Conn.Read(p)
	k.waiting.Store(0)
	k.head.follow(p[:n])
	return n, err
}

// OnState is told by fasthttp when a request begins and when it has been answered.
func OnState(c net.Conn, state fasthttp.ConnState) {
	k, ok := c.(*connection)
	switch {
	case !ok:
	case state == fasthttp.StateActive:
		k.head.begins()
	case state == fasthttp.StateIdle:
		k.head.answered()
	}
}

// now is the time of connections in nanoseconds, never zero.
func now() int64 { return int64(time.Since(processStart)) }

var processStart = time.Now().Add(-time.Second)

// Write sends p, and the tail after it, in one system call where the system has one for it.
func (k *connection) Write(p []byte) (int, error) {
	if body := k.tail; body != nil {
		k.tail = nil
		return k.writeDirect(p, body)
	}
	if err := k.allowWrite(len(p)); err != nil {
		return 0, err
	}
	if len(p) < countedBody || k.limit == nil {
		return k.Conn.Write(p)
	}
	k.begin(len(p))
	defer k.end(len(p))
	return k.Conn.Write(p)
}

// writeDirect sends p and then a body.
func (k *connection) writeDirect(p []byte, body *directBody) (int, error) {
	if err := k.allowWrite(len(p) + body.size); err != nil {
		return 0, err
	}
	// A shared body is in memory once, however many connections send it. Rows of the index take none.
	if body.size >= countedBody && k.limit != nil && body.readers != nil {
		if k.writing.Store(now()); body.readers.Add(1) == 1 {
			k.limit.unread(body.size)
		}
		defer func() {
			if k.writing.Store(0); body.readers.Add(-1) == 0 {
				k.limit.read(body.size)
			}
		}()
	}
	body.vector[0] = p
	k.vector = body.vector
	n, err := k.vector.WriteTo(k.Conn)
	k.vector = nil
	return int(min(n, int64(len(p)))), err
}

// countedBody is from how many bytes on a body counts in the bound on unread responses.
const countedBody = 16 << 10

// begin and end count bytes that only this connection keeps in memory.
func (k *connection) begin(n int) {
	k.writing.Store(now())
	k.limit.unread(n)
}

func (k *connection) end(n int) {
	k.writing.Store(0)
	k.limit.read(n)
}

// A caller has to read at a least speed, or the connection is closed: a response it does not read
// stays in memory. What the kernel has taken counts as read.
const (
	writeGrace = 10 * time.Second
	leastSpeed = 32 << 10 // bytes per second
)

// mayTake is how long a caller may take to read n bytes.
func mayTake(n int64) time.Duration { return writeGrace + time.Duration(n/leastSpeed)*time.Second }

// allowWrite sets the time by which n bytes must be on their way.
func (k *connection) allowWrite(n int) error {
	k.writeBy.wanted = time.Now().Add(mayTake(int64(n)))
	return k.writeBy.apply(k.Conn.SetWriteDeadline)
}

// Close closes the connection; a response being made is not sent any more.
func (k *connection) Close() error {
	if k.closed.Swap(true) {
		return nil
	}
	if k.limit != nil {
		k.limit.remove(k)
	}
	return k.Conn.Close()
}

// SetDeadline sets the deadline of the reads that follow; that of a write is the connection's own.
func (k *connection) SetDeadline(t time.Time) error { return k.SetReadDeadline(t) }

// SetReadDeadline sets the deadline of the reads that follow, not of one that is waiting. It is an error once the
// connection is closed. fasthttp calls it between the first byte of a request and the handler, so a request whose
// connection a shutdown has closed is not answered, which would charge it.
func (k *connection) SetReadDeadline(t time.Time) error {
	if k.closed.Load() {
		return net.ErrClosed
	}
	k.readBy.wanted = t
	return nil
}

// SetWriteDeadline does nothing: every write has a deadline by its length.
func (k *connection) SetWriteDeadline(time.Time) error { return nil }

// deadline is passed on when something may wait for it, up to a second late. So one that moves with every request
// is set once per second: setting it costs as much as the look-up in the cache.
type deadline struct{ wanted, set time.Time }

const deadlineSlack = time.Second

// apply makes the connection keep the deadline, or one a little later.
func (d *deadline) apply(set func(time.Time) error) error {
	switch {
	case d.wanted.IsZero() && d.set.IsZero():
		return nil
	case d.wanted.IsZero():
		d.set = time.Time{}
	case !d.set.IsZero() && !d.set.Before(d.wanted) && d.set.Sub(d.wanted) <= deadlineSlack:
		return nil
	default:
		d.set = d.wanted.Add(deadlineSlack)
	}
	return set(d.set)
}
