package quota

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// wantAdmit checks how a keeper judges a secret.
func wantAdmit(t *testing.T, when string, k *Keeper, d Digest, want Verdict) Standing {
	t.Helper()
	call := k.Admit(d)
	if call.Verdict != want {
		t.Errorf("%s: Admit() = %v, want %v", when, call.Verdict, want)
	}
	return call.Charge()
}

func reloadNow(t *testing.T, k *Keeper) {
	t.Helper()
	if err := k.reload(t.Context()); err != nil {
		t.Fatalf("reload() = %v", err)
	}
}

// A server that saw no changes while a key was rotated more often than a record remembers still knows whose
// it is: the count goes on, and the secret it knew is rejected.
func TestRotatedUnseen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ledger := openLedger(t, filepath.Join(t.TempDir(), "modeldex.db"))
	here := keeperOn(t, ledger, Config{})
	defer here.Close(ctx)
	first, _ := issueOn(t, here, 0)
	wantAdmit(t, "before", here, first, Admitted)
	there := keeperOn(t, ledger, Config{}) // as another server would
	defer there.Close(ctx)
	newest := first
	for range MaxOldSecrets + 1 {
		next, v, err := there.Rotate(ctx, newest, time.Hour)
		if err != nil || v != Admitted {
			t.Fatalf("Rotate() = %v, %v", v, err)
		}
		newest, _ = ParseKey(next.Secret.Reveal(), there.KeyPrefix())
	}
	reloadNow(t, here)
	wantAdmit(t, "the secret that was forgotten", here, first, UnknownKey)
	if got := wantAdmit(t, "the newest secret", here, newest, Admitted); got.Remaining != got.Limit-2 {
		t.Errorf("%d of %d are left, want two calls used", got.Remaining, got.Limit)
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
		k := keeperOn(t, ledger, Config{Now: func() time.Time { return time.Now().Add(ahead) }})
		t.Cleanup(func() { _ = k.Close(ctx) })
		return k
	}
	slow, fast := keeperAt(0), keeperAt(time.Minute)
	old, id := issueOn(t, slow, 0)
	reloadNow(t, fast)
	if _, v, err := fast.Rotate(ctx, old, 0); err != nil || v != Admitted {
		t.Fatalf("Rotate() = %v, %v", v, err)
	}
	reloadNow(t, slow)
	wantAdmit(t, "after the rotation", slow, old, Rotated)
	_, suspend := slow.SetStatus(ctx, id, StatusSuspended)
	if _, resume := slow.SetStatus(ctx, id, StatusActive); suspend != nil || resume != nil {
		t.Fatal(suspend, resume)
	}
	wantAdmit(t, "after a change with the slow clock", slow, old, Rotated)
	wantAdmit(t, "after a restart with the slow clock", keeperAt(0), old, Rotated)
}

// An account of a tier that this server does not know does not keep back what else was missed.
func TestUnknownTierUnseen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ledger := openLedger(t, filepath.Join(t.TempDir(), "modeldex.db"))
	var reported error
	here := keeperOn(t, ledger, Config{OnError: func(err error) { reported = err }})
	defer here.Close(ctx)
	_, gold := issueOn(t, here, 0)
	digest, revoked := issueOn(t, here, 0)
	// As another server would, which was started with one tier more.
	for id, change := range map[ID]func(*Record){gold: func(r *Record) { r.Tier = "gold" }, revoked: func(r *Record) { r.Status = StatusRevoked }} {
		if _, err := ledger.Update(ctx, id, func(r *Record, _ *Person) error { change(r); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	reloadNow(t, here)
	if !errors.Is(reported, ErrUnknownTier) {
		t.Errorf("reported is %v, want %v", reported, ErrUnknownTier)
	}
	wantAdmit(t, "the revoked key", here, digest, Revoked)
}
