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
	"slices"
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
	a := &hooks.Announcement{Baseline: hooks.Baseline{Digest: fmt.Sprint(n)}, Release: &hooks.Release{At: start.Unix(), Digest: fmt.Sprint(n)}}
	for _, r := range rows {
		a.Rows = append(a.Rows, []byte(r))
	}
	for _, k := range to {
		d := hooks.Delivery{Key: k, Message: hooks.NewMessageID(), Event: "benchmark.created", Total: len(rows)}
		for i := range rows {
			d.Rows = append(d.Rows, uint32(i))
		}
		a.Messages = append(a.Messages, []hooks.Delivery{d})
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
	must(t, s.Sweep(context.Background(), start))
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
	}{{hook(3), hooks.ErrTooMany}, {hook(2), quota.ErrTaken}, {stranger, quota.ErrNotFound}} {
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
	job, _, err := s.Due(ctx, hook(1).Key, start.Unix())
	must(t, err)
	if records, err := s.Records(ctx, job.Release.Number, append(job.Rows, 99)); err != nil || len(records) != 2 || string(records[1]) != `{"n":1}` || job.Release.Digest != "1" {
		t.Errorf("Due() = %+v with records %q, %v", job, records, err)
	}
	if _, err := s.Delivery(ctx, hook(1).Key, 77); !errors.Is(err, hooks.ErrNoDelivery) {
		t.Errorf("Delivery(none) = %v, want ErrNoDelivery", err)
	}
	testRetry(t, s, &job)
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
	must(t, s.Settle(ctx, &hooks.Outcome{Delivery: job.Delivery})) // of a webhook that is gone
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
	if list, err := s.Deliveries(ctx, hook(1).Key, 0, 9); err != nil || len(list) != 1 {
		t.Errorf("Deliveries(copy) = %v, %v, want the one that waits", list, err)
	}
	empty, err := quota.Open(filepath.Join(t.TempDir(), "empty.db"), quota.Options{})
	must(t, err)
	defer empty.Close()
	if _, err := quota.Copy(ctx, from, empty); !errors.Is(err, quota.ErrNoHooks) {
		t.Errorf("Copy(to a ledger without webhooks) = %v, want ErrNoHooks", err)
	}
}

// What an earlier version had written of a release when it was killed is removed, and the next release is complete.
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
		outbox, records := r.Bucket(quota.BucketOutbox), r.Bucket(quota.BucketRecords)
		return errors.Join(
			outbox.Put(row, []byte(`{"message":"msg_x","event":"benchmark.created","created":1,"release":2,"rows":[0,1],"state":"pending"}`)),
			records.Put(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, 2), 1), []byte(`"of another release"`)),
		)
	}))
	s, err = hooks.Open(ctx, l)
	must(t, err)
	if list, err := s.Deliveries(ctx, k, 0, 9); err != nil || len(list) != 1 || list[0].Release != 1 {
		t.Errorf("Deliveries() = %+v, %v, want that of release 1", list, err)
	}
	release(t, s, 2, []string{"2"}, k)
	if records, err := s.Records(ctx, 2, []uint32{0, 1}); err != nil || len(records) != 1 || string(records[0]) != "2" {
		t.Errorf("Records(release 2) = %q, %v, want the one of the new release", records, err)
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
		_, err := s.Announce(ctx, &hooks.Announcement{Baseline: hooks.Baseline{Digest: "d", Version: "v"}, Marks: want})
		must(t, err)
		if b, got, err := s.Announced(ctx); err != nil || b != (hooks.Baseline{Digest: "d", Version: "v", Next: 1}) || !maps.Equal(got, want) {
			t.Errorf("Announced() = %+v with %d marks, %v, want %d", b, len(got), err, len(want))
		}
	}
}

