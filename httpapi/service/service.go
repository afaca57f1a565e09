package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/watch"
	"modeldex/httpapi"
	"modeldex/httpapi/operator"
	"modeldex/httpapi/webhook"
	"modeldex/quota"
	"modeldex/quota/hooks"
	"modeldex/quota/ledgers"
)

// Options are what an operator decides about a service, with the tags of flags; their help says what they mean.
type Options struct {
	Addr               string `help:"Address to listen on; port 0 picks a free port." env:"MODELDEX_ADDR" default:"127.0.0.1:8080"`
	AdminAddr          string `help:"Address for metrics and administration over TCP; off by default. Requests need the admin token." env:"MODELDEX_ADMIN_ADDR" placeholder:"HOST:PORT"`
	AdminTokenFile     string `help:"File with the token for --admin-addr; default the ledger's name plus .token. The server creates it if needed. MODELDEX_ADMIN_TOKEN takes precedence." env:"MODELDEX_ADMIN_TOKEN_FILE" placeholder:"FILE"`
	AdminToken         string `hidden:"" help:"The token itself, for the environment only: other users can see flags in the process list." env:"MODELDEX_ADMIN_TOKEN"`
	SignupsPerHour     int    `help:"Keys that one address can create per hour; 0 means no limit. Direct requests from this machine are exempt." env:"MODELDEX_SIGNUPS_PER_HOUR" default:"5"`
	KeysPerEmail       int    `help:"Active keys that one e-mail address can have; 0 means no limit." env:"MODELDEX_KEYS_PER_EMAIL" default:"5"`
	FoldPlusTags       bool   `help:"Count name+tag@example.com as name@example.com." env:"MODELDEX_FOLD_PLUS_TAGS"`
	WebhooksToLoopback bool   `help:"Allow webhooks to http and https URLs on this machine, for testing; never use this on a public server." env:"MODELDEX_WEBHOOKS_TO_LOOPBACK"`
}

// Config is what a service needs. Fields without a default must be set.
type Config struct {
	// Config is what the API needs. Live, Keeper, History, Records, Hooks and Snapshots are set here; Files are the
	// dataset, and Log must not be nil.
	httpapi.Config
	Options
	// Dir is the directory of Files, which is watched; empty means that they never change.
	Dir string
	// Where is the location of the dataset for the log.
	Where string

	// Place is where keys and quota are kept; the ledger file is created if it is missing.
	Place operator.Place
	// Stdout gets one line when the service is ready for requests.
	Stdout io.Writer

	watch watchFunc // nil means watch.Watch
}

// shutdownWait is how long a stop waits for requests, those that still come and those that have begun. It leaves a
// second for the ledger: a stop takes five seconds at most.
const shutdownWait = 4 * time.Second

// Run serves until ctx ends or SIGTERM or SIGINT arrives: then it stops listening, waits for the requests that have
// begun, writes the counts and returns nil. SIGHUP makes it look at the files of the dataset at once. A log whose
// reader is gone ends nothing. A start that fails leaves neither a socket nor a new ledger behind.
func Run(ctx context.Context, cfg Config) (err error) {
	r := newReloader(&cfg)
	// Before the first load: SIGHUP would end the process. What a change during that load needs, the watcher does.
	defer onHangup(r.rescan)()
	signal.Ignore(syscall.SIGPIPE) // of a log or standard output whose reader has ended
	defer signal.Reset(syscall.SIGPIPE)
	cfg.Log.Info("starting: loading and checking the dataset", "version", cfg.Version, "data", cfg.Where, "ledger", cfg.Place.Address(), "addr", cfg.Addr)
	if err := r.first(ctx); err != nil {
		return err
	}
	// Not before: until here a signal may end the process at once, because there is nothing to lose.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ctx, endLoads := context.WithCancel(ctx)
	watcher := r.start(ctx, cfg.watch)
	endBackground := sync.OnceFunc(func() {
		endLoads()
		if watcher != nil {
			watcher.Close()
		}
	})
	defer endBackground()

	opened, undo, err := openLedger(ctx, &cfg)
	if err != nil && ctx.Err() != nil {
		cfg.Log.Info("stopped while opening the ledger", "cause", context.Cause(ctx).Error())
		return nil
	}
	if err != nil {
		return err
	}
	for _, w := range opened.Warnings() {
		cfg.Log.Warn("ledger", "warning", w)
	}
	served, err := serve(ctx, &cfg, r, opened)
	err = errors.Join(err, opened.Close())
	if !served {
		return errors.Join(err, undo())
	}
	if err == nil {
		endBackground() // nothing else is logged after the next line
		cfg.Log.Info("stopped")
	}
	return err
}

// ServeMCP answers one agent over in and out from the dataset of cfg, without keys, until it closes in.
func ServeMCP(ctx context.Context, cfg Config, in io.ReadCloser, out io.WriteCloser) error {
	r := newReloader(&cfg)
	if err := r.first(ctx); err != nil {
		return err
	}
	server, err := httpapi.New(r.api())
	if err != nil {
		return err
	}
	return server.ServeMCP(ctx, in, out, strings.TrimSuffix(cfg.BaseURL, "/"))
}

