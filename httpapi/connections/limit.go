package connections

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// maxConnections is how many connections are open at a time, where the system has room for them.
	maxConnections = 16384
	// descriptorReserve is how many file descriptors are left for everything else: the dataset
	// while it is loaded, its watcher, the ledger, the admin socket, connections being rejected.
	descriptorReserve = 64
	fewConnections    = 64 // fewer than this turn callers away on an ordinary day
	maxRejecting      = 32 // connections that are sent a rejection
	// defaultUnread bounds the bodies that are not read yet.
	defaultUnread = 128 << 20
	logEvery      = 10 * time.Second
	// MaxHeaders is the size of the head of a request, and of the buffer it is read into.
	MaxHeaders = 16 << 10
)

// Limit bounds the open connections, in total and per address. Safe for concurrent use; change settings only before the
// first connection.
type Limit struct {
	Max, PerAddress int
	MaxUnread       int64                 // bytes of responses that wait to be read by their callers
	Exempt          func(netip.Addr) bool // proxies, whose connections are of many callers
	Log             *slog.Logger
	Reject          func(Refusal) []byte // the bytes that tell a caller why there is no response

	few string // see Few

	mu   sync.Mutex
	open map[*connection]struct{}
	by   map[netip.Addr]int

	unreadBytes atomic.Int64
	rejecting   atomic.Int64
	lastLogged  atomic.Int64

	acceptErrors, rejectedFull, rejectedAddress, closedSlow atomic.Uint64
}

// Refusal is why a connection or a stream is not served.
type Refusal uint8

// The refusals.
const (
	AllInUse  Refusal = iota // there are as many as may be
	ManyOfOne                // an address, or a key, has as many as one may have
)

// NewLimit takes the limits; zero means the default: as many connections as there are file descriptors, at most
// maxConnections, and a quarter of them per address. Set Exempt, Log and Reject.
func NewLimit(most, perAddress int) *Limit { return newLimit(most, perAddress, openFiles()) }

func newLimit(most, perAddress, files int) *Limit {
	if most <= 0 {
		most = maxConnections
	}
	few := ""
	if room := files - max(descriptorReserve, files/8); files > 0 {
		if room < min(most, fewConnections) {
			few = fmt.Sprintf("only a few connections can be open at once, because the open file limit is %d: "+
				"raise it to %d or more (ulimit -n, LimitNOFILE)", files, descriptorReserve+fewConnections)
		}
		most = max(1, min(most, room))
	}
	if perAddress <= 0 {
		perAddress = max(1, most/4)
	}
	return &Limit{
		Max: most, PerAddress: perAddress, few: few, MaxUnread: defaultUnread,
		open: map[*connection]struct{}{}, by: map[netip.Addr]int{},
	}
}

// Few says what to do where the system allows so few open files that clients will be turned away; else it is empty.
func (l *Limit) Few() string { return l.few }

// Listen is a listener whose connections are within the limit. A connection too many is sent Reject and closed.
func (l *Limit) Listen(ln net.Listener) net.Listener { return listener{ln, l} }

type listener struct {
	net.Listener
	limit *Limit
}

// Accept waits for the next connection that may be served. Errors that pass, such as running out
// of file descriptors, are waited out: they must not end the server.
func (l listener) Accept() (net.Conn, error) {
	delay := 5 * time.Millisecond
	for {
		c, err := l.Listener.Accept()
		switch {
		case err == nil:
			delay = 5 * time.Millisecond
			if k := l.limit.add(c); k != nil {
				return k, nil
			}
		case !passes(err):
			return nil, err
		default:
			l.limit.acceptErrors.Add(1)
			l.limit.warn("cannot accept connections", "cause", err.Error())
			time.Sleep(delay)
			delay = min(2*delay, time.Second)
		}
	}
}

// passes says whether an error of accept is over after a while.
func passes(err error) bool {
	passing := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR}
	for _, e := range passing {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (l *Limit) add(c net.Conn) *connection {
	k := &connection{Conn: c, limit: l, from: callerOf(c)}
	if why, ok := l.admit(k); !ok {
		l.turnAway(c, why)
		return nil
	}
	return k
}

func (l *Limit) admit(k *connection) (why Refusal, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.from.IsValid() && l.by[k.from] >= l.PerAddress && !l.Exempt(k.from) {
		l.rejectedAddress.Add(1)
		l.warn("an address has too many connections", "limit", l.PerAddress)
		return ManyOfOne, false
	}
	if len(l.open) >= l.Max {
		l.rejectedFull.Add(1)
		l.warn("all connections are in use", "limit", l.Max)
		return AllInUse, false
	}
	l.open[k] = struct{}{}
	l.by[k.from]++
	return why, true
}

// callerOf is the address a connection is counted under: of IPv6 the network of 64 bits, which
// is what one subscriber has.
func callerOf(c net.Conn) netip.Addr {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// Counts are how many connections there are and what became of others.
type Counts struct {
	Open         int
	UnreadBytes  int64  // of responses that wait to be read by their callers
	AcceptErrors uint64 // attempts to accept a connection that failed
	// Rejected because all were in use, or because their address had too many.
	RejectedFull, RejectedAddress uint64
	ClosedSlow                    uint64 // because their caller read too slowly
}

// Counts are those of the moment, for metrics.
func (l *Limit) Counts() Counts {
	l.mu.Lock()
	open := len(l.open)
	l.mu.Unlock()
	return Counts{
		open, l.unreadBytes.Load(), l.acceptErrors.Load(), l.rejectedFull.Load(), l.rejectedAddress.Load(), l.closedSlow.Load(),
	}
}

func (l *Limit) remove(k *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, k)
	if l.by[k.from]--; l.by[k.from] <= 0 {
		delete(l.by, k.from)
	}
}

// unread counts bytes that wait to be read by their caller. Above the bound the connection that
// has waited longest for that is closed.
func (l *Limit) unread(n int) {
	if l.unreadBytes.Add(int64(n)) <= l.MaxUnread {
		return
	}
	var slowest *connection
	var since int64
	l.mu.Lock()
	for k := range l.open {
		if s := k.writing.Load(); s != 0 && (slowest == nil || s < since) {
			slowest, since = k, s
		}
	}
	l.mu.Unlock()
	if slowest != nil && slowest.writing.CompareAndSwap(since, 0) {
		_ = slowest.Close() // its writer finds out
		l.closedSlow.Add(1)
		l.warn("a slow reader was disconnected", "unread_bytes", l.unreadBytes.Load())
	}
}

// turnAway sends a caller the reason why the connection is closed, without waiting for more than a moment.
// Beyond maxRejecting at a time nothing is sent.
func (l *Limit) turnAway(c net.Conn, why Refusal) {
	if l.rejecting.Add(1) > maxRejecting {
		l.rejecting.Add(-1)
		_ = c.Close()
		return
	}
	go func() {
		defer l.rejecting.Add(-1)
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		if _, err := c.Write(l.Reject(why)); err != nil {
			return
		}
		// Bytes of a request that are not read would turn the close into a reset, and the caller would lose the response.
		if tcp, ok := c.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(c, MaxHeaders))
		}
	}()
}

// warn logs at most once per logEvery: the counters say how often.
func (l *Limit) warn(text string, args ...any) {
	at := time.Now().UnixNano()
	if last := l.lastLogged.Load(); at-last >= int64(logEvery) && l.lastLogged.CompareAndSwap(last, at) {
		l.Log.Warn(text, append(args, "accept_errors", l.acceptErrors.Load(), "rejected", l.rejectedFull.Load()+l.rejectedAddress.Load())...)
	}
}
