package quota_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"modeldex/quota"
	"modeldex/quota/quotatest"
)

// TestExtend: a request that costs several calls gets all of them or none, and what is left of the
// month falls by exactly that.
func TestExtend(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 30)
	call := kit.Admit(key.Digest)
	if v := call.Extend(12); v != quota.Admitted {
		t.Fatalf("Extend(12) = %v, want admitted", v)
	}
	if v := call.Extend(5); v != quota.Admitted {
		t.Fatalf("Extend(5) after Extend(12) = %v, want admitted, and nothing more held", v)
	}
	if left := call.Charge().Remaining; left != 18 {
		t.Fatalf("charged: %d calls are left, want 18", left)
	}
	costly := kit.Admit(key.Digest)
	if v := costly.Extend(19); v != quota.QuotaExhausted {
		t.Fatalf("Extend(19) with 18 left = %v, want quota_exhausted", v)
	}
	if st := costly.Release(); st.Remaining != 18 || st.RetryAfter <= 0 {
		t.Errorf("refused: %d calls are left and %v to wait, want 18 and the rest of the month", st.Remaining, st.RetryAfter)
	}
	given := kit.Admit(key.Digest)
	if v := given.Extend(18); v != quota.Admitted {
		t.Fatalf("Extend(18) with 18 left = %v, want admitted", v)
	}
	if other := kit.Admit(key.Digest); other.Verdict != quota.QuotaExhausted {
		t.Errorf("a call while all are held = %v, want quota_exhausted", other.Verdict)
	}
	if left := given.Release().Remaining; left != 18 {
		t.Errorf("given back: %d calls are left, want 18", left)
	}
	last := kit.Admit(key.Digest)
	last.Extend(18)
	if left := last.Charge().Remaining; left != 0 {
		t.Errorf("%d calls are left, want 0", left)
	}
	kit.Reopen()
	if after := kit.Admit(key.Digest); after.Verdict != quota.QuotaExhausted {
		t.Errorf("after a restart a call is %v, want quota_exhausted", after.Verdict)
	}
}

// TestExtendParallel: callers that ask for many calls at once never get more than the limit, and
// what is rejected costs nothing.
func TestExtendParallel(t *testing.T) {
	const callers, limit = 16, 1000
	kit := quotatest.New(t, quota.Config{Tiers: wide(t)})
	key := kit.MustIssue("enterprise", limit)
	var charged atomic.Uint64
	var tasks sync.WaitGroup
	for i := range callers {
		tasks.Go(func() {
			cost := uint64(i + 1)
			for tries := 0; tries < 30; tries++ {
				call := kit.Admit(key.Digest)
				if call.Verdict != quota.Admitted || call.Extend(cost) != quota.Admitted {
					call.Release()
					continue
				}
				charged.Add(cost)
				call.Charge()
			}
		})
	}
	tasks.Wait()
	call := kit.Admit(key.Digest)
	if left := call.Release().Remaining; charged.Load() > limit || left != limit-charged.Load() {
		t.Errorf("%d calls were charged and %d are left of %d", charged.Load(), left, limit)
	}
	if charged.Load() < limit-callers {
		t.Errorf("%d calls were charged, want all but fewer than the most expensive request costs", charged.Load())
	}
}