func (r *reloader) api() httpapi.Config {
	api := r.cfg.Config
	api.Live, api.History, api.Records, api.Snapshots = &r.live, &r.history, r.latest.Load, r.catalog.Load
	return api
}

// openLedger opens the ledger, unless ctx ends before; undo removes the file again if it was created here.
func openLedger(ctx context.Context, cfg *Config) (opened *operator.Opened, undo func() error, err error) {
	statErr := error(nil)
	if !ledgers.Shared(cfg.Place.Ledger) {
		_, statErr = os.Lstat(cfg.Place.Ledger)
	}
	opened, err = cfg.Place.Open(ctx, quota.Config{
		SignupsPerHour: cfg.SignupsPerHour, KeysPerEmail: cfg.KeysPerEmail, PlusTags: cfg.FoldPlusTags,
		OnError:     func(err error) { cfg.Log.Error("ledger", "cause", err) },
		OnRecovered: func(after time.Duration) { cfg.Log.Info("ledger works again", "after", after.String()) },
	}, quota.Options{})
	undo = func() error { return nil }
	if errors.Is(statErr, fs.ErrNotExist) && err == nil {
		undo = func() error { return os.Remove(cfg.Place.Ledger) }
	}
	return opened, undo, err
}

// serve listens and serves until ctx ends; served says whether it came to that.
func serve(ctx context.Context, cfg *Config, r *reloader, opened *operator.Opened) (served bool, err error) {
	hooks, err := startWebhooks(cfg, r, opened)
	if err != nil {
		return false, err
	}
	if hooks != nil {
		defer hooks.Close()
	}
	api := r.api()
	api.Keeper, api.Hooks = opened.Keeper, hooks
	server, err := httpapi.New(api)
	if err != nil {
		return false, err
	}
	ln, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return false, fmt.Errorf("listening: %w", err)
	}
	admin, err := listenAdmin(cfg)
	if err != nil {
		return false, errors.Join(err, ln.Close())
	}
	defer admin.serve(operator.Keys(opened.Keeper), opened.Ledger, server.Metrics())()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	fmt.Fprintf(cfg.Stdout, "modeldex serves http://%s (reference: http://%s/docs)\n", ln.Addr(), ln.Addr())
	cfg.Log.Info("serving", "addr", ln.Addr().String(), "data", cfg.Where)
	giveBack() // what the start needed
	select {
	case err := <-failed:
		return true, err
	case <-opened.Lost():
		cfg.Log.Error("stopping: the ledger was removed or replaced, so calls can no longer be counted", "ledger", cfg.Place.Ledger)
		err = fmt.Errorf("%s: %w", cfg.Place.Ledger, quota.ErrRemoved)
	case <-ctx.Done():
		cfg.Log.Info("stopping", "cause", context.Cause(ctx).Error())
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownWait)
	defer cancel()
	cut := server.Shutdown(ctx)
	_ = ln.Close() // closed by now, unless Serve was not asked before the stop
	if cut != nil {
		cfg.Log.Warn("responses that clients did not read in time were cut off", "cause", cut.Error())
		return true, err
	}
	return true, errors.Join(err, <-failed)
}

// startWebhooks starts the webhooks of a ledger; nil for a ledger that keeps none.
func startWebhooks(cfg *Config, r *reloader, opened *operator.Opened) (*webhook.Service, error) {
	ledger, ok := opened.Ledger.(*quota.Ledger)
	if !ok {
		cfg.Log.Info("webhooks are off: they need a ledger file")
		return nil, nil
	}
	store, err := hooks.Open(context.Background(), ledger)
	if err != nil {
		return nil, fmt.Errorf("reading webhooks: %w", err)
	}
	service, err := webhook.New(webhook.Config{
		Store:   store,
		Allowed: httpapi.HasWebhooks, Latest: r.latest.Load, Match: httpapi.MatchBenchmarks, Base: strings.TrimSuffix(cfg.BaseURL, "/"),
		Guard: &webhook.Guard{AllowLoopback: cfg.WebhooksToLoopback}, Version: cfg.Version, Log: cfg.Log, Now: time.Now,
	})
	if err == nil {
		r.hooks.Store(service)
		service.Published() // a generation may have come between
	}
	return service, err
}

func onHangup(do func()) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			do()
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}

// watcher is a *watch.Watcher, or a test's.
type watcher interface {
	Rescan()
	Close()
}

// watchFunc is watch.Watch, or a test's.
type watchFunc func(ctx context.Context, dir string, last *dataset.Set, opt watch.Options, take func(*dataset.Set, error)) watcher

func watchFiles(ctx context.Context, dir string, last *dataset.Set, opt watch.Options, take func(*dataset.Set, error)) watcher {
	return watch.Watch(ctx, dir, last, opt, take)
}
