package connections

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// directFrom is the smallest body that is written directly: smaller ones fit into fasthttp's
// buffer beside their head, where copying them costs less than a longer system call.
const directFrom = 4 << 10

// Parts is the body of a list in the order it is sent: rows where the index has them, between the
// bytes of the envelope. Nothing is copied to make one, and it takes no memory but this.
type Parts struct {
	List [][]byte // the first is room for the head
}

// parts are reused: one is a slice header for each row of a page.
var parts = sync.Pool{New: func() any { return new(Parts) }}

// NewParts has room for the head as its first part.
func NewParts() *Parts {
	p := parts.Get().(*Parts)
	p.List = append(p.List, nil)
	return p
}

// size is the number of bytes of the body.
func (p *Parts) size() (n int) {
	for _, part := range p.List[1:] {
		n += len(part)
	}
	return n
}

// free gives up the parts: they must not keep rows alive.
func (p *Parts) free() {
	clear(p.List)
	p.List = p.List[:0]
	parts.Put(p)
}

// SendShared sends a body that many callers share. A large one leaves from where it is, in one
// system call with its head; fasthttp would copy the start of it into its buffer, write that, and
// then write the rest.
//
// The order of bytes on the connection is fasthttp's own throughout: it writes the head into its
// buffer, behind whatever else waits there, and asks the body to write itself. The body then
// flushes that buffer, and the connection adds the body to the bytes of that one flush. Nothing
// here knows or assumes what the buffer holds, so pipelined requests, however they are cut into
// segments, cannot change what is sent.
func SendShared(ctx *fasthttp.RequestCtx, body []byte, readers *atomic.Int32) {
	conn, ok := ctx.Conn().(*connection)
	if !ok || len(body) < directFrom {
		ctx.Response.SetBodyRaw(body)
		return
	}
	conn.shared = [2][]byte{nil, body}
	conn.direct = directBody{conn: conn, vector: conn.shared[:], size: len(body), readers: readers}
	ctx.Response.SetBodyStream(&conn.direct, len(body))
}

// SendParts sends the body of a list that one caller gets, in the same way.
func SendParts(ctx *fasthttp.RequestCtx, body *Parts) {
	conn, ok := ctx.Conn().(*connection)
	size := body.size()
	if ok && size >= directFrom {
		conn.direct = directBody{conn: conn, vector: body.List, size: size, parts: body}
		ctx.Response.SetBodyStream(&conn.direct, size)
		return
	}
	for _, part := range body.List[1:] {
		ctx.Response.AppendBody(part)
	}
	body.free()
}

// directBody is the body of the response a connection is about to send.
type directBody struct {
	conn   *connection
	vector [][]byte // what is sent; the first is room for the head
	size   int      // of the body
	// readers counts the connections that are sending a shared body, for the bound on unread responses.
	readers *atomic.Int32
	parts   *Parts // whose list vector is; nil for a shared body
}

// WriteTo sends what w has buffered and then the body. fasthttp calls it once, after the head.
func (d *directBody) WriteTo(w io.Writer) (int64, error) {
	if buffer, ok := w.(*bufio.Writer); ok && buffer.Buffered() > 0 {
		d.conn.tail = d // the next Write of the connection is the flush, and it sends the body behind its bytes
		defer func() { d.conn.tail = nil }()
		if err := buffer.Flush(); err != nil {
			return 0, err
		}
		return int64(d.size), nil
	}
	sent := int64(0)
	for _, part := range d.vector[1:] {
		n, err := w.Write(part)
		if sent += int64(n); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// Close ends the sending, or says that there is none, as for a HEAD: fasthttp calls it for every body.
func (d *directBody) Close() error {
	if d.parts != nil {
		d.parts.free()
	}
	d.conn.shared = [2][]byte{} // the body must not be kept alive
	*d = directBody{conn: d.conn}
	return nil
}

var errNotRead = errors.New("the body of a response is written, not read")

// Read implements io.Reader, which fasthttp asks for in its type; it calls WriteTo.
func (d *directBody) Read([]byte) (int, error) { return 0, errNotRead }
