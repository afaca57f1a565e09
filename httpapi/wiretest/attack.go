package wiretest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a connection may take before a response counts as lost.
const patience = 2 * time.Minute

// Options say what to attack. Addr and Secret must be set.
type Options struct {
	Addr   string // host and port
	Secret string // a key whose quota and burst do not end
	// Responses is how many responses to check, at least.
	Responses int
	// Seed decides everything but the timing of segments.
	Seed uint64
	// Parallel is how many connections are open at a time; zero means 8.
	Parallel int
	// Proxied leaves out what a proxy answers itself: garbage, and callers that go away.
	Proxied bool
}

// Report is what an attack found. Faults is empty for a server that does everything right.
type Report struct {
	Responses   int // checked
	Connections int
	BrokenOff   int // connections the caller closed in between
	Faults      []string
}

// maxReported is how many faults of an attack are described; more say nothing new.
const maxReported = 20

// attack is one run.
type attack struct {
	opt      Options
	requests []*request
	final    []*request
	serial   atomic.Uint64

	responses, connections, brokenOff atomic.Int64

	mu     sync.Mutex
	faults []string
	ids    map[string]bool // of all responses: each is given once
}

// Run attacks a server until enough responses were checked. An error means that the attack could
// not begin. It returns after the first maxReported faults.
func Run(opt Options) (*Report, error) {
	if opt.Parallel == 0 {
		opt.Parallel = 8
	}
	a := &attack{opt: opt, ids: map[string]bool{}}
	a.serial.Store(opt.Seed % 1_000_000_007 * 1000)
	if err := a.catalog(); err != nil {
		return nil, err
	}
	if !opt.Proxied {
		var err error
		if a.final, err = a.ends(); err != nil {
			return nil, err
		}
	}
	var wg sync.WaitGroup
	for i := range opt.Parallel {
		wg.Go(func() { a.work(rand.New(rand.NewPCG(opt.Seed, uint64(i)))) })
	}
	wg.Wait()
	return &Report{int(a.responses.Load()), int(a.connections.Load()), int(a.brokenOff.Load()), a.faults}, nil
}

func (a *attack) work(rnd *rand.Rand) {
	for int(a.responses.Load()) < a.opt.Responses && a.reported() < maxReported {
		c := a.plan(rnd)
		a.connections.Add(1)
		if err := c.play(); err != nil {
			a.fault("%v: %v", c, err)
		}
	}
}

func (a *attack) reported() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.faults)
}

func (a *attack) fault(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.faults) < maxReported {
		a.faults = append(a.faults, fmt.Sprintf(format, args...))
	}
}

// conversation is what is sent over one connection.
type conversation struct {
	a        *attack
	mode     string
	requests []*request
	segments [][]byte
	pause    time.Duration // between segments
	slow     bool          // the caller reads little at a time
	breakOff int           // segments sent before the caller goes away; 0: it stays
	rude     bool          // it goes away with a reset
}

// String names a conversation in a report.
func (c *conversation) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, segments", c.mode)
	for _, s := range c.segments {
		fmt.Fprintf(&b, " %d", len(s))
	}
	for _, q := range c.requests {
		fmt.Fprintf(&b, ", %v", q)
	}
	return b.String()
}

// plan draws a conversation.
func (a *attack) plan(rnd *rand.Rand) *conversation {
	c := &conversation{a: a, slow: rnd.IntN(20) == 0}
	for range 1 + rnd.IntN(12) {
		if rnd.IntN(8) == 0 {
			c.requests = append(c.requests, a.fresh())
		} else {
			c.requests = append(c.requests, a.requests[rnd.IntN(len(a.requests))])
		}
	}
	if len(a.final) > 0 && rnd.IntN(4) == 0 {
		c.requests = append(c.requests, a.final[rnd.IntN(len(a.final))])
	}
	c.cut(rnd)
	if !a.opt.Proxied && rnd.IntN(20) == 0 && len(c.segments) > 1 {
		c.breakOff, c.rude = 1+rnd.IntN(len(c.segments)-1), rnd.IntN(2) == 0
	}
	return c
}

