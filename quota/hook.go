package quota

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Bounds of webhooks. Everything kept for one is bounded, so that neither a receiver that is away
// nor an owner who forgets it can fill the ledger.
const (
	// MaxQueued is how many messages may wait for one webhook. One more disables it.
	MaxQueued = 100
	// MaxLogged is how many finished deliveries of one webhook are kept.
	MaxLogged = 100
	// MaxRows is how many records one release keeps for messages, MaxRowBytes their size together.
	MaxRows     = 10_000
	MaxRowBytes = 16 << 20
	// maxReleases and maxReleaseBytes bound the releases kept, oldest dropped first. A message whose
	// release has lost its records is sent without them.
	maxReleases     = 4096
	maxReleaseBytes = 64 << 20
	// keepDeliveries is after how long finished deliveries and releases are removed, and messages of webhooks that are not active.
	keepDeliveries = 30 * 24 * time.Hour
)

// Errors of webhooks.
var (
	// ErrNoHook is returned when the account has no such webhook.
	ErrNoHook = errors.New("no such webhook")
	// ErrNoDelivery is returned when the webhook has no such delivery.
	ErrNoDelivery = errors.New("no such delivery")
	// ErrTooManyHooks is returned when the account has as many webhooks as allowed.
	ErrTooManyHooks = errors.New("key has too many webhooks")
	// ErrQueueFull is returned when MaxQueued messages wait for a webhook.
	ErrQueueFull = errors.New("too many messages wait for this webhook")
	// ErrNoBaseline is returned when a webhook is to be stored and the ledger does not know which
	// benchmarks were announced.
	ErrNoBaseline = errors.New("ledger does not know which benchmarks were announced")
	// ErrSuperseded is returned when a release follows another one than was announced last.
	ErrSuperseded = errors.New("another release was announced meanwhile")
)

const hookPrefix = "wh_"

// HookID is a webhook's public name, printed as wh_ and 11 base62 characters.
type HookID uint64

// String returns the public form.
func (id HookID) String() string { return formatID(hookPrefix, uint64(id)) }

// ParseHookID reads the public form of an id.
func ParseHookID(s string) (HookID, bool) {
	id, ok := parseID(hookPrefix, s)
	return HookID(id), ok
}

// NewHookID draws the id of a webhook made at now.
func NewHookID(now time.Time) HookID { return HookID(newID(now)) }

// NewMessageID draws the id of a message: msg_ and 22 base62 characters, 128 random bits. It is
// the webhook-id header of every attempt to deliver it.
func NewMessageID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	high, low := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	return formatID("msg_", high) + formatID("", low)
}

// HookKey names one webhook of one account.
type HookKey struct {
	Account ID
	Hook    HookID
}

func (k HookKey) key() []byte {
	return binary.BigEndian.AppendUint64(k.Account.key(), uint64(k.Hook))
}

func hookFromKey(b []byte) HookKey {
	return HookKey{idFromKey(b), HookID(binary.BigEndian.Uint64(b[8:]))}
}

// item is the ledger key of one delivery.
func (k HookKey) item(seq uint64) []byte { return binary.BigEndian.AppendUint64(k.key(), seq) }

func seqFromKey(b []byte) uint64 { return binary.BigEndian.Uint64(b[16:]) }

// HookState says whether events are sent.
type HookState string

// The states of a webhook. Events that happen while it is not active are not recorded for it;
// messages that wait are kept and go on when it is active again.
const (
	HookActive HookState = "active"
	// HookPaused was stopped by its owner.
	HookPaused HookState = "paused"
	// HookDisabled was stopped by the server; Hook.Reason says why.
	HookDisabled HookState = "disabled"
)

// HookSecret is a signing secret. It has to be stored as it is, because a signature cannot be made with
// a digest of it.
type HookSecret struct {
	Secret []byte `json:"secret"`
	Until  int64  `json:"until"` // Unix seconds until which it signs; 0: the current one
}

// Hook is a webhook as the ledger keeps it.
type Hook struct {
	Key         HookKey      `json:"-"`
	Rev         uint64       `json:"rev"` // rises by one with every change of its owner's
	URL         string       `json:"url"`
	Description string       `json:"description,omitempty"`
	Events      []string     `json:"events"`
	Filters     string       `json:"filters,omitempty"` // query string; empty: every benchmark
	MaxRecords  int          `json:"max_records"`       // records in one message
	Secrets     []HookSecret `json:"secrets"`           // the current one first
	State       HookState    `json:"state"`
	Reason      string       `json:"reason,omitempty"` // why it is disabled
	Created     int64        `json:"created"`          // Unix seconds
	Changed     int64        `json:"changed"`
	Next        uint64       `json:"next"`   // number of the next delivery, from 1
	Queued      int          `json:"queued"` // deliveries in the outbox
	Logged      int          `json:"logged"` // deliveries in the log

	LastSuccess  int64    `json:"last_success,omitzero"` // Unix seconds, 0: none
	LastFailure  *Attempt `json:"last_failure,omitempty"`
	FailingSince int64    `json:"failing_since,omitzero"` // first failed attempt of the message that is tried now
}

