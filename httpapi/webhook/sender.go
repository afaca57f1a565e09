package webhook

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"modeldex/quota"
	"modeldex/quota/hooks"

	"golang.org/x/time/rate"
)

const (
	// atATime is how many requests are under way at a time, perAccount how many of them for one account, and perHost
	// how many of those to one host: receivers that are slow keep the messages of their own account waiting.
	atATime    = 32
	perAccount = 4
	perHost    = 2
	// perSecond is how many requests begin per second at most, after burst at once: readers are not to wait for a
	// release that many webhooks ask for.
	perSecond = 100
	burst     = 20
	// storeRetry is after how long a ledger that fails is asked again.
	storeRetry = time.Second
	// suspendedRetry is after how long a webhook of a suspended key is looked at again.
	suspendedRetry = 10 * time.Minute
	// closeWait is how long requests under way may take when the service is closed.
	closeWait = 3 * time.Second
	// longWait is how long the sender sleeps when nothing waits; it is woken before.
	longWait = time.Hour
)

// delays are the times between attempts to deliver one message: seven minutes for a restart, hours
// for a night, three days (71 hours and a half) for a weekend. After the last the webhook is
// disabled.
var delays = [...]time.Duration{
	5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 18 * time.Hour, 22 * time.Hour,
}

// Attempts is how often one message is tried.
const Attempts = len(delays) + 1

// maxRetryAfter bounds the Retry-After of a receiver.
const maxRetryAfter = 24 * time.Hour

// nextDelay returns how long to wait after attempt number tries, from 1; false when it was the last. Up to a tenth is
// added or taken away at random, so that webhooks that failed together are not repeated together. The receiver may
// ask for a longer time.
func nextDelay(tries int, retryAfter time.Duration) (time.Duration, bool) {
	if tries > len(delays) {
		return 0, false
	}
	d := delays[tries-1]
	d += time.Duration((2*rand.Float64() - 1) * 0.1 * float64(d))
	return max(d, min(retryAfter, maxRetryAfter)), true
}

// Results count what became of attempts to deliver a message since the service was made, once the
// outcome is stored.
type Results struct {
	Delivered atomic.Uint64
	Retried   atomic.Uint64 // it failed and is tried again
	Failed    atomic.Uint64 // it failed and is not tried again
}

// sender decides which webhook is served next. A webhook has one message under way, and the next one not before the
// outcome is durable. What waits is in the ledger; here are only the webhooks for which something does.
type sender struct {
	s       *Service
	kick    chan struct{} // one slot: waiting has something new
	results chan result
	pace    *rate.Limiter
	failing failing

	mu      sync.Mutex
	waiting map[hooks.Key]*entry
}

// entry is a webhook for which a message waits. It is guarded by the sender's lock.
type entry struct {
	key   hooks.Key
	host  string
	at    time.Time // when to look at it
	busy  bool      // a request is under way
	again bool      // it was woken while busy
}

// result is what looking at an entry brought: an outcome to be stored, or when to look again; zero is never.
type result struct {
	entry   *entry
	outcome *hooks.Outcome
	next    time.Time
}

func newSender(s *Service) *sender {
	return &sender{
		s: s, kick: make(chan struct{}, 1), results: make(chan result, atATime), pace: rate.NewLimiter(perSecond, burst),
		waiting: map[hooks.Key]*entry{},
	}
}

// wake has webhooks looked at now.
func (d *sender) wake(list ...hooks.Hook) {
	d.mu.Lock()
	for i := range list {
		e := d.waiting[list[i].Key]
		if e == nil {
			e = &entry{key: list[i].Key}
			d.waiting[e.key] = e
		}
		if u, err := url.Parse(list[i].URL); err == nil {
			e.host = u.Hostname()
		}
		e.at, e.again = d.s.now(), e.busy
	}
	d.mu.Unlock()
	d.look()
}

func (d *sender) look() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// run serves webhooks until ctx ends and everything under way is stored.
func (d *sender) run(ctx context.Context) {
	abort, cancel := context.WithCancel(context.Background())
	defer cancel()
	var work sync.WaitGroup
	for ctx.Err() == nil {
		e, wait := d.next()
		if e != nil {
			work.Go(func() { d.results <- d.serve(ctx, abort, e) })
			continue
		}
		select {
		case <-ctx.Done():
		case <-d.kick:
		case <-time.After(wait):
		case r := <-d.results:
			d.store(ctx, r)
		}
	}
	late := time.AfterFunc(closeWait, cancel)
	defer late.Stop()
	work.Wait()
	for len(d.results) > 0 {
		d.store(ctx, <-d.results)
	}
}

// next takes the entry to be served now: of those whose time has come and that have a free slot, one of the account
// with the fewest requests under way, the longest waiting first. Without one it says when to look again.
func (d *sender) next() (best *entry, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	type site struct {
		account quota.ID
		host    string
	}
	accounts, sites, busy := map[quota.ID]int{}, map[site]int{}, 0
	for _, e := range d.waiting {
		if e.busy {
			busy++
			accounts[e.key.Account]++
			sites[site{e.key.Account, e.host}]++
		}
	}
	wait = longWait
	if busy == atATime {
		return nil, wait
	}
	now := d.s.now()
	for _, e := range d.waiting {
		running := accounts[e.key.Account]
		switch {
		case e.busy || running >= perAccount || sites[site{e.key.Account, e.host}] >= perHost:
		case e.at.After(now):
			wait = min(wait, e.at.Sub(now))
		case best == nil || running < accounts[best.key.Account] || running == accounts[best.key.Account] && e.at.Before(best.at):
			best = e
		}
	}
	if best != nil {
		best.busy, best.again = true, false
	}
	return best, wait
}

