package quota

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"strings"
	"time"
)

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
