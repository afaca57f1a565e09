package hooks

import (
	"crypto/rand"
	"encoding/binary"
	"errors"

	"modeldex/quota"
)

// Bounds of what is kept, so that neither a receiver that is away nor an owner who forgets it can fill the ledger.
const (
	// MaxQueued is how many messages may wait for one webhook. One more disables it.
	MaxQueued = 100
	// MaxRowBytes is the size of all records that one release keeps for messages.
	MaxRowBytes = 16 << 20
	// maxReleaseBytes bounds the records of all releases, oldest dropped first. A message whose release has lost its
	// records is sent without them.
	maxReleaseBytes = 64 << 20
)

// Errors that are answers about a webhook.
var (
	// ErrNoHook is returned when the account has no such webhook.
	ErrNoHook = errors.New("no such webhook")
	// ErrTooMany is returned when the account has as many webhooks as allowed.
	ErrTooMany = errors.New("key has too many webhooks")
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

// Secret is a signing secret. It is stored in plain text, because a digest cannot be used to sign.
type Secret struct {
	Secret []byte `json:"secret"`
	Until  int64  `json:"until"` // Unix seconds until which it signs; 0: the current one
}

// Hook is a webhook as the ledger keeps it.
type Hook struct {
	Key         Key        `json:"-"`
	Queue       []Delivery `json:"-"` // messages that wait, oldest first
	URL         string     `json:"url"`
	Description string     `json:"description,omitempty"`
	Events      []string   `json:"events"`
	Filters     string     `json:"filters,omitempty"` // query string; empty: every benchmark
	MaxRecords  int        `json:"max_records"`       // records in one message
	Secrets     []Secret   `json:"secrets"`           // the current one first
	State       State      `json:"state"`
	Reason      string     `json:"reason,omitempty"` // why it is disabled
	Created     int64      `json:"created"`          // Unix seconds
	Changed     int64      `json:"changed"`
	Next        uint64     `json:"next"` // number of the next delivery, from 1

	LastSuccess  int64    `json:"last_success,omitzero"` // Unix seconds, 0: none
	LastFailure  *Attempt `json:"last_failure,omitempty"`
	FailingSince int64    `json:"failing_since,omitzero"` // first failed attempt of the message that is tried now
}

// Disable stops a webhook, unless it is stopped already. now is in Unix seconds.
func (h *Hook) Disable(reason string, now int64) {
	if h.State == Active {
		h.State, h.Reason, h.Changed = Disabled, reason, now
	}
}

// Delivery is one message that waits for one webhook, and the failed attempts to deliver it.
type Delivery struct {
	Seq      uint64    `json:"-"`
	Message  string    `json:"message"` // id of the message
	Event    string    `json:"event"`
	Created  int64     `json:"created"`          // Unix seconds
	Release  uint64    `json:"release,omitzero"` // number of the release
	Total    int       `json:"total,omitzero"`   // records it is about
	Rows     []uint32  `json:"rows,omitempty"`   // places in the release of those it lists
	NextAt   int64     `json:"next_at,omitzero"` // Unix seconds of the next attempt
	Attempts []Attempt `json:"attempts,omitempty"`
}

// Attempt is one attempt to deliver a message.
type Attempt struct {
	At     int64  `json:"at"`              // Unix seconds
	Millis int64  `json:"ms"`              // how long it took
	Status int    `json:"status,omitzero"` // of HTTP; 0: no response
	Error  string `json:"error,omitempty"` // why it failed, empty for a success
}

// Changes is a release and the number of changes in it, as sent in messages.
type Changes struct {
	// Version of the dataset.
	Version string `json:"version" jsonschema:"example=2026.11.21"`
	// SHA-256 of the files of the dataset, in hex.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Previously announced version.
	PreviousVersion string `json:"previous_version" jsonschema:"example=2026.11.20"`
	// Previously announced digest.
	PreviousDigest string `json:"previous_digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Number of new benchmarks, regardless of the filters.
	Created int `json:"created" jsonschema:"minimum=0,example=40"`
	// Number of benchmarks with a changed field.
	Changed int `json:"changed" jsonschema:"minimum=0,example=2"`
	// Number of benchmarks that were withdrawn or removed.
	Withdrawn int `json:"withdrawn" jsonschema:"minimum=0,example=0"`
}

// Release is one change of the dataset that was announced to webhooks.
type Release struct {
	At int64 `json:"at"` // Unix seconds
	Changes
	Bytes int `json:"bytes"` // of the records kept for messages
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
	Release
	Marks    map[string]Mark    // of all benchmarks, by id
	Rows     [][]byte           // records that messages list
	Messages map[Key][]Delivery // Message, Event, Total and Rows, the rest is filled in; nil: nothing is announced
}

// Job is a webhook with what the first message of its queue is made of.
type Job struct {
	Hook
	Account quota.Record
	Release Release
	Records [][]byte // those that are still kept
}
