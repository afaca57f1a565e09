package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"modeldex/dataset"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Config says what to mirror and where to.
type Config struct {
	// Origin is the address of the service, without a path of the API.
	Origin string
	// Dir is the dataset directory. It must not exist yet, or be one a mirror made.
	Dir string
	// Key is the API key for origins that ask for one; empty for none.
	Key string
	// Every is how often the origin is asked; zero means a minute.
	Every time.Duration
	// Log takes what happens; nil drops it.
	Log *slog.Logger
	// Client speaks HTTP; nil means http.DefaultTransport. Requests end by themselves where the
	// origin sends nothing for a while.
	Client *http.Client
	// Last, if set, is the set being served: a new one shares with it what did not change.
	Last func() *dataset.Set
	// BeforeLoad is called before an archive is loaded, Replaced after the directory was replaced;
	// nil for neither.
	BeforeLoad, Replaced func()
}

// Bounds of what an origin may send.
const (
	maxList    = 1 << 20
	maxArchive = 1 << 30
	// The pause after the first failure; it doubles up to the longest.
	firstPause, longestPause = 5 * time.Second, 10 * time.Minute
	// The longest Retry-After that is believed.
	longestWait = time.Hour
	// An origin must send pace bytes, or the end of its response, in each time of paceTime, which a modem does in 10 s.
	// One byte now and then would keep a mirror waiting, and saying that it is in step, for years.
	pace     = 64 << 10
	paceTime = 30 * time.Second
)

// A Mirror follows one origin. State is safe for concurrent use; the other methods are for one
// goroutine.
type Mirror struct {
	cfg    Config
	origin *url.URL
	place  place
	lock   *os.File
	etag   string // of the list that led to what is there
	again  bool   // the archive is loaded although it is the one that is there

	paceTime time.Duration // the constant, or a test's

	state atomic.Pointer[State]
}

// State is how the directory compares with its origin at a moment. It is not written to.
type State struct {
	// Origin is the address of the service.
	Origin string
	// Contact is when the origin last said that the directory is in step, in this process or one
	// before it; zero where that is not known.
	Contact time.Time
	// Since is when the first check failed after that; zero while the checks succeed.
	Since time.Time
	// Cause is why the last check failed, without addresses and paths: it may be shown to strangers.
	Cause string
}

// Stale reports whether the directory may be behind its origin, because that cannot be asked.
func (s *State) Stale() bool { return !s.Since.IsZero() }

// ParseOrigin checks the address of a service.
func ParseOrigin(text string) (*url.URL, error) {
	origin, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || origin.Scheme != "https" && origin.Scheme != "http" || origin.Host == "" || origin.User != nil || origin.RawQuery != "" {
		return nil, fmt.Errorf("%q: must be the http or https address of a service, without a user or parameters", text)
	}
	return origin, nil
}

// New checks the configuration, takes the directory for this process and clears what an interrupted
// run left.
func New(cfg Config) (*Mirror, error) {
	origin, err := ParseOrigin(cfg.Origin)
	if err != nil {
		return nil, err
	}
	if cfg.Every == 0 {
		cfg.Every = time.Minute
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{}
	}
	client := *cfg.Client
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		to := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path} // a query may have secrets of a login
		switch {
		case to.Host != origin.Host || to.Scheme != origin.Scheme:
			return &redirectError{to.String(), "it leaves the origin"}
		case len(via) > 5:
			return &redirectError{to.String(), "there were five before it"}
		}
		return nil
	}
	cfg.Client = &client
	m := &Mirror{cfg: cfg, origin: origin, place: placeOf(cfg.Dir), paceTime: paceTime}
	if m.lock, err = m.place.prepare(); err != nil {
		return nil, err
	}
	m.state.Store(&State{Origin: origin.String(), Contact: m.place.checked()})
	return m, nil
}

// Close lets another process have the directory, and removes the folder of a mirror that never got a dataset. Nothing else
// of the mirror may be called after it.
func (m *Mirror) Close() error {
	m.place.leave()
	return m.lock.Close()
}

// State returns how the directory compares with the origin.
func (m *Mirror) State() *State { return m.state.Load() }

// Has reports whether a dataset was mirrored before.
func (m *Mirror) Has() bool { return m.place.current() != "" }

