package httpapi

import (
	"bytes"
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// A socket is a connection that can send an answer itself: head and body leave with one system
// call, from where they lie. fasthttp would put the headers in a table, write them into its
// buffer, copy the first part of the body behind them, send that, and then send the rest.
//
// The answer is handed over in pieces (see give) while the request is handled. What fasthttp
// then writes, a head without a body, is dropped, and the pieces are sent in its place. That
// holds only while the answer is the one thing waiting to be sent, so it is done for a request
// that came alone (see takesWhole); any other takes fasthttp's way. A socket belongs to the
// goroutine that serves its connection; only Close may be called from others.
type socket struct {
	net.Conn
	reads  int    // since something was last sent
	got    int    // bytes of the last of them
	owed   bool   // a request was taken and nothing sent since
	behind bool   // when the request at hand was taken, another's answer was still to be sent
	given  bool   // the socket has an answer to send
	lines  []byte // room for the lines of a head, kept from answer to answer
	out    vector
	closed atomic.Bool

	readBy, writeBy deadline
}

// sockets makes a socket of every connection.
type sockets struct{ net.Listener }

// Accept waits for the next connection.
func (l sockets) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newSocket(c), nil
}

func newSocket(c net.Conn) *socket {
	k := &socket{Conn: c}
	k.out.of(c)
	return k
}

// Read notes how much has come since the last answer.
func (k *socket) Read(p []byte) (int, error) {
	if err := k.readBy.hold(k.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	n, err := k.Conn.Read(p)
	k.reads, k.got = k.reads+1, n
	return n, err
}

var headEnd = []byte("\r\n\r\n")

// Write sends p, or in its place the answer that was given.
func (k *socket) Write(p []byte) (int, error) {
	if err := k.writeBy.hold(k.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	if !k.given {
		k.owed, k.reads = false, 0
		return k.Conn.Write(p)
	}
	if !bytes.HasSuffix(p, headEnd) {
		return len(p), nil // a part of a head that is not sent
	}
	k.given, k.owed, k.reads = false, false, 0
	if _, err := k.out.send(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// begun notes that a request is being answered.
func (k *socket) begun() {
	if k != nil {
		k.behind, k.owed = k.owed, true
	}
}

// give hands over the next pieces of the answer. They are not copied: they must stay as they
// are until the answer is sent.
func (k *socket) give(pieces ...[]byte) {
	k.given = true
	for _, p := range pieces {
		k.out.add(p)
	}
}

// takeBack drops an answer that is replaced by another.
func takeBack(ctx *fasthttp.RequestCtx) {
	if k := socketOf(ctx); k != nil && k.given {
		k.given, ctx.Response.SkipBody = false, false
		k.out.drop()
	}
}

// socketOf is the connection of a request, nil where it is no socket.
func socketOf(ctx *fasthttp.RequestCtx) *socket {
	k, _ := ctx.Conn().(*socket)
	return k
}

// takesWhole says whether the socket can send the answer: the request is a GET without a body,
// it came in one piece with nothing before or behind it, no answer is waiting to be sent, and
// the connection stays open without saying so.
func takesWhole(ctx *fasthttp.RequestCtx) bool {
	k, h := socketOf(ctx), &ctx.Request.Header
	const rest = len("GET ") + len(" HTTP/1.1\r\n")
	return k != nil && k.reads == 1 && !k.behind && k.got == rest+len(h.RequestURI())+len(h.RawHeaders()) &&
		h.IsGet() && h.IsHTTP11() && !h.ConnectionClose() && h.ContentLength() <= 0
}

// Close closes the connection; what is being answered is not sent any more.
func (k *socket) Close() error {
	k.closed.Store(true)
	return k.Conn.Close()
}

// SetDeadline sets both deadlines.
func (k *socket) SetDeadline(t time.Time) error {
	k.readBy.wanted, k.writeBy.wanted = t, t
	return nil
}

// SetReadDeadline sets the deadline of the reads that follow, not of one that is waiting. It is
// an error once the socket is closed: fasthttp asks for a deadline between the first byte of a
// request and the handler, and a request that a shutdown has closed the connection of must not
// be answered, for it would be charged.
func (k *socket) SetReadDeadline(t time.Time) error {
	if k.closed.Load() {
		return net.ErrClosed
	}
	k.readBy.wanted = t
	return nil
}

// SetWriteDeadline sets the deadline of the writes that follow, not of one that is waiting.
func (k *socket) SetWriteDeadline(t time.Time) error {
	k.writeBy.wanted = t
	return nil
}

// A deadline is given to the connection when something may wait for it, and up to a second late,
// so that one that moves with every request is set once a second: each setting costs as much as
// the look-up in the cache.
type deadline struct{ wanted, held time.Time }

const deadlineSlack = time.Second

// hold has the connection hold the deadline, or one a little later.
func (d *deadline) hold(set func(time.Time) error) error {
	switch {
	case d.wanted.IsZero() && d.held.IsZero():
		return nil
	case d.wanted.IsZero():
		d.held = time.Time{}
	case !d.held.IsZero() && !d.held.Before(d.wanted) && d.held.Sub(d.wanted) <= deadlineSlack:
		return nil
	default:
		d.held = d.wanted.Add(deadlineSlack)
	}
	return set(d.held)
}
