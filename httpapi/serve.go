package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"modeldex/httpapi/cache"
	"modeldex/httpapi/connections"
	"modeldex/httpapi/export"
	"modeldex/httpapi/fairuse"
	"modeldex/httpapi/metrics"
	"modeldex/httpapi/pages"
	"modeldex/index"

	"github.com/gofiber/fiber/v2"
)

// New makes a server. It starts no goroutine but the cache's own.
func New(cfg Config) (*Server, error) {
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = 256 << 20
	}
	if cfg.Keeper == nil {
		cfg.Keeper = noKeys
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	const openShare = 4 // of the cache: keyless responses get a quarter
	kept, err := cache.New[*response](cfg.CacheBytes - cfg.CacheBytes/openShare)
	open, openErr := cache.New[*response](cfg.CacheBytes / openShare)
	if err := errors.Join(err, openErr); err != nil {
		return nil, fmt.Errorf("making the response cache: %w", err)
	}
	var prefix [5]byte
	_, _ = rand.Read(prefix[:]) // never fails, says its documentation
	s := &Server{cfg: cfg, responseCache: responseCache{kept, open}, idPrefix: hex.EncodeToString(prefix[:]) + "-", measured: map[*route]*metrics.Route{}}
	s.limit = connections.NewLimit(cfg.Connections, cfg.ConnectionsPerAddress)
	s.limit.Log, s.limit.Exempt, s.limit.Reject = cfg.Log, cfg.TrustedProxies.Contains, s.rejection
	start := time.Now()
	if cfg.Now != nil {
		start = cfg.Now()
	}
	s.trusted, s.baseURL, s.log = cfg.TrustedProxies, cfg.BaseURL, cfg.Log
	s.gate = gate{keeper: cfg.Keeper, callers: &s.callers, trial: fairuse.NewDaily(cfg.TrialPerDay), fairUse: fairuse.New(cfg.PagesPerMinute, cfg.PagesAtOnce, start)}
	s.metrics = metrics.New()
	s.countParts(s.metrics)
	for _, rt := range []*route{&preflight, &unknownEndpoint, &wrongMethod, &rejected} {
		s.measured[rt] = s.metrics.Route(rt.id)
	}
	for i := range routes {
		s.measured[&routes[i]] = s.metrics.Route(routes[i].id)
		if routes[i].access >= keyed {
			s.keyed = append(s.keyed, &routes[i])
		}
	}
	s.dumps.sources = func(gen *index.Generation) *export.Sources { return dumpSources(&s.cfg, gen) }
	s.dumps.log = cfg.Log
	s.dumps.ctx, s.dumps.end = context.WithCancel(context.Background())
	s.streams.Max, s.streams.PerKey = 16, 2
	s.pages = newPages(pages.Config{RepositoryURL: cfg.RepositoryURL, SupportEmail: cfg.SupportEmail})
	s.pages.documents["api"] = newEndpoints(routes)
	s.app = fiber.New(fiber.Config{
		AppName: "modeldex", CaseSensitive: true, StrictRouting: true, UnescapePath: true, DisableStartupMessage: true,
		// A request is small and must come at once. How long a response may take depends on its
		// size, see package connections.
		ReadTimeout: 5 * time.Second, IdleTimeout: 30 * time.Second,
		BodyLimit: maxBody, DisablePreParseMultipartForm: true, ReadBufferSize: connections.MaxHeaders,
		WriteBufferSize: 16 << 10,        // a compressed page leaves in one system call
		Concurrency:     2 * s.limit.Max, // never reached: the limit is kept where connections are accepted
		ErrorHandler:    s.onRouterError,
	})
	s.routes, s.started = routes, time.Now()
	for i := range routes {
		s.addRoute(&routes[i])
	}
	s.router = s.app.Handler()
	s.app.Server().Handler = s.handle
	s.app.Server().HeaderReceived = bodyLimits
	s.app.Server().ErrorHandler = s.onReadError
	return s, nil
}

// addRoute adds a route to the router. GET routes answer HEAD as well.
func (s *Server) addRoute(rt *route) {
	handler := func(c *fiber.Ctx) error {
		s.routed(c.Context(), c, rt, nil)
		return nil
	}
	s.app.Add(rt.method, rt.path, handler)
	if rt.method == fiber.MethodGet {
		s.app.Add(fiber.MethodHead, rt.path, handler)
	}
}

// Serve answers on ln until Shutdown; it returns nil after one, also where that came first. Who calls Shutdown closes ln
// behind it: it does not know of a Serve that only begins.
func (s *Server) Serve(ln net.Listener) error {
	if s.stopping.Load() {
		return ln.Close()
	}
	s.cfg.Log.Info("accepting connections", "limit", s.limit.Max, "per_address", s.limit.PerAddress)
	if few := s.limit.Few(); few != "" {
		s.cfg.Log.Warn(few, "limit", s.limit.Max)
	}
	if err := s.app.Listener(s.limit.Listen(ln)); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// ServeConn answers the requests of a connection that was accepted elsewhere, until its end. No limit
// of connections is kept. It returns nil where the caller ended it.
func (s *Server) ServeConn(c net.Conn) error { return s.app.Server().ServeConn(c) }

const (
	// drainTime is how long Shutdown answers requests that still come, at most.
	drainTime = 2 * time.Second
	// drainQuiet ends it sooner, after this time without a request.
	drainQuiet = 250 * time.Millisecond
)

// drain answers requests while they come, for a while. Each response ends its connection, and /readyz is 503, so that
// clients and balancers go elsewhere before connections are closed.
func (s *Server) drain(ctx context.Context) {
	s.stopping.Store(true)
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	for last, now := uint64(0), s.idCount.Load(); now != last && s.limit.Counts().Open > 0; last, now = now, s.idCount.Load() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(drainQuiet):
		}
	}
}

// Shutdown answers what comes for up to two seconds, stops listening, waits for requests under way until ctx ends,
// then frees the cache.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain(ctx)
	s.dumps.end()
	err := s.app.ShutdownWithContext(ctx)
	if err == nil {
		s.cache.Close() // with requests still under way they are left to the end of the process
		s.open.Close()
	}
	return err
}

// Metrics serves what Prometheus scrapes. It belongs on the admin listener.
func (s *Server) Metrics() http.Handler {
	return s.metrics.Handler()
}
