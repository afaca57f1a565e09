package quota

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// The longest inputs of an IssueRequest, in characters; MaxEmail is the longest address mail
// systems carry (RFC 5321, 4.5.3.1.3).
const (
	MaxName    = 100
	MaxUseCase = 1000
	MaxEmail   = 254
)

// IssueRequest asks for a key.
type IssueRequest struct {
	Name    string     `json:"name"`
	Email   string     `json:"email"`
	UseCase string     `json:"use_case"`
	Tier    string     `json:"tier"`  // empty: FreeTier
	Limit   uint64     `json:"limit"` // custom monthly limit; 0: the tier's
	Addr    netip.Addr `json:"-"`     // who asks, for the limit per hour; the zero Addr has none

	// Unlimited lifts both limits: the request comes from an operator, or from this machine and through no proxy. An
	// Addr of loopback alone does not: behind a proxy on this machine every request comes from it.
	Unlimited bool `json:"-"`
}

// IssuedKey is a new secret and its account. The secret is nowhere else and is not kept.
type IssuedKey struct {
	Secret  Secret
	Account Account
}

// Fault is one problem with a request. Its sentence never repeats the value.
type Fault struct {
	Field  string // name, email, use_case
	Detail string
}

// Reason says why no key was issued.
type Reason uint8

// The reasons. Zero means that the key was issued.
const (
	// InvalidRequest is a request with faults.
	InvalidRequest Reason = iota + 1
	// TooManyKeys is an e-mail address with as many keys as allowed.
	TooManyKeys
	// SignupLimited is an address that was issued as many keys as allowed within the hour.
	SignupLimited
)

// Refusal is why Issue issued nothing; the zero value means that it did.
type Refusal struct {
	Reason     Reason
	Limit      int           // the limit that was reached
	RetryAfter time.Duration // for SignupLimited: after which the address may ask again
	Faults     []Fault       // for InvalidRequest
}

// ValidateIssue returns everything wrong with a request, in the order of its fields.
func ValidateIssue(req IssueRequest) (faults []Fault) {
	for _, f := range []Fault{{"name", nameFault(req.Name)}, {"email", emailFault(req.Email)}, {"use_case", textFault(req.UseCase, MaxUseCase)}} {
		if f.Detail != "" {
			faults = append(faults, f)
		}
	}
	return faults
}

// textFault returns what is wrong with a text of 1 to most characters, or "".
func textFault(s string, most int) string {
	n := utf8.RuneCountInString(s)
	switch {
	case !utf8.ValidString(s):
		return "must be valid UTF-8"
	case strings.TrimSpace(s) == "":
		return "must not be empty"
	case n > most:
		return fmt.Sprintf("must be 1 to %d characters, got %d", most, n)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }):
		return "must not contain control characters"
	}
	return ""
}

// nameFault is textFault for a line that operators read in lists. A line break could forge a row of a list, and a
// character without width or of another direction of writing could make one name look like another.
func nameFault(s string) string {
	fault := textFault(s, MaxName)
	if fault == "" && strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
		return "must be one line without control or invisible formatting characters"
	}
	return fault
}

// emailFault returns what is wrong with an e-mail address, or "".
func emailFault(s string) string {
	switch {
	case s == "":
		return "must not be empty"
	case len(s) > MaxEmail:
		return fmt.Sprintf("must be at most %d bytes, got %d", MaxEmail, len(s))
	}
	// A bare address whose domain is a name: no display name, no comment, no address literal, and no four numbers.
	addr, err := mail.ParseAddress(s)
	at := strings.LastIndexByte(s, '@')
	if err != nil || addr.Address != s || addr.Name != "" || at > 64 || !domainName.MatchString(s[at+1:]) ||
		strings.Trim(s[strings.LastIndexByte(s, '.'):], ".0123456789") == "" {
		return "must be an e-mail address such as name@example.com"
	}
	return ""
}

// domainName is two labels or more of 1 to 63 letters, digits and inner dashes, and of letters beyond ASCII as
// internationalised names have them.
var domainName = regexp.MustCompile(`^([\pL\p{Nd}\pM]([\pL\p{Nd}\pM-]{0,61}[\pL\p{Nd}\pM])?\.)+[\pL\p{Nd}\pM]([\pL\p{Nd}\pM-]{0,61}[\pL\p{Nd}\pM])?$`)

