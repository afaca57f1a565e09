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

// Options are what an operator decides about a Server, with the tags of flags; their help says what they mean. An IPv6
// network of 64 bits counts as one address.
type Options struct {
	BaseURL               string   `help:"Public address of the service; default taken from each request." env:"MODELDEX_BASE_URL" placeholder:"URL"`
	SupportEmail          string   `help:"E-mail address for problem reports." env:"MODELDEX_SUPPORT_EMAIL" default:"support@localhost"`
	RepositoryURL         string   `help:"Repository of the dataset, such as https://github.com/owner/name; append /tree/BRANCH/FOLDER if the branch is not main or the folder is not data. The /contribute page links to it." env:"MODELDEX_REPOSITORY_URL" placeholder:"URL"`
	Connections           int      `name:"max-connections" help:"Maximum number of open connections; 0 means 16384, or fewer if the open file limit is lower." env:"MODELDEX_MAX_CONNECTIONS" default:"0"`
	ConnectionsPerAddress int      `name:"max-connections-per-address" help:"Maximum number of connections per client address; 0 means a quarter of --max-connections." env:"MODELDEX_MAX_CONNECTIONS_PER_ADDRESS" default:"0"`
	Dumps                 DumpMode `help:"Who can download the whole dataset as files: open (everyone), keyed (keys above the free tier) or off." env:"MODELDEX_DUMPS" enum:"off,keyed,open" default:"open"`
	PagesPerMinute        int      `help:"Pages, charts and large documents that one address can request per minute without a key; 0 means no limit. Direct requests from this machine are exempt." env:"MODELDEX_PAGES_PER_MINUTE" default:"120"`
	PagesAtOnce           int      `help:"Pages, charts and large documents that one address can request in one burst without a key." env:"MODELDEX_PAGES_AT_ONCE" default:"240"`
	TrialPerDay           int      `name:"trial-calls" help:"Calls to fit, resolve and ask that one address can make per day without a key; 0 means none." env:"MODELDEX_TRIAL_CALLS" default:"30"`
}

// Config is what a Server needs. Fields without a default must be set.
type Config struct {
	Options
	Live *index.Live
	// Keeper is nil for a private server, which needs no keys and counts no calls.
	Keeper keeper
	// History knows of rejected loads and of changes between generations; nil knows of none.
	History *changes.History
	// Records returns the records being served and their generation, for the contribution page; nil means that none are
	// loaded.
	Records func() *webhook.Dataset
	// Hooks keeps webhooks; nil answers that the server has none.
	Hooks *webhook.Service
	// Snapshots gives the published snapshot documents; nil, or a nil catalog, publishes none.
	Snapshots func() *snapshot.Catalog
	// Schemas are JSON Schemas by file name, served under /api/v1/schemas.
	Schemas map[string][]byte
	// CacheBytes bounds the bodies kept for reuse; zero means 256 MiB.
	CacheBytes int64
	// TrustedProxies are the peers whose Forwarded, X-Forwarded-For and -Proto are believed.
	TrustedProxies proxies.Trusted
	// Version is the program's, shown in OpenAPI and metrics.
	Version string
	// Log takes failures and, at debug level, every request. Nil drops them.
	Log *slog.Logger
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
	// idPrefix and idCount make request ids, see requestID.
	idPrefix string
	idCount  atomic.Uint64

	unready  atomic.Bool // /readyz said last that the ledger does not answer
	stopping atomic.Bool // Shutdown was called: /readyz is 503, and responses close their connections
}
