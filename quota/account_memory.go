package quota

import (
	"context"
	"sync/atomic"
)

// account is what a keeper knows of one key: 64 bytes, so that no two share a cache line. The
// words that calls write are here and in the period; both are touched without locks.
type account struct {
	id     ID
	meter  meter
	period atomic.Pointer[period] // the month being counted; nil until the first call
	plan   atomic.Pointer[plan]
	cold   atomic.Uint64             // count of a month that has no period: month above countBits, calls below
	rev    atomic.Uint64             // of the record last applied
	days   atomic.Pointer[dayCounts] // of a key that called lately
	_      [8]byte
}

// plan is everything about an account that decides calls and changes only by an act of its
// owner or an operator. Accounts alike share one; it is never written after it is made.
type plan struct {
	status Status
	tier   string
	limit  uint64
	burst  Burst
	pace   pace
}

// planKey distinguishes plans.
type planKey struct {
	tier   string
	custom uint64
	status Status
}

func (a *account) setCold(m Month, calls uint64) {
	a.cold.Store(uint64(m)<<countBits | calls)
}

// coldCalls returns the count kept for month m, which has no period, and whether there is one.
func (a *account) coldCalls(m Month) (uint64, bool) {
	w := a.cold.Load()
	if Month(w>>countBits) != m {
		return 0, false
	}
	return w & (1<<countBits - 1), true
}

// spent returns the calls charged to acc in the month of cal.
func (k *Keeper) spent(acc *account, cal *calendar) uint64 {
	for {
		p := acc.period.Load()
		if p != nil && p.month == cal.month && (p.known.Load() || !cal.again) {
			return p.charged()
		}
		if calls, ok := acc.coldCalls(cal.month); ok {
			return calls
		}
		if acc.period.Load() == p { // or the count has just moved from cold into a period
			break
		}
	}
	if !cal.again {
		return 0
	}
	return k.recall(acc, cal.month)
}

// recall finds the count of a month that is counted in again, because the clock has fallen far
// back: memory keeps an account's latest month only. A store that fails is taken for no calls,
// which is only shown: nothing is leased before the count has been read.
func (k *Keeper) recall(acc *account, m Month) uint64 {
	k.mu.Lock()
	for p := acc.period.Load(); p != nil; p = p.prev {
		if p.month == m && p.known.Load() {
			k.mu.Unlock()
			return p.charged()
		}
	}
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), k.cfg.StoreTimeout)
	defer cancel()
	batch := []Count{{ID: acc.id, Month: m}}
	if err := k.store.Counts(ctx, batch); err != nil {
		return 0
	}
	acc.setCold(m, batch[0].Total)
	return batch[0].Total
}

// install puts a new account into memory, with the calls the ledger counts for it in month m.
func (k *Keeper) install(r Record, m Month, calls uint64) error {
	pl, err := k.planOf(r)
	if err != nil {
		return err
	}
	acc := &account{id: r.ID}
	acc.plan.Store(pl)
	acc.rev.Store(r.Rev)
	acc.setCold(m, calls)
	k.accounts.Add(1)
	k.table.put(&credential{digest: r.Digest, acc: acc})
	for _, o := range r.Old {
		k.putOld(acc, o)
	}
	return nil
}

func (k *Keeper) putOld(acc *account, o OldSecret) {
	c := &credential{digest: o.Digest, acc: acc}
	c.until.Store(max(o.Until, over))
	k.table.put(c)
}

// apply brings memory up to a changed record, which is durable already. Older news than what
// memory has is dropped: two changes of one account may be applied in either order.
func (k *Keeper) apply(r Record) error {
	pl, err := k.planOf(r)
	if err != nil {
		return err
	}
	k.applyMu.Lock()
	defer k.applyMu.Unlock()
	acc := k.accountOf(r)
	if acc == nil {
		return k.install(r, 0, 0)
	}
	if acc.rev.Load() >= r.Rev {
		return nil
	}
	lower := pl.limit < acc.plan.Load().limit
	acc.rev.Store(r.Rev)
	acc.plan.Store(pl)
	k.applySecrets(acc, r)
	if lower {
		k.shrink(acc)
	}
	return nil
}

// accountOf finds the account of a record by any secret both know. A record remembers only some of the secrets
// that were rotated out. If more were rotated out, and none of the changes was seen, accountOf looks through
// all secrets and forgets those of the account, as the record did.
func (k *Keeper) accountOf(r Record) *account {
	if c := k.table.get(&r.Digest); c != nil {
		return c.acc
	}
	for i := range r.Old {
		if c := k.table.get(&r.Old[i].Digest); c != nil {
			return c.acc
		}
	}
	if len(r.Old) < MaxOldSecrets {
		return nil
	}
	return k.table.removeAll(r.ID)
}

// applySecrets adds the record's secrets that memory lacks and ends the one it replaced. The
// new one comes first, so that the owner is never without a working secret.
func (k *Keeper) applySecrets(acc *account, r Record) {
	if k.table.get(&r.Digest) == nil {
		k.table.put(&credential{digest: r.Digest, acc: acc})
	}
	for _, o := range r.Old {
		if c := k.table.get(&o.Digest); c != nil {
			c.until.Store(max(o.Until, over))
		} else {
			k.putOld(acc, o)
		}
	}
}

// shrink takes back an account's leases after its limit was lowered, so that no call passes the
// new limit; the committer leases again within it. A month that is over has a lease until the next
// sweep, and is counted in again if the clock is set back to it.
func (k *Keeper) shrink(acc *account) {
	k.commitMu.Lock()
	defer k.commitMu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	current := acc.period.Load()
	if current == nil {
		return
	}
	for p := current; p != nil; p = p.prev {
		p.leased.Add(-p.reclaim(0))
	}
	k.wantLocked(current)
}