// Check returns an error for a webhook that no code of this package would write.
func (h *Hook) Check() error {
	switch {
	case h.Key.Account == 0 || h.Key.Hook == 0:
		return errors.New("id: must not be zero")
	case h.URL == "":
		return errors.New("url: must be given")
	case len(h.Events) == 0:
		return errors.New("events: must not be empty")
	case len(h.Secrets) == 0 || len(h.Secrets[0].Secret) == 0:
		return errors.New("secrets: must not be empty")
	case h.State != HookActive && h.State != HookPaused && h.State != HookDisabled:
		return fmt.Errorf("state: must be active, paused or disabled, got %q", h.State)
	case h.Next == 0 || h.Queued < 0 || h.Logged < 0:
		return errors.New("counts: must not be negative")
	}
	return nil
}

// DeliveryState says what became of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
)

// Delivery is one message to one webhook and the attempts to deliver it.
type Delivery struct {
	Key     HookKey       `json:"-"`
	Seq     uint64        `json:"-"`
	Message string        `json:"message"` // id of the message, the same in a redelivery
	Event   string        `json:"event"`
	Created int64         `json:"created"`          // Unix seconds
	Release uint64        `json:"release,omitzero"` // number of the release; 0: a test
	Total   int           `json:"total,omitzero"`   // records it is about
	Rows    []uint32      `json:"rows,omitempty"`   // places in the release of those it lists
	State   DeliveryState `json:"state"`
	// Once is a delivery its owner asked for: one attempt, at once and out of order, which changes
	// nothing of the webhook. Of is the delivery it repeats, 0 for a test.
	Once     bool      `json:"once,omitzero"`
	Of       uint64    `json:"of,omitzero"`
	NextAt   int64     `json:"next_at,omitzero"` // Unix seconds of the next attempt
	Attempts []Attempt `json:"attempts,omitempty"`
}

// LongestRetry is more than a delivery ever waits for its next attempt.
const LongestRetry = 25 * time.Hour

// due is when the next attempt is, seen at now. It is at once if nothing was attempted yet. It is at once too if
// the last attempt, or a wait of more than LongestRetry, shows that the clock was ahead when the next one was
// noted.
func (d *Delivery) due(now int64) int64 {
	if n := len(d.Attempts); n == 0 || d.Attempts[n-1].At > now || d.NextAt-now > int64(LongestRetry/time.Second) {
		return min(d.NextAt, now)
	}
	return d.NextAt
}

// Attempt is one attempt to deliver a message.
type Attempt struct {
	At     int64  `json:"at"`              // Unix seconds
	Millis int64  `json:"ms"`              // how long it took
	Status int    `json:"status,omitzero"` // of HTTP; 0: no response
	Error  string `json:"error,omitempty"` // why it failed, empty for a success
}

// Release is one change of the dataset that was announced to webhooks.
type Release struct {
	Number          uint64 `json:"-"`
	At              int64  `json:"at"` // Unix seconds
	Version         string `json:"version"`
	Digest          string `json:"digest"`
	PreviousVersion string `json:"previous_version"`
	PreviousDigest  string `json:"previous_digest"`
	Created         int    `json:"created"` // benchmarks
	Changed         int    `json:"changed"`
	Withdrawn       int    `json:"withdrawn"`
	Rows            int    `json:"rows"` // records kept for messages
	Bytes           int    `json:"bytes"`
}

// Baseline names the dataset whose benchmarks were announced last.
type Baseline struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
	Scheme  int    `json:"scheme"` // how hashes were made; those of another scheme cannot be compared
	Records int    `json:"records"`
	Next    uint64 `json:"next"` // number of the next release
}

// Mark is what is remembered of one benchmark that was announced.
type Mark struct {
	ID        string
	Hash      uint64
	Withdrawn bool
}

// MarkParts is into how many parts the marks of a baseline are cut: a release rewrites those in
// which something changed.
const MarkParts = 256

// MarkPart is the part of a benchmark id: FNV-1a of it, folded to eight bits.
func MarkPart(id string) int {
	h := uint32(2166136261)
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return int((h ^ h>>8 ^ h>>16 ^ h>>24) & 0xff)
}

