package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"modeldex/dataset"
	"modeldex/index"
	"modeldex/quota"
	"modeldex/quota/hooks"
)

// MaxPerKey is how many webhooks one key may have.
const MaxPerKey = 20

// DefaultGrace is how long a secret goes on signing after a rotation if its owner does not say.
const DefaultGrace = 24 * time.Hour

// Dataset is what is being served.
type Dataset struct {
	Set        *dataset.Set
	Generation *index.Generation
}

// Config is what a Service needs. Fields without a default must be set.
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
	// TLS is for tests with certificates of their own; nil trusts the system's.
	TLS *tls.Config
	// Log takes what happens; nil drops it. URLs and secrets are not logged.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service keeps webhooks and sends their messages. It is made by New and ends with Close.
type Service struct {
	// Store reads and removes webhooks and their deliveries.
	Store *hooks.Store
	// Results are read while they are counted.
	Results Results

	cfg        Config
	client     *http.Client
	sender     *sender
	announcing sync.Mutex // held while it is found out, or changed, what was announced
	changed    chan struct{}

	resolving sync.Map // accounts for which a name is being resolved

	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// New makes a service and starts to deliver what waits.
func New(cfg Config) (*Service, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{Store: cfg.Store, cfg: cfg, changed: make(chan struct{}, 1)}
	s.client, s.sender = newClient(&s.cfg), newSender(s.now)
	all, err := s.Store.List(context.Background(), 0)
	if err != nil {
		return nil, fmt.Errorf("reading webhooks: %w", err)
	}
	s.wakeQueued(all)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.tasks.Go(func() { s.runAnnouncer(ctx) })
	s.tasks.Go(func() { s.sender.run(ctx, s.serve) })
	s.tasks.Go(func() { s.cfg.Guard.findTranslators(ctx) })
	s.Published()
	return s, nil
}

func (s *Service) wakeQueued(all []hooks.Hook) {
	s.sender.wake(slices.DeleteFunc(all, func(h hooks.Hook) bool { return h.Queued == 0 })...)
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
	// sweepEvery is how often old deliveries are removed, and prefixes of translators looked up.
	sweepEvery = time.Hour
)

// runAnnouncer announces releases, and removes what is old, until ctx ends.
func (s *Service) runAnnouncer(ctx context.Context) {
	var failed failing
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		var retry <-chan time.Time
		if failed != "" {
			retry = time.After(announceRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			s.cfg.Guard.findTranslators(ctx)
			if err := s.Store.Sweep(ctx, s.now()); err != nil && ctx.Err() == nil {
				s.cfg.Log.Error("removing old deliveries of webhooks", "cause", err)
			}
			continue
		case <-s.changed:
		case <-retry:
		}
		if err := s.announce(ctx); failed.isNews(err) && ctx.Err() == nil {
			s.cfg.Log.Error("announcing a release to webhooks", "cause", err)
		}
	}
}

// failing is the error of work that is tried again every few seconds.
type failing string

// isNews notes the error of an attempt, and reports whether it is to be logged: the first, and one with another text.
func (f *failing) isNews(err error) bool {
	before := *f
	*f = ""
	if err != nil {
		*f = failing(err.Error())
	}
	return err != nil && *f != before
}

// CheckURL checks where messages are to be sent; the error is a sentence without subject. One name is resolved at a
// time for each account, so that slow name servers hold up nobody else.
func (s *Service) CheckURL(ctx context.Context, account quota.ID, text string) error {
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, busy := s.resolving.LoadOrStore(account, true); !busy {
			defer s.resolving.Delete(account)
			return s.cfg.Guard.CheckURL(ctx, text)
		}
		if time.Since(begun) > resolveTime {
			return errors.New("could not be checked, because other names of this key are being resolved; try again")
		}
	}
}

// Draft is what an owner says of a webhook, after it was checked. In an Update fields that are nil stay as they are.
type Draft struct {
	URL, Description *string
	Events           []string
	Filters          *string // canonical, as Match reads them
	MaxRecords       *int
	State            *hooks.State
}

