package quota

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MaxGrace is the longest time a rotated-out secret may go on working: a week.
const MaxGrace = 7 * 24 * time.Hour

// ErrGrace is returned when a grace is negative or above MaxGrace.
var ErrGrace = errors.New("grace must be 0 to 604800 seconds")

// Account is what may be shown of an account: to its owner, apart from the person, and to operators.
type Account struct {
	ID        ID          `json:"id"`
	Hint      string      `json:"hint"`
	Name      string      `json:"name"`
	Email     string      `json:"email"`
	UseCase   string      `json:"use_case"`
	Erased    bool        `json:"erased"`
	Tier      string      `json:"tier"`
	Status    Status      `json:"status"`
	Custom    bool        `json:"custom_limit"` // Limit is the account's own, not the tier's
	Limit     uint64      `json:"limit"`        // calls per month
	Used      uint64      `json:"used"`         // calls charged this month
	Remaining uint64      `json:"remaining"`
	ResetsAt  time.Time   `json:"resets_at"`
	Burst     Burst       `json:"burst"`
	CreatedAt time.Time   `json:"created_at"`
	ChangedAt time.Time   `json:"changed_at"`
	OldUntil  []time.Time `json:"old_secrets_until"` // when each rotated-out secret stops working, oldest first
}

// accounts issues and changes keys, first in the ledger, then in memory.
type accounts struct {
	cfg       *Config
	store     Store
	clock     *clock
	directory *directory
	leases    *leases
	signups   *signups
	health    *health
}

// view joins a record, its person and what memory counts for it.
func (a *accounts) view(r Record, p Person) Account {
	now := a.cfg.Now().Unix()
	cal := a.clock.calendar(now)
	out := Account{
		ID: r.ID, Hint: r.Hint, Erased: r.Erased, Tier: r.Tier, Status: r.Status, Custom: r.Limit > 0,
		Name: p.Name, Email: p.Email, UseCase: p.UseCase,
		ResetsAt: unixTime(cal.to), CreatedAt: unixTime(r.Created), ChangedAt: unixTime(r.Changed),
		OldUntil: make([]time.Time, len(r.Old)),
	}
	for i, o := range r.Old {
		out.OldUntil[i] = o.ends(now)
	}
	if limit, tier, err := a.directory.limitOf(r.Tier, r.Limit); err == nil {
		out.Limit, out.Burst = limit, tier.Burst
	}
	if acc := a.directory.of(r.ID); acc != nil {
		out.Used, _ = a.leases.charged(acc, cal)
	}
	out.Remaining = out.Limit - min(out.Used, out.Limit)
	return out
}

func (a *accounts) apply(r Record) error {
	acc, lowered, err := a.directory.apply(r)
	if lowered {
		a.leases.shrink(acc)
	}
	return err
}

// identify authenticates the owner of d without counting anything. Acts that change the
// account want the current secret: one that was rotated out may be in a stranger's hands.
func (a *accounts) identify(d Digest, current bool) (*account, Verdict) {
	cred := a.directory.get(&d)
	if cred.acc == nil {
		return nil, UnknownKey
	}
	v := cred.verdict(a.clock.instant().unix)
	if v == Admitted && current && cred.until != 0 {
		v = Rotated
	}
	return cred.acc, v
}

// CheckCurrent returns Admitted for the current secret of an account that may call, and otherwise why
// not. It counts nothing.
func (a *accounts) CheckCurrent(d Digest) Verdict {
	_, v := a.identify(d, true)
	return v
}

// Self returns the account of digest d. Another verdict than Admitted says why not; the
// account is then returned all the same if there is one.
func (a *accounts) Self(ctx context.Context, d Digest) (Account, Verdict, error) {
	acc, v := a.identify(d, false)
	if acc == nil {
		return Account{}, v, nil
	}
	account, err := a.Show(ctx, acc.id)
	return account, v, err
}

// Rotate gives the account of digest d a new secret. Its counters go on. The old secret works
// for grace, 0 to MaxGrace (else ErrGrace), and is rejected as Rotated from then on; a secret
// that was itself rotated out cannot rotate. Durable, and in effect, before it returns.
func (a *accounts) Rotate(ctx context.Context, d Digest, grace time.Duration) (IssuedKey, Verdict, error) {
	if grace < 0 || grace > MaxGrace {
		return IssuedKey{}, Admitted, fmt.Errorf("rotating key: %w, got %v", ErrGrace, grace)
	}
	secret := NewSecret(a.cfg.KeyPrefix)
	digest, _ := ParseKey(secret.Reveal(), a.cfg.KeyPrefix)
	until := a.cfg.Now().Add(grace).Unix()
	if grace == 0 {
		until = -until
	}
	account, v, err := a.changeOwn(ctx, d, func(r *Record) {
		r.Old = append(r.Old, OldSecret{d, until})
		r.Old = r.Old[max(0, len(r.Old)-MaxOldSecrets):]
		r.Digest, r.Hint = digest, secret.Hint()
	})
	if err != nil || v != Admitted {
		return IssuedKey{}, v, err
	}
	return IssuedKey{Secret: secret, Account: account}, Admitted, nil
}

// RevokeSelf ends the account of digest d for ever, on its owner's word. Like Rotate it wants the current secret.
func (a *accounts) RevokeSelf(ctx context.Context, d Digest) (Account, Verdict, error) {
	return a.changeOwn(ctx, d, func(r *Record) { r.Status = StatusRevoked })
}

