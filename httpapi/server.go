package httpapi

import (
	"context"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"modeldex/httpapi/changes"
	"modeldex/httpapi/connections"
	"modeldex/httpapi/metrics"
	"modeldex/httpapi/proxies"
	"modeldex/httpapi/webhook"
	"modeldex/index"
	"modeldex/quota"
	"modeldex/snapshot"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// keeper is what the API needs of the keys and their quota; *quota.Keeper is one.
type keeper interface {
	Admit(d quota.Digest) quota.Call
	AdmitFree(d quota.Digest) quota.Call
	Issue(ctx context.Context, req quota.IssueRequest) (quota.IssuedKey, quota.Refusal, error)
	Self(ctx context.Context, d quota.Digest) (quota.Account, quota.Verdict, error)
	Rotate(ctx context.Context, d quota.Digest, grace time.Duration) (quota.IssuedKey, quota.Verdict, error)
	RevokeSelf(ctx context.Context, d quota.Digest) (quota.Account, quota.Verdict, error)
	Usage(ctx context.Context, id quota.ID) ([]quota.MonthCalls, error)
	Ready(ctx context.Context) error
	Stats() quota.Stats
	KeyPrefix() string
	Warnings() []string
	Tiers() quota.Tiers
	CheckCurrent(d quota.Digest) quota.Verdict
}

// DumpMode says who may have the dumps.
type DumpMode string

// The modes. The zero value is that of a server without dumps.
const (
	DumpsOff   DumpMode = "off"
	DumpsKeyed DumpMode = "keyed" // keys of a tier above the free one
	DumpsOpen  DumpMode = "open"  // anyone
)

// Config is what a Server needs. Fields without a default must be set.
type Config struct {
	Live *index.Live
	// Keeper is nil for a server that one user runs for himself: nothing asks for a key and nothing is counted.
	Keeper keeper
	// History knows of rejected loads and of changes between generations; nil knows of none.
	History *changes.History
	// Records gives the records being served and the generation that was made of them, which the page
	// for contributions compares with; nil answers that nothing is loaded.
	Records func() *webhook.Dataset
	// Hooks keeps webhooks; nil answers that the server has none.
	Hooks *webhook.Service
	// Snapshots gives the published snapshot documents; nil, or a nil catalog, publishes none.
	Snapshots func() *snapshot.Catalog
	// Schemas are JSON Schemas by file name, served under /api/v1/schemas.
	Schemas map[string][]byte
	// BaseURL is put before the addresses of error pages; empty takes scheme and host of the request.
	BaseURL string
	// RepositoryURL is where the files of the dataset are kept, for readers who propose lines; empty:
	// unknown.
	RepositoryURL string
	// SupportEmail is shown with errors of our own.
	SupportEmail string
	// CacheBytes bounds the bodies kept for reuse; zero means 256 MiB.
	CacheBytes int64
	// TrustedProxies are the peers whose Forwarded, X-Forwarded-For and -Proto are believed.
	TrustedProxies proxies.Trusted
	// Connections is how many connections are open at a time. Zero means 16,384, or as many as the
	// process may have file descriptors for, less a reserve; that bound holds for other values too.
	Connections int
	// ConnectionsPerAddress is how many of them one address may have, an IPv6 network of 64 bits
	// counting as one; zero means a quarter. Trusted proxies are exempt.
	ConnectionsPerAddress int
	// PagesPerMinute is how many pages, charts and large documents one address may ask for per minute
	// without a key, and PagesAtOnce how many of them at once. An IPv6 network of 64 bits counts as one
	// address. Zero pages per minute is unlimited.
	PagesPerMinute, PagesAtOnce int
	// TrialPerDay is how many calls of fit, resolve and ask one address may make a day without a key. Zero is none.
	TrialPerDay int
	// Version is the program's, shown in OpenAPI and metrics.
	Version string
	// Log takes failures and, at debug level, every request. Nil drops them.
	Log *slog.Logger
	// Worked, if set, is called after work in the background that took much memory for a while.
	Worked func()
	// Dumps says who may have the dumps; the zero value is DumpsOff.
	Dumps DumpMode
	// Files are the files of the dataset, for the dumps.
	Files fs.FS
	// Now is the clock of Retry-After and RateLimit; nil means the time a request was read.
	Now func() time.Time
}

// Server answers the public API. It is made by New, serves until Shutdown and is not reused.
type Server struct {
	callers
	gate
	responseCache
	listening
	dumps  dumper
	agents agents

	cfg      Config
	app      *fiber.App
	router   fasthttp.RequestHandler // fiber's: it finds the route of a request and calls serve
	limit    *connections.Limit
	metrics  *metrics.Registry
	measured map[*route]*metrics.Route
	streams  connections.Streams
	pages    *pageSet
	routes   []route // the table of routes
	started  time.Time
	// idPrefix and idCount make request ids, see appendRequestID.
	idPrefix string
	idCount  atomic.Uint64

	unready  atomic.Bool // /readyz said last that the ledger does not answer
	stopping atomic.Bool // Shutdown was called: /readyz is 503, and responses close their connections
}
