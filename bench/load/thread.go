//go:build linux

package load

import (
	"fmt"
	"net"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// thread is one epoll set and its connections.
type thread struct {
	cfg       Config
	share     int // which of the threads this is
	epoll     int
	timer     int // of an open loop, else -1
	conns     []conn
	idle      []int // connections with no request under way, by their place in conns
	busy      int
	sent      int // requests sent by this thread
	buf       []byte
	latencies []time.Duration
	bytes     int64
}

// conn is one connection.
type conn struct {
	fd     int
	due    time.Duration // of the request under way, since the beginning
	answer answer
	space  []byte // for making requests in
}

// timerEvent is the timer among the places of connections.
const timerEvent = -1

func newThread(cfg Config, share int) (*thread, error) {
	t := &thread{cfg: cfg, share: share, timer: -1, buf: make([]byte, 256<<10)}
	var err error
	if t.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("making an epoll set: %w", err)
	}
	addr, err := net.ResolveTCPAddr("tcp4", cfg.Addr)
	if err != nil {
		return nil, err
	}
	for i := share; i < cfg.Conns; i += cfg.Threads {
		if err := t.connect(addr); err != nil {
			t.close()
			return nil, fmt.Errorf("%s: %w", cfg.Addr, err)
		}
	}
	if cfg.Rate > 0 {
		if t.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
			t.close()
			return nil, fmt.Errorf("making a timer: %w", err)
		}
		err = t.watch(t.timer, timerEvent)
	}
	t.latencies = make([]time.Duration, 0, 1<<20)
	return t, err
}

func (t *thread) connect(addr *net.TCPAddr) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	t.conns = append(t.conns, conn{fd: fd, space: make([]byte, 0, 1024)})
	t.idle = append(t.idle, len(t.conns)-1)
	to := &unix.SockaddrInet4{Port: addr.Port}
	copy(to.Addr[:], addr.IP.To4())
	if err := unix.Connect(fd, to); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return err
	}
	// A blocking socket that is only read when epoll says so never waits; sending waits for a
	// peer that does not read, which a request a connection never makes.
	return t.watch(fd, len(t.conns)-1)
}

func (t *thread) watch(fd, place int) error {
	return unix.EpollCtl(t.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(place)})
}

func (t *thread) close() {
	for i := range t.conns {
		_ = unix.Close(t.conns[i].fd)
	}
	if t.timer >= 0 {
		_ = unix.Close(t.timer)
	}
	_ = unix.Close(t.epoll)
}

// run sends until the time is over and waits for the answers under way.
func (t *thread) run(began time.Time) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	events := make([]unix.EpollEvent, 256)
	for {
		now := time.Since(began)
		if err := t.send(now); err != nil {
			return err
		}
		if t.over(now) && t.busy == 0 {
			return nil
		}
		if now > t.cfg.For+drain {
			return fmt.Errorf("%s: %d answers have not come within %s", t.cfg.Addr, t.busy, drain)
		}
		n, err := unix.EpollWait(t.epoll, events, 1000)
		if err != nil && err != unix.EINTR {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			if err := t.ready(int(e.Fd), began); err != nil {
				return err
			}
		}
	}
}

// due is when the next request of this thread is to be sent. The threads of an open loop take
// turns.
func (t *thread) due(now time.Duration) time.Duration {
	if t.cfg.Rate == 0 {
		return now
	}
	return time.Duration(float64(t.sent*t.cfg.Threads+t.share) / t.cfg.Rate * float64(time.Second))
}

// over says whether all requests of the time have been sent.
func (t *thread) over(now time.Duration) bool { return t.due(now) >= t.cfg.For }

// send sends what is due, as far as there are free connections, and sets the timer for what
// is due next.
func (t *thread) send(now time.Duration) error {
	for len(t.idle) > 0 {
		due := t.due(now)
		if due >= t.cfg.For {
			return nil
		}
		if due > now {
			return t.wake(due - now)
		}
		c := &t.conns[t.idle[len(t.idle)-1]]
		t.idle = t.idle[:len(t.idle)-1]
		c.due, c.answer = due, answer{}
		request := t.cfg.Request(c.space[:0], t.cfg.First+t.sent*t.cfg.Threads+t.share)
		t.sent++
		t.busy++
		if _, err := unix.Write(c.fd, request); err != nil {
			return fmt.Errorf("%s: sending: %w", t.cfg.Addr, err)
		}
	}
	return nil
}

// wake has the timer end the next wait.
func (t *thread) wake(in time.Duration) error {
	return unix.TimerfdSettime(t.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(in))}, nil)
}

// ready reads what there is for a connection.
func (t *thread) ready(place int, began time.Time) error {
	if place == timerEvent {
		_, err := unix.Read(t.timer, t.buf[:8])
		if err == unix.EAGAIN {
			err = nil
		}
		return err
	}
	c := &t.conns[place]
	n, err := unix.Read(c.fd, t.buf)
	if err != nil || n <= 0 {
		return fmt.Errorf("%s: reading an answer: %d bytes, %w", t.cfg.Addr, n, orClosed(err))
	}
	t.bytes += int64(n)
	whole, err := c.answer.take(t.buf[:n], t.cfg.Status)
	if err != nil {
		return fmt.Errorf("%s: %w: %.300q", t.cfg.Addr, err, t.buf[:n])
	}
	if whole {
		t.latencies = append(t.latencies, time.Since(began)-c.due)
		t.idle = append(t.idle, place)
		t.busy--
	}
	return nil
}

func orClosed(err error) error {
	if err == nil {
		return net.ErrClosed
	}
	return err
}