// set puts a draft into a webhook.
func (d *Draft) set(h *hooks.Hook) {
	setTo(&h.URL, d.URL)
	setTo(&h.Description, d.Description)
	setTo(&h.Filters, d.Filters)
	setTo(&h.MaxRecords, d.MaxRecords)
	if setTo(&h.State, d.State); d.State != nil {
		h.Reason = ""
	}
	if d.Events != nil {
		h.Events = slices.DeleteFunc(slices.Clone(Events), func(e string) bool { return !slices.Contains(d.Events, e) })
	}
}

func setTo[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// Create stores a webhook, whose draft must have a URL, and returns it with its secret, which is shown this once.
// hooks.ErrTooMany says why not.
func (s *Service) Create(ctx context.Context, account quota.ID, d Draft) (h hooks.Hook, secret string, err error) {
	if d.Events == nil {
		d.Events = Events[:1]
	}
	s.announcing.Lock() // a release is announced to all webhooks or before
	defer s.announcing.Unlock()
	if err := s.firstBaseline(ctx); err != nil {
		return h, "", err
	}
	now, signing := s.now(), newSecret()
	h = hooks.Hook{MaxRecords: MaxRecords, Secrets: []hooks.Secret{{Secret: signing}}, State: hooks.Active, Created: now.Unix(), Changed: now.Unix(), Next: 1}
	d.set(&h)
	for err = quota.ErrTaken; errors.Is(err, quota.ErrTaken); {
		h.Key = hooks.Key{Account: account, Hook: hooks.ID(quota.NewID(now))}
		err = s.Store.Create(ctx, h, MaxPerKey)
	}
	return h, formatSecret(signing), err
}

// Update changes a webhook. One that becomes active goes on with what waits, at once.
func (s *Service) Update(ctx context.Context, k hooks.Key, d Draft) (hooks.Hook, error) {
	h, err := s.Store.Update(ctx, k, func(h *hooks.Hook) {
		d.set(h)
		h.Changed = s.now().Unix()
	})
	if err == nil {
		s.sender.wake(h)
	}
	return h, err
}

// Rotate gives a webhook a new secret, which it returns. Until grace is over the old one signs too.
func (s *Service) Rotate(ctx context.Context, k hooks.Key, grace time.Duration) (hooks.Hook, string, error) {
	now, secret := s.now(), newSecret()
	h, err := s.Store.Update(ctx, k, func(h *hooks.Hook) {
		h.Secrets = rotated(h.Secrets, secret, now.Unix(), now.Add(grace).Unix())
		h.Changed = now.Unix()
	})
	return h, formatSecret(secret), err
}

// Try sends a test message, at once and once. hooks.ErrQueueFull is returned when too much waits.
func (s *Service) Try(ctx context.Context, k hooks.Key) (hooks.Delivery, error) {
	return s.enqueue(ctx, hooks.Delivery{Key: k, Message: hooks.NewMessageID(), Event: Test, Created: s.now().Unix()})
}

// Redeliver sends a message again, with the same id, at once and once.
func (s *Service) Redeliver(ctx context.Context, k hooks.Key, seq uint64) (hooks.Delivery, error) {
	job, err := s.Store.Delivery(ctx, k, seq)
	if err != nil {
		return hooks.Delivery{}, err
	}
	d := job.Delivery
	d.Of, d.Attempts = seq, nil
	return s.enqueue(ctx, d)
}

func (s *Service) enqueue(ctx context.Context, d hooks.Delivery) (hooks.Delivery, error) {
	d.NextAt = s.now().Unix()
	h, d, err := s.Store.Enqueue(ctx, d)
	if err == nil {
		s.sender.wake(h)
	}
	return d, err
}

// Delivery returns one delivery and the body that is sent, or hooks.ErrNoDelivery.
func (s *Service) Delivery(ctx context.Context, k hooks.Key, seq uint64) (hooks.Delivery, *Message, error) {
	job, err := s.Store.Delivery(ctx, k, seq)
	if err != nil {
		return hooks.Delivery{}, nil, err
	}
	m, err := s.message(ctx, &job)
	return job.Delivery, m, err
}
