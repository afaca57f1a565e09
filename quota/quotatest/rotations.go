package quotatest

import (
	"context"
	"sync"
	"testing"
	"time"

	"modeldex/quota"
)

// laggingStore answers an update some time after it was made, as a slow network does: meanwhile the memory of
// the keeper lags behind the ledger.
type laggingStore struct{ quota.Store }

func (s laggingStore) Update(ctx context.Context, id quota.ID, fn func(*quota.Record, *quota.Person) error) (quota.Record, error) {
	r, err := s.Store.Update(ctx, id, fn)
	if err == nil {
		time.Sleep(5 * time.Millisecond)
	}
	return r, err
}

// testRotations changes one key by its current secret many times at once. Exactly one rotation is admitted, and
// its secret works; the others get a verdict that says why not, and never an account.
func testRotations(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	keepers := make([]*quota.Keeper, len(stores))
	for i, s := range stores {
		k, err := quota.NewKeeper(context.Background(), laggingStore{s}, quota.Config{})
		must(t, err)
		defer func() { must(t, k.Close(ctx)) }()
		keepers[i] = k
	}
	issued, refusal, err := keepers[0].Issue(ctx, quota.IssueRequest{Name: "A tester", Email: "tester@example.com", UseCase: "Testing"})
	if err != nil || refusal.Reason != 0 {
		t.Fatalf("Issue() = %+v, %v", refusal, err)
	}
	id, current := issued.Account.ID, issued.Secret
	for round := range 6 {
		digest := secretDigest(t, current)
		for _, k := range keepers {
			awaitVerdict(t, k, digest, quota.Admitted)
		}
		grace := time.Duration(round%2) * time.Minute
		const each = 6
		var mu sync.Mutex
		var won []quota.IssuedKey
		var work sync.WaitGroup
		for _, k := range keepers {
			for range each {
				work.Go(func() {
					got, v, err := k.Rotate(ctx, digest, grace)
					switch {
					case err != nil:
						t.Errorf("Rotate() = %v", err)
					case v == quota.Admitted:
						if got.Account.ID != id || k.CheckCurrent(secretDigest(t, got.Secret)) != quota.Admitted {
							t.Errorf("an admitted Rotate() returned account %s and a secret that does not work", got.Account.ID)
						}
						mu.Lock()
						won = append(won, got)
						mu.Unlock()
					case v != quota.Rotated:
						t.Errorf("Rotate() by a replaced secret = %v, want rotated", v)
					}
				})
			}
		}
		work.Wait()
		if len(won) != 1 {
			t.Fatalf("%d of %d rotations were admitted, want 1", len(won), each*len(keepers))
		}
		current = won[0].Secret
	}
	testRevocations(t, keepers, secretDigest(t, current))
}

// testRevocations revokes a key by the secret that a rotation has just replaced: one of the two wins.
func testRevocations(t *testing.T, keepers []*quota.Keeper, digest quota.Digest) {
	ctx := context.Background()
	for _, k := range keepers {
		awaitVerdict(t, k, digest, quota.Admitted)
	}
	var work sync.WaitGroup
	var rotated, revoked quota.Verdict
	var issued quota.IssuedKey
	var account quota.Account
	var rotateErr, revokeErr error
	work.Go(func() { issued, rotated, rotateErr = keepers[0].Rotate(ctx, digest, 0) })
	work.Go(func() { account, revoked, revokeErr = keepers[len(keepers)-1].RevokeSelf(ctx, digest) })
	work.Wait()
	switch {
	case rotateErr != nil || revokeErr != nil:
		t.Errorf("Rotate() = %v, RevokeSelf() = %v", rotateErr, revokeErr)
	case (rotated == quota.Admitted) == (revoked == quota.Admitted):
		t.Errorf("Rotate() = %v and RevokeSelf() = %v of one secret, want one of them admitted", rotated, revoked)
	case rotated == quota.Admitted:
		awaitVerdict(t, keepers[len(keepers)-1], secretDigest(t, issued.Secret), quota.Admitted)
	case account.Status != quota.StatusRevoked:
		t.Errorf("an admitted RevokeSelf() returned an account that is %v", account.Status)
	}
}

func secretDigest(t *testing.T, secret quota.Secret) quota.Digest {
	t.Helper()
	d, ok := quota.ParseKey(secret.Reveal(), "mdx")
	if !ok {
		t.Errorf("ParseKey(%q) = false, want an issued key to parse", secret)
	}
	return d
}

// awaitVerdict waits until a keeper judges the current secret so: other processes learn of changes a little later.
func awaitVerdict(t *testing.T, k *quota.Keeper, d quota.Digest, want quota.Verdict) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		got := k.CheckCurrent(d)
		if got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("CheckCurrent() = %v, want %v", got, want)
		}
	}
}
