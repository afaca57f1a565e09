package quota

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// A server that saw no changes while a key was rotated more often than a record remembers still knows whose
// it is: the count goes on, and the secret it knew is rejected.
func TestRotatedUnseen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ledger := openLedger(t, filepath.Join(t.TempDir(), "modeldex.db"))
	here, err := NewKeeper(context.Background(), ledger, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close(ctx)
	issued, _, err := here.Issue(ctx, IssueRequest{Name: "Ada", Email: "ada@example.com", UseCase: "Sums"})
	if err != nil {
		t.Fatal(err)
	}
	digestOf := func(s Secret) Digest {
		d, ok := ParseKey(s.Reveal(), here.KeyPrefix())
		if !ok {
			t.Fatal("not a key")
		}
		return d
	}
	first := digestOf(issued.Secret)
	call := here.Admit(first)
	call.Charge()

	there, err := NewKeeper(context.Background(), ledger, Config{}) // as another server would
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close(ctx)
	newest := first
	for range MaxOldSecrets + 1 {
		next, v, err := there.Rotate(ctx, newest, time.Hour)
		if err != nil || v != Admitted {
			t.Fatalf("Rotate() = %v, %v", v, err)
		}
		newest = digestOf(next.Secret)
	}
	if err := here.reload(ctx); err != nil {
		t.Fatal(err)
	}
	call = here.Admit(first)
	call.Release()
	if call.Verdict != UnknownKey {
		t.Errorf("Admit(the secret that was forgotten) = %v, want %v", call.Verdict, UnknownKey)
	}
	call = here.Admit(newest)
	if got := call.Charge(); call.Verdict != Admitted || got.Remaining != got.Limit-2 {
		t.Errorf("Admit(the newest secret) = %v with %d of %d left, want admitted with two calls used", call.Verdict, got.Remaining, got.Limit)
	}
	if n := here.Stats().Accounts; n != 1 {
		t.Errorf("%d accounts in memory, want 1", n)
	}
}

// A secret rotated out without grace is rejected by every server at once, also by one whose clock is behind
// that of the server which rotated it, and after changes that such a server makes.
func TestRotatedByFastClock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ledger := openLedger(t, filepath.Join(t.TempDir(), "modeldex.db"))
	keeperAt := func(ahead time.Duration) *Keeper {
		k, err := NewKeeper(context.Background(), ledger, Config{Now: func() time.Time { return time.Now().Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = k.Close(ctx) })
		return k
	}
	slow, fast := keeperAt(0), keeperAt(time.Minute)
	issued, _, err := slow.Issue(ctx, IssueRequest{Name: "Ada", Email: "ada@example.com", UseCase: "Sums"})
	if err != nil {
		t.Fatal(err)
	}
	old, _ := ParseKey(issued.Secret.Reveal(), slow.KeyPrefix())
	if err := fast.reload(ctx); err != nil {
		t.Fatal(err)
	}
	if _, v, err := fast.Rotate(ctx, old, 0); err != nil || v != Admitted {
		t.Fatalf("Rotate() = %v, %v", v, err)
	}
	if err := slow.reload(ctx); err != nil {
		t.Fatal(err)
	}
	refused := func(k *Keeper, when string) {
		t.Helper()
		call := k.Admit(old)
		call.Release()
		if call.Verdict != Rotated {
			t.Errorf("%s: Admit(the old secret) = %v, want %v", when, call.Verdict, Rotated)
		}
	}
	refused(slow, "after the rotation")
	for _, change := range []func(context.Context, ID) (Account, error){slow.Suspend, slow.Resume} {
		if _, err := change(ctx, issued.Account.ID); err != nil {
			t.Fatal(err)
		}
	}
	refused(slow, "after a change with the slow clock")
	refused(keeperAt(0), "after a restart with the slow clock")
}

// An account of a tier that this server does not know does not keep back what else was missed.
func TestUnknownTierUnseen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ledger := openLedger(t, filepath.Join(t.TempDir(), "modeldex.db"))
	var reported error
	here, err := NewKeeper(context.Background(), ledger, Config{OnError: func(err error) { reported = err }})
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close(ctx)
	var keys []IssuedKey
	for range 2 {
		issued, _, err := here.Issue(ctx, IssueRequest{Name: "Ada", Email: "ada@example.com", UseCase: "Sums"})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, issued)
	}
	// As another server would, which was started with one tier more.
	for i, change := range []func(*Record){func(r *Record) { r.Tier = "gold" }, func(r *Record) { r.Status = StatusRevoked }} {
		if _, err := ledger.Update(ctx, keys[i].Account.ID, func(r *Record, _ *Person) error { change(r); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := here.reload(ctx); err != nil {
		t.Fatalf("reload() = %v", err)
	}
	if !errors.Is(reported, ErrUnknownTier) {
		t.Errorf("reported is %v, want %v", reported, ErrUnknownTier)
	}
	d, _ := ParseKey(keys[1].Secret.Reveal(), here.KeyPrefix())
	call := here.Admit(d)
	call.Release()
	if call.Verdict != Revoked {
		t.Errorf("Admit(the revoked key) = %v, want %v", call.Verdict, Revoked)
	}
}
