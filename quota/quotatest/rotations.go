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

// testRotations changes one key by its current secret many times at once, by rotations and one revocation. Exactly one is
// admitted, and the secret of a rotation works; the others get a verdict that says why not, and never an account.
func testRotations(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	keepers := make([]*quota.Keeper, len(stores))
	for i, s := range stores {
		k, err := quota.NewKeeper(context.Background(), laggingStore{s}, quota.Config{})
		must(t, err)
		defer func() { must(t, k.Close(ctx)) }()
		keepers[i] = k
	}
	for round := range 6 {
		issued, refusal, err := keepers[0].Issue(ctx, quota.IssueRequest{Name: "A tester", Email: "tester@example.com", UseCase: "Testing"})
		if err != nil || refusal.Reason != 0 {
			t.Fatalf("Issue() = %+v, %v", refusal, err)
		}
		id, digest := issued.Account.ID, secretDigest(t, issued.Secret)
		for _, k := range keepers {
			awaitVerdict(t, k, digest, quota.Admitted)
		}
		var mu sync.Mutex
		var won []quota.IssuedKey // without a secret: revoked
		note := func(got quota.IssuedKey, v quota.Verdict, err error) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil || v != quota.Admitted && v != quota.Rotated && v != quota.Revoked:
				t.Errorf("a change by a replaced secret = %v, %v", v, err)
			case v == quota.Admitted:
				won = append(won, got)
			}
		}
		var work sync.WaitGroup
		for _, k := range keepers {
			for range 6 {
				work.Go(func() { note(k.Rotate(ctx, digest, time.Duration(round%2)*time.Minute)) })
			}
			if round > 2 {
				work.Go(func() {
					account, v, err := k.RevokeSelf(ctx, digest)
					note(quota.IssuedKey{Account: account}, v, err)
				})
			}
		}
		work.Wait()
		if len(won) != 1 || won[0].Account.ID != id {
			t.Fatalf("%d changes were admitted, want 1: %+v", len(won), won)
		}
		if won[0].Secret == "" {
			if won[0].Account.Status != quota.StatusRevoked {
				t.Errorf("an admitted RevokeSelf() returned an account that is %v", won[0].Account.Status)
			}
			continue
		}
		for _, k := range keepers {
			awaitVerdict(t, k, secretDigest(t, won[0].Secret), quota.Admitted)
		}
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
	for end := time.Now().Add(time.Minute); k.CheckCurrent(d) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("CheckCurrent() = %v, want %v", k.CheckCurrent(d), want)
		}
	}
}
