package quota

import (
	"fmt"
	"slices"
	"time"
)

const (
	// sweepEvery is how often periods are looked over for leases to take back.
	sweepEvery = time.Second
	// A sweep looks at a sixteenth of the periods, and at no fewer than sweepLeast, so that
	// a million of them do not hold the queue lock for long.
	sweepShare = 16
	sweepLeast = 4096
	// idleAfter is how long a key must be silent before its lease is taken back to one call.
	idleAfter = 2 * time.Second
	// coldAfter is how long a key must be silent before its period leaves memory.
	coldAfter = 10 * time.Minute
)

// nextSweep returns the periods to look over next.
func (k *Keeper) nextSweep() []*period {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := min(len(k.live), max(sweepLeast, len(k.live)/sweepShare))
	if k.cursor >= len(k.live) {
		k.cursor = 0
	}
	look := slices.Clone(k.live[k.cursor:min(k.cursor+n, len(k.live))])
	k.cursor += n
	return look
}

// takeBack takes back leases that are not used: all of a period that is over, and all but one
// call of a key that is silent. Of others it takes what is above the longest lease, which
// calls leave that waited together and then ended free.
func (k *Keeper) takeBack(changes []change, look []*period, now instant) []change {
	month := k.monthAt(now.unix)
	for _, p := range look {
		if !p.opened.Load() || p.round == k.round {
			continue
		}
		switch {
		case p.month != month:
			p.leased.Add(-p.reclaim(0))
		case p.silence(now.mono) >= idleAfter:
			p.leased.Add(-p.reclaim(1))
		default:
			p.leased.Add(-p.reclaim(leaseSize(p.acc.plan.Load().limit, p.charged(), maxLease)))
		}
		if p.unsettled() {
			changes = append(changes, change{p, 0})
		}
	}
	return changes
}

// retire drops settled periods from memory: those of other months, and those of keys that have
// long been silent, whose count is kept in the account. The caller holds commitMu.
func (k *Keeper) retire(look []*period, now instant) {
	month := k.monthAt(now.unix)
	k.mu.Lock()
	defer k.mu.Unlock()
	gone := map[*period]bool{}
	for _, p := range look {
		cold := p.month == month && p.opened.Load() && now.mono-p.quiet >= coldAfter && p.quiet != 0 && !p.mayGainCalls()
		if (cold || p.month != month) && k.dropLocked(p) {
			gone[p] = true
		}
	}
	if len(gone) > 0 {
		k.live = slices.DeleteFunc(k.live, func(p *period) bool { return gone[p] })
	}
}

// dropLocked unlinks p if nothing is leased, held, waiting or unwritten in it.
func (k *Keeper) dropLocked(p *period) bool {
	if p.opened.Load() {
		p.leased.Add(-p.reclaim(0))
	}
	if p.leased.Load() != p.charged() || p.waiting > 0 || p.queued.Load() || p.unsettled() {
		return false
	}
	current := p.acc.period.Load()
	if current != p {
		unlink(current, p)
		return true
	}
	if p.prev != nil {
		return false // the older month goes first
	}
	if p.known.Load() {
		p.acc.setCold(p.month, p.charged())
	}
	p.acc.period.Store(nil)
	return true
}

// drain takes back all leases and returns how many calls are still held.
func (k *Keeper) drain() (held uint64) {
	k.commitMu.Lock()
	defer k.commitMu.Unlock()
	k.mu.Lock()
	live := slices.Clone(k.live)
	k.mu.Unlock()
	for _, p := range live {
		p.leased.Add(-p.reclaim(0))
		held += p.spent() - p.charged()
	}
	return held
}

// settleAll writes the exact counts, some thousands a transaction.
func (k *Keeper) settleAll() error {
	k.commitMu.Lock()
	defer k.commitMu.Unlock()
	var changes []change
	for _, p := range k.live {
		if p.unsettled() {
			changes = append(changes, change{p, 0})
		}
	}
	for part := range slices.Chunk(changes, 10_000) {
		if err := k.write(part); err != nil {
			return fmt.Errorf("settling leases: %w", err)
		}
	}
	return nil
}