// Announcement is a release with everything to be kept of it, stored in one step.
type Announcement struct {
	// First replaces the baseline without a release: nothing is announced.
	First      bool
	Baseline   Baseline // Next is filled in
	Parts      map[int][]Mark
	Release    Release // Number is filled in
	Rows       [][]byte
	Deliveries []Delivery // Key, Message, Event, Total and Rows; the rest is filled in
}

// Outcome is what one attempt brought.
type Outcome struct {
	Delivery Delivery // with the new attempt, and its state and next attempt
	Disable  string   // why the webhook is to be disabled; empty: it is not
}

// Waiting is a webhook for which a message waits.
type Waiting struct {
	Key HookKey
	At  int64 // Unix seconds of the next attempt
}

// HookCounts is the webhooks of all accounts in numbers.
type HookCounts struct {
	Active, Paused, Disabled int
	Pending                  int   // messages that wait for an active webhook
	Oldest                   int64 // when the oldest of them was made, Unix seconds; 0: none waits
}

// HookStore is what a ledger keeps for webhooks. Ledger implements it. Whatever a method reports as
// done is durable before it returns, and each call is one step: all of it is done or nothing. All
// methods are safe for concurrent use.
type HookStore interface {
	// CreateHook stores a webhook; most is how many the account may have. ErrTooManyHooks,
	// ErrNoBaseline, ErrTaken and ErrNotFound say why not.
	CreateHook(ctx context.Context, h Hook, most int) error
	// GetHook returns one webhook, or ErrNoHook.
	GetHook(ctx context.Context, k HookKey) (Hook, error)
	// UpdateHook changes one webhook. An error of fn is returned as it is, and nothing is changed.
	UpdateHook(ctx context.Context, k HookKey, fn func(*Hook) error) (Hook, error)
	// DeleteHook removes a webhook with its messages and its log.
	DeleteHook(ctx context.Context, k HookKey) error
	// EachHook calls fn for the webhooks of one account, or of all for zero, oldest first. fn must
	// not call the store. It stops at fn's first error and returns it.
	EachHook(ctx context.Context, account ID, fn func(Hook) error) error

	// Baseline returns what was announced last, false when that is not known.
	Baseline(ctx context.Context) (Baseline, bool, error)
	// Marks returns one part of the benchmarks that were announced, in order of id.
	Marks(ctx context.Context, part int) ([]Mark, error)
	// Announce stores a release: all of it or, as far as any other method shows, nothing. It returns ErrSuperseded unless Release.PreviousDigest is the digest
	// announced last, and the webhooks for which messages wait. Webhooks that are gone or not active
	// get none; one with a full queue is disabled.
	Announce(ctx context.Context, a *Announcement) ([]Waiting, error)
	// Forget removes the baseline if there are no webhooks.
	Forget(ctx context.Context) error

	// Enqueue adds a delivery with Once set, or returns ErrQueueFull. Seq is filled in.
	Enqueue(ctx context.Context, d Delivery) (Delivery, error)
	// Waiting lists the webhooks for which messages wait, seen at now.
	Waiting(ctx context.Context, now int64) ([]Waiting, error)
	// CountHooks counts the webhooks of all accounts. It reads each of them.
	CountHooks(ctx context.Context) (HookCounts, error)
	// Due returns the delivery that is to be attempted next at now, with its webhook and its release.
	// Where none is due yet, Delivery.Seq is 0. at says when one is due, or was; 0 is never. A clock that was
	// ahead when an attempt was noted puts none off.
	Due(ctx context.Context, k HookKey, now int64) (job Job, at int64, err error)
	// Settle stores outcomes. For each it returns when the next attempt of the webhook is, seen at now; 0 for none.
	Settle(ctx context.Context, outcomes []Outcome, now int64) ([]int64, error)

	// Deliveries returns deliveries with numbers below before (0: all), newest first.
	Deliveries(ctx context.Context, k HookKey, before uint64, limit int) ([]Delivery, error)
	// Records returns records of a release by their places; those that are no longer kept are left out.
	Records(ctx context.Context, release uint64, places []uint32) ([][]byte, error)
	// Delivery returns one delivery with its webhook and release, or ErrNoDelivery.
	Delivery(ctx context.Context, k HookKey, seq uint64) (Job, error)
	// Sweep removes what is older than a month, except messages that wait for an active webhook and their releases.
	Sweep(ctx context.Context, now time.Time) error
}

// Job is a delivery with all that its message is made of but the records, which many messages share.
type Job struct {
	Delivery
	Hook    Hook
	Release Release // zero for a test
}