// errSuperseded refuses a change by a secret that another change ended after memory admitted it.
var errSuperseded = errors.New("secret was replaced meanwhile")

// changeOwn is a change on the word of the owner of d. If d is not the current secret of an active
// account, nothing is changed. The verdict then comes from the record the store has: memory may lag behind it.
func (a *accounts) changeOwn(ctx context.Context, d Digest, fn func(*Record)) (Account, Verdict, error) {
	acc, v := a.identify(d, true)
	if v != Admitted {
		return Account{}, v, nil
	}
	account, err := a.change(ctx, acc.id, func(r *Record, _ *Person) error {
		if v = statusVerdict(r.Status); v == Admitted && r.Digest != d {
			v = Rotated
		}
		if v != Admitted {
			return errSuperseded
		}
		fn(r)
		return nil
	})
	if errors.Is(err, errSuperseded) {
		err = nil
	}
	return account, v, err
}

// change alters one account in the ledger, then in memory.
func (a *accounts) change(ctx context.Context, id ID, fn func(*Record, *Person) error) (Account, error) {
	if closed, _ := a.leases.state(); closed {
		return Account{}, ErrClosed
	}
	var person Person
	r, err := a.store.Update(ctx, id, func(r *Record, p *Person) error {
		if err := fn(r, p); err != nil {
			return err
		}
		person = *p
		r.Changed = a.cfg.Now().Unix()
		return nil
	})
	if err = a.health.noteChange(err); err == nil {
		err = a.apply(r)
	}
	if err != nil {
		return Account{}, ofAccount(id, err)
	}
	return a.view(r, person), nil
}

func ofAccount(id ID, err error) error { return fmt.Errorf("account %s: %w", id, err) }

// SetStatus suspends, resumes or revokes an account. It is durable, and in effect, before it returns, like every change
// below. Revoked is final: ErrFinal; the same status again is no fault. ErrNotFound: there is no such account.
func (a *accounts) SetStatus(ctx context.Context, id ID, to Status) (Account, error) {
	return a.change(ctx, id, func(r *Record, _ *Person) error {
		if r.Status == StatusRevoked && to != StatusRevoked {
			return ErrFinal
		}
		r.Status = to
		return nil
	})
}

// SetTier moves an account to a tier, with a custom monthly limit or 0 for the tier's. Calls already counted stay
// counted. ErrUnknownTier, ErrNeedsLimit and ErrLimitRange tell what does not fit.
func (a *accounts) SetTier(ctx context.Context, id ID, tier string, limit uint64) (Account, error) {
	if _, _, err := a.directory.limitOf(tier, limit); err != nil {
		return Account{}, ofAccount(id, err)
	}
	return a.change(ctx, id, func(r *Record, _ *Person) error {
		if r.Status == StatusRevoked {
			return ErrFinal
		}
		r.Tier, r.Limit = tier, limit
		return nil
	})
}

// Erase removes name, e-mail address and use case and revokes the account. Digest and counts stay, so that the key
// stays rejected and the sums right. The bytes leave the file when it is compacted.
func (a *accounts) Erase(ctx context.Context, id ID) (Account, error) {
	return a.change(ctx, id, func(r *Record, p *Person) error {
		*p = Person{}
		r.Status, r.Erased = StatusRevoked, true
		return nil
	})
}

// Show returns one account, or ErrNotFound.
func (a *accounts) Show(ctx context.Context, id ID) (Account, error) {
	r, p, err := a.store.Get(ctx, id)
	if err != nil {
		return Account{}, ofAccount(id, err)
	}
	return a.view(r, p), nil
}

// Find returns the accounts an operator means by text: an id, a hint, or an e-mail address in
// any case. None is an empty list, and blank text means none. A hint makes it read the whole ledger.
func (a *accounts) Find(ctx context.Context, text string) ([]Account, error) {
	id, isID := ParseID(text)
	switch {
	case strings.TrimSpace(text) == "":
		return []Account{}, nil // a Filter without a hint would select every account
	case strings.Contains(text, "@"):
		return a.List(ctx, Filter{Email: text}, 0)
	case !isID:
		return a.List(ctx, Filter{Hint: text}, 0)
	}
	account, err := a.Show(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return []Account{}, nil
	}
	return []Account{account}, err
}

// List returns at most limit accounts that match f, oldest first; 0 means no limit. For the next page, set Filter.After
// to the last id. An unknown tier is ErrUnknownTier.
func (a *accounts) List(ctx context.Context, f Filter, limit int) ([]Account, error) {
	out := []Account{}
	err := a.store.Find(ctx, f, func(r Record, p Person) bool {
		out = append(out, a.view(r, p))
		return limit <= 0 || len(out) < limit
	})
	if err != nil {
		return nil, fmt.Errorf("listing accounts: %w", err)
	}
	if len(out) == 0 && f.Tier != "" && f.After == 0 {
		if _, _, err := a.directory.limitOf(f.Tier, 0); errors.Is(err, ErrUnknownTier) {
			return nil, fmt.Errorf("listing accounts: %w", err)
		}
	}
	return out, nil
}

// Usage returns the calls of every month of an account's history, oldest first; the month being counted is exact.
func (a *accounts) Usage(ctx context.Context, id ID) ([]MonthCalls, error) {
	months, err := a.store.Usage(ctx, id)
	if err != nil {
		return nil, ofAccount(id, err)
	}
	if acc := a.directory.of(id); acc != nil {
		months = a.leases.exactMonths(acc, months)
	}
	return months, nil
}