// Refetch makes the next check load the archive again: what is there is damaged.
func (m *Mirror) Refetch() { m.again, m.etag = true, "" }

// Follow keeps the directory in step until ctx ends. It never gives up: after a failure it waits
// longer each time, and as long as the origin says in Retry-After.
func (m *Mirror) Follow(ctx context.Context) {
	first := min(firstPause, m.cfg.Every)
	pause := first
	for ctx.Err() == nil {
		changed, err := m.Once(ctx)
		wait := m.cfg.Every
		var later *RetryError
		switch {
		case ctx.Err() != nil:
			return
		case errors.As(err, &later):
			wait = min(max(later.After, time.Second), longestWait)
			m.cfg.Log.Warn("mirror: the origin asks to wait", "seconds", int(wait.Seconds()), "cause", err)
		case err != nil:
			wait, pause = pause, min(2*pause, longestPause)
			m.cfg.Log.Warn("mirror: nothing changed", "retry_seconds", int(wait.Seconds()), "cause", err)
		case changed:
			m.cfg.Log.Info("mirror: dataset replaced", "dir", m.cfg.Dir)
		}
		if err == nil {
			pause = first
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait + rand.N(wait/5+1)): // so that mirrors do not come all at once
		}
	}
}

// RetryError is an origin that is busy and says when to come again.
type RetryError struct {
	After  time.Duration
	Status int
}

// Error says what the origin answered.
func (e *RetryError) Error() string {
	return fmt.Sprintf("the origin answered %d: try again in %s", e.Status, e.After)
}

// Once asks the origin and brings the directory in step; changed says whether it was replaced.
func (m *Mirror) Once(ctx context.Context) (changed bool, err error) {
	changed, err = m.once(ctx)
	next := *m.State()
	switch {
	case err == nil:
		next.Contact, next.Since, next.Cause = time.Now().UTC(), time.Time{}, ""
		m.place.check(next.Contact)
	case ctx.Err() != nil:
		return changed, err // the process ends: that says nothing of the origin
	default:
		next.Cause = causeOf(err)
		if next.Since.IsZero() {
			next.Since = time.Now().UTC()
		}
	}
	m.state.Store(&next)
	if changed && m.cfg.Replaced != nil {
		m.cfg.Replaced()
	}
	return changed, err
}

// statusError is an answer of the origin that helps nothing.
type statusError struct {
	address, status string
}

func (e *statusError) Error() string {
	text := e.address + ": answered " + e.status
	if strings.HasPrefix(e.status, "404") && strings.HasSuffix(e.address, listPath) {
		text += "; the address is wrong, or that service offers no dumps (--dumps=off)"
	}
	if strings.HasPrefix(e.status, "401") || strings.HasPrefix(e.status, "403") {
		text += ": the key of the origin (--origin-key-file or MODELDEX_ORIGIN_KEY, read at the start) is missing, or not accepted"
	}
	return text
}

// redirectError is a redirect that is not followed.
type redirectError struct{ to, why string }

func (e *redirectError) Error() string { return "redirect to " + e.to + " is not followed: " + e.why }

// causeOf says why a check failed in words that may be shown to strangers.
func causeOf(err error) string {
	var later *RetryError
	var status *statusError
	var redirect *redirectError
	var network *url.Error
	var file *fs.PathError
	var link *os.LinkError
	var stream net.Error
	switch {
	case errors.As(err, &later):
		return fmt.Sprintf("the origin answered %d and asks to wait", later.Status)
	case errors.As(err, &status):
		return "the origin answered " + status.status
	case errors.As(err, &file):
		return "the copy cannot be written: " + file.Err.Error()
	case errors.As(err, &link):
		return "the copy cannot be written: " + link.Err.Error()
	case errors.As(err, &redirect):
		return "the origin redirects, and that is not followed"
	case errors.Is(err, errSlow):
		return "the origin sends nothing, or too slowly"
	case errors.As(err, &network), errors.As(err, &stream), errors.Is(err, io.ErrUnexpectedEOF):
		return "the origin cannot be reached, or the connection broke"
	default:
		return "what the origin sent was rejected"
	}
}

// list is what is read of the list of dumps.
type list struct {
	Data struct {
		Digest string `json:"digest"`
		Files  []file `json:"files"`
	} `json:"data"`
}

type file struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// listPath is where a service lists its dumps.
const listPath = "/api/v1/dumps"

