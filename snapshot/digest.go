package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Digest is the SHA-256 of the canonical JSON of each value on a line of its own, the lines
// sorted: it does not depend on the order of values. An error is a value JSON cannot hold.
func Digest[T any](values []T) (string, error) {
	lines := make([]string, len(values))
	for i, v := range values {
		b, err := canonical(v)
		if err != nil {
			return "", err
		}
		lines[i] = string(b)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

// provenance is the line of a capture in meta.generated_from.
func provenance(cfg *SourceConfig, c Capture, rows []Row) (string, error) {
	digest, err := Digest(rows)
	if err != nil {
		return "", fmt.Errorf("rows: %w", err)
	}
	return fmt.Sprintf("%s: %s, %d rows, sha256 of the sorted rows %s", cfg.SourceID, c.From, len(rows), digest), nil
}
