package webhook

import (
	"container/heap"
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"modeldex/quota"

	"golang.org/x/time/rate"
)

const (
	// atATime is how many requests are under way at a time, perHost how many of them to one host: a
	// receiver that is slow keeps its own messages waiting, not those of others.
	atATime = 32
	perHost = 2
	// perSecond is how many requests begin per second at most, after burst at once. A release for
	// thousands of webhooks is announced by and by: readers are not to wait for it.
	perSecond = 100
	burst     = 20
	// settleMost and settleWait gather outcomes, so that many are stored with one write: settleBusy
	// is the wait while several come at once.
	settleMost = 256
	settleWait = 10 * time.Millisecond
	settleBusy = 400 * time.Millisecond
	// startMost is how many webhooks are read from the ledger in one go, and startPause what follows.
	startMost  = 50
	startPause = 5 * time.Millisecond
	// storeRetry is after how long a ledger that fails is asked again.
	storeRetry = time.Second
	// suspendedRetry is after how long a webhook of a suspended key is looked at again.
	suspendedRetry = 10 * time.Minute
	// closeWait is how long requests under way may take when the service is closed.
	closeWait = 3 * time.Second
)

// dispatcher decides which webhook is served next. It keeps no message: of a webhook for which one
// waits it has the key, a time and the host, about 200 bytes.
//
// An entry is in one of four places: in timers until its time has come, then in the line of its
// host, then under way, then with the settler. The settler stores the outcome and puts it back
// into timers. So one webhook has one message under way, and the next one not before the
// outcome is durable.
type dispatcher struct {
	s        *Service
	kick     chan struct{} // one slot: timers has something new
	outcomes chan settling
	pace     *rate.Limiter
	work     sync.WaitGroup // attempts under way
	failing  failing        // of the goroutine that settles

	mu      sync.Mutex
	timers  timers
	known   map[quota.HookKey]*entry
	hosts   map[string]*hostLine
	ready   []*hostLine // lines from which an entry may be started, in turn
	running int
	closed  bool
	abort   context.Context // of attempts
}

// entry is one webhook for which a message waits. It is guarded by the dispatcher's lock.
type entry struct {
	key   quota.HookKey
	at    time.Time
	place int       // in timers; -1: elsewhere
	host  *hostLine // while in line or under way
	again bool      // it was woken while elsewhere
}

// hostLine is the webhooks of one host whose time has come.
type hostLine struct {
	name    string
	line    []*entry
	running int
	inTurn  bool // in ready
}

// settling is an outcome on its way to the ledger.
type settling struct {
	entry   *entry
	outcome quota.Outcome
}

func newDispatcher(s *Service) *dispatcher {
	return &dispatcher{
		s: s, kick: make(chan struct{}, 1), outcomes: make(chan settling, settleMost), pace: rate.NewLimiter(perSecond, burst),
		known: map[quota.HookKey]*entry{}, hosts: map[string]*hostLine{},
	}
}

// add notes that messages wait.
func (d *dispatcher) add(list []quota.Waiting) {
	d.mu.Lock()
	for _, w := range list {
		d.schedule(w.Key, time.Unix(w.At, 0))
	}
	d.mu.Unlock()
	d.look()
}

// wake has a webhook looked at now.
func (d *dispatcher) wake(k quota.HookKey) {
	d.mu.Lock()
	d.schedule(k, d.s.now())
	d.mu.Unlock()
	d.look()
}

func (d *dispatcher) look() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// fromNow is a time of the ledger as one that later steps of the clock do not move.
func (d *dispatcher) fromNow(at time.Time) time.Time {
	now := d.s.now()
	return now.Add(at.Sub(now))
}

// schedule has a webhook looked at at a time, or earlier. The caller holds the lock.
func (d *dispatcher) schedule(k quota.HookKey, at time.Time) {
	at = d.fromNow(at)
	e := d.known[k]
	switch {
	case e == nil:
		e = &entry{key: k, at: at}
		d.known[k] = e
		heap.Push(&d.timers, e)
	case e.place < 0:
		e.again = true
	case at.Before(e.at):
		e.at = at
		heap.Fix(&d.timers, e.place)
	}
}

