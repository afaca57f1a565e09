package ledgers_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"modeldex/quota"
	"modeldex/quota/ledgers"
)

// A copy only reads its source: an empty file is rejected as a source and stays empty.
func TestCopyFromEmptyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.db"), filepath.Join(dir, "to.db")
	if err := os.WriteFile(from, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := ledgers.Copy(context.Background(), from, to, ledgers.Options{}); !errors.Is(err, quota.ErrNotLedger) {
		t.Errorf("Copy() = %v, want %v", err, quota.ErrNotLedger)
	}
	if b, err := os.ReadFile(from); err != nil || len(b) > 0 {
		t.Errorf("the source has %d bytes (%v), want none", len(b), err)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target was created: %v", err)
	}
}
