package connections

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

type connection struct {
	net.Conn
	limit   *Limit
	from    netip.Addr   // the caller, as the limit counts it
	writing atomic.Int64 // since when a large write waits for the caller; 0: none does
	close   sync.Once
}

// countedWrite is from how many bytes on a write counts in the bound on unread responses.
const countedWrite = 16 << 10

// Write sends p within the time that its length allows.
func (k *connection) Write(p []byte) (int, error) {
	if err := k.Conn.SetWriteDeadline(time.Now().Add(mayTake(int64(len(p))))); err != nil {
		return 0, err
	}
	if len(p) >= countedWrite {
		k.writing.Store(time.Now().UnixNano())
		k.limit.unread(len(p))
		defer func() {
			k.writing.Store(0)
			k.limit.unreadBytes.Add(-int64(len(p)))
		}()
	}
	return k.Conn.Write(p)
}

// A caller has to read at a least speed, or the connection is closed: a response it does not read
// stays in memory. What the kernel has taken counts as read.
const (
	writeGrace = 10 * time.Second
	leastSpeed = 32 << 10 // bytes per second
)

// mayTake is how long a caller may take to read n bytes.
func mayTake(n int64) time.Duration { return writeGrace + time.Duration(n/leastSpeed)*time.Second }

// Close closes the connection, which then counts no more.
func (k *connection) Close() (err error) {
	k.close.Do(func() {
		k.limit.remove(k)
		err = k.Conn.Close()
	})
	return err
}
