package quotatest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"modeldex/quota"

	"github.com/google/go-cmp/cmp"
)

// hookTests are the tests of stores that keep webhooks.
var hookTests = map[string]func(*testing.T, hookStore){
	"webhooks":          testHooks,
	"webhook baseline":  testBaseline,
	"webhook releases":  testReleases,
	"webhook revoke":    testHookRevoke,
	"webhook bounds":    testHookBounds,
	"webhook queue":     testHookQueue,
	"webhook copy":      testHookCopy,
	"webhook sweep":     testHookSweep,
	"webhook deletions": testHookDeletions,
}

// hookStore is a store that keeps webhooks.
type hookStore interface {
	quota.Store
	quota.HookStore
}

// testWebhooks runs hookTests, or skips where the store keeps no webhooks.
func testWebhooks(t *testing.T, open func(t *testing.T) []quota.Store) {
	for name, test := range hookTests {
		t.Run(name, func(t *testing.T) {
			s, ok := open(t)[0].(hookStore)
			if !ok {
				t.Skip("this ledger keeps no webhooks")
			}
			test(t, s)
		})
	}
}

// hook returns a valid webhook of account n.
func hook(n, i int) quota.Hook {
	return quota.Hook{
		Key: quota.HookKey{Account: record(n).ID, Hook: quota.HookID(i)}, Rev: 1,
		URL: fmt.Sprintf("https://example.com/%d", i), Events: []string{"benchmark.created"}, MaxRecords: 100,
		Secrets: []quota.HookSecret{{Secret: []byte("secret")}}, State: quota.HookActive, Created: Start.Unix(), Changed: Start.Unix(), Next: 1,
	}
}

func digestOf(n int) string { return fmt.Sprintf("%064d", n) }

// baseline makes the ledger know dataset 0.
func baseline(t *testing.T, s hookStore) {
	t.Helper()
	_, err := s.Announce(context.Background(), &quota.Announcement{First: true, Baseline: quota.Baseline{Version: "v", Digest: digestOf(0), Scheme: 1}})
	must(t, err)
}

// release announces dataset n after n-1, with rows, to webhooks.
func release(t *testing.T, s hookStore, n int, rows []string, to ...quota.HookKey) []quota.Waiting {
	t.Helper()
	a := &quota.Announcement{
		Baseline: quota.Baseline{Version: "v", Digest: digestOf(n), Scheme: 1},
		Release:  quota.Release{At: Start.Unix(), Version: "v", Digest: digestOf(n), PreviousDigest: digestOf(n - 1), Created: len(rows)},
	}
	for _, r := range rows {
		a.Rows = append(a.Rows, []byte(r))
	}
	for _, k := range to {
		d := quota.Delivery{Key: k, Message: quota.NewMessageID(), Event: "benchmark.created", Total: len(rows)}
		for i := range rows {
			d.Rows = append(d.Rows, uint32(i))
		}
		a.Deliveries = append(a.Deliveries, d)
	}
	waiting, err := s.Announce(context.Background(), a)
	must(t, err)
	return waiting
}

