package quota

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// account is what a keeper knows of one key. The words that calls write are here and in the period; both are touched
// without locks.
type account struct {
	id      ID
	meter   meter
	period  atomic.Pointer[period] // the month being counted; nil until the first call
	plan    atomic.Pointer[plan]
	loaded  uint64   // calls when the keeper started: month above countBits, calls below; not changed after that
	rev     uint64   // of the record last applied; guarded by the directory's lock, as is digests
	digests []Digest // of the secrets that the record remembers
}

// loadedIn returns the calls that a month had when the keeper started.
func (a *account) loadedIn(m Month) uint64 {
	if Month(a.loaded>>countBits) != m {
		return 0
	}
	return a.loaded & (1<<countBits - 1)
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

type planKey struct {
	tier   string
	custom uint64
	status Status
}

// credential is one secret in memory and the account it belongs to.
type credential struct {
	acc   *account
	until int64 // Unix seconds until which a rotated-out secret works; 0: the current one
}

// verdict judges a call of the secret at now, in Unix seconds, but for its allowances.
func (c credential) verdict(now int64) Verdict {
	if v := c.acc.plan.Load().verdict(); v != Admitted {
		return v
	}
	if c.until != 0 && isOver(c.until, now) {
		return Rotated
	}
	return Admitted
}

// over is the until of a secret that works no more: a time that is past by every clock.
const over = 1

// directory is the accounts in memory. What it knows may lag behind the store.
type directory struct {
	tiers Tiers

	mu       sync.RWMutex // guards what follows
	byID     map[ID]*account
	byDigest map[Digest]credential // of each secret
	plans    map[planKey]*plan
}

// get returns the credential of a digest, one without an account if there is none.
func (d *directory) get(digest *Digest) credential {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byDigest[*digest]
}

func (d *directory) of(id ID) *account {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byID[id]
}

// size is the number of accounts, of every status.
func (d *directory) size() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.byID)
}

// apply brings memory up to a new or changed record, which is durable already, and returns its account. Older news than
// what memory has is dropped: two changes of one account may be applied in either order. lowered says that the limit was.
func (d *directory) apply(r Record) (acc *account, lowered bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	pl, err := d.planOf(r)
	if err != nil {
		return nil, false, err
	}
	acc = d.byID[r.ID]
	switch {
	case acc == nil:
		acc = &account{id: r.ID}
		d.byID[r.ID] = acc
	case acc.rev >= r.Rev:
		return acc, false, nil
	default:
		lowered = pl.limit < acc.plan.Load().limit
	}
	acc.plan.Store(pl)
	for _, old := range acc.digests {
		delete(d.byDigest, old)
	}
	acc.rev, acc.digests = r.Rev, []Digest{r.Digest}
	d.byDigest[r.Digest] = credential{acc: acc}
	for _, o := range r.Old {
		acc.digests = append(acc.digests, o.Digest)
		d.byDigest[o.Digest] = credential{acc, max(o.Until, over)}
	}
	return acc, lowered, nil
}

// planOf returns the shared plan of accounts like r. The caller holds the lock.
func (d *directory) planOf(r Record) (*plan, error) {
	key := planKey{r.Tier, r.Limit, r.Status}
	if pl := d.plans[key]; pl != nil {
		return pl, nil
	}
	limit, tier, err := d.limitOf(r.Tier, r.Limit)
	if err != nil && r.Status == StatusRevoked {
		// It is never admitted, so its tier may have left the configuration.
		limit, tier, err = 0, Tier{Name: r.Tier, Burst: freeBurst}, nil
	}
	if err != nil {
		return nil, &AccountTierError{ID: r.ID, Tier: r.Tier, Err: err}
	}
	pl := &plan{status: r.Status, tier: tier.Name, limit: limit, burst: tier.Burst, pace: tier.Burst.pace()}
	d.plans[key] = pl
	return pl, nil
}

// limitOf returns the limit of an account in a tier, custom above zero replacing the tier's.
func (d *directory) limitOf(name string, custom uint64) (uint64, Tier, error) {
	tier, ok := d.tiers.Get(name)
	switch {
	case !ok:
		return 0, Tier{}, &UnknownTierError{fmt.Sprintf("must be one of %s, got %q", strings.Join(d.tiers.Names(), ", "), name)}
	case custom > MaxLimit:
		return 0, Tier{}, fmt.Errorf("%w, got %d", ErrLimitRange, custom)
	case custom > 0:
		return custom, tier, nil
	case tier.CallsPerMonth == 0:
		return 0, Tier{}, fmt.Errorf("tier %q %w: give one with --limit", name, ErrNeedsLimit)
	}
	return tier.CallsPerMonth, tier, nil
}
