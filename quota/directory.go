package quota

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// account is what a keeper knows of one key: 64 bytes, so that no two share a cache line. The
// words that calls write are here and in the period; both are touched without locks.
type account struct {
	id     ID
	meter  meter
	period atomic.Pointer[period] // the month being counted; nil until the first call
	plan   atomic.Pointer[plan]
	cold   atomic.Uint64 // count of a month that has no period: month above countBits, calls below
	rev    atomic.Uint64 // of the record last applied
	_      [16]byte
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

// coldCalls returns the count kept for month m, and whether there is one.
func (a *account) coldCalls(m Month) (uint64, bool) {
	w := a.cold.Load()
	if Month(w>>countBits) != m {
		return 0, false
	}
	return w & (1<<countBits - 1), true
}

// credential is one secret in memory and the account it belongs to.
type credential struct {
	acc   *account
	until atomic.Int64 // Unix seconds until which a rotated-out secret works; 0: the current one
}

// verdict judges a call of the secret at now, in Unix seconds, but for its allowances.
func (c *credential) verdict(now int64) Verdict {
	if v := c.acc.plan.Load().verdict(); v != Admitted {
		return v
	}
	if until := c.until.Load(); until != 0 && isOver(until, now) {
		return Rotated
	}
	return Admitted
}

// over is the until of a secret that works no more: a time that is past by every clock.
const over = 1

// directory is the accounts in memory, by the digest of each secret. What it knows may lag behind the store.
type directory struct {
	tiers Tiers
	size  atomic.Int64 // accounts, of every status

	applyMu sync.Mutex // held while a changed record is brought into memory; taken before mu

	mu       sync.RWMutex // guards what follows
	byDigest map[Digest]*credential
	plans    map[planKey]*plan
}

func newDirectory(tiers Tiers) *directory {
	return &directory{tiers: tiers, byDigest: map[Digest]*credential{}, plans: map[planKey]*plan{}}
}

// get returns the credential of d, or nil.
func (d *directory) get(digest *Digest) *credential {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byDigest[*digest]
}

// put has a secret work for an account until a time; 0: it is the current one.
func (d *directory) put(digest Digest, acc *account, until int64) {
	c := &credential{acc: acc}
	c.until.Store(until)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byDigest[digest] = c
}

// forget takes out the credential of a digest, if it is there.
func (d *directory) forget(digest Digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byDigest, digest)
}

// removeAll takes out the credentials of an account, and returns it; nil when there is none. It looks at all of them.
func (d *directory) removeAll(id ID) (acc *account) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for digest, c := range d.byDigest {
		if c.acc.id == id {
			acc = c.acc
			delete(d.byDigest, digest)
		}
	}
	return acc
}

// install puts a new account into memory, with the calls the ledger counts for it in month m.
func (d *directory) install(r Record, m Month, calls uint64) error {
	pl, err := d.planOf(r)
	if err != nil {
		return err
	}
	acc := &account{id: r.ID}
	acc.plan.Store(pl)
	acc.rev.Store(r.Rev)
	acc.setCold(m, calls)
	d.size.Add(1)
	d.applySecrets(acc, r)
	return nil
}

// apply brings memory up to a changed record, which is durable already. Older news than what memory has is dropped:
// two changes of one account may be applied in either order. It returns an account whose limit was lowered.
func (d *directory) apply(r Record) (lowered *account, err error) {
	pl, err := d.planOf(r)
	if err != nil {
		return nil, err
	}
	d.applyMu.Lock()
	defer d.applyMu.Unlock()
	acc := d.accountOf(r)
	switch {
	case acc == nil:
		return nil, d.install(r, 0, 0)
	case acc.rev.Load() >= r.Rev:
		return nil, nil
	case pl.limit < acc.plan.Load().limit:
		lowered = acc
	}
	acc.rev.Store(r.Rev)
	acc.plan.Store(pl)
	d.applySecrets(acc, r)
	return lowered, nil
}

// accountOf finds the account of a record by any secret both know. A record remembers only some of the secrets
// that were rotated out. If more were rotated out, and none of the changes was seen, accountOf looks through
// all secrets and forgets those of the account, as the record did.
func (d *directory) accountOf(r Record) *account {
	for _, secret := range r.secrets() {
		if c := d.get(&secret.Digest); c != nil {
			return c.acc
		}
	}
	if len(r.Old) < MaxOldSecrets {
		return nil
	}
	return d.removeAll(r.ID)
}

// applySecrets adds the record's secrets that memory lacks and ends the one it replaced. The
// new one comes first, so that the owner is never without a working secret.
func (d *directory) applySecrets(acc *account, r Record) {
	if d.get(&r.Digest) == nil {
		d.put(r.Digest, acc, 0)
	}
	for _, o := range r.Old {
		if c := d.get(&o.Digest); c != nil {
			c.until.Store(max(o.Until, over))
		} else {
			d.put(o.Digest, acc, max(o.Until, over))
		}
	}
}

// planOf returns the shared plan of accounts like r.
func (d *directory) planOf(r Record) (*plan, error) {
	key := planKey{r.Tier, r.Limit, r.Status}
	d.mu.Lock()
	defer d.mu.Unlock()
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
