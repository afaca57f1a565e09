package quota

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"time"
)

// Status is the state of an account. The zero value is never stored.
type Status uint8

// The states of an account.
const (
	StatusActive Status = iota + 1
	// StatusSuspended rejects calls until the account is resumed.
	StatusSuspended
	// StatusRevoked rejects calls for ever.
	StatusRevoked
)

// Statuses lists every status, in the order shown to people.
var Statuses = []Status{StatusActive, StatusSuspended, StatusRevoked}

var statusNames = []string{StatusActive: "active", StatusSuspended: "suspended", StatusRevoked: "revoked"}

// String returns active, suspended or revoked.
func (s Status) String() string {
	if s > 0 && int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// MarshalText returns the name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name.
func (s *Status) UnmarshalText(text []byte) error {
	i := slices.Index(statusNames, string(text))
	if i < 1 {
		return fmt.Errorf("status: must be one of %v, got %q", Statuses, text)
	}
	*s = Status(i)
	return nil
}

// MaxOldSecrets is how many rotated-out secrets an account remembers. An older one is
// forgotten and becomes an unknown key.
const MaxOldSecrets = 4

// OldSecret is a secret that was rotated out. It works until Until, in Unix seconds, and is rejected as rotated
// from then on. For one without grace, Until is minus the time of its rotation. That is in the past by every
// clock, even if a server's clock is behind that of the server which rotated it.
type OldSecret struct {
	Digest Digest `json:"digest"`
	Until  int64  `json:"until"`
}

// mostAhead is how far ahead the end of a grace can be, in seconds, with clocks that differ by less than a day. One
// that is further ahead was set by a clock that was wrong, and the secret does not work: it may be in a stranger's hands.
const mostAhead = int64((MaxGrace + backSlack) / time.Second)

// isOver reports whether a secret that works until then works no more at now, both in Unix seconds.
func isOver(until, now int64) bool { return now >= until || until-now > mostAhead }

// ends is when the secret stops working, seen at now: not in the future if it does not work.
func (o OldSecret) ends(now int64) time.Time {
	end := max(o.Until, -o.Until)
	if isOver(o.Until, now) {
		end = min(end, now)
	}
	return unixTime(end)
}

// Record is an account as the ledger keeps it, without the person behind it.
type Record struct {
	ID      ID          `json:"id,omitzero"`
	Rev     uint64      `json:"rev"` // rises by one with every change; 1 when created
	Status  Status      `json:"status"`
	Erased  bool        `json:"erased"` // the person has been removed
	Tier    string      `json:"tier"`
	Limit   uint64      `json:"limit"`   // custom monthly limit; 0 takes the tier's
	Created int64       `json:"created"` // Unix seconds
	Changed int64       `json:"changed"` // Unix seconds of the last change; equals Created at first
	Hint    string      `json:"hint"`
	Digest  Digest      `json:"digest"`
	Old     []OldSecret `json:"old"` // oldest first, at most MaxOldSecrets
}

// Person is who asked for a key. The zero value is a person who has been erased.
type Person struct {
	Name    string `json:"name"`
	Email   string `json:"email"` // lower case
	UseCase string `json:"use_case"`
	// Match is the form in which the address is compared; empty if that is Email.
	Match string `json:"match,omitempty"`
}

// Every value in the ledger is sealed: a version byte, four bytes of CRC-32C over version,
// key and payload, and the payload. The ledger's file format has no checksum on its data
// pages, and a sum that covers the key also notices a value in another key's place.
const (
	sealVersion = 1
	sealLen     = 5
)

func sealSum(version byte, key, payload []byte) uint32 {
	return crc32.Checksum(slices.Concat([]byte{version}, key, payload), crc32.MakeTable(crc32.Castagnoli))
}

func seal(key, payload []byte) []byte {
	out := make([]byte, sealLen, sealLen+len(payload))
	out[0] = sealVersion
	binary.LittleEndian.PutUint32(out[1:], sealSum(sealVersion, key, payload))
	return append(out, payload...)
}

// unseal returns the payload, which shares memory with value.
func unseal(key, value []byte) ([]byte, error) {
	switch {
	case len(value) < sealLen:
		return nil, fmt.Errorf("%w: value has %d bytes", ErrCorrupt, len(value))
	case value[0] != sealVersion:
		return nil, fmt.Errorf("%w: value has version %d", ErrCorrupt, value[0])
	case binary.LittleEndian.Uint32(value[1:]) != sealSum(value[0], key, value[sealLen:]):
		return nil, fmt.Errorf("%w: value fails its checksum", ErrCorrupt)
	}
	return value[sealLen:], nil
}

const erasedFlag = 1

func (r *Record) encode() []byte {
	b := append(make([]byte, 0, 128), byte(r.Status), 0)
	if r.Erased {
		b[1] = erasedFlag
	}
	b = binary.AppendUvarint(b, r.Rev)
	b = binary.AppendUvarint(b, r.Limit)
	b = binary.AppendVarint(b, r.Created)
	b = binary.AppendVarint(b, r.Changed)
	b = appendString(b, r.Tier)
	b = appendString(b, r.Hint)
	b = append(b, r.Digest[:]...)
	b = append(b, byte(len(r.Old)))
	for _, o := range r.Old {
		b = append(b, o.Digest[:]...)
		b = binary.AppendVarint(b, o.Until)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decodeRecord reads a row of accounts. The record shares no memory with it.
func decodeRecord(k, v []byte) (Record, error) {
	if len(k) != 8 {
		return Record{}, fmt.Errorf("%w: account key has %d bytes", ErrCorrupt, len(k))
	}
	id, in := idFromKey(k), newReader(v)
	r := Record{ID: id, Status: Status(in.byte())}
	r.Erased = in.byte()&erasedFlag != 0
	r.Rev, r.Limit = in.uvarint(), in.uvarint()
	r.Created, r.Changed = in.varint(), in.varint()
	r.Tier, r.Hint = in.string(), in.string()
	in.bytes(r.Digest[:])
	n := int(in.byte())
	if n > 0 && n <= MaxOldSecrets {
		r.Old = make([]OldSecret, n)
	}
	for i := range r.Old {
		in.bytes(r.Old[i].Digest[:])
		r.Old[i].Until = in.varint()
	}
	if err := r.Check(); in.bad || in.Len() > 0 || n > MaxOldSecrets || err != nil {
		return Record{}, fmt.Errorf("%w: account %s cannot be read", ErrCorrupt, id)
	}
	return r, nil
}

// Check returns an error for a record that no code of this package would write.
func (r *Record) Check() error {
	switch {
	case r.ID == 0:
		return errors.New("id: must not be zero")
	case r.Status < StatusActive || r.Status > StatusRevoked:
		return fmt.Errorf("status: must be one of %v, got %d", Statuses, r.Status)
	case r.Rev == 0:
		return errors.New("rev: must be 1 or more")
	case r.Tier == "":
		return errors.New("tier: must be given")
	case r.Limit > MaxLimit:
		return fmt.Errorf("limit: must be at most %d, got %d", uint64(MaxLimit), r.Limit)
	case r.Digest == Digest{}:
		return errors.New("digest: must not be zero")
	}
	return nil
}

func unixTime(s int64) time.Time { return time.Unix(s, 0).UTC() }

// reader reads the values of a payload in order; bad means that one was missing.
type reader struct {
	bytes.Reader
	bad bool
}

func newReader(payload []byte) *reader { return &reader{Reader: *bytes.NewReader(payload)} }

func (in *reader) byte() byte {
	b, err := in.ReadByte()
	in.bad = in.bad || err != nil
	return b
}

func (in *reader) uvarint() uint64 {
	v, err := binary.ReadUvarint(in)
	in.bad = in.bad || err != nil
	return v
}

func (in *reader) varint() int64 {
	v, err := binary.ReadVarint(in)
	in.bad = in.bad || err != nil
	return v
}

func (in *reader) bytes(out []byte) {
	_, err := io.ReadFull(in, out)
	in.bad = in.bad || err != nil
}

func (in *reader) string() string {
	out := make([]byte, min(in.uvarint(), uint64(in.Len())+1)) // one more than there is: bad
	in.bytes(out)
	return string(out)
}

const (
	idPrefix = "key_"
	idChars  = 11 // 62^11 > 2^64
	idSecond = 30 // the 34 bits from here on are the second of creation
	idRandom = 10 // low bits drawn at random; those in between are the microsecond
)

// ID is an account's public name, printed as key_ and 11 base62 characters. Ids rise with
// the microsecond of creation, so their order is the order of creation. (Ids made before December
// 2026 rise with the second.) Zero is not an account.
type ID uint64

// NewID draws an id for an account, or anything else that is named in order, made at now. Two accounts of the same microsecond may draw the
// same id, once in 2^10; the store rejects the second one and the caller draws again.
func NewID(now time.Time) ID {
	var b [2]byte
	_, _ = rand.Read(b[:])
	low := uint64(binary.LittleEndian.Uint16(b[:])) & (1<<idRandom - 1)
	micro := uint64(now.Nanosecond() / 1000)
	return ID(uint64(max(now.Unix(), 1))<<idSecond | micro<<idRandom | low)
}

// String returns the public form.
func (id ID) String() string { return FormatName(idPrefix, uint64(id)) }

// FormatName writes a number as the public name of something: a prefix and 11 base62 characters.
func FormatName(prefix string, id uint64) string {
	out := make([]byte, len(prefix)+idChars)
	copy(out, prefix)
	for i := len(out) - 1; i >= len(prefix); i-- {
		out[i] = base62[id%62]
		id /= 62
	}
	return string(out)
}

// MarshalText returns the public form.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the public form.
func (id *ID) UnmarshalText(text []byte) error {
	got, ok := ParseID(string(text))
	if !ok {
		return errors.New("account id: must be key_ and 11 letters or digits")
	}
	*id = got
	return nil
}

// ParseID reads the public form of an id.
func ParseID(s string) (ID, bool) {
	id, ok := ParseName(idPrefix, s)
	return ID(id), ok
}

// ParseName reads what FormatName writes; zero is not a name.
func ParseName(prefix, s string) (uint64, bool) {
	s, ok := strings.CutPrefix(s, prefix)
	if !ok || len(s) != idChars {
		return 0, false
	}
	var id uint64
	for i := range len(s) {
		v := strings.IndexByte(base62, s[i])
		if v < 0 || id > (1<<64-1-uint64(v))/62 {
			return 0, false
		}
		id = id*62 + uint64(v)
	}
	return id, id != 0
}

// key returns the id as a ledger key: eight bytes, most significant first, so that the
// ledger's order is the order of creation.
func (id ID) key() []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

func idFromKey(b []byte) ID { return ID(binary.BigEndian.Uint64(b)) }
