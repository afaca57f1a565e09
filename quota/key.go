package quota

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"log/slog"
	"strings"
)

const (
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	randomChars = 30 // 30 * log2(62) = 178 random bits
	checkChars  = 6  // 62^6 > 2^32, so every CRC32 fits
	maxPrefix   = 16
	maxSecret   = maxPrefix + 1 + randomChars + checkChars
)

// Digest is the SHA-256 of a secret. Only the digest is stored, compared or logged. The zero value belongs to no
// secret.
type Digest [sha256.Size]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns the digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the form that MarshalText writes.
func (d *Digest) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || copy(d[:], b) != len(d) || len(b) != len(d) {
		return fmt.Errorf("digest: must be %d hexadecimal digits", 2*len(d))
	}
	return nil
}

// Secret is a key as its owner sees it, once. It prints and logs as its hint, so that a
// careless format verb cannot leak it; Reveal is the one way to the characters.
type Secret string

// Reveal returns the secret itself, to be shown to its owner and dropped.
func (s Secret) Reveal() string { return string(s) }

// Hint returns what people may see of a secret: its prefix and its last four characters.
func (s Secret) Hint() string {
	cut := strings.LastIndexByte(string(s), '_')
	if cut < 0 || len(s)-cut <= 4 {
		return "..."
	}
	return string(s[:cut+1]) + "..." + string(s[len(s)-4:])
}

// String returns the hint.
func (s Secret) String() string { return s.Hint() }

// GoString returns the hint, for %#v.
func (s Secret) GoString() string { return s.Hint() }

// LogValue logs the hint.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.Hint()) }

// CheckPrefix reports whether prefix may start a key: 1 to 16 letters, digits or underscores.
func CheckPrefix(prefix string) error {
	if len(prefix) < 1 || len(prefix) > maxPrefix {
		return fmt.Errorf("key prefix: must be 1 to %d characters, got %d", maxPrefix, len(prefix))
	}
	if strings.Trim(prefix, base62+"_") != "" {
		return fmt.Errorf("key prefix: must contain only letters, digits and underscores, got %q", prefix)
	}
	return nil
}

// NewSecret makes a secret: prefix, an underscore, 30 random base62 characters, and the CRC32 (IEEE) of everything
// before it as 6 base62 characters, most significant first. The prefix must pass CheckPrefix.
func NewSecret(prefix string) Secret {
	b := append(make([]byte, 0, maxSecret), prefix+"_"...)
	for end := len(b) + randomChars; len(b) < end; {
		var pool [64]byte
		_, _ = rand.Read(pool[:]) // never fails: the runtime ends the process instead
		for _, r := range pool {
			// 248 = 4 * 62: bytes above it would make some characters likelier.
			if r < 248 && len(b) < end {
				b = append(b, base62[r%62])
			}
		}
	}
	return Secret(string(b) + checksum(string(b)))
}

// checksum returns the check characters of a key without them.
func checksum(key string) string {
	crc := crc32.ChecksumIEEE([]byte(key))
	var out [checkChars]byte
	for i := checkChars - 1; i >= 0; i-- {
		out[i] = base62[crc%62]
		crc /= 62
	}
	return string(out[:])
}

// ParseKey checks the form and the checksum of a key and returns its digest. It looks nothing
// up; false means that the key cannot have been issued under prefix.
// The checksum is public knowledge, so comparing it need not take constant time.
func ParseKey[T string | []byte](key T, prefix string) (Digest, bool) {
	d, ok := DigestOf(key, prefix)
	if !ok {
		return Digest{}, false
	}
	body := string(key[:len(key)-checkChars])
	if strings.Trim(string(key[len(prefix)+1:]), base62) != "" || checksum(body) != string(key[len(body):]) {
		return Digest{}, false
	}
	return d, true
}

// DigestOf returns the digest of a text with the prefix and length of a key, without checking the rest. That is enough
// to find an account; use ParseKey to tell whether an unknown text is well-formed. It does not allocate.
func DigestOf[T string | []byte](key T, prefix string) (Digest, bool) {
	if len(key) != len(prefix)+1+randomChars+checkChars || len(key) > maxSecret {
		return Digest{}, false
	}
	var buf [maxSecret]byte
	n := copy(buf[:], key)
	if string(buf[:len(prefix)]) != prefix || buf[len(prefix)] != '_' {
		return Digest{}, false
	}
	return sha256.Sum256(buf[:n]), true
}