func testHooks(t *testing.T, s hookStore) {
	ctx := context.Background()
	must(t, s.Create(ctx, record(1), person(1), 0))
	must(t, s.Create(ctx, record(2), person(2), 0))
	if err := s.CreateHook(ctx, hook(1, 1), 2); !errors.Is(err, quota.ErrNoBaseline) {
		t.Errorf("CreateHook(no baseline) = %v, want ErrNoBaseline", err)
	}
	baseline(t, s)
	must(t, s.CreateHook(ctx, hook(1, 1), 2))
	must(t, s.CreateHook(ctx, hook(1, 2), 2))
	must(t, s.CreateHook(ctx, hook(2, 3), 2))
	for _, c := range []struct {
		hook quota.Hook
		want error
	}{
		{hook(1, 3), quota.ErrTooManyHooks},
		{hook(2, 3), quota.ErrTaken},
		{hook(3, 4), quota.ErrNotFound},
	} {
		if err := s.CreateHook(ctx, c.hook, 2); !errors.Is(err, c.want) {
			t.Errorf("CreateHook(%v) = %v, want %v", c.hook.Key, err, c.want)
		}
	}
	if err := s.CreateHook(ctx, quota.Hook{}, 2); err == nil {
		t.Error("CreateHook(nothing) = nil, want an error")
	}
	got, err := s.GetHook(ctx, hook(1, 1).Key)
	if diff := cmp.Diff(hook(1, 1), got); diff != "" || err != nil {
		t.Errorf("GetHook() = %v:\n%s", err, diff)
	}
	if _, err := s.GetHook(ctx, quota.HookKey{Account: record(2).ID, Hook: 1}); !errors.Is(err, quota.ErrNoHook) {
		t.Errorf("GetHook(of another account) = %v, want ErrNoHook", err)
	}
	changed, err := s.UpdateHook(ctx, hook(1, 1).Key, func(h *quota.Hook) error {
		h.URL, h.Filters = "https://example.org", "model=a"
		return nil
	})
	if got, _ := s.GetHook(ctx, hook(1, 1).Key); err != nil || changed.Rev != 2 || !cmp.Equal(got, changed) {
		t.Errorf("UpdateHook() = %+v, %v, stored is %+v", changed, err, got)
	}
	mine := errors.New("mine")
	if _, err := s.UpdateHook(ctx, hook(1, 1).Key, func(*quota.Hook) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("UpdateHook(error) = %v, want it", err)
	}
	if got := hooksOf(t, s, record(1).ID); !slices.Equal(got, []quota.HookID{1, 2}) {
		t.Errorf("EachHook(account 1) = %v", got)
	}
	if got := hooksOf(t, s, 0); !slices.Equal(got, []quota.HookID{1, 2, 3}) {
		t.Errorf("EachHook(all) = %v", got)
	}
	if err := s.EachHook(ctx, 0, func(quota.Hook) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("EachHook(error) = %v, want it", err)
	}
}

func hooksOf(t *testing.T, s hookStore, account quota.ID) (out []quota.HookID) {
	t.Helper()
	must(t, s.EachHook(context.Background(), account, func(h quota.Hook) error {
		out = append(out, h.Key.Hook)
		return nil
	}))
	return out
}

func testBaseline(t *testing.T, s hookStore) {
	ctx := context.Background()
	if _, ok, err := s.Baseline(ctx); ok || err != nil {
		t.Errorf("Baseline(new ledger) = %v, %v", ok, err)
	}
	must(t, s.Forget(ctx))
	parts, all := map[int][]quota.Mark{}, map[string]quota.Mark{}
	for i := range 2000 {
		m := quota.Mark{ID: fmt.Sprintf("bm-%d", i), Hash: rand.Uint64(), Withdrawn: i%7 == 0}
		parts[quota.MarkPart(m.ID)] = append(parts[quota.MarkPart(m.ID)], m)
		all[m.ID] = m
	}
	if len(parts) < quota.MarkParts*9/10 {
		t.Errorf("2000 ids are in %d parts, want nearly %d", len(parts), quota.MarkParts)
	}
	want := quota.Baseline{Version: "v", Digest: digestOf(1), Scheme: 1, Records: 2000, Next: 1}
	_, err := s.Announce(ctx, &quota.Announcement{First: true, Baseline: want, Parts: parts})
	must(t, err)
	if got, ok, err := s.Baseline(ctx); got != want || !ok || err != nil {
		t.Errorf("Baseline() = %+v, %v, %v", got, ok, err)
	}
	got := map[string]quota.Mark{}
	for part := range quota.MarkParts {
		marks, err := s.Marks(ctx, part)
		must(t, err)
		for _, m := range marks {
			got[m.ID] = m
		}
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("Marks():\n%s", diff)
	}
	_, err = s.Announce(ctx, &quota.Announcement{Baseline: want, Release: quota.Release{PreviousDigest: digestOf(7)}})
	if !errors.Is(err, quota.ErrSuperseded) {
		t.Errorf("Announce(another past) = %v, want ErrSuperseded", err)
	}
	must(t, s.Create(ctx, record(1), person(1), 0))
	must(t, s.CreateHook(ctx, hook(1, 1), 2))
	must(t, s.Forget(ctx))
	if _, ok, _ := s.Baseline(ctx); !ok {
		t.Error("the baseline is forgotten while there is a webhook")
	}
	must(t, s.DeleteHook(ctx, hook(1, 1).Key))
	must(t, s.Forget(ctx))
	if _, ok, _ := s.Baseline(ctx); ok {
		t.Error("the baseline is there after Forget")
	}
}

