package hooks_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/hooks"
)

var start = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

const account = quota.ID(1 << 40)

// openFile opens a ledger with one account.
func openFile(t *testing.T, path string) *quota.Ledger {
	t.Helper()
	l, err := quota.Open(path, quota.Options{})
	must(t, err)
	t.Cleanup(func() {
		if report, err := l.Check(context.Background()); err != nil || len(report.Findings) > 0 {
			t.Errorf("after the test the ledger has findings: %v, %v", report.Findings, err)
		}
		must(t, l.Close())
	})
	r := quota.Record{ID: account, Rev: 1, Status: quota.StatusActive, Tier: "pro", Digest: quota.Digest{1}}
	must(t, l.Create(context.Background(), r, quota.Person{Name: "A"}, 0))
	return l
}

func open(t *testing.T) *hooks.Store {
	t.Helper()
	s, err := hooks.Open(context.Background(), openFile(t, filepath.Join(t.TempDir(), "modeldex.db")))
	must(t, err)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hook returns a valid webhook.
func hook(i int) hooks.Hook {
	return hooks.Hook{
		Key: hooks.Key{Account: account, Hook: hooks.ID(i)}, URL: "https://example.com/", Events: []string{"benchmark.created"},
		Secrets: []hooks.Secret{{Secret: []byte("secret")}}, State: hooks.Active, Next: 1,
	}
}

// release announces a dataset with rows to webhooks.
func release(t *testing.T, s *hooks.Store, n int, rows []string, to ...hooks.Key) []hooks.Hook {
	t.Helper()
	a := &hooks.Announcement{
		Release:  hooks.Release{At: start.Unix(), Changes: hooks.Changes{Digest: fmt.Sprint(n)}},
		Messages: map[hooks.Key][]hooks.Delivery{},
	}
	for _, r := range rows {
		a.Rows, a.Bytes = append(a.Rows, []byte(r)), a.Bytes+len(r)
	}
	for _, k := range to {
		d := hooks.Delivery{Message: hooks.NewMessageID(), Event: "benchmark.created", Total: len(rows)}
		for i := range rows {
			d.Rows = append(d.Rows, uint32(i))
		}
		a.Messages[k] = []hooks.Delivery{d}
	}
	waiting, err := s.Announce(context.Background(), a)
	must(t, err)
	return waiting
}

// A ledger without webhooks has no bucket of them, so that older programs read the same file.
func TestBucketsAreLazy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "modeldex.db")
	s, err := hooks.Open(context.Background(), openFile(t, path))
	must(t, err)
	if b, err := os.ReadFile(path); err != nil || bytes.Contains(b, []byte(quota.BucketOutbox)) {
		t.Errorf("there is an outbox without a webhook, or %v", err)
	}
	must(t, s.Create(context.Background(), hook(1), 1))
	release(t, s, 1, []string{"1"}, hook(1).Key)
	if b, err := os.ReadFile(path); err != nil || !bytes.Contains(b, []byte(quota.BucketOutbox)) {
		t.Errorf("there is no outbox with a message, or %v", err)
	}
}

// Webhooks are made, changed and removed, and go with the key.
func TestHooks(t *testing.T) {
	ctx := context.Background()
	l := openFile(t, filepath.Join(t.TempDir(), "modeldex.db"))
	s, err := hooks.Open(ctx, l)
	must(t, err)
	must(t, s.Create(ctx, hook(1), 2))
	must(t, s.Create(ctx, hook(2), 2))
	stranger := hook(3)
	stranger.Key.Account++
	for _, c := range []struct {
		hook hooks.Hook
		want error
	}{{hook(3), hooks.ErrTooMany}, {stranger, quota.ErrNotFound}} {
		if err := s.Create(ctx, c.hook, 2); !errors.Is(err, c.want) {
			t.Errorf("Create(%v) = %v, want %v", c.hook.Key, err, c.want)
		}
	}
	if _, err := s.Get(ctx, stranger.Key); !errors.Is(err, hooks.ErrNoHook) {
		t.Errorf("Get(of another account) = %v, want ErrNoHook", err)
	}
	paused, err := s.Update(ctx, hook(2).Key, func(h *hooks.Hook) { h.State = hooks.Paused })
	must(t, err)
	waiting := release(t, s, 1, []string{`{"n":0}`, `{"n":1}`}, hook(1).Key, paused.Key, hook(9).Key)
	if len(waiting) != 1 || waiting[0].Key != hook(1).Key {
		t.Errorf("Announce() = %v, want the active webhook alone", waiting)
	}
	job, err := s.Next(ctx, hook(1).Key)
	must(t, err)
	if len(job.Records) != 2 || string(job.Records[1]) != `{"n":1}` || job.Release.Digest != "1" || job.Account.ID != account {
		t.Errorf("Next() = %+v", job)
	}
	testCopy(t, l)
	must(t, s.Delete(ctx, hook(2).Key))
	if err := s.Delete(ctx, hook(2).Key); !errors.Is(err, hooks.ErrNoHook) {
		t.Errorf("Delete(again) = %v, want ErrNoHook", err)
	}
	_, err = l.Update(ctx, account, func(r *quota.Record, _ *quota.Person) error { r.Status = quota.StatusRevoked; return nil })
	must(t, err)
	if list, err := s.List(ctx, 0); len(list) > 0 || err != nil {
		t.Errorf("webhooks of a revoked key: %v, %v", list, err)
	}
	if err := s.Create(ctx, hook(5), 9); !errors.Is(err, quota.ErrFinal) {
		t.Errorf("Create(revoked) = %v, want ErrFinal", err)
	}
	if _, err := s.Update(ctx, hook(1).Key, func(*hooks.Hook) {}); !errors.Is(err, hooks.ErrNoHook) {
		t.Errorf("Update(gone) = %v, want ErrNoHook", err)
	}
}

