package httpapi

import (
	"bufio"
	"errors"
	"io"
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// directFrom is the smallest body that is written directly: smaller ones fit into fasthttp's
// buffer beside their head, where copying them costs less than a longer system call.
const directFrom = 4 << 10

// sharedBody is a body that many callers share, and is never written to.
type sharedBody struct {
	bytes []byte
	// readers counts the connections that are sending it, for the bound on unread responses.
	readers *atomic.Int32
}

// sendShared sends a body that many callers share. A large one leaves from where it is, in one
// system call with its head; fasthttp would copy the start of it into its buffer, write that, and
// then write the rest. It saves about a fifth of a large cached response (see bench/README.md).
//
// The order of bytes on the connection is fasthttp's own throughout: it writes the head into its
// buffer, behind whatever else waits there, and asks the body to write itself. The body then
// flushes that buffer, and the connection adds the body to the bytes of that one flush. Nothing
// here knows or assumes what the buffer holds, so pipelined requests, however they are cut into
// segments, cannot change what is sent.
func sendShared(ctx *fasthttp.RequestCtx, body sharedBody) {
	conn, ok := ctx.Conn().(*connection)
	if !ok || len(body.bytes) < directFrom {
		ctx.Response.SetBodyRaw(body.bytes)
		return
	}
	conn.direct = directBody{conn: conn, body: body}
	ctx.Response.SetBodyStream(&conn.direct, len(body.bytes))
}

// directBody is the body of the response a connection is about to send.
type directBody struct {
	conn *connection
	body sharedBody
}

// WriteTo sends what w has buffered and then the body. fasthttp calls it once, after the head.
func (d *directBody) WriteTo(w io.Writer) (int64, error) {
	body := d.body
	*d = directBody{conn: d.conn}
	buffer, ok := w.(*bufio.Writer)
	if !ok || buffer.Buffered() == 0 {
		n, err := w.Write(body.bytes)
		return int64(n), err
	}
	d.conn.tail = body // the next Write of the connection is the flush, and it sends the tail
	if err := buffer.Flush(); err != nil {
		d.conn.tail = sharedBody{}
		return 0, err
	}
	return int64(len(body.bytes)), nil
}

var errNotRead = errors.New("the body of a shared response is written, not read")

// Read implements io.Reader, which fasthttp asks for in its type; it calls WriteTo.
func (d *directBody) Read([]byte) (int, error) { return 0, errNotRead }