// put takes an entry that is nowhere back into timers, or drops it if nothing waits. The caller
// holds the lock.
func (d *dispatcher) put(e *entry, at time.Time) {
	if e.again {
		e.again, at = false, d.s.now()
	}
	if at.IsZero() {
		delete(d.known, e.key)
		return
	}
	e.at = d.fromNow(at)
	heap.Push(&d.timers, e)
}

// run serves webhooks until ctx ends and everything under way is settled.
func (d *dispatcher) run(ctx context.Context) {
	abort, cancel := context.WithCancel(context.Background())
	defer cancel()
	d.mu.Lock()
	d.abort = abort
	d.mu.Unlock()
	var settler sync.WaitGroup
	settler.Go(func() { d.settle(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(d.start(ctx))
		select {
		case <-ctx.Done():
		case <-d.kick:
		case <-timer.C:
		}
	}
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	late := time.AfterFunc(closeWait, cancel)
	d.work.Wait()
	late.Stop()
	close(d.outcomes)
	settler.Wait()
}

// longWait is how long run sleeps when nothing waits; it is woken before.
const longWait = time.Hour

// start puts entries whose time has come in line and returns how long it is until the next.
func (d *dispatcher) start(ctx context.Context) time.Duration {
	for {
		now := d.s.now()
		var due []*entry
		d.mu.Lock()
		for len(d.timers) > 0 && len(due) < startMost && !d.timers[0].at.After(now) {
			due = append(due, heap.Pop(&d.timers).(*entry))
		}
		wait := longWait
		if len(d.timers) > 0 {
			wait = min(wait, max(0, d.timers[0].at.Sub(now)))
		}
		d.mu.Unlock()
		if len(due) == 0 {
			return wait
		}
		for _, e := range due {
			h, err := d.s.store.GetHook(ctx, e.key)
			d.mu.Lock()
			switch {
			case errors.Is(err, quota.ErrNoHook):
				delete(d.known, e.key)
			case err != nil:
				d.put(e, now.Add(storeRetry))
			default:
				d.enter(e, hostOf(h.URL))
			}
			d.mu.Unlock()
		}
		d.mu.Lock()
		d.pump()
		d.mu.Unlock()
		if len(due) == startMost {
			return startPause
		}
	}
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Host
}

// enter puts an entry in the line of its host. The caller holds the lock.
func (d *dispatcher) enter(e *entry, host string) {
	h := d.hosts[host]
	if h == nil {
		h = &hostLine{name: host}
		d.hosts[host] = h
	}
	e.host = h
	h.line = append(h.line, e)
	d.turn(h)
}

// turn puts a host where it belongs after its line or its count has changed. The caller holds the
// lock.
func (d *dispatcher) turn(h *hostLine) {
	switch {
	case len(h.line) == 0 && h.running == 0 && !h.inTurn:
		delete(d.hosts, h.name)
	case len(h.line) > 0 && h.running < perHost && !h.inTurn:
		h.inTurn = true
		d.ready = append(d.ready, h)
	}
}

// pump starts attempts while there is room. The caller holds the lock.
func (d *dispatcher) pump() {
	for !d.closed && d.running < atATime && len(d.ready) > 0 {
		h := d.ready[0]
		d.ready, h.inTurn = d.ready[1:], false
		e := h.line[0]
		h.line = h.line[1:]
		h.running++
		d.running++
		d.turn(h)
		d.work.Go(func() { d.attempt(d.abort, e) })
	}
}

// attempt makes one attempt for a webhook.
func (d *dispatcher) attempt(ctx context.Context, e *entry) {
	var outcome *quota.Outcome
	var next time.Time
	if d.pace.Wait(ctx) == nil { // otherwise the service is closed
		outcome, next = d.s.attempt(ctx, e.key)
	}
	if outcome != nil {
		d.outcomes <- settling{e, *outcome}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	h := e.host
	e.host = nil
	h.running--
	d.running--
	d.turn(h)
	if outcome == nil {
		d.put(e, next)
		d.look()
	}
	d.pump()
}

// settle stores outcomes until the channel is closed. A ledger that fails is asked again until it
// works: meanwhile no more attempts end than the channel holds.
func (d *dispatcher) settle(ctx context.Context) {
	pause := settleWait
	for first := range d.outcomes {
		batch := []settling{first}
		wait := time.After(pause)
	gather:
		for len(batch) < settleMost {
			select {
			case o, ok := <-d.outcomes:
				if !ok {
					break gather
				}
				batch = append(batch, o)
			case <-wait:
				break gather
			}
		}
		d.store(ctx, batch)
		if pause = settleWait; len(batch) > 1 && ctx.Err() == nil {
			pause = settleBusy
		}
	}
}

func (d *dispatcher) store(ctx context.Context, batch []settling) {
	outcomes := make([]quota.Outcome, len(batch))
	for i := range batch {
		outcomes[i] = batch[i].outcome
	}
	for {
		next, err := d.s.store.Settle(context.WithoutCancel(ctx), outcomes, d.s.now().Unix())
		if err == nil {
			d.failing = failing{}
			d.mu.Lock()
			for i, b := range batch {
				d.s.count(&b.outcome)
				at := time.Time{}
				if next[i] != 0 {
					at = time.Unix(next[i], 0)
				}
				d.put(b.entry, at)
			}
			d.mu.Unlock()
			d.look()
			return
		}
		if d.failing.isNews(err) {
			d.s.cfg.Log.Error("storing outcomes of webhooks", "cause", err)
		}
		select {
		case <-ctx.Done():
			return // they are sent again after the next start
		case <-time.After(storeRetry):
		}
	}
}

// attempt sends what is due for a webhook. A nil outcome means that nothing was attempted, and next
// when to look again; zero is never.
func (s *Service) attempt(ctx context.Context, k quota.HookKey) (outcome *quota.Outcome, next time.Time) {
	now := s.now()
	job, at, err := s.store.Due(ctx, k, now.Unix())
	switch {
	case errors.Is(err, quota.ErrNoHook):
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
func (s *Service) mayServe(ctx context.Context, k quota.HookKey, job *quota.Job) (later time.Time, ok bool) {
	r, err := s.cfg.Account(ctx, k.Account)
	switch {
	case errors.Is(err, quota.ErrNotFound), err == nil && r.Status == quota.StatusRevoked:
		if err := s.store.DeleteHook(ctx, k); err != nil && !errors.Is(err, quota.ErrNoHook) {
			s.cfg.Log.Error("removing a webhook of a revoked key", "webhook", k.Hook.String(), "cause", err)
		}
		return time.Time{}, false
	case err != nil:
		return s.now().Add(storeRetry), false
	case r.Status == quota.StatusSuspended:
		return s.now().Add(suspendedRetry), false
	case !s.cfg.Allowed(r.Tier):
		if !job.Once {
			s.disable(ctx, k, "keys of tier "+r.Tier+" have no webhooks")
			return time.Time{}, false
		}
	}
	return time.Time{}, true
}

// judge adds an attempt to a delivery and decides what becomes of it.
func judge(d *quota.Delivery, a answer, began, ended time.Time) quota.Outcome {
	d.Attempts = append(d.Attempts, quota.Attempt{At: began.Unix(), Millis: ended.Sub(began).Milliseconds(), Status: a.status, Error: a.failure})
	d.State, d.NextAt = quota.DeliveryFailed, 0
	if a.failure == "" {
		d.State = quota.DeliveryDelivered
		return quota.Outcome{Delivery: *d}
	}
	if d.Once {
		return quota.Outcome{Delivery: *d}
	}
	if a.status == 410 {
		return quota.Outcome{Delivery: *d, Disable: "the receiver answered 410 Gone"}
	}
	delay, more := nextDelay(len(d.Attempts), a.retryAfter)
	if !more {
		return quota.Outcome{Delivery: *d, Disable: "message " + d.Message + " was not accepted in three days; the last attempt: " + a.failure}
	}
	d.State, d.NextAt = quota.DeliveryPending, ended.Add(delay).Unix()
	return quota.Outcome{Delivery: *d}
}

// timers are entries by time, a heap.
type timers []*entry

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at.Before(t[j].at) }

func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i, j
}

// Push adds an entry, for package heap.
func (t *timers) Push(x any) {
	e := x.(*entry)
	e.place = len(*t)
	*t = append(*t, e)
}

// Pop takes the last entry, for package heap.
func (t *timers) Pop() any {
	last := len(*t) - 1
	e := (*t)[last]
	e.place = -1
	*t = (*t)[:last]
	return e
}