// cut divides the bytes of the requests into segments.
func (c *conversation) cut(rnd *rand.Rand) {
	var all []byte
	var ends []int
	for _, q := range c.requests {
		all = append(all, q.raw...)
		ends = append(ends, len(all))
	}
	var cuts []int
	switch rnd.IntN(5) {
	case 0:
		c.mode = "together"
	case 1:
		c.mode, cuts = "one by one", ends[:len(ends)-1]
	case 2: // a segment is as long as a request it does not hold
		c.mode = "aligned"
		for i, at := 0, 0; i+1 < len(c.requests); i++ {
			at += len(c.requests[i].raw)
			if next := c.requests[rnd.IntN(len(c.requests))].raw; at+len(next) < len(all) {
				cuts = append(cuts, at+len(next))
				if at < len(all) && rnd.IntN(2) == 0 {
					at += len(next)
				}
			}
		}
	case 3:
		c.mode = "random"
		for range rnd.IntN(20) {
			cuts = append(cuts, rnd.IntN(len(all)))
		}
	default: // two requests, and a cut at one byte; over many connections at every byte
		c.mode = "single cut"
		cuts = append(cuts, rnd.IntN(len(all)))
	}
	c.pause = time.Duration(rnd.IntN(3)) * 300 * time.Microsecond
	if n := len(c.requests); c.requests[n-1].last {
		// What comes behind a request the server has rejected meets a closed connection, and the
		// reset may take responses with it that the caller has not read yet: TCP does that.
		start := len(all) - len(c.requests[n-1].raw)
		cuts = slices.DeleteFunc(slices.Clone(cuts), func(cut int) bool { return cut > start })
	}
	c.divide(all, cuts)
}

func (c *conversation) divide(all []byte, cuts []int) {
	at := 0
	for at < len(all) {
		next := len(all)
		for _, cut := range cuts {
			if cut > at && cut < next {
				next = cut
			}
		}
		c.segments = append(c.segments, all[at:next])
		at = next
	}
}

// play holds the conversation and checks what comes back.
func (c *conversation) play() error {
	raw, err := net.Dial("tcp", c.a.opt.Addr)
	if err != nil {
		return err
	}
	conn := raw.(*net.TCPConn)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience)) // fails only on a closed connection
	var in io.Reader = conn
	if c.slow {
		_ = conn.SetReadBuffer(64 << 10) // a hint
		in = &slowly{r: conn}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.send(conn)
	}()
	err = c.hear(bufio.NewReaderSize(in, 8<<10))
	if c.breakOff > 0 {
		err = nil // what came before the end was checked
	}
	if err != nil {
		_ = conn.Close()
	}
	<-gone
	return err
}

func (c *conversation) send(conn *net.TCPConn) {
	for i, s := range c.segments {
		if c.breakOff > 0 && i == c.breakOff {
			c.a.brokenOff.Add(1)
			if c.rude {
				_ = conn.SetLinger(0)
			}
			_ = conn.Close()
			return
		}
		if i > 0 && c.pause > 0 {
			time.Sleep(c.pause)
		}
		if _, err := conn.Write(s); err != nil {
			return // the reader reports what is missing
		}
	}
}

// hear reads a response for every request, and the end of the connection where it must come.
func (c *conversation) hear(r *bufio.Reader) error {
	for i, q := range c.requests {
		got, id, err := read(r, q.method)
		if err != nil {
			return fmt.Errorf("response %d of %d, to %v: %w", i+1, len(c.requests), q, err)
		}
		c.a.responses.Add(1)
		if err := c.a.check(q, got, id); err != nil {
			return fmt.Errorf("response %d of %d: %w", i+1, len(c.requests), err)
		}
		if q.last {
			if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
				return fmt.Errorf("after the last response, to %v: %w", q, err)
			}
		}
	}
	if n := r.Buffered(); n > 0 {
		return fmt.Errorf("%d bytes after the last response", n)
	}
	return nil
}

// check compares a response with what its request must be answered.
func (a *attack) check(q *request, got *response, id string) error {
	a.mu.Lock()
	twice := a.ids[id]
	a.ids[id] = true
	a.mu.Unlock()
	switch {
	case id == "" || twice:
		return fmt.Errorf("%v: request id %q is missing or was given before", q, id)
	case got.status != q.status:
		return fmt.Errorf("%v: status %d, want %d; body %.200q", q, got.status, q.status, got.body)
	case q.want == nil && !bytes.Contains([]byte(got.body), []byte(q.holds)):
		return fmt.Errorf("%v: the body does not contain %q: %.200q", q, q.holds, got.body)
	case q.want != nil && got.headers != q.want.headers:
		return fmt.Errorf("%v: headers\n%s\nwant\n%s", q, got.headers, q.want.headers)
	case q.want != nil && got.body != q.want.body:
		return fmt.Errorf("%v: %d bytes of body, want %d others: %.200q", q, len(got.body), len(q.want.body), got.body)
	}
	return nil
}

// slowly reads a little at a time, with pauses.
type slowly struct {
	r io.Reader
	n int
}

// Read implements io.Reader.
func (s *slowly) Read(p []byte) (int, error) {
	if s.n++; s.n%16 == 0 {
		time.Sleep(time.Millisecond)
	}
	return s.r.Read(p[:min(len(p), 2000)])
}
