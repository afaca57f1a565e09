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
	if w, err := l.Waiting(ctx, 1); err != nil || len(w) != 0 {
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

// countdown is a context that ends after some questions, as a kill between two transactions does.
type countdown struct {
	context.Context
	left int
}

// Err counts down.
func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// An announcement that stops between two transactions tells nothing, and the next one tells everything
// once.
func TestAnnounceInterrupted(t *testing.T) {
	t.Parallel() // it waits, for the disk mostly
	path := filepath.Join(t.TempDir(), "modeldex.db")
	l, err := quota.Open(path, quota.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := l.Create(ctx, quota.Record{ID: 1, Rev: 1, Status: quota.StatusActive, Tier: "pro", Digest: quota.Digest{1}}, quota.Person{Name: "A"}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Announce(ctx, &quota.Announcement{First: true, Baseline: quota.Baseline{Digest: "old"}}); err != nil {
		t.Fatal(err)
	}
	const hooks = 250 // more than one transaction takes
	release := &quota.Announcement{Baseline: quota.Baseline{Digest: "new"}, Release: quota.Release{At: 5, Digest: "new", PreviousDigest: "old"}, Rows: [][]byte{[]byte("1")}}
	for i := range hooks {
		h := quota.Hook{
			Key: quota.HookKey{Account: 1, Hook: quota.HookID(i + 1)}, Rev: 1, URL: "u", Events: []string{"e"},
			Secrets: []quota.HookSecret{{Secret: []byte("s")}}, State: quota.HookActive, Next: 1,
		}
		if err := l.CreateHook(ctx, h, hooks); err != nil {
			t.Fatal(err)
		}
		release.Deliveries = append(release.Deliveries, quota.Delivery{Key: h.Key, Message: quota.NewMessageID(), Event: "e", Rows: []uint32{0}})
	}
	done := false
	for steps := 1; !done; steps++ {
		waiting, err := l.Announce(&countdown{ctx, steps}, release)
		if done = err == nil; done {
			if len(waiting) != hooks {
				t.Errorf("%d webhooks wait, want %d", len(waiting), hooks)
			}
			continue
		}
		if waiting, err := l.Waiting(ctx, 1); err != nil || len(waiting) != 0 {
			t.Errorf("after %d steps %d webhooks wait, %v", steps, len(waiting), err)
		}
		if list, err := l.Deliveries(ctx, release.Deliveries[0].Key, 0, 9); err != nil || len(list) != 0 {
			t.Errorf("after %d steps there are deliveries %v, %v", steps, list, err)
		}
		if report, err := l.Check(ctx); err != nil || len(report.Findings) > 0 {
			t.Fatalf("after %d steps: %v, %v", steps, report.Findings, err)
		}
	}
	for _, d := range release.Deliveries {
		job, _, err := l.Due(ctx, d.Key, 5)
		records, recordsErr := l.Records(ctx, job.Release.Number, job.Rows)
		if err != nil || recordsErr != nil || job.Message != d.Message || len(records) != 1 || job.Hook.Queued != 1 {
			t.Fatalf("due is %+v, %v, want message %s alone", job, err, d.Message)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := quota.Check(path); err != nil || len(report.Findings) > 0 {
		t.Errorf("findings %v, %v", report.Findings, err)
	}
}
