package webhook

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"modeldex/quota"
	"modeldex/quota/hooks"

	"golang.org/x/sync/semaphore"
)

const (
	// atATime is the maximum number of requests under way, and perAccount for one account, so that slow receivers delay
	// only the messages of their own account.
	atATime    = 32
	perAccount = 4
	// perSecond is how many requests begin per second at most, after burst at once: readers are not to wait for a
	// release that many webhooks ask for.
	perSecond = 100
	burst     = 20
	// storeRetry is after how long a ledger that fails is asked again.
	storeRetry = time.Second
	// suspendedRetry is after how long a webhook of a suspended key is looked at again.
	suspendedRetry = 10 * time.Minute
	// never is the time to wait where nothing is to be done.
	never time.Duration = -1
	// longestRetry is more than each of delays, and bounds the Retry-After of a receiver.
	longestRetry = 25 * time.Hour
)

// delays are the times between attempts to deliver one message: seven minutes for a restart, hours
// for a night, three days (71 hours and a half) for a weekend. After the last the webhook is
// disabled.
var delays = [...]time.Duration{
	5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 18 * time.Hour, 22 * time.Hour,
}

// nextDelay returns how long to wait after attempt number tries, from 1; never when it was the last. Up to a tenth is
// added or taken away at random, so that webhooks that failed together are not repeated together. The receiver may
// ask for a longer time.
func nextDelay(tries int, retryAfter time.Duration) time.Duration {
	if tries > len(delays) {
		return never
	}
	d := delays[tries-1]
	d += time.Duration((2*rand.Float64() - 1) * 0.1 * float64(d))
	return max(d, min(retryAfter, longestRetry))
}

// Results count what became of attempts to deliver a message since the service was made, once the
// outcome is stored.
type Results struct {
	Delivered atomic.Uint64
	Retried   atomic.Uint64 // it failed and is tried again
	Failed    atomic.Uint64 // it failed and its webhook is disabled
}

