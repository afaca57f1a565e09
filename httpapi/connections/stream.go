package connections

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"modeldex/quota"

	"github.com/valyala/fasthttp"
)

// Stream is a body that is made while it is sent, for results that do not fit into memory. A
// response with one has no other body.
type Stream struct {
	Size int // in bytes; -1: not known before the end
	// Open begins the body. Every time it gives the same bytes.
	Open func() (io.Reader, error)
	// Done ends the use of what the body is made of. It is called once.
	Done func()
}

// streamBody is a stream being sent. It begins with the first read.
type streamBody struct {
	stream *Stream
	size   int // in bytes; -1: unknown
	failed func(err error)

	in  io.Reader
	err error
}

// SendStream has fasthttp ask for the body piece by piece. With HTTP/1.1 it sends each as a chunk,
// so that a body which ends early is seen to be cut: the last chunk is missing, and the connection is
// closed. HTTP/1.0 has no chunks: there the body is made twice, the first time to know its length. failed is called
// with the error of a body that could not be made to its end.
func SendStream(ctx *fasthttp.RequestCtx, s *Stream, failed func(error)) {
	body := &streamBody{stream: s, size: s.Size, failed: failed}
	if body.size < 0 && !ctx.Request.Header.IsHTTP11() {
		body.measure()
	}
	if ctx.IsHead() {
		// Without a body stream: after the head of one with chunks fasthttp writes the empty line that ends the last chunk.
		ctx.Response.Header.SetContentLength(body.size)
		_ = body.Close() // never fails
		return
	}
	ctx.Response.SetBodyStream(body, body.size)
}

// measure finds the size. After an error every later read fails too, so that the response is seen to be cut.
func (b *streamBody) measure() {
	n, _ := io.Copy(io.Discard, struct{ io.Reader }{b}) // b keeps the error
	b.in, b.size = nil, int(n)
}

// Read reads on. A panic becomes an error, which cuts the response.
func (b *streamBody) Read(p []byte) (n int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			n, err = 0, fmt.Errorf("panic: %v", cause)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			if b.err == nil {
				b.failed(err)
			}
			b.err = err
		}
	}()
	if b.err != nil {
		return 0, b.err
	}
	if b.in == nil {
		if b.in, err = b.stream.Open(); err != nil {
			return 0, err
		}
	}
	return b.in.Read(p)
}

// Close implements io.Closer: fasthttp calls it when the body was sent, or could not be.
func (b *streamBody) Close() error {
	if b.stream != nil {
		b.stream.Done()
		b.stream = nil
	}
	return nil
}

// Streams counts the streams under way. Its bounds are set before the first begins. It is safe for concurrent use.
type Streams struct {
	Max    int // of all keys; each keeps a generation and some ten megabytes
	PerKey int

	mu  sync.Mutex
	all int
	by  map[quota.ID]int
}

// Begin takes a place for a stream of a key, which end gives back. It is false if there is none, and why says
// whether the key has all of its own.
func (l *Streams) Begin(id quota.ID) (end func(), why Refusal, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.by[id] >= l.PerKey:
		return nil, ManyOfOne, false
	case l.all >= l.Max:
		return nil, AllInUse, false
	}
	if l.by == nil {
		l.by = map[quota.ID]int{}
	}
	l.all++
	l.by[id]++
	return func() { l.end(id) }, 0, true
}

func (l *Streams) end(id quota.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.by[id]--; l.by[id] == 0 {
		delete(l.by, id)
	}
}