// archiveName is the dump that holds the files of the dataset.
const archiveName = "dataset.tar.zst"

func (m *Mirror) once(ctx context.Context) (bool, error) {
	found, etag, err := m.newest(ctx)
	if err != nil || found == nil {
		return false, err
	}
	archive, err := found.archive()
	if err != nil {
		return false, err
	}
	changed := m.again || m.place.current() != archive.SHA256
	if changed {
		if err := m.fetch(ctx, archive, found.Data.Digest); err != nil {
			return false, err
		}
	}
	m.etag, m.again = etag, false
	return changed, nil
}

// newest reads the list of dumps; nil means that it is the one read before.
func (m *Mirror) newest(ctx context.Context) (*list, string, error) {
	resp, err := m.get(ctx, m.origin.String()+listPath, m.etag)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified {
		return nil, "", nil
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxList+1))
	if err != nil {
		return nil, "", fmt.Errorf("reading the list of dumps: %w", err)
	}
	var found list
	if len(b) > maxList {
		return nil, "", fmt.Errorf("the list of dumps has more than %d bytes", maxList)
	}
	if err := jsonv2.Unmarshal(b, &found); err != nil {
		return nil, "", fmt.Errorf("%s: answered no list of dumps, but %s (is it the address of a modeldex service?): %w", m.origin.String()+listPath, cmp.Or(resp.Header.Get("Content-Type"), "something else"), err)
	}
	return &found, resp.Header.Get("ETag"), nil
}

func (l *list) archive() (file, error) {
	for _, f := range l.Data.Files {
		if f.Name != archiveName {
			continue
		}
		if len(f.SHA256) != 64 || strings.Trim(f.SHA256, "0123456789abcdef") != "" {
			return f, fmt.Errorf("the list of dumps: %s has no SHA-256", archiveName)
		}
		if f.Bytes <= 0 || f.Bytes > maxArchive {
			return f, fmt.Errorf("the list of dumps: %s must have 1 to %d bytes, has %d", archiveName, int64(maxArchive), f.Bytes)
		}
		return f, nil
	}
	return file{}, fmt.Errorf("the list of dumps has no %s", archiveName)
}

// get asks the origin. Answers other than 200 and 304 are errors.
func (m *Mirror) get(ctx context.Context, address, etag string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	if m.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.cfg.Key)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	slow := time.AfterFunc(m.paceTime, func() { cancel(errSlow) })
	resp, err := m.cfg.Client.Do(req.WithContext(ctx))
	if err != nil {
		slow.Stop()
		cancel(nil)
		if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
			err = cause
		}
		var redirect *redirectError
		if errors.As(err, &redirect) {
			err = redirect // alone: the error around it repeats the address with its query
		}
		return nil, err
	}
	slow.Reset(m.paceTime)
	resp.Body = &watchedBody{ReadCloser: resp.Body, ctx: ctx, slow: slow, time: m.paceTime, cancel: cancel}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNotModified && etag != "" {
		return resp, nil
	}
	defer resp.Body.Close()
	if after := resp.Header.Get("Retry-After"); after != "" {
		if seconds, err := strconv.Atoi(after); err == nil && seconds >= 0 {
			return nil, &RetryError{min(time.Duration(seconds), longestWait/time.Second) * time.Second, resp.StatusCode}
		}
		if at, err := http.ParseTime(after); err == nil {
			return nil, &RetryError{min(max(0, time.Until(at)), longestWait).Round(time.Second), resp.StatusCode}
		}
	}
	return nil, &statusError{(&url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}).String(), resp.Status}
}

var errSlow = fmt.Errorf("the origin sent less than %d bytes in %s", pace, paceTime)

// watchedBody ends a response whose sender is silent or very slow. A bound on the whole response would be too
// short for a large archive on a slow line, or too long for a list.
type watchedBody struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request that the body belongs to
	slow   *time.Timer
	time   time.Duration // until slow ends the response
	got    int           // bytes since it was set
	cancel context.CancelCauseFunc
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.got += n; b.got >= pace {
		b.got = 0
		b.slow.Reset(b.time)
	}
	if cause := context.Cause(b.ctx); err != nil && errors.Is(cause, errSlow) {
		err = cause
	}
	return n, err
}

// Close implements io.Closer.
func (b *watchedBody) Close() error {
	b.slow.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