// testCopy copies a ledger with two webhooks.
func testCopy(t *testing.T, from *quota.Ledger) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "copy.db")
	report, err := quota.CopyFile(ctx, from, path)
	if err != nil || report.Webhooks != 2 {
		t.Fatalf("CopyFile() = %+v, %v, want 2 webhooks", report, err)
	}
	to, err := quota.Open(path, quota.Options{})
	must(t, err)
	defer to.Close()
	if check, err := to.Check(ctx); err != nil || len(check.Findings) > 0 || check.Webhooks != 2 {
		t.Errorf("Check(copy) = %+v, %v", check, err)
	}
	s, err := hooks.Open(ctx, to)
	must(t, err)
	if h, err := s.Get(ctx, hook(1).Key); err != nil || len(h.Queue) != 1 {
		t.Errorf("Get(copy) = %v, %v, want a message that waits", h, err)
	}
	empty, err := quota.Open(filepath.Join(t.TempDir(), "empty.db"), quota.Options{})
	must(t, err)
	defer empty.Close()
	if _, err := quota.Copy(ctx, from, empty); !errors.Is(err, quota.ErrNoHooks) {
		t.Errorf("Copy(to a ledger without webhooks) = %v, want ErrNoHooks", err)
	}
}

// What only earlier versions wrote is removed: what one had written of a release when it was killed, tests that wait, the
// log. The next release is complete.
func TestInterruptedByEarlierVersion(t *testing.T) {
	ctx := context.Background()
	l := openFile(t, filepath.Join(t.TempDir(), "modeldex.db"))
	s, err := hooks.Open(ctx, l)
	must(t, err)
	must(t, s.Create(ctx, hook(1), 2))
	k := hook(1).Key
	release(t, s, 1, []string{"1"}, k)
	must(t, l.UpdateRows(ctx, func(r quota.Rows) error {
		row := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(k.Account)), uint64(k.Hook)), 2)
		outbox, sent, records := r.Bucket(quota.BucketOutbox), r.Bucket(quota.BucketSent), r.Bucket(quota.BucketRecords)
		return errors.Join(
			outbox.Put(row, []byte(`{"message":"msg_x","event":"benchmark.created","created":1,"release":2,"rows":[0,1],"state":"pending"}`)),
			outbox.Put(append(row[:23:23], 3), []byte(`{"message":"msg_y","event":"webhook.test","created":1,"state":"pending","once":true}`)),
			sent.Put(row, []byte(`{"message":"msg_z","event":"webhook.test","created":1,"state":"failed","once":true}`)),
			records.Put(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, 2), 1), []byte(`"of another release"`)),
		)
	}))
	s, err = hooks.Open(ctx, l)
	must(t, err)
	if h, err := s.Get(ctx, k); err != nil || len(h.Queue) != 1 || h.Queue[0].Release != 1 {
		t.Errorf("Get() = %+v, %v, want the message of release 1", h, err)
	}
	must(t, l.ViewRows(ctx, func(r quota.Rows) error {
		sent := r.Bucket(quota.BucketSent)
		return sent.Each(nil, func(k, v []byte) (bool, error) { return false, fmt.Errorf("the log still has %q", v) })
	}))
	accept(t, s, k)
	release(t, s, 2, []string{"2"}, k)
	if job, err := s.Next(ctx, k); err != nil || len(job.Records) != 1 || string(job.Records[0]) != "2" {
		t.Errorf("Next() = %+v, %v, want the record of the new release", job, err)
	}
}