// testRetry puts off a delivery that was made at Start: by a minute, unless the clock then shows to have been ahead.
func testRetry(t *testing.T, s *hooks.Store, job *hooks.Job) {
	t.Helper()
	const minute, day = 60, 24 * 60 * 60
	ctx, at0 := context.Background(), start.Unix()
	if early, _, err := s.Due(ctx, job.Key, at0-day); early.Seq != job.Seq || err != nil {
		t.Errorf("Due(before it was made) = %d, %v", early.Seq, err)
	}
	for _, c := range []struct {
		nextAt, now int64
		due         bool
	}{
		{at0 + minute, at0, false},
		{at0 + minute, at0 + minute, true},
		{at0 + minute, at0 - 1, true}, // before the attempt
		{at0 + 2*day, at0, true},      // longer than any retry
	} {
		d := job.Delivery
		d.Attempts, d.NextAt = []hooks.Attempt{{At: at0, Error: "no"}}, c.nextAt
		want := c.nextAt
		if c.due {
			want = min(c.nextAt, c.now)
		}
		must(t, s.Settle(ctx, &hooks.Outcome{Delivery: d}))
		got, at, err := s.Due(ctx, d.Key, c.now)
		if err != nil || (got.Seq == d.Seq) != c.due || at != want {
			t.Errorf("Due(%d) = %d, %d, %v, want due: %v, %d", c.now, got.Seq, at, err, c.due, want)
		}
	}
	must(t, s.Settle(ctx, &hooks.Outcome{Delivery: job.Delivery})) // as it was
}

// A webhook's queue and log have an end.
func TestBounds(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	must(t, s.Create(ctx, hook(1), 9))
	k := hook(1).Key
	for n := range hooks.MaxQueued {
		release(t, s, n+1, []string{`1`}, k)
	}
	if _, _, err := s.Enqueue(ctx, hooks.Delivery{Key: k, Message: "m", Event: "e"}); !errors.Is(err, hooks.ErrQueueFull) {
		t.Errorf("Enqueue(full) = %v, want ErrQueueFull", err)
	}
	release(t, s, hooks.MaxQueued+1, []string{`1`}, k)
	h, err := s.Get(ctx, k)
	if err != nil || h.State != hooks.Disabled || h.Reason == "" || h.Queued != hooks.MaxQueued {
		t.Errorf("after one release too many the webhook is %+v, %v", h, err)
	}
	_, err = s.Update(ctx, k, func(h *hooks.Hook) { h.State = hooks.Active })
	must(t, err)
	for range hooks.MaxQueued {
		deliver(t, s, k)
	}
	for i := range 20 {
		release(t, s, hooks.MaxQueued+2+i, []string{`1`}, k)
		deliver(t, s, k)
	}
	list, err := s.Deliveries(ctx, k, 0, 1000)
	if err != nil || len(list) != 100 || list[0].Seq != hooks.MaxQueued+20 {
		t.Errorf("the log has %d deliveries, %v", len(list), err)
	}
}

// deliver marks what is due as delivered.
func deliver(t *testing.T, s *hooks.Store, k hooks.Key) {
	t.Helper()
	job, _, err := s.Due(context.Background(), k, start.Unix())
	must(t, err)
	if job.Seq == 0 {
		t.Fatal("nothing is due")
	}
	d := job.Delivery
	d.Attempts = append(d.Attempts, hooks.Attempt{At: start.Unix()})
	d.State = hooks.Delivered
	must(t, s.Settle(context.Background(), &hooks.Outcome{Delivery: d}))
}

// TestQueue runs random steps against a list of what should wait.
func TestQueue(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	must(t, s.Create(ctx, hook(1), 9))
	k := hook(1).Key
	var waiting []hooks.Delivery // in order
	now, released, next := start.Unix(), 0, uint64(1)
	failed, succeeded := int64(0), int64(0) // when last
	fail := func(step int, format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d, step %d: %s", seed, step, fmt.Sprintf(format, args...))
	}
	for step := range 300 {
		switch rng.IntN(4) {
		case 0:
			if len(waiting) > 50 {
				continue
			}
			released++
			release(t, s, released, []string{`1`}, k)
			waiting = append(waiting, hooks.Delivery{Seq: next, NextAt: start.Unix()})
			next++
		case 1:
			if len(waiting) > 90 {
				continue
			}
			_, d, err := s.Enqueue(ctx, hooks.Delivery{Key: k, Message: "m", Event: "e", NextAt: now})
			if err != nil || d.Seq != next {
				fail(step, "Enqueue() = %d, %v, want %d", d.Seq, err, next)
			}
			waiting = append(waiting, hooks.Delivery{Seq: next, NextAt: now, Once: true})
			next++
		case 2:
			now += int64(rng.IntN(30))
		case 3:
			want := dueOf(waiting, now)
			job, at, err := s.Due(ctx, k, now)
			if err != nil || want < 0 != (job.Seq == 0) || want >= 0 && waiting[want].Seq != job.Seq {
				fail(step, "Due() = %d, %d, %v, want %d of %v", job.Seq, at, err, want, waiting)
			}
			if want < 0 {
				continue
			}
			d := job.Delivery
			attempt := hooks.Attempt{At: now, Error: "no"}
			switch rng.IntN(4) {
			case 0, 1:
				d.NextAt = now + int64(rng.IntN(60)) + 1
				waiting[want].NextAt = d.NextAt
			case 2:
				d.State = hooks.Failed
			case 3:
				d.State, attempt.Error = hooks.Delivered, ""
			}
			if d.State != hooks.Pending {
				waiting = slices.Delete(waiting, want, want+1)
			}
			if attempt.Error == "" {
				succeeded = now
			} else {
				failed = now
			}
			d.Attempts = append(d.Attempts, attempt)
			for range 2 { // repeated: the same state
				if err := s.Settle(ctx, &hooks.Outcome{Delivery: d}); err != nil {
					fail(step, "Settle() = %v", err)
				}
			}
		}
		h, err := s.Get(ctx, k)
		if err != nil || h.Queued != len(waiting) || h.Next != next {
			fail(step, "the webhook counts %d waiting, next %d, %v, want %d and %d", h.Queued, h.Next, err, len(waiting), next)
		}
		if (h.LastFailure != nil) != (failed > 0) || failed > 0 && h.LastFailure.At != failed || h.LastSuccess != succeeded {
			fail(step, "the webhook failed last with %+v, succeeded at %d, want %d and %d", h.LastFailure, h.LastSuccess, failed, succeeded)
		}
	}
	walkLog(t, s, k, next)
}

