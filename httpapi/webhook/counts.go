package webhook

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"modeldex/quota"
)

// Results count what became of attempts to deliver a message since the service was made, once the
// outcome is stored.
type Results struct {
	Delivered atomic.Uint64
	Retried   atomic.Uint64 // it failed and is tried again
	Failed    atomic.Uint64 // it failed and is not tried again
}

// count counts an outcome that is stored.
func (s *Service) count(o *quota.Outcome) {
	switch o.Delivery.State {
	case quota.DeliveryDelivered:
		s.Results.Delivered.Add(1)
	case quota.DeliveryPending:
		s.Results.Retried.Add(1)
	default:
		s.Results.Failed.Add(1)
	}
}

// countEvery is how long counts of webhooks are shown before they are counted again, because that
// reads every webhook.
const countEvery = 15 * time.Second

// counted is the webhooks as they were counted last.
type counted struct {
	mu     sync.Mutex
	at     time.Time
	counts quota.HookCounts
}

// Counts is the webhooks of all keys in numbers, at most 15 seconds old. If the ledger fails they are
// those before.
func (s *Service) Counts(ctx context.Context) quota.HookCounts {
	c := &s.counted
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := s.now(); c.at.IsZero() || now.Sub(c.at) >= countEvery {
		counts, err := s.store.CountHooks(ctx)
		if err != nil {
			s.cfg.Log.Error("counting webhooks", "cause", err)
			return c.counts
		}
		c.counts, c.at = counts, now
	}
	return c.counts
}

// OldestPending is how long the oldest message waits that an active webhook has; 0 if none does.
func (s *Service) OldestPending(ctx context.Context) time.Duration {
	oldest := s.Counts(ctx).Oldest
	if oldest == 0 {
		return 0
	}
	return max(0, s.now().Sub(time.Unix(oldest, 0)))
}