func testReleases(t *testing.T, s hookStore) {
	ctx := context.Background()
	must(t, s.Create(ctx, record(1), person(1), 0))
	baseline(t, s)
	for i := range 3 {
		must(t, s.CreateHook(ctx, hook(1, i+1), 9))
	}
	paused := hook(1, 3).Key
	_, err := s.UpdateHook(ctx, paused, func(h *quota.Hook) error { h.State = quota.HookPaused; return nil })
	must(t, err)
	k := hook(1, 1).Key
	waiting := release(t, s, 1, []string{`{"n":0}`, `{"n":1}`}, k, paused, hook(1, 9).Key)
	if len(waiting) != 1 || waiting[0].Key != k {
		t.Errorf("Announce() = %v, want the active webhook alone", waiting)
	}
	release(t, s, 2, []string{`{"n":2}`}, k)
	if got, err := s.Waiting(ctx, Start.Unix()); err != nil || len(got) != 1 || got[0] != (quota.Waiting{Key: k, At: Start.Unix()}) {
		t.Errorf("Waiting() = %v, %v", got, err)
	}
	if got, err := s.CountHooks(ctx); err != nil || got != (quota.HookCounts{Active: 2, Paused: 1, Pending: 2, Oldest: Start.Unix()}) {
		t.Errorf("CountHooks() = %+v, %v, want two active, one paused, two messages since %d", got, err, Start.Unix())
	}
	job, _, err := s.Due(ctx, k, Start.Unix())
	must(t, err)
	records, err := s.Records(ctx, job.Release.Number, job.Rows)
	must(t, err)
	if job.Seq != 1 || job.Release.Number != 1 || job.Release.Digest != digestOf(1) || job.Hook.URL == "" ||
		len(records) != 2 || string(records[1]) != `{"n":1}` || job.State != quota.DeliveryPending {
		t.Errorf("Due() = %+v", job)
	}
	testRetry(t, s, &job)
	if _, _, err := s.Due(ctx, hook(1, 9).Key, 0); !errors.Is(err, quota.ErrNoHook) {
		t.Errorf("Due(no webhook) = %v", err)
	}
	if _, err := s.Delivery(ctx, k, 77); !errors.Is(err, quota.ErrNoDelivery) {
		t.Errorf("Delivery(none) = %v", err)
	}
}

func testHookRevoke(t *testing.T, s hookStore) {
	ctx := context.Background()
	baseline(t, s)
	for i := range 2 {
		must(t, s.Create(ctx, record(i+1), person(i+1), 0))
		must(t, s.CreateHook(ctx, hook(i+1, i+1), 9))
	}
	release(t, s, 1, []string{`1`}, hook(1, 1).Key, hook(2, 2).Key)
	_, err := s.Update(ctx, record(1).ID, func(r *quota.Record, _ *quota.Person) error {
		r.Status = quota.StatusRevoked
		return nil
	})
	must(t, err)
	if got := hooksOf(t, s, 0); !slices.Equal(got, []quota.HookID{2}) {
		t.Errorf("after the revocation of key 1 there are webhooks %v, want that of key 2", got)
	}
	if err := s.CreateHook(ctx, hook(1, 5), 9); !errors.Is(err, quota.ErrFinal) {
		t.Errorf("CreateHook(revoked) = %v, want ErrFinal", err)
	}
	if next, err := s.Settle(ctx, []quota.Outcome{{Delivery: quota.Delivery{Key: hook(1, 1).Key, Seq: 1}}}, Start.Unix()); err != nil || next[0] != 0 {
		t.Errorf("Settle(gone) = %v, %v", next, err)
	}
}

