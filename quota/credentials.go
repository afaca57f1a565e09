package quota

import (
	"crypto/subtle"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// credential is one secret's digest in memory and the account it belongs to.
type credential struct {
	digest Digest
	acc    *account
	until  atomic.Int64 // Unix seconds until which a rotated-out secret works; 0: the current one
}

// over is the until of a secret that works no more: a time that is past by every clock.
const over = 1

// table maps digests to credentials. Readers take no lock and write nothing: the table is an
// open-addressed array of pointers, swapped whole when it grows. Digests are SHA-256, so
// their first bytes are as good as any hash, and a caller cannot choose colliding ones.
//
// The standard library's sync.Map would do the same with about 150 bytes per key; this costs 8
// bytes per slot, which is 11 to 21 per key.
type table struct {
	slots atomic.Pointer[slots]

	mu   sync.Mutex
	used int // slots that are not nil, removed ones included
}

type slots struct {
	mask uint64
	at   []atomic.Pointer[credential]
}

// removed fills the slot of a credential that was taken out.
var removed = &credential{}

func newTable(n int) *table {
	t := &table{}
	t.slots.Store(newSlots(n))
	return t
}

// newSlots makes room for n credentials in three quarters of the array.
func newSlots(n int) *slots {
	size := 64
	for size*3 < n*4 {
		size *= 2
	}
	return &slots{mask: uint64(size - 1), at: make([]atomic.Pointer[credential], size)}
}

func (s *slots) start(d *Digest) uint64 { return binary.LittleEndian.Uint64(d[:8]) & s.mask }

// get returns the credential of d, or nil. Safe for concurrent use, also with put and remove.
func (t *table) get(d *Digest) *credential {
	s := t.slots.Load()
	for i := s.start(d); ; i = (i + 1) & s.mask {
		c := s.at[i].Load()
		if c == nil {
			return nil
		}
		// Constant time is not needed, because a hash is compared and not the secret; it costs nothing.
		if subtle.ConstantTimeCompare(c.digest[:], d[:]) == 1 && c != removed {
			return c
		}
	}
}

// put adds c, whose digest must not be in the table.
func (t *table) put(c *credential) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slots.Load()
	if (t.used+1)*4 > len(s.at)*3 {
		s = t.grow(s)
	}
	s.add(c)
	t.used++
}

func (s *slots) add(c *credential) {
	i := s.start(&c.digest)
	for s.at[i].Load() != nil {
		i = (i + 1) & s.mask
	}
	s.at[i].Store(c)
}

// grow publishes an array with room for twice what is in the old one.
func (t *table) grow(old *slots) *slots {
	live := 0
	for i := range old.at {
		if c := old.at[i].Load(); c != nil && c != removed {
			live++
		}
	}
	s := newSlots(max(2*live, 1))
	for i := range old.at {
		if c := old.at[i].Load(); c != nil && c != removed {
			s.add(c)
		}
	}
	t.used = live
	t.slots.Store(s)
	return s
}

// remove takes out the credential of d, if it is there.
func (t *table) remove(d *Digest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slots.Load()
	for i := s.start(d); ; i = (i + 1) & s.mask {
		c := s.at[i].Load()
		if c == nil {
			return
		}
		if c.digest == *d {
			s.at[i].Store(removed)
			return
		}
	}
}

// removeAll takes out the credentials of an account, and returns it; nil when there is none. It looks at the
// whole table.
func (t *table) removeAll(id ID) (acc *account) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slots.Load()
	for i := range s.at {
		if c := s.at[i].Load(); c != nil && c != removed && c.acc.id == id {
			acc = c.acc
			s.at[i].Store(removed)
		}
	}
	return acc
}
