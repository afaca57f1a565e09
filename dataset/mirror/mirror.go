package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
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
	// Client speaks HTTP; nil means one with timeouts.
	Client *http.Client
}

// Bounds of what an origin may send.
const (
	maxList    = 1 << 20
	maxArchive = 1 << 30
	// The pause after the first failure; it doubles up to the longest.
	firstPause, longestPause = 5 * time.Second, 10 * time.Minute
	// The longest Retry-After that is believed.
	longestWait = time.Hour
)

// A Mirror follows one origin. Its methods are safe for concurrent use; Once and Follow are for one
// goroutine.
type Mirror struct {
	cfg    Config
	origin *url.URL
	place  place
	etag   string // of the list that led to what is there

	mu    sync.Mutex
	state State
}

// State is how far the mirror is behind its origin.
type State struct {
	// Contact is when the origin last answered well; zero before that.
	Contact time.Time
	// Failure is why it did not since; empty while it does.
	Failure string
}

// New checks the configuration and clears what an interrupted run left.
func New(cfg Config) (*Mirror, error) {
	origin, err := url.Parse(strings.TrimRight(cfg.Origin, "/"))
	if err != nil || origin.Scheme != "https" && origin.Scheme != "http" || origin.Host == "" || origin.User != nil || origin.RawQuery != "" {
		return nil, fmt.Errorf("%q: must be the http or https address of a service, without a user or parameters", cfg.Origin)
	}
	if cfg.Every == 0 {
		cfg.Every = time.Minute
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: 10 * time.Minute}
	}
	client := *cfg.Client
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.URL.Host != origin.Host || req.URL.Scheme != origin.Scheme || len(via) > 5 {
			return fmt.Errorf("redirect to %s is not followed: it leaves the origin", req.URL.Redacted())
		}
		return nil
	}
	cfg.Client = &client
	m := &Mirror{cfg: cfg, origin: origin, place: placeOf(cfg.Dir)}
	return m, m.place.prepare()
}

// State returns how far the mirror is behind.
func (m *Mirror) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Has reports whether a dataset was mirrored before.
func (m *Mirror) Has() bool { return m.place.current() != "" }

// Follow keeps the directory in step until ctx ends. It never gives up: after a failure it waits
// longer each time, and as long as the origin says in Retry-After.
func (m *Mirror) Follow(ctx context.Context) {
	pause := firstPause
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
			pause = firstPause
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
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.state = State{Contact: time.Now().UTC()}
	} else {
		m.state.Failure = err.Error()
	}
	return changed, err
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
	changed := m.place.current() != archive.SHA256
	if changed {
		if err := m.fetch(ctx, archive, found.Data.Digest); err != nil {
			return false, err
		}
	}
	m.etag = etag
	return changed, nil
}

// newest reads the list of dumps; nil means that it is the one read before.
func (m *Mirror) newest(ctx context.Context) (*list, string, error) {
	resp, err := m.get(ctx, m.origin.String()+"/api/v1/dumps", m.etag)
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
	if err := json.Unmarshal(b, &found); err != nil {
		return nil, "", fmt.Errorf("the list of dumps: %w", err)
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
	resp, err := m.cfg.Client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNotModified && etag != "" {
		return resp, nil
	}
	defer resp.Body.Close()
	if after := resp.Header.Get("Retry-After"); after != "" {
		if seconds, err := strconv.Atoi(after); err == nil && seconds >= 0 {
			return nil, &RetryError{min(time.Duration(seconds), longestWait/time.Second) * time.Second, resp.StatusCode}
		}
		if at, err := http.ParseTime(after); err == nil {
			return nil, &RetryError{max(0, time.Until(at)), resp.StatusCode}
		}
	}
	return nil, fmt.Errorf("%s answered %s", req.URL.Path, resp.Status)
}
