package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"modeldex/index"
	"modeldex/quota"
)

// MaxPerKey is how many webhooks one key may have.
const MaxPerKey = 20

// MaxDescription is the longest description, in characters.
const MaxDescription = 200

// DefaultGrace is how long a secret goes on signing after a rotation if its owner does not say.
const DefaultGrace = 24 * time.Hour

// Config is what a Service needs. Fields without a default must be set.
type Config struct {
	Store quota.HookStore
	// Account returns the account of a key: a webhook of one that may not have any is not served.
	Account func(ctx context.Context, id quota.ID) (quota.Record, error)
	// Allowed reports whether keys of a tier may have webhooks.
	Allowed func(tier string) bool
	// Latest is what is being served; nil before the first dataset.
	Latest func() *Dataset
	// Match returns those of the benchmarks ords, which rise, that match filters.
	Match func(gen *index.Generation, filters string, ords []uint32) ([]uint32, error)
	// Base is put before links; empty makes them relative.
	Base string
	// Guard says where messages may be sent.
	Guard Guard
	// Version is the program's, for User-Agent.
	Version string
	// TLS is for tests with certificates of their own; nil trusts the system's.
	TLS *tls.Config
	// Log takes what happens; nil drops it. URLs and secrets are not logged.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service keeps webhooks and sends their messages. It is made by New and ends with Close.
type Service struct {
	// Results are read while they are counted.
	Results Results

	cfg      Config
	store    quota.HookStore
	client   *http.Client
	dispatch *dispatcher
	lists    lists
	lookups  chan struct{} // one slot for each name that is resolved for a caller

	counted counted
	first   sync.Mutex // held while the first baseline is made
	changed chan struct{}
	stop    context.CancelFunc
	tasks   sync.WaitGroup
}

// New makes a service and starts to deliver what waits.
func New(cfg Config) (*Service, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, store: cfg.Store, lookups: make(chan struct{}, 8), changed: make(chan struct{}, 1)}
	s.client, s.lists = newClient(&s.cfg), lists{store: s.store, byName: map[string]*recordList{}}
	s.dispatch = newDispatcher(s)
	waiting, err := s.store.Waiting(context.Background(), s.now().Unix())
	if err != nil {
		return nil, fmt.Errorf("reading webhooks: %w", err)
	}
	s.dispatch.add(waiting)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.tasks.Go(func() { s.runAnnouncer(ctx) })
	s.tasks.Go(func() { s.dispatch.run(ctx) })
	s.Published()
	return s, nil
}

// Published notifies the service that Latest has changed. It returns at once.
func (s *Service) Published() {
	select {
	case s.changed <- struct{}{}:
	default: // it will look anyway
	}
}

// Close stops sending, waits a little for requests under way, and stores their outcomes. What was
// not finished is sent again after the next start. The store must be open until Close returns.
func (s *Service) Close() {
	s.stop()
	s.tasks.Wait()
	s.client.CloseIdleConnections()
}

func (s *Service) now() time.Time { return s.cfg.Now() }

const (
	// announceRetry is after how long an announcement that failed is tried again.
	announceRetry = 5 * time.Second
	// sweepEvery is how often old deliveries are removed.
	sweepEvery = time.Hour
)

// runAnnouncer announces releases, and removes what is old, until ctx ends.
func (s *Service) runAnnouncer(ctx context.Context) {
	a := &announcer{s: s}
	var failed failing
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			if err := s.store.Sweep(ctx, s.now()); err != nil && ctx.Err() == nil {
				s.cfg.Log.Error("removing old deliveries of webhooks", "cause", err)
			}
			continue
		case <-s.changed:
		case <-retry.C:
		}
		s.first.Lock()
		err := a.run(ctx)
		s.first.Unlock()
		switch {
		case err == nil:
			failed = failing{}
		case ctx.Err() == nil:
			if failed.isNews(err) {
				s.cfg.Log.Error("announcing a release to webhooks", "cause", err)
			}
			retry.Reset(announceRetry)
		}
	}
}

// failing is an error of work that is tried again every few seconds.
type failing struct {
	text   string
	logged time.Time
}

// isNews reports whether an error is to be logged: the first, one with another text, and the same one every minute.
func (f *failing) isNews(err error) bool {
	if err.Error() == f.text && time.Since(f.logged) < time.Minute {
		return false
	}
	f.text, f.logged = err.Error(), time.Now()
	return true
}

// hooks lists the webhooks of an account, or of all for zero.
func (s *Service) hooks(ctx context.Context, account quota.ID) (out []quota.Hook, err error) {
	err = s.store.EachHook(ctx, account, func(h quota.Hook) error {
		out = append(out, h)
		return nil
	})
	return out, err
}