func testHookDeletions(t *testing.T, s hookStore) {
	ctx := context.Background()
	baseline(t, s)
	must(t, s.Create(ctx, record(1), person(1), 0))
	must(t, s.CreateHook(ctx, hook(1, 1), 9))
	must(t, s.CreateHook(ctx, hook(1, 2), 9))
	release(t, s, 1, []string{`1`}, hook(1, 1).Key, hook(1, 2).Key)
	must(t, s.DeleteHook(ctx, hook(1, 1).Key))
	if err := s.DeleteHook(ctx, hook(1, 1).Key); !errors.Is(err, quota.ErrNoHook) {
		t.Errorf("DeleteHook(again) = %v, want ErrNoHook", err)
	}
	if _, err := s.Deliveries(ctx, hook(1, 1).Key, 0, 10); !errors.Is(err, quota.ErrNoHook) {
		t.Errorf("Deliveries(gone) = %v, want ErrNoHook", err)
	}
	if list, err := s.Deliveries(ctx, hook(1, 2).Key, 0, 10); err != nil || len(list) != 1 {
		t.Errorf("Deliveries(other) = %v, %v, want one", list, err)
	}
}

// A webhook's queue and log have an end.
func testHookBounds(t *testing.T, s hookStore) {
	ctx := context.Background()
	baseline(t, s)
	must(t, s.Create(ctx, record(1), person(1), 0))
	must(t, s.CreateHook(ctx, hook(1, 1), 9))
	k := hook(1, 1).Key
	for n := range quota.MaxQueued {
		release(t, s, n+1, []string{`1`}, k)
	}
	if _, err := s.Enqueue(ctx, quota.Delivery{Key: k, Message: "m", Event: "e"}); !errors.Is(err, quota.ErrQueueFull) {
		t.Errorf("Enqueue(full) = %v, want ErrQueueFull", err)
	}
	release(t, s, quota.MaxQueued+1, []string{`1`}, k)
	h, err := s.GetHook(ctx, k)
	if err != nil || h.State != quota.HookDisabled || h.Reason == "" || h.Queued != quota.MaxQueued {
		t.Errorf("after one release too many the webhook is %+v, %v", h, err)
	}
	_, err = s.UpdateHook(ctx, k, func(h *quota.Hook) error { h.State = quota.HookActive; return nil })
	must(t, err)
	for range quota.MaxQueued {
		deliver(t, s, k)
	}
	for i := range 20 {
		release(t, s, quota.MaxQueued+2+i, []string{`1`}, k)
		deliver(t, s, k)
	}
	list, err := s.Deliveries(ctx, k, 0, 1000)
	if err != nil || len(list) != quota.MaxLogged || list[0].Seq != quota.MaxQueued+20 {
		t.Errorf("the log has %d deliveries, %v", len(list), err)
	}
}

