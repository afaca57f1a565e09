package httpapi

import (
	"bytes"
	"net"

	"github.com/valyala/fasthttp"
)

// A socket is a connection that sends head and body of a large answer with one system call and
// without copying the body. fasthttp would copy the first part of the body behind the head
// into its buffer, send that, and then send the rest.
//
// The body is handed to the socket instead (see setBody), fasthttp writes the head alone, and the
// socket puts the body behind it. That holds only while the answer is the one thing waiting to
// be sent, so it is done for a request that came alone; any other takes fasthttp's way. A
// socket belongs to the goroutine that serves its connection.
type socket struct {
	net.Conn
	alone bool // what was read last ended with the end of one head and followed no unsent answer
	owed  bool // an answer was made and has not been sent
	body  []byte
	out   vector
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

var headEnd = []byte("\r\n\r\n")

// Read notes whether what comes is one request and nothing after it.
func (k *socket) Read(p []byte) (int, error) {
	n, err := k.Conn.Read(p)
	at := bytes.Index(p[:n], headEnd)
	k.alone = !k.owed && at >= 0 && at == n-len(headEnd)
	return n, err
}

// Write sends p, and a body handed over before behind the head it belongs to. A head longer
// than fasthttp's buffer comes in parts: only the last ends it.
func (k *socket) Write(p []byte) (int, error) {
	if k.body == nil || !bytes.HasSuffix(p, headEnd) {
		k.owed = k.body != nil
		return k.Conn.Write(p)
	}
	n, err := k.out.send(p, k.body)
	k.body, k.owed = nil, false
	return min(n, len(p)), err
}

// begun notes that a request is being answered.
func (k *socket) begun() {
	if k != nil {
		k.owed = true
	}
}

// socketOf is the connection of a request, nil where it is no socket.
func socketOf(ctx *fasthttp.RequestCtx) *socket {
	k, _ := ctx.Conn().(*socket)
	return k
}

// carryFrom is the smallest body that is worth a vector: smaller ones fit behind the head in
// fasthttp's buffer of 4 KiB and leave with it.
const carryFrom = 2 << 10

// setBody sets the body of a 200 answer, through the socket where that can be.
func setBody(ctx *fasthttp.RequestCtx, body []byte) {
	ctx.Response.SetBodyRaw(body)
	k := socketOf(ctx)
	if k == nil || !k.alone || len(body) < carryFrom || !ctx.IsGet() || ctx.Request.Header.ContentLength() > 0 {
		return
	}
	k.body = body
	ctx.Response.SkipBody = true // the length is announced all the same
}

// takeBack undoes setBody for an answer that is replaced by another.
func takeBack(ctx *fasthttp.RequestCtx) {
	if k := socketOf(ctx); k != nil && k.body != nil {
		k.body, ctx.Response.SkipBody = nil, false
	}
}