// serve makes one attempt for a webhook, unless ctx has ended. abort ends an attempt that is under way.
func (d *sender) serve(ctx, abort context.Context, e *entry) result {
	r := result{entry: e}
	if d.pace.Wait(ctx) == nil {
		r.outcome, r.next = d.s.attempt(abort, e.key)
	}
	return r
}

// store stores an outcome, and has its webhook looked at when its next attempt is due. A ledger that fails is asked
// again until it works or ctx has ended; nothing else is sent meanwhile.
func (d *sender) store(ctx context.Context, r result) {
	for r.outcome != nil {
		next, err := d.s.Store.Settle(context.WithoutCancel(ctx), r.outcome, d.s.now().Unix())
		if d.failing.isNews(err) {
			d.s.cfg.Log.Error("storing the outcome of a webhook", "cause", err)
		}
		if err == nil {
			d.s.Results.count(r.outcome)
			if next != 0 {
				r.next = time.Unix(next, 0)
			}
			break
		}
		select {
		case <-ctx.Done():
			return // it is sent again after the next start
		case <-time.After(storeRetry):
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := r.entry
	e.busy = false
	if !e.again && r.next.IsZero() {
		delete(d.waiting, e.key)
	} else if !e.again {
		now := d.s.now()
		e.at = now.Add(r.next.Sub(now)) // later steps of the clock do not move it
	}
}

// count counts an outcome that is stored.
func (r *Results) count(o *hooks.Outcome) {
	switch o.Delivery.State {
	case hooks.Delivered:
		r.Delivered.Add(1)
	case hooks.Pending:
		r.Retried.Add(1)
	default:
		r.Failed.Add(1)
	}
}

// attempt sends what is due for a webhook. A nil outcome means that nothing was attempted, and next
// when to look again; zero is never.
func (s *Service) attempt(ctx context.Context, k hooks.Key) (outcome *hooks.Outcome, next time.Time) {
	now := s.now()
	job, at, err := s.Store.Due(ctx, k, now.Unix())
	switch {
	case errors.Is(err, hooks.ErrNoHook):
		return nil, time.Time{}
	case err != nil:
		if ctx.Err() == nil {
			s.cfg.Log.Error("reading a message for a webhook", "webhook", k.Hook.String(), "cause", err)
		}
		return nil, now.Add(storeRetry)
	case job.Seq == 0 && at == 0:
		return nil, time.Time{}
	case job.Seq == 0:
		return nil, time.Unix(at, 0)
	}
	if later, ok := s.mayServe(ctx, k, &job); !ok {
		return nil, later
	}
	answer := s.send(ctx, &job, now)
	if ctx.Err() != nil {
		return nil, time.Time{} // the service is closed; the message goes on after the next start
	}
	o := judge(&job.Delivery, answer, now, s.now())
	return &o, time.Time{}
}

// mayServe asks whether the key of a webhook may have webhooks now, and when to look again if not.
func (s *Service) mayServe(ctx context.Context, k hooks.Key, job *hooks.Job) (later time.Time, ok bool) {
	r, err := s.cfg.Account(ctx, k.Account)
	switch {
	case errors.Is(err, quota.ErrNotFound):
		return time.Time{}, false
	case err != nil:
		return s.now().Add(storeRetry), false
	case r.Status != quota.StatusActive: // a revoked key has no webhooks any more
		return s.now().Add(suspendedRetry), false
	case !s.cfg.Allowed(r.Tier) && !job.Once:
		s.disable(ctx, k, "keys of tier "+r.Tier+" have no webhooks")
		return time.Time{}, false
	}
	return time.Time{}, true
}

// disable stops a webhook that is active.
func (s *Service) disable(ctx context.Context, k hooks.Key, reason string) {
	_, err := s.Store.Update(ctx, k, func(h *hooks.Hook) {
		if h.State == hooks.Active {
			h.State, h.Reason, h.Changed = hooks.Disabled, reason, s.now().Unix()
		}
	})
	if err != nil && !errors.Is(err, hooks.ErrNoHook) {
		s.cfg.Log.Error("disabling a webhook", "webhook", k.Hook.String(), "cause", err)
	}
}

// judge adds an attempt to a delivery and decides what becomes of it.
func judge(d *hooks.Delivery, a answer, began, ended time.Time) hooks.Outcome {
	d.Attempts = append(d.Attempts, hooks.Attempt{At: began.Unix(), Millis: ended.Sub(began).Milliseconds(), Status: a.status, Error: a.failure})
	d.State, d.NextAt = hooks.Failed, 0
	delay, more := nextDelay(len(d.Attempts), a.retryAfter)
	disable := ""
	switch {
	case a.failure == "":
		d.State = hooks.Delivered
	case d.Once:
	case a.status == 410:
		disable = "the receiver answered 410 Gone"
	case !more:
		disable = "message " + d.Message + " was not accepted in three days; the last attempt: " + a.failure
	default:
		d.State, d.NextAt = hooks.Pending, ended.Add(delay).Unix()
	}
	return hooks.Outcome{Delivery: *d, Disable: disable}
}