// testRetry puts off a delivery that was made at Start: by a minute, unless the clock then shows to have been ahead.
func testRetry(t *testing.T, s hookStore, job *quota.Job) {
	t.Helper()
	const minute, day = 60, 24 * 60 * 60
	ctx, start := context.Background(), Start.Unix()
	if early, _, err := s.Due(ctx, job.Key, start-day); early.Seq != job.Seq || err != nil {
		t.Errorf("Due(before it was made) = %d, %v", early.Seq, err)
	}
	for _, c := range []struct {
		nextAt, now int64
		due         bool
	}{
		{start + minute, start, false},
		{start + minute, start + minute, true},
		{start + minute, start - 1, true}, // before the attempt
		{start + 2*day, start, true},      // longer than any retry
	} {
		d := job.Delivery
		d.Attempts, d.NextAt = []quota.Attempt{{At: start, Error: "no"}}, c.nextAt
		want := c.nextAt
		if c.due {
			want = min(c.nextAt, c.now)
		}
		next, err := s.Settle(ctx, []quota.Outcome{{Delivery: d}}, c.now)
		if err != nil || next[0] != want {
			t.Errorf("Settle(next attempt %d) at %d = %d, %v, want %d", c.nextAt, c.now, next, err, want)
		}
		got, at, err := s.Due(ctx, d.Key, c.now)
		if err != nil || (got.Seq == d.Seq) != c.due || at != want {
			t.Errorf("Due(%d) = %d, %d, %v, want due: %v, %d", c.now, got.Seq, at, err, c.due, want)
		}
		if list, err := s.Waiting(ctx, c.now); err != nil || len(list) != 1 || list[0].At != want {
			t.Errorf("Waiting(%d) = %v, %v, want %d", c.now, list, err, want)
		}
	}
	_, err := s.Settle(ctx, []quota.Outcome{{Delivery: job.Delivery}}, start) // as it was
	must(t, err)
}

// deliver marks what is due as delivered.
func deliver(t *testing.T, s hookStore, k quota.HookKey) {
	t.Helper()
	job, _, err := s.Due(context.Background(), k, Start.Unix())
	must(t, err)
	if job.Seq == 0 {
		t.Fatal("nothing is due")
	}
	d := job.Delivery
	d.Attempts = append(d.Attempts, quota.Attempt{At: Start.Unix()})
	d.State = quota.DeliveryDelivered
	_, err = s.Settle(context.Background(), []quota.Outcome{{Delivery: d}}, Start.Unix())
	must(t, err)
}