// disable stops a webhook that is active.
func (s *Service) disable(ctx context.Context, k quota.HookKey, reason string) {
	_, err := s.store.UpdateHook(ctx, k, func(h *quota.Hook) error {
		if h.State == quota.HookActive {
			h.State, h.Reason, h.Changed = quota.HookDisabled, reason, s.now().Unix()
		}
		return nil
	})
	if err != nil && !errors.Is(err, quota.ErrNoHook) {
		s.cfg.Log.Error("disabling a webhook", "webhook", k.Hook.String(), "cause", err)
	}
}

// Draft is what an owner says of a webhook. In an Update fields that are nil stay as they are.
type Draft struct {
	URL, Description *string
	Events           []string
	Filters          *string // canonical, as Match reads them
	MaxRecords       *int
	State            *quota.HookState
}

// Fault is what is wrong with one field of a draft.
type Fault struct{ Field, Detail string }

// Faults are what is wrong with a draft.
type Faults []Fault

// Error lists the faults.
func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i, one := range f {
		texts[i] = one.Field + " " + one.Detail
	}
	return strings.Join(texts, "; ")
}

// CheckNew checks the draft of a new webhook, which must have a URL.
func (s *Service) CheckNew(ctx context.Context, d Draft) Faults {
	faults := s.Check(ctx, d)
	if d.URL == nil {
		faults = append(faults, Fault{"url", "is required"})
	}
	return faults
}

// Check checks a draft; the URL last, because its name has to be resolved.
func (s *Service) Check(ctx context.Context, d Draft) (faults Faults) {
	if d.Description != nil && len([]rune(*d.Description)) > MaxDescription {
		faults = append(faults, Fault{"description", fmt.Sprintf("must have at most %d characters", MaxDescription)})
	}
	if d.Events != nil && len(d.Events) == 0 {
		faults = append(faults, Fault{"events", "must have at least one event"})
	}
	for _, e := range d.Events {
		if !slices.Contains(Events, e) {
			faults = append(faults, Fault{"events", "must be some of " + strings.Join(Events, ", ")})
			break
		}
	}
	if d.MaxRecords != nil && (*d.MaxRecords < 0 || *d.MaxRecords > MaxRecords) {
		faults = append(faults, Fault{"max_records", fmt.Sprintf("must be a whole number from 0 to %d", MaxRecords)})
	}
	if d.State != nil && *d.State != quota.HookActive && *d.State != quota.HookPaused {
		faults = append(faults, Fault{"status", "must be active or paused"})
	}
	if d.URL != nil {
		if err := s.checkURL(ctx, *d.URL); err != nil {
			faults = append(faults, Fault{"url", err.Error()})
		}
	}
	return faults
}

// checkURL checks a URL. Names are resolved for a few callers at a time.
func (s *Service) checkURL(ctx context.Context, text string) error {
	select {
	case s.lookups <- struct{}{}:
		defer func() { <-s.lookups }()
	case <-time.After(resolveTime):
		return errors.New("could not be checked, because too many names are being resolved; try again")
	}
	return s.cfg.Guard.CheckURL(ctx, text)
}

// set puts a draft into a webhook.
func (d *Draft) set(h *quota.Hook) {
	if d.URL != nil {
		h.URL = *d.URL
	}
	if d.Description != nil {
		h.Description = *d.Description
	}
	if d.Events != nil {
		h.Events = slices.DeleteFunc(slices.Clone(Events), func(e string) bool { return !slices.Contains(d.Events, e) })
	}
	if d.Filters != nil {
		h.Filters = *d.Filters
	}
	if d.MaxRecords != nil {
		h.MaxRecords = *d.MaxRecords
	}
	if d.State != nil {
		h.State, h.Reason = *d.State, ""
	}
}

// Create stores a webhook and returns it with its secret, which is shown this once. Faults, or
// quota.ErrTooManyHooks, say why not.
func (s *Service) Create(ctx context.Context, account quota.ID, d Draft) (quota.Hook, string, error) {
	if faults := s.CheckNew(ctx, d); faults != nil {
		return quota.Hook{}, "", faults
	}
	if d.Events == nil {
		d.Events = Events[:1]
	}
	now, secret := s.now(), newSecret()
	h := quota.Hook{
		Rev: 1, MaxRecords: MaxRecords, Secrets: []quota.HookSecret{{Secret: secret}}, State: quota.HookActive,
		Created: now.Unix(), Changed: now.Unix(), Next: 1,
	}
	d.set(&h)
	for {
		h.Key = quota.HookKey{Account: account, Hook: quota.NewHookID(now)}
		err := s.store.CreateHook(ctx, h, MaxPerKey)
		switch {
		case errors.Is(err, quota.ErrTaken):
		case errors.Is(err, quota.ErrNoBaseline):
			if err := s.makeBaseline(ctx); err != nil {
				return quota.Hook{}, "", err
			}
		default:
			return h, formatSecret(secret), err
		}
	}
}

