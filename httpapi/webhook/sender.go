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
	now  func() time.Time
	kick chan struct{} // one slot: waiting has changed
	pace *rate.Limiter

	mu      sync.Mutex
	waiting map[hooks.Key]*entry
}

// entry is a webhook for which a message waits. It is guarded by the sender's lock.
type entry struct {
	key   hooks.Key
	host  string
	at    time.Time // when to look at it
	busy  bool      // it is being served
	again bool      // it was woken meanwhile
}

func newSender(now func() time.Time) *sender {
	return &sender{now: now, kick: make(chan struct{}, 1), pace: rate.NewLimiter(perSecond, burst), waiting: map[hooks.Key]*entry{}}
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
		e.at, e.again = d.now(), true
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

// run has webhooks served until ctx ends and what is under way is stored. serve makes one attempt and returns when to
// look at the webhook again, the zero time for never. Its second context ends a little after ctx.
func (d *sender) run(ctx context.Context, serve func(ctx, abort context.Context, k hooks.Key) time.Time) {
	abort, cancel := context.WithCancel(context.Background())
	defer cancel()
	var work sync.WaitGroup
	for ctx.Err() == nil {
		e, wait := d.next()
		if e != nil {
			work.Go(func() { d.served(e, serve(ctx, abort, e.key)) })
			continue
		}
		select {
		case <-ctx.Done():
		case <-d.kick:
		case <-time.After(wait):
		}
	}
	defer time.AfterFunc(closeWait, cancel).Stop()
	work.Wait()
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
	now := d.now()
	for _, e := range d.waiting {
		running := accounts[e.key.Account]
		switch {
		case e.busy || busy == atATime || running >= perAccount || sites[site{e.key.Account, e.host}] >= perHost:
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

// served notes that an entry was served, and when to look at it again.
func (d *sender) served(e *entry, next time.Time) {
	d.mu.Lock()
	e.busy = false
	if now := d.now(); !e.again && next.IsZero() {
		delete(d.waiting, e.key)
	} else if !e.again {
		e.at = now.Add(next.Sub(now)) // later steps of the clock do not move it
	}
	d.mu.Unlock()
	d.look()
}

// serve makes the attempt of a webhook that is due, see sender.run.
func (s *Service) serve(ctx, abort context.Context, k hooks.Key) (again time.Time) {
	now, never := s.now(), time.Time{}
	job, at, err := s.Store.Due(abort, k, now.Unix())
	switch {
	case errors.Is(err, hooks.ErrNoHook) || errors.Is(err, quota.ErrNotFound) || abort.Err() != nil:
		return never
	case err != nil:
		s.cfg.Log.Error("reading a message for a webhook", "webhook", k.Hook.String(), "cause", err)
		return now.Add(storeRetry)
	case job.Seq == 0 && at == 0:
		return never
	case job.Seq == 0:
		return time.Unix(at, 0)
	}
	switch {
	case job.Account.Status != quota.StatusActive: // a revoked key has no webhooks any more
		return now.Add(suspendedRetry)
	case !s.cfg.Allowed(job.Account.Tier) && !job.Once:
		s.disable(abort, k, "keys of tier "+job.Account.Tier+" have no webhooks")
		return never
	}
	if s.sender.pace.Wait(ctx) != nil {
		return never
	}
	answer := s.send(abort, &job, now)
	if abort.Err() != nil {
		return never // the service is closed; the message goes on after the next start
	}
	s.settle(ctx, judge(&job.Delivery, answer, now, s.now()))
	return s.now()
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
func judge(d *hooks.Delivery, a answer, began, ended time.Time) *hooks.Outcome {
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
	return &hooks.Outcome{Delivery: *d, Disable: disable}
}

// settle stores an outcome and counts it. A ledger that fails is asked again until it works or ctx has ended: the
// message is then sent again after the next start.
func (s *Service) settle(ctx context.Context, o *hooks.Outcome) {
	var failed failing
	for {
		err := s.Store.Settle(context.WithoutCancel(ctx), o)
		if failed.isNews(err) {
			s.cfg.Log.Error("storing the outcome of a webhook", "cause", err)
		}
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(storeRetry):
		}
	}
	switch o.Delivery.State {
	case hooks.Delivered:
		s.Results.Delivered.Add(1)
	case hooks.Pending:
		s.Results.Retried.Add(1)
	default:
		s.Results.Failed.Add(1)
	}
}