// testHookQueue runs random steps against a list of what should wait.
func testHookQueue(t *testing.T, s hookStore) {
	ctx := context.Background()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	baseline(t, s)
	must(t, s.Create(ctx, record(1), person(1), 0))
	must(t, s.CreateHook(ctx, hook(1, 1), 9))
	k := hook(1, 1).Key
	var waiting []quota.Delivery // in order
	now, released, next := Start.Unix(), 0, uint64(1)
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
			waiting = append(waiting, quota.Delivery{Seq: next, NextAt: Start.Unix()})
			next++
		case 1:
			d, err := s.Enqueue(ctx, quota.Delivery{Key: k, Message: "m", Event: "e", NextAt: now})
			if err != nil || d.Seq != next {
				fail(step, "Enqueue() = %d, %v, want %d", d.Seq, err, next)
			}
			waiting = append(waiting, quota.Delivery{Seq: next, NextAt: now, Once: true})
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
			attempt := quota.Attempt{At: now, Error: "no"}
			switch rng.IntN(4) {
			case 0, 1:
				d.NextAt = now + int64(rng.IntN(60)) + 1
				waiting[want].NextAt = d.NextAt
			case 2:
				d.State = quota.DeliveryFailed
			case 3:
				d.State, attempt.Error = quota.DeliveryDelivered, ""
			}
			if d.State != quota.DeliveryPending {
				waiting = slices.Delete(waiting, want, want+1)
			}
			if attempt.Error == "" {
				succeeded = now
			} else {
				failed = now
			}
			d.Attempts = append(d.Attempts, attempt)
			if _, err := s.Settle(ctx, []quota.Outcome{{Delivery: d}, {Delivery: d}}, now); err != nil && d.State != quota.DeliveryPending {
				fail(step, "Settle() = %v", err)
			}
		}
		h, err := s.GetHook(ctx, k)
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
func dueOf(waiting []quota.Delivery, now int64) int {
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
func walkLog(t *testing.T, s hookStore, k quota.HookKey, next uint64) {
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

func testHookCopy(t *testing.T, s hookStore) {
	ctx := context.Background()
	from, ok := s.(quota.Portable)
	if !ok {
		t.Skip("this store cannot be copied")
	}
	baseline(t, s)
	must(t, s.Create(ctx, record(1), person(1), 0))
	for i := range 5 {
		must(t, s.CreateHook(ctx, hook(1, i+1), 9))
	}
	release(t, s, 1, []string{`1`, `2`}, hook(1, 1).Key, hook(1, 2).Key)
	deliver(t, s, hook(1, 1).Key)
	to, err := quota.Open(filepath.Join(t.TempDir(), "copy.db"), quota.Options{})
	must(t, err)
	defer to.Close()
	report, err := quota.Copy(ctx, from, to)
	if err != nil || report.Webhooks != 5 {
		t.Fatalf("Copy() = %+v, %v, want 5 webhooks", report, err)
	}
	if check, err := to.Check(ctx); err != nil || len(check.Findings) > 0 || check.Webhooks != 5 {
		t.Errorf("Check(copy) = %+v, %v", check, err)
	}
	job, _, err := to.Due(ctx, hook(1, 2).Key, Start.Unix())
	must(t, err)
	if records, err := to.Records(ctx, job.Release.Number, append(job.Rows, 99)); err != nil || len(records) != 2 {
		t.Errorf("Records(copy) = %q, %v, want the two that are kept", records, err)
	}
	if _, err := quota.Copy(ctx, from, accountsOnly{to}); !errors.Is(err, quota.ErrNotEmpty) {
		t.Errorf("Copy(not empty) = %v", err)
	}
	empty, err := quota.Open(filepath.Join(t.TempDir(), "empty.db"), quota.Options{})
	must(t, err)
	defer empty.Close()
	if _, err := quota.Copy(ctx, from, accountsOnly{empty}); !errors.Is(err, quota.ErrNoHooks) {
		t.Errorf("Copy(to a ledger without webhooks) = %v, want ErrNoHooks", err)
	}
}

// accountsOnly is a ledger that keeps no webhooks.
type accountsOnly struct{ quota.Portable }

func testHookSweep(t *testing.T, s hookStore) {
	ctx := context.Background()
	baseline(t, s)
	must(t, s.Create(ctx, record(1), person(1), 0))
	for i := range 3 {
		must(t, s.CreateHook(ctx, hook(1, i+1), 9))
	}
	waits, paused := hook(1, 2).Key, hook(1, 3).Key
	release(t, s, 1, []string{`1`}, hook(1, 1).Key, waits, paused)
	deliver(t, s, hook(1, 1).Key)
	if _, err := s.UpdateHook(ctx, paused, func(h *quota.Hook) error { h.State = quota.HookPaused; return nil }); err != nil {
		t.Fatal(err)
	}
	must(t, s.Sweep(ctx, Start.Add(24*time.Hour)))
	if list, err := s.Deliveries(ctx, hook(1, 1).Key, 0, 9); err != nil || len(list) != 1 {
		t.Errorf("a day later the log has %v, %v", list, err)
	}
	kept := func(when string, want int) {
		t.Helper()
		if records, err := s.Records(ctx, 1, []uint32{0}); err != nil || len(records) != want {
			t.Errorf("%s the release has the records %q, %v, want %d", when, records, err, want)
		}
	}
	left := func(when string, k quota.HookKey, want int) {
		t.Helper()
		if list, err := s.Deliveries(ctx, k, 0, 9); err != nil || len(list) != want {
			t.Errorf("%s webhook %v has deliveries %v, %v, want %d", when, k.Hook, list, err, want)
		}
		if h, err := s.GetHook(ctx, k); err != nil || h.Queued != want || h.Logged != 0 || h.Next != 2 {
			t.Errorf("%s webhook %v is %+v, %v", when, k.Hook, h, err)
		}
	}
	kept("a day later", 1)
	// what waits for an active webhook stays: a clock that is a month ahead loses no message
	must(t, s.Sweep(ctx, Start.Add(31*24*time.Hour)))
	kept("a month later, with a message that waits,", 1)
	left("a month later", hook(1, 1).Key, 0)
	left("a month later", waits, 1)
	left("a month later", paused, 0)
	deliver(t, s, waits)
	must(t, s.Sweep(ctx, Start.Add(31*24*time.Hour)))
	kept("a month later", 0)
	left("after the message was delivered", waits, 0)
}
