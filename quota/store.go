package quota

import (
	"context"
	"errors"
)

// Errors of opening, checking and writing a ledger. Each is wrapped with the file's name, the cause and what to do.
var (
	ErrLocked      = errors.New("file is locked by another process")
	ErrNoDirectory = errors.New("directory does not exist")
	ErrNotLedger   = errors.New("file is not a ledger")
	ErrVersion     = errors.New("ledger has a newer format")
	ErrTruncated   = errors.New("file is truncated")
	ErrCorrupt     = errors.New("file is corrupt") // it holds something no program wrote
	ErrReadOnly    = errors.New("file is read-only")
	ErrPermission  = errors.New("permission denied") // for the file or its directory
	ErrDiskFull    = errors.New("disk is full")
	ErrRemoved     = errors.New("file was removed or replaced while in use")
	ErrMissing     = errors.New("file does not exist")
	ErrClosed      = errors.New("ledger is closed")
)

// Errors of creating and changing accounts.
var (
	ErrNotFound    = errors.New("no such account")
	ErrFinal       = errors.New("account is revoked permanently")
	ErrUnknownTier = errors.New("no such tier")
	ErrNeedsLimit  = errors.New("has no limit of its own") // of a tier that is set without a limit
	ErrLimitRange  = errors.New("limit must be at most 1000000000000")
	ErrTaken       = errors.New("account id is in use")
	ErrTooMany     = errors.New("e-mail address has too many keys") // as many as allowed
)

// Store is the ledger as a Keeper sees it. Ledger implements it on one file; another
// implementation may share one ledger between processes, each counting its own calls.
//
// Whatever a method reports as done is durable before it returns. An error means that it is
// not known whether it was done: every method that writes may be repeated with the same
// arguments and then leaves the same state. All methods are safe for concurrent use.
type Store interface {
	// Load calls fn for every account with the calls counted for it in month by all processes together. It stops at
	// fn's first error and returns it. The order is the store's.
	Load(ctx context.Context, month Month, fn func(r Record, calls uint64) error) error

	// Newest returns the newest month in which calls were counted, 0 when there is none.
	Newest(ctx context.Context) (Month, error)

	// Get returns one account, or ErrNotFound.
	Get(ctx context.Context, id ID) (Record, Person, error)

	// Find calls fn for the accounts matching f, oldest first, until fn returns false.
	Find(ctx context.Context, f Filter, fn func(Record, Person) bool) error

	// Create stores a new account. It returns ErrTaken when the id is in use. It returns
	// ErrTooMany when perEmail is above zero and the person's address already has as many
	// accounts that are not revoked. Counting and storing are one step.
	Create(ctx context.Context, r Record, p Person, perEmail int) error

	// Update changes one account atomically: fn changes the stored account, and may run more than once. The store raises
	// Rev. A person changed to the zero value is removed; other changes to the person are ignored. If fn returns an error,
	// Update returns it and changes nothing.
	Update(ctx context.Context, id ID, fn func(*Record, *Person) error) (Record, error)

	// Counts fills in Own and Total of every count.
	Counts(ctx context.Context, batch []Count) error

	// Reserve sets, in one step for the whole batch, the calls of this process to Own, lower
	// or higher than before. An Own that would bring Total above Limit is cut to what fits,
	// but never below what is stored. Own and Total are filled in as stored.
	Reserve(ctx context.Context, batch []Count) error

	// Usage returns the calls of one account in every month that has some, oldest first.
	Usage(ctx context.Context, id ID) ([]MonthCalls, error)

	// Watch calls fn for every change another process makes to an account after the last Load, until ctx ends. It
	// returns ctx's error then, or why watching failed; the caller loads and watches again.
	Watch(ctx context.Context, fn func(Record)) error

	// Ping reports whether the store can be read and is still the one that was opened.
	Ping(ctx context.Context) error
}

// Count is what the ledger has of one account's calls in one month: calls answered and
// calls leased, without distinction.
type Count struct {
	ID    ID
	Month Month
	Limit uint64 // Reserve only: what Total may not pass
	Own   uint64 // calls of this process, now and in its earlier lives
	Total uint64 // calls of all processes

	// Before is, for Reserve only, what the store has at least for Own as far as the caller knows; 0 when it is not
	// sure. A store that has less counts without this process and returns an error that wraps ErrRemoved.
	Before uint64
}

// MonthCalls is a line of an account's history.
type MonthCalls struct {
	Month Month  `json:"month"`
	Calls uint64 `json:"calls"`
}

// Filter selects accounts. Fields left zero select all.
type Filter struct {
	Email  string `json:"email,omitzero"` // in any case
	Hint   string `json:"hint,omitzero"`
	Status Status `json:"status,omitzero"`
	Tier   string `json:"tier,omitzero"`
	After  ID     `json:"after,omitzero"` // only accounts created after this one
}

// Matches reports whether r is selected; the e-mail address is not compared.
func (f Filter) Matches(r Record) bool {
	return (f.Hint == "" || f.Hint == r.Hint) &&
		(f.Status == 0 || f.Status == r.Status) &&
		(f.Tier == "" || f.Tier == r.Tier) &&
		r.ID > f.After
}
