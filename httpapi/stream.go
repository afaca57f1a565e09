package httpapi

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"modeldex/quota"
)

// stream is a body that is made while it is sent, for results that do not fit into memory. A
// response with one has no other body.
type stream struct {
	size int // in bytes; -1: not known before the end
	// open begins the body. Every time it gives the same bytes.
	open func() (io.Reader, error)
	// done ends the use of what the body is made of. It is called once.
	done func()
}

// streamBody is a stream being sent. It begins with the first read.
type streamBody struct {
	stream *stream
	size   int // in bytes; -1: unknown
	number uint64
	slow   func()
	failed func(number uint64, err error)

	in     io.Reader
	err    error
	sent   int64
	asked  time.Time     // when the last read returned
	waited time.Duration // that the caller took to take what was read
}

// measure finds the size. After an error every later read fails too, so that the response is seen to be cut.
func (b *streamBody) measure() {
	n, _ := io.Copy(io.Discard, readerFunc(b.read)) // b keeps the error
	b.in, b.size = nil, int(n)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

var errSlowReader = errors.New("the caller reads too slowly")

// Read implements io.Reader.
func (b *streamBody) Read(p []byte) (int, error) {
	if !b.asked.IsZero() {
		b.waited += time.Since(b.asked)
	}
	if b.err == nil && b.waited > writeGrace+time.Duration(b.sent/leastSpeed)*time.Second {
		b.slow()
		b.err = errSlowReader
	}
	n, err := b.read(p)
	b.sent += int64(n)
	b.asked = time.Now()
	return n, err
}

// read reads on. A panic becomes an error, which cuts the response.
func (b *streamBody) read(p []byte) (n int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			n, err = 0, fmt.Errorf("panic: %v", cause)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			if b.err == nil {
				b.failed(b.number, err)
			}
			b.err = err
		}
	}()
	if b.err != nil {
		return 0, b.err
	}
	if b.in == nil {
		if b.in, err = b.stream.open(); err != nil {
			return 0, err
		}
	}
	return b.in.Read(p)
}

// Close implements io.Closer: fasthttp calls it when the body was sent, or could not be.
func (b *streamBody) Close() error {
	if b.stream != nil {
		b.stream.done()
		b.stream = nil
	}
	return nil
}

const (
	maxStreams    = 16 // streams at a time: each keeps a generation and some ten megabytes
	maxKeyStreams = 2  // of one key
)

// streams counts the streams under way. It is safe for concurrent use.
type streams struct {
	max, perKey int // set before the first begins

	mu  sync.Mutex
	all int
	by  map[quota.ID]int
}

// begin takes a place for a stream of a key. end gives it back.
func (l *streams) begin(id quota.ID) (end func(), f *failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const retry = 5 // seconds: a result of 100,000 rows takes about as long
	switch {
	case l.by[id] >= l.perKey:
		return nil, &failure{code: burstExceeded, retryAfter: retry, detail: fmt.Sprintf("%d complete results are being sent to this key, as many as may be at a time. Wait until one has ended.", l.perKey)}
	case l.all >= l.max:
		return nil, &failure{code: serverBusy, retryAfter: retry, detail: "As many complete results are being sent as this server sends at a time. Try again after Retry-After seconds."}
	}
	if l.by == nil {
		l.by = map[quota.ID]int{}
	}
	l.all++
	l.by[id]++
	return func() { l.end(id) }, nil
}

func (l *streams) end(id quota.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.by[id]--; l.by[id] == 0 {
		delete(l.by, id)
	}
}