// makeBaseline notes what is being served as known: what comes after it is announced.
func (s *Service) makeBaseline(ctx context.Context) error {
	s.first.Lock()
	defer s.first.Unlock()
	if s.cfg.Latest() == nil {
		return errors.New("no dataset is loaded")
	}
	return (&announcer{s: s}).first(ctx)
}

// List returns the webhooks of an account, oldest first.
func (s *Service) List(ctx context.Context, account quota.ID) ([]quota.Hook, error) {
	return s.hooks(ctx, account)
}

// Get returns one webhook, or quota.ErrNoHook.
func (s *Service) Get(ctx context.Context, k quota.HookKey) (quota.Hook, error) {
	return s.store.GetHook(ctx, k)
}

// Update changes a webhook. One that becomes active goes on with what waits, at once.
func (s *Service) Update(ctx context.Context, k quota.HookKey, d Draft) (quota.Hook, error) {
	if _, err := s.store.GetHook(ctx, k); err != nil {
		return quota.Hook{}, err // before a name is resolved
	}
	if faults := s.Check(ctx, d); faults != nil {
		return quota.Hook{}, faults
	}
	h, err := s.store.UpdateHook(ctx, k, func(h *quota.Hook) error {
		d.set(h)
		h.Changed = s.now().Unix()
		return nil
	})
	if err == nil {
		s.dispatch.wake(k)
	}
	return h, err
}

// Delete removes a webhook with its queue and its log.
func (s *Service) Delete(ctx context.Context, k quota.HookKey) error {
	return s.store.DeleteHook(ctx, k)
}

// Rotate gives a webhook a new secret, which it returns. Until grace is over the old one signs too.
func (s *Service) Rotate(ctx context.Context, k quota.HookKey, grace time.Duration) (quota.Hook, string, error) {
	now, secret := s.now(), newSecret()
	h, err := s.store.UpdateHook(ctx, k, func(h *quota.Hook) error {
		h.Secrets = rotated(h.Secrets, secret, now.Unix(), now.Add(grace).Unix())
		h.Changed = now.Unix()
		return nil
	})
	return h, formatSecret(secret), err
}

// Try sends a test message, at once and once. quota.ErrQueueFull is returned when too much waits.
func (s *Service) Try(ctx context.Context, k quota.HookKey) (quota.Delivery, error) {
	return s.enqueue(ctx, quota.Delivery{Key: k, Message: quota.NewMessageID(), Event: Test})
}

// Redeliver sends a message again, with the same id, at once and once.
func (s *Service) Redeliver(ctx context.Context, k quota.HookKey, seq uint64) (quota.Delivery, error) {
	job, err := s.store.Delivery(ctx, k, seq)
	if err != nil {
		return quota.Delivery{}, err
	}
	d := job.Delivery
	return s.enqueue(ctx, quota.Delivery{
		Key: k, Message: d.Message, Event: d.Event, Created: d.Created, Release: d.Release, Total: d.Total, Rows: d.Rows, Of: seq,
	})
}

func (s *Service) enqueue(ctx context.Context, d quota.Delivery) (quota.Delivery, error) {
	d.NextAt = s.now().Unix()
	if d.Created == 0 {
		d.Created = d.NextAt
	}
	d, err := s.store.Enqueue(ctx, d)
	if err == nil {
		s.dispatch.wake(d.Key)
	}
	return d, err
}

// Deliveries returns deliveries with numbers below before (0: all), newest first.
func (s *Service) Deliveries(ctx context.Context, k quota.HookKey, before uint64, limit int) ([]quota.Delivery, error) {
	return s.store.Deliveries(ctx, k, before, limit)
}

// Delivery returns one delivery and the body that is sent, or quota.ErrNoDelivery.
func (s *Service) Delivery(ctx context.Context, k quota.HookKey, seq uint64) (quota.Delivery, []byte, error) {
	job, err := s.store.Delivery(ctx, k, seq)
	if err != nil {
		return quota.Delivery{}, nil, err
	}
	b, err := s.body(ctx, &job)
	if err != nil {
		return quota.Delivery{}, nil, err
	}
	return job.Delivery, b.bytes(), nil
}
