package quota_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"modeldex/quota"
)

// A ledger without webhooks has no bucket of them, so that older programs read the same file; the
// first webhook makes them.
func TestHookBucketsAreLazy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "modeldex.db")
	l, err := quota.Open(path, quota.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx := context.Background()
	if err := l.EachHook(ctx, 0, func(quota.Hook) error { return nil }); err != nil {
		t.Errorf("EachHook() = %v", err)
	}
	if w, err := l.Waiting(ctx); err != nil || len(w) != 0 {
		t.Errorf("Waiting() = %v, %v", w, err)
	}
	if err := l.Forget(ctx); err != nil {
		t.Errorf("Forget() = %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(b), "outbox") {
		t.Errorf("the file names the outbox, %v", err)
	}
	if _, err := l.Announce(ctx, &quota.Announcement{First: true, Baseline: quota.Baseline{Digest: "d"}}); err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(path); err != nil || !strings.Contains(string(b), "outbox") {
		t.Errorf("the file does not name the outbox, %v", err)
	}
}
