package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"modeldex/dataset"
	"modeldex/index"
	"modeldex/quota"
	"modeldex/quota/hooks"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

const (
	// MaxPerKey is how many webhooks one key may have.
	MaxPerKey = 20
	// DefaultGrace is how long a secret goes on signing after a rotation if its owner does not say.
	DefaultGrace = 24 * time.Hour
	// closeWait is how long requests under way may take when the service is closed.
	closeWait = 3 * time.Second
)

// Dataset is what is being served.
type Dataset struct {
	Set        *dataset.Set
	Generation *index.Generation
}

// Config is what a Service needs. All fields but Base must be set.
type Config struct {
	Store *hooks.Store
	// Allowed reports whether keys of a tier may have webhooks: others are not served.
	Allowed func(tier string) bool
	// Latest is what is being served; nil before the first dataset.
	Latest func() *Dataset
	// Match returns those of the benchmarks ords, which rise, that match filters.
	Match func(gen *index.Generation, filters string, ords []uint32) ([]uint32, error)
	// Base is put before links; empty makes them relative.
	Base string
	// Guard says where messages may be sent.
	Guard *Guard
	// Version is the program's, for User-Agent.
	Version string
	// Log takes what happens. URLs and secrets are not logged.
	Log *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Service keeps webhooks and sends their messages. It is made by New and ends with Close.
type Service struct {
	// Store reads and removes webhooks.
	Store *hooks.Store
	// Results are read while they are counted.
	Results Results

	cfg        Config
	client     *http.Client
	now        func() time.Time
	announcing sync.Mutex    // held while it is found out, or changed, what was announced
	changed    chan struct{} // one slot: Latest has changed

	all    *semaphore.Weighted // one for each request under way
	pace   *rate.Limiter
	owners sync.Map // accounts, and what they do -> *semaphore.Weighted

	mu      sync.Mutex
	workers map[hooks.Key]chan struct{} // of webhooks with messages; one slot: look now

	ctx, abort context.Context // end with Close, abort a little later: requests under way may finish
	stop, cut  context.CancelFunc
	tasks      sync.WaitGroup
}

// New makes a service and starts to deliver what waits.
func New(cfg Config) (*Service, error) {
	s := &Service{
		Store: cfg.Store, cfg: cfg, client: newClient(cfg.Guard), now: cfg.Now, changed: make(chan struct{}, 1),
		all: semaphore.NewWeighted(atATime), pace: rate.NewLimiter(perSecond, burst), workers: map[hooks.Key]chan struct{}{},
	}
	all, err := s.Store.List(context.Background(), 0)
	if err != nil {
		return nil, fmt.Errorf("reading webhooks: %w", err)
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.abort, s.cut = context.WithCancel(context.Background())
	s.wake(all...)
	s.tasks.Go(s.runAnnouncer)
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
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	defer time.AfterFunc(closeWait, s.cut).Stop()
	s.tasks.Wait()
	s.cut()
}

// CheckURL checks the URL for messages; the error is a sentence without subject. It resolves one name at a time per
// account, so that slow name servers do not delay others.
func (s *Service) CheckURL(account quota.ID, text string) error {
	ctx, cancel := context.WithTimeout(s.ctx, resolveTime)
	defer cancel()
	names := s.slots("names of "+account.String(), 1)
	if names.Acquire(ctx, 1) != nil {
		return errors.New("could not be checked, because other lookups for this key are running; try again")
	}
	defer names.Release(1)
	return s.cfg.Guard.CheckURL(s.ctx, text)
}

// Create stores a webhook with a URL that set gives it, and returns it with its secret, which is shown this once.
// hooks.ErrTooMany says why not.
func (s *Service) Create(
	ctx context.Context, account quota.ID, set func(*hooks.Hook),
) (h hooks.Hook, secret string, err error) {
	s.announcing.Lock() // a release is announced to all webhooks or before
	defer s.announcing.Unlock()
	if err := s.announce(ctx, true); err != nil {
		return h, "", err
	}
	now := s.now()
	signing, secret := newSecret()
	h = hooks.Hook{
		Key: hooks.Key{Account: account, Hook: hooks.ID(quota.NewID(now))}, Events: Events[:1], MaxRecords: MaxRecords,
		Secrets: []hooks.Secret{{Secret: signing}}, State: hooks.Active, Created: now.Unix(), Changed: now.Unix(), Next: 1,
	}
	set(&h)
	return h, secret, s.Store.Create(ctx, h, MaxPerKey)
}

// Update changes a webhook. One that becomes active goes on with what waits, at once.
func (s *Service) Update(ctx context.Context, k hooks.Key, set func(*hooks.Hook)) (hooks.Hook, error) {
	h, err := s.Store.Update(ctx, k, func(h *hooks.Hook) {
		set(h)
		h.Changed = s.now().Unix()
	})
	if err == nil {
		s.wake(h)
	}
	return h, err
}

// Rotate gives a webhook a new secret, which it returns. Until grace is over the one before signs too.
func (s *Service) Rotate(ctx context.Context, k hooks.Key, grace time.Duration) (hooks.Hook, string, error) {
	signing, secret := newSecret()
	h, err := s.Update(ctx, k, func(h *hooks.Hook) {
		h.Secrets = []hooks.Secret{{Secret: signing}, {Secret: h.Secrets[0].Secret, Until: s.now().Add(grace).Unix()}}
	})
	return h, secret, err
}

// Test sends a test message now and once, also to a webhook that is not active, and changes nothing.
func (s *Service) Test(ctx context.Context, k hooks.Key) (hooks.Attempt, error) {
	h, err := s.Store.Get(ctx, k)
	if err != nil {
		return hooks.Attempt{}, err
	}
	now := s.now().Unix()
	wait, cancel := context.WithTimeout(s.ctx, attemptTime)
	defer cancel()
	done, err := s.turn(wait, k.Account)
	if err != nil {
		return hooks.Attempt{At: now, Error: "not sent: too many other messages are being sent"}, nil
	}
	defer done()
	h.Queue = []hooks.Delivery{{Message: hooks.NewMessageID(), Event: Test, Created: now}}
	attempt, _ := s.send(s.abort, &hooks.Job{Hook: h})
	return attempt, nil
}