// dueOf is the place of what is to be attempted, -1 for nothing.
func dueOf(waiting []hooks.Delivery, now int64) int {
	ordered := false
	for i, d := range waiting {
		if !d.Once && ordered {
			continue
		}
		ordered = ordered || !d.Once
		if d.NextAt <= now {
			return i
		}
	}
	return -1
}

// walkLog pages through all deliveries, newest first.
func walkLog(t *testing.T, s *hooks.Store, k hooks.Key, next uint64) {
	t.Helper()
	all, err := s.Deliveries(context.Background(), k, 0, 1000)
	must(t, err)
	var walked []uint64
	for before := uint64(0); ; {
		page, err := s.Deliveries(context.Background(), k, before, 7)
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, d := range page {
			walked = append(walked, d.Seq)
		}
		before = page[len(page)-1].Seq
	}
	if len(walked) != len(all) || len(all) > 0 && all[0].Seq >= next || !slices.IsSortedFunc(walked, func(a, b uint64) int { return int(b) - int(a) }) {
		t.Errorf("pages list %d deliveries in order %v, want %d", len(walked), walked, len(all))
	}
}

func TestSweep(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	for i := range 3 {
		must(t, s.Create(ctx, hook(i+1), 9))
	}
	waits, paused := hook(2).Key, hook(3).Key
	release(t, s, 1, []string{`1`}, hook(1).Key, waits, paused)
	deliver(t, s, hook(1).Key)
	if _, err := s.Update(ctx, paused, func(h *hooks.Hook) { h.State = hooks.Paused }); err != nil {
		t.Fatal(err)
	}
	must(t, s.Sweep(ctx, start.Add(24*time.Hour)))
	if list, err := s.Deliveries(ctx, hook(1).Key, 0, 9); err != nil || len(list) != 1 {
		t.Errorf("a day later the log has %v, %v", list, err)
	}
	kept := func(when string, want int) {
		t.Helper()
		if records, err := s.Records(ctx, 1, []uint32{0}); err != nil || len(records) != want {
			t.Errorf("%s the release has the records %q, %v, want %d", when, records, err, want)
		}
	}
	left := func(when string, k hooks.Key, want int) {
		t.Helper()
		if list, err := s.Deliveries(ctx, k, 0, 9); err != nil || len(list) != want {
			t.Errorf("%s webhook %v has deliveries %v, %v, want %d", when, k.Hook, list, err, want)
		}
		if h, err := s.Get(ctx, k); err != nil || h.Queued != want || h.Next != 2 {
			t.Errorf("%s webhook %v is %+v, %v", when, k.Hook, h, err)
		}
	}
	kept("a day later", 1)
	// what waits for an active webhook stays: a clock that is a month ahead loses no message
	must(t, s.Sweep(ctx, start.Add(31*24*time.Hour)))
	kept("a month later, with a message that waits,", 1)
	left("a month later", hook(1).Key, 0)
	left("a month later", waits, 1)
	left("a month later", paused, 0)
	deliver(t, s, waits)
	must(t, s.Sweep(ctx, start.Add(31*24*time.Hour)))
	kept("a month later", 0)
	left("after the message was delivered", waits, 0)
}