// turn waits until a request of an account may begin; done is called after it.
func (s *Service) turn(ctx context.Context, account quota.ID) (done func(), err error) {
	own := s.slots(account, perAccount)
	if err := own.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := s.all.Acquire(ctx, 1); err != nil {
		own.Release(1)
		return nil, err
	}
	done = func() {
		s.all.Release(1)
		own.Release(1)
	}
	if err := s.pace.Wait(ctx); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// slots are n slots for requests or name lookups. Each owner uses at most one at a time, and waiting owners take turns.
// An owner is an account, or a text made from one.
func (s *Service) slots(owner any, n int64) *semaphore.Weighted {
	v, _ := s.owners.LoadOrStore(owner, semaphore.NewWeighted(n))
	return v.(*semaphore.Weighted)
}

// wake has the messages of webhooks looked at now. Each webhook for which messages wait has a worker.
func (s *Service) wake(list ...hooks.Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		k := list[i].Key
		if len(list[i].Queue) == 0 || s.ctx.Err() != nil {
			continue
		}
		if s.workers[k] == nil {
			s.workers[k] = make(chan struct{}, 1)
			woken := s.workers[k]
			s.tasks.Go(func() { s.work(k, woken) })
		}
		select {
		case s.workers[k] <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// work delivers the messages of one webhook, one after the other, until none can be sent.
func (s *Service) work(k hooks.Key, woken chan struct{}) {
	var later <-chan time.Time
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-woken:
		case <-later:
		}
		wait := s.serve(k)
		later = time.After(wait)
		s.mu.Lock()
		if wait == never && len(woken) == 0 {
			delete(s.workers, k)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// serve makes the next attempt of a webhook if it is due, and returns after how long to look again. Only the first
// message of a queue is tried, the next one when the outcome is durable.
func (s *Service) serve(k hooks.Key) time.Duration {
	done, err := s.turn(s.ctx, k.Account)
	if err != nil {
		return never
	}
	defer done()
	job, err := s.Store.Next(s.ctx, k)
	switch {
	case errors.Is(err, hooks.ErrNoHook) || s.ctx.Err() != nil:
		return never
	case err != nil:
		s.cfg.Log.Error("reading a message for a webhook", "webhook", k.Hook.String(), "cause", err)
		return storeRetry
	case len(job.Queue) == 0 || job.State != hooks.Active:
		return never
	case job.Account.Status != quota.StatusActive: // a revoked key has no webhooks any more
		return suspendedRetry
	case !s.cfg.Allowed(job.Account.Tier):
		s.disable(k, "keys of tier "+job.Account.Tier+" have no webhooks")
		return never
	}
	if wait := untilDue(&job.Queue[0], s.now()); wait > 0 {
		return wait
	}
	attempt, retryAfter := s.send(s.abort, &job)
	if s.abort.Err() != nil { // the message goes on after the next start
		return never
	}
	return s.settle(k, job.Queue[0], attempt, retryAfter)
}

// untilDue is how long a message waits for its next attempt. It does not wait if nothing was attempted yet, and if the
// last attempt, or a wait of more than longestRetry, shows that the clock was ahead when the next one was noted.
func untilDue(d *hooks.Delivery, now time.Time) time.Duration {
	wait, n := time.Unix(d.NextAt, 0).Sub(now), len(d.Attempts)
	if n == 0 || d.Attempts[n-1].At > now.Unix() || wait > longestRetry {
		return 0
	}
	return max(wait, 0)
}

// disable stops a webhook that is active.
func (s *Service) disable(k hooks.Key, reason string) {
	_, err := s.Store.Update(s.ctx, k, func(h *hooks.Hook) { h.Disable(reason, s.now().Unix()) })
	if err != nil && !errors.Is(err, hooks.ErrNoHook) {
		s.cfg.Log.Error("disabling a webhook", "webhook", k.Hook.String(), "cause", err)
	}
}

// settle stores the outcome of an attempt and counts it, and returns as serve does. A ledger that fails is asked again
// until it works or the service is closed: the message is then sent again after the next start.
func (s *Service) settle(k hooks.Key, d hooks.Delivery, a hooks.Attempt, retryAfter time.Duration) time.Duration {
	now := s.now()
	d.Attempts = append(d.Attempts, a)
	delay := nextDelay(len(d.Attempts), retryAfter)
	d.NextAt = now.Add(delay).Unix()
	count, disable := &s.Results.Retried, ""
	switch {
	case a.Error == "":
		count = &s.Results.Delivered
	case a.Status == 410:
		disable = "the receiver answered 410 Gone"
	case delay == never:
		disable = "message " + d.Message + " was not accepted within three days; the last attempt: " + a.Error
	}
	if disable != "" {
		count = &s.Results.Failed
		d.Attempts = nil // it is the first to be sent, at once, when the webhook is active again
	}
	change := func(h *hooks.Hook) {
		switch {
		case len(h.Queue) == 0 || h.Queue[0].Seq != d.Seq: // this was stored although the ledger said that it was not
		case a.Error == "":
			h.Queue, h.LastSuccess, h.FailingSince = h.Queue[1:], a.At, 0
		default:
			h.Queue[0], h.LastFailure, h.FailingSince = d, &a, cmp.Or(h.FailingSince, a.At)
			if disable != "" {
				h.Disable(disable, now.Unix())
			}
		}
	}
	for tries := 1; ; tries++ {
		h, err := s.Store.Update(context.WithoutCancel(s.ctx), k, change)
		if err == nil || errors.Is(err, hooks.ErrNoHook) {
			count.Add(1)
			if len(h.Queue) == 0 || h.State != hooks.Active {
				return never
			}
			return untilDue(&h.Queue[0], s.now())
		}
		if tries == 1 {
			s.cfg.Log.Error("storing the outcome of a webhook", "cause", err)
		}
		select {
		case <-s.ctx.Done():
			return never
		case <-time.After(storeRetry):
		}
	}
}