// Issue makes an account and returns its secret, which is shown this once. The account is durable, and works,
// before Issue returns. A rejection is not an error. An error means that the ledger failed and no secret was
// returned, or that tier and limit do not fit each other (ErrUnknownTier, ErrNeedsLimit, ErrLimitRange).
func (a *accounts) Issue(ctx context.Context, req IssueRequest) (IssuedKey, Refusal, error) {
	if faults := ValidateIssue(req); len(faults) > 0 {
		return IssuedKey{}, Refusal{Reason: InvalidRequest, Faults: faults}, nil
	}
	if req.Tier == "" {
		req.Tier = FreeTier
	}
	if _, _, err := a.directory.limitOf(req.Tier, req.Limit); err != nil {
		return IssuedKey{}, Refusal{}, fmt.Errorf("issuing key: %w", err)
	}
	if req.Unlimited {
		req.Addr = netip.Addr{}
	}
	now := a.clock.instant()
	if wait := a.signups.take(req.Addr, now.mono); wait > 0 {
		return IssuedKey{}, Refusal{Reason: SignupLimited, Limit: a.signups.limit, RetryAfter: wait}, nil
	}
	issued, err := a.create(ctx, req)
	switch {
	case err == nil:
		return issued, Refusal{}, nil
	case errors.Is(err, ErrTooMany):
		a.signups.giveBack(req.Addr, now.mono)
		return IssuedKey{}, Refusal{Reason: TooManyKeys, Limit: a.cfg.KeysPerEmail}, nil
	}
	a.signups.giveBack(req.Addr, now.mono)
	return IssuedKey{}, Refusal{}, fmt.Errorf("issuing key: %w", err)
}

// create stores a new account and brings it into memory.
func (a *accounts) create(ctx context.Context, req IssueRequest) (IssuedKey, error) {
	if closed, _ := a.leases.state(); closed {
		return IssuedKey{}, ErrClosed
	}
	secret, now := NewSecret(a.cfg.KeyPrefix), a.cfg.Now()
	digest, _ := ParseKey(secret.Reveal(), a.cfg.KeyPrefix)
	r := Record{
		Rev: 1, Status: StatusActive, Tier: req.Tier, Limit: req.Limit,
		Created: now.Unix(), Changed: now.Unix(), Hint: secret.Hint(), Digest: digest,
	}
	perEmail, p := a.cfg.KeysPerEmail, newPerson(req, a.cfg.PlusTags)
	if req.Unlimited {
		perEmail = 0
	}
	err := ErrTaken
	for errors.Is(err, ErrTaken) {
		r.ID = NewID(now)
		err = a.store.Create(ctx, r, p, perEmail)
	}
	if err = a.health.noteChange(err); err == nil {
		err = a.apply(r)
	}
	if err != nil {
		return IssuedKey{}, err
	}
	return IssuedKey{Secret: secret, Account: a.view(r, p)}, nil
}

const signupWindow = time.Hour

// signups counts the keys issued to each address in the last hour. It is kept in memory and a restart forgets it: it slows
// abuse down; the limit of keys per e-mail address is in the ledger and survives a restart.
type signups struct {
	limit int // 0: none

	mu     sync.Mutex
	issued map[netip.Prefix][]time.Duration // when, oldest first, on the monotonic clock
}

// sourceOf returns what counts as one address: all of IPv4's, and the first 64 bits of IPv6's,
// which is what one subscriber is given. The zero address is exempt.
func sourceOf(addr netip.Addr) (netip.Prefix, bool) {
	addr = addr.Unmap().WithZone("")
	p, err := addr.Prefix(min(addr.BitLen(), 64))
	return p, err == nil && addr.IsValid()
}

// take counts a key issued to addr at now. Above the limit it counts nothing and returns how long to wait.
func (s *signups) take(addr netip.Addr, now time.Duration) time.Duration {
	from, counted := sourceOf(addr)
	if s.limit <= 0 || !counted {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.issued, func(_ netip.Prefix, times []time.Duration) bool { return now-slices.Max(times) >= signupWindow })
	times := slices.DeleteFunc(s.issued[from], func(t time.Duration) bool { return now-t >= signupWindow })
	if len(times) >= s.limit {
		return signupWindow - (now - times[0])
	}
	s.issued[from] = append(times, now)
	return 0
}

// giveBack undoes a take at now whose key was not issued.
func (s *signups) giveBack(addr netip.Addr, now time.Duration) {
	from, _ := sourceOf(addr)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.issued[from], now); i >= 0 {
		s.issued[from] = slices.Delete(s.issued[from], i, i+1)
	}
	if len(s.issued[from]) == 0 {
		delete(s.issued, from)
	}
}
