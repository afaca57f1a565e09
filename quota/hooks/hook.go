package hooks

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"modeldex/quota"
)

// Bounds of what is kept for one webhook, so that neither a receiver that is away nor an owner who forgets it can
// fill the ledger.
const (
	// MaxQueued is how many messages may wait for one webhook. One more disables it.
	MaxQueued = 100
	// maxLogged is how many finished deliveries of one webhook are kept.
	maxLogged = 100
	// MaxRows is how many records one release keeps for messages, MaxRowBytes their size together.
	MaxRows     = 10_000
	MaxRowBytes = 16 << 20
	// maxReleaseBytes bounds the records of all releases, oldest dropped first. A message whose release has lost its
	// records is sent without them.
	maxReleaseBytes = 64 << 20
	// keep is after how long finished deliveries and releases are removed, and messages of webhooks that are not active.
	keep = 30 * 24 * time.Hour
)

// Errors that are answers about a webhook.
var (
	// ErrNoHook is returned when the account has no such webhook.
	ErrNoHook = errors.New("no such webhook")
	// ErrNoDelivery is returned when the webhook has no such delivery.
	ErrNoDelivery = errors.New("no such delivery")
	// ErrTooMany is returned when the account has as many webhooks as allowed.
	ErrTooMany = errors.New("key has too many webhooks")
	// ErrQueueFull is returned when MaxQueued messages wait for a webhook.
	ErrQueueFull = errors.New("too many messages wait for this webhook")
)

const idPrefix = "wh_"

// ID is a webhook's public name, printed as wh_ and 11 base62 characters.
type ID uint64

// String returns the public form.
func (id ID) String() string { return quota.FormatName(idPrefix, uint64(id)) }

// ParseID reads the public form of an id.
func ParseID(s string) (ID, bool) {
	id, ok := quota.ParseName(idPrefix, s)
	return ID(id), ok
}

// NewMessageID draws the id of a message: msg_ and 22 base62 characters, 128 random bits. It is
// the webhook-id header of every attempt to deliver it.
func NewMessageID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	return quota.FormatName("msg_", binary.BigEndian.Uint64(b[:8])) + quota.FormatName("", binary.BigEndian.Uint64(b[8:]))
}

// Key names one webhook of one account.
type Key struct {
	Account quota.ID
	Hook    ID
}

// row is the key of the webhook's row, and the prefix of the keys of its deliveries.
func (k Key) row() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(k.Account)), uint64(k.Hook))
}

// State says whether events are sent.
type State string

// The states of a webhook. Events that happen while it is not active are not recorded for it;
// messages that wait are kept and go on when it is active again.
const (
	Active State = "active"
	// Paused was stopped by its owner.
	Paused State = "paused"
	// Disabled was stopped by the server; Hook.Reason says why.
	Disabled State = "disabled"
)

// Values lists the states that an owner can set.
func (State) Values() []string { return []string{string(Active), string(Paused)} }

// Secret is a signing secret. It has to be stored as it is, because a signature cannot be made with a digest of it.
type Secret struct {
	Secret []byte `json:"secret"`
	Until  int64  `json:"until"` // Unix seconds until which it signs; 0: the current one
}

// Hook is a webhook as the ledger keeps it.
type Hook struct {
	Key         Key      `json:"-"`
	URL         string   `json:"url"`
	Description string   `json:"description,omitempty"`
	Events      []string `json:"events"`
	Filters     string   `json:"filters,omitempty"` // query string; empty: every benchmark
	MaxRecords  int      `json:"max_records"`       // records in one message
	Secrets     []Secret `json:"secrets"`           // the current one first
	State       State    `json:"state"`
	Reason      string   `json:"reason,omitempty"` // why it is disabled
	Created     int64    `json:"created"`          // Unix seconds
	Changed     int64    `json:"changed"`
	Next        uint64   `json:"next"` // number of the next delivery, from 1
	Queued      int      `json:"-"`    // messages that wait
	Oldest      int64    `json:"-"`    // when the oldest of them was made, Unix seconds; 0: none waits

	LastSuccess  int64    `json:"last_success,omitzero"` // Unix seconds, 0: none
	LastFailure  *Attempt `json:"last_failure,omitempty"`
	FailingSince int64    `json:"failing_since,omitzero"` // first failed attempt of the message that is tried now
}

func (h *Hook) check() error {
	if h.URL == "" || len(h.Events) == 0 || len(h.Secrets) == 0 || h.Next == 0 ||
		h.State != Active && h.State != Paused && h.State != Disabled {
		return fmt.Errorf("%w: webhook %s lacks what every webhook has", quota.ErrCorrupt, h.Key.Hook)
	}
	return nil
}

// DeliveryState says what became of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	Pending   DeliveryState = "pending"
	Delivered DeliveryState = "delivered"
	Failed    DeliveryState = "failed"
)

// Delivery is one message to one webhook and the attempts to deliver it.
type Delivery struct {
	Key     Key           `json:"-"`
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

// row is the key of the delivery's row.
func (d *Delivery) row() []byte { return binary.BigEndian.AppendUint64(d.Key.row(), d.Seq) }

// LongestRetry is more than a delivery ever waits for its next attempt.
const LongestRetry = 25 * time.Hour

// due is when the next attempt is, seen at now. It is at once if nothing was attempted yet, and if the last attempt,
// or a wait of more than LongestRetry, shows that the clock was ahead when the next one was noted.
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
	Bytes           int    `json:"bytes"` // of the records kept for messages
}

// Baseline names the dataset whose benchmarks were announced last.
type Baseline struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
	Next    uint64 `json:"next"` // number of the next release
}

// Mark is what is remembered of one benchmark that was announced.
type Mark struct {
	Hash      uint64
	Withdrawn bool
}

// Announcement is a dataset that counts as announced from now on, with the release that announces it.
type Announcement struct {
	Baseline Baseline        // Next is filled in
	Marks    map[string]Mark // of all benchmarks, by id
	Release  *Release        // Number and Bytes are filled in; nil: what came before is not known, so nothing is announced
	Rows     [][]byte        // records that messages list
	Messages [][]Delivery    // of each webhook; Key, Message, Event, Total and Rows, the rest is filled in
}

// Outcome is what one attempt brought.
type Outcome struct {
	Delivery Delivery // with the new attempt, and its state and next attempt
	Disable  string   // why the webhook is to be disabled; empty: it is not
}

// Job is a delivery with all that its message is made of but the records.
type Job struct {
	Delivery
	Hook    Hook
	Account quota.Record
	Release Release // zero for a test
}