// The benchmarks that were announced are kept, whatever their number and ids.
func TestMarks(t *testing.T) {
	s, ctx := open(t), context.Background()
	if b, marks, err := s.Announced(ctx); b.Digest != "" || len(marks) > 0 || err != nil {
		t.Errorf("Announced(new ledger) = %v, %v, %v", b, marks, err)
	}
	for n := range 3 {
		want := map[string]hooks.Mark{}
		for i := range 1000 * n {
			want[fmt.Sprintf("bm-%d", i)] = hooks.Mark{Hash: rand.Uint64(), Withdrawn: i%7 == 0}
		}
		_, err := s.Announce(ctx, &hooks.Announcement{Release: hooks.Release{Changes: hooks.Changes{Digest: "d", Version: "v"}}, Marks: want})
		must(t, err)
		if b, got, err := s.Announced(ctx); err != nil || b != (hooks.Baseline{Digest: "d", Version: "v", Next: 1}) || !maps.Equal(got, want) {
			t.Errorf("Announced() = %+v with %d marks, %v, want %d", b, len(got), err, len(want))
		}
	}
}

// accept takes the first message of a queue away, as a receiver does.
func accept(t *testing.T, s *hooks.Store, k hooks.Key) {
	t.Helper()
	_, err := s.Update(context.Background(), k, func(h *hooks.Hook) { h.Queue = h.Queue[1:] })
	must(t, err)
}

// The queue of a webhook has an end.
func TestBounds(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	must(t, s.Create(ctx, hook(1), 9))
	k := hook(1).Key
	for n := range hooks.MaxQueued + 1 {
		release(t, s, n+1, []string{`1`}, k)
	}
	h, err := s.Get(ctx, k)
	if err != nil || h.State != hooks.Disabled || h.Reason == "" || len(h.Queue) != hooks.MaxQueued {
		t.Errorf("after one release too many the webhook is %+v, %v", h, err)
	}
}

// The queue is what the last change made of it, in order.
func TestQueue(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	must(t, s.Create(ctx, hook(1), 9))
	k := hook(1).Key
	var want []hooks.Delivery
	rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for n := range 200 {
		switch rng.IntN(3) {
		case 0:
			if len(want) == hooks.MaxQueued {
				continue
			}
			release(t, s, n, []string{`1`}, k)
			h, err := s.Get(ctx, k)
			must(t, err)
			want = append(want, h.Queue[len(h.Queue)-1])
		case 1:
			if len(want) > 0 {
				accept(t, s, k)
				want = want[1:]
			}
		case 2:
			if len(want) > 0 {
				want[0].NextAt, want[0].Attempts = int64(n), append(want[0].Attempts, hooks.Attempt{At: int64(n), Error: "no"})
				_, err := s.Update(ctx, k, func(h *hooks.Hook) { h.Queue[0] = want[0] })
				must(t, err)
			}
		}
		if h, err := s.Get(ctx, k); err != nil || len(h.Queue) != len(want) || len(want) > 0 && !reflect.DeepEqual(h.Queue, want) {
			t.Fatalf("step %d: the queue is %+v, %v, want %+v", n, h.Queue, err, want)
		}
	}
}

// The records of a release are kept while a message lists them, and no more than 64 MiB of all releases.
func TestReleases(t *testing.T) {
	ctx := context.Background()
	l := openFile(t, filepath.Join(t.TempDir(), "modeldex.db"))
	s, err := hooks.Open(ctx, l)
	must(t, err)
	must(t, s.Create(ctx, hook(1), 9))
	must(t, s.Create(ctx, hook(2), 9))
	first, second := hook(1).Key, hook(2).Key
	rows := func(bucket string) (n int) {
		must(t, l.ViewRows(ctx, func(r quota.Rows) error {
			b := r.Bucket(bucket)
			return b.Each(nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
		}))
		return n
	}
	release(t, s, 1, []string{`1`}, first, second)
	accept(t, s, first)
	release(t, s, 2, []string{`2`}, first)
	if job, err := s.Next(ctx, second); err != nil || len(job.Records) != 1 || string(job.Records[0]) != `1` {
		t.Errorf("Next() = %+v, %v, want the record of the first release", job, err)
	}
	accept(t, s, second)
	release(t, s, 3, []string{strings.Repeat("3", 40<<20)}, first)
	if records, releases := rows(quota.BucketRecords), rows(quota.BucketReleases); records != 2 || releases != 2 {
		t.Errorf("%d records of %d releases are kept, want those of the two that have messages", records, releases)
	}
	release(t, s, 4, []string{strings.Repeat("4", 40<<20)}, second)
	if job, err := s.Next(ctx, first); err != nil || len(job.Records) != 0 || job.Release.Digest != "2" {
		t.Errorf("Next() = %d records of %+v, %v, want none: newer releases have too many", len(job.Records), job.Release, err)
	}
	if job, err := s.Next(ctx, second); err != nil || len(job.Records) != 1 {
		t.Errorf("Next() = %d records, %v, want that of the newest release", len(job.Records), err)
	}
}
