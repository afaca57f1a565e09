package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"

	"modeldex/dataset/record"
	"modeldex/dataset/verbs"
	"modeldex/httpapi"
	"modeldex/httpapi/operator"
	"modeldex/httpapi/proxies"
	"modeldex/httpapi/service"
	"modeldex/quota"
	"modeldex/quota/ledgers"
	"modeldex/snapshot"

	"golang.org/x/term"
)

// Serve serves the API.
type Serve struct {
	verbs.Dataset
	Ledger
	Addr            string   `help:"Address to listen on; port 0 picks one." env:"MODELDEX_ADDR" default:"127.0.0.1:8080"`
	AdminSocket     string   `help:"Unix socket for administration, mode 0600; default the ledger's name with .sock." env:"MODELDEX_ADMIN_SOCKET" placeholder:"FILE"`
	AdminAddr       string   `help:"Address for metrics and administration over TCP; off by default. Requests need the admin token." env:"MODELDEX_ADMIN_ADDR" placeholder:"HOST:PORT"`
	AdminTokenFile  string   `help:"File with the token for --admin-addr; default the ledger's name with .token. It is created if it does not exist. MODELDEX_ADMIN_TOKEN takes precedence." env:"MODELDEX_ADMIN_TOKEN_FILE" placeholder:"FILE"`
	AdminToken      string   `hidden:"" help:"The token itself, for the environment only: other users can see flags in the process list." env:"MODELDEX_ADMIN_TOKEN"`
	BaseURL         string   `help:"Public address of the service; default taken from each request." env:"MODELDEX_BASE_URL" placeholder:"URL"`
	SupportEmail    string   `help:"E-mail address for callers to report problems to." env:"MODELDEX_SUPPORT_EMAIL" default:"support@localhost"`
	RepositoryURL   string   `help:"Where the dataset files are kept, such as https://github.com/owner/name; append /tree/BRANCH/FOLDER for a branch other than main and a folder other than data. The page /contribute then links to it." env:"MODELDEX_REPOSITORY_URL" placeholder:"URL"`
	MaxConnections  int      `help:"Connections that may be open at once; 0 means 16384, or fewer if the limit on open files is lower." env:"MODELDEX_MAX_CONNECTIONS" default:"0"`
	MaxConnsPerAddr int      `name:"max-connections-per-address" help:"Connections per client address; 0 means a quarter of --max-connections." env:"MODELDEX_MAX_CONNECTIONS_PER_ADDRESS" default:"0"`
	CacheMB         int64    `name:"cache-mb" help:"Memory for cached responses, in MiB. GOMEMLIMIT limits the whole server." env:"MODELDEX_CACHE_MB" default:"256"`
	Dumps           string   `help:"Who may download the whole dataset as files: open, keyed (keys above the free tier) or off." env:"MODELDEX_DUMPS" enum:"off,keyed,open" default:"open"`
	TrustedProxies  []string `help:"Addresses or networks of proxies whose X-Forwarded-For and Forwarded are trusted, separated by commas." env:"MODELDEX_TRUSTED_PROXIES" placeholder:"CIDR"`
	SignupsPerHour  int      `help:"Keys that one address may create per hour; 0 means no limit. Direct requests from this machine are exempt." env:"MODELDEX_SIGNUPS_PER_HOUR" default:"5"`
	PagesPerMinute  int      `help:"Pages, charts and large documents that one address may request per minute without a key; 0 means no limit. Direct requests from this machine are exempt." env:"MODELDEX_PAGES_PER_MINUTE" default:"120"`
	PagesAtOnce     int      `help:"Pages, charts and large documents that one address may request at once without a key." env:"MODELDEX_PAGES_AT_ONCE" default:"240"`
	TrialPerDay     int      `name:"trial-calls" help:"Calls to fit, resolve and ask that one address may make per day without a key; 0 means none." env:"MODELDEX_TRIAL_CALLS" default:"30"`
	KeysPerEmail    int      `help:"Active keys that one e-mail address may have; 0 means no limit." env:"MODELDEX_KEYS_PER_EMAIL" default:"5"`
	FoldPlusTags    bool     `help:"Count name+tag@example.com as name@example.com." env:"MODELDEX_FOLD_PLUS_TAGS"`
	HooksToLoopback bool     `name:"webhooks-to-loopback" help:"Allow webhooks with http and https URLs on this machine, for trying them out; never use this on a public server." env:"MODELDEX_WEBHOOKS_TO_LOOPBACK"`
	CheckConfig     bool     `help:"Check flags, dataset and ledger, report the result and exit. A running server is not affected."`
	LogFormat       string   `help:"text or json; default text on a terminal, json otherwise." env:"MODELDEX_LOG_FORMAT" enum:"text,json," default:""`
	LogLevel        string   `help:"debug (every request), info, warn or error." env:"MODELDEX_LOG_LEVEL" enum:"debug,info,warn,error" default:"info"`

	trusted proxies.Trusted // of TrustedProxies, by Validate
}

// Run serves until SIGTERM or SIGINT.
func (c *Serve) Run(env *verbs.Env) error {
	cfg, err := c.config(env)
	if err != nil {
		return err
	}
	if c.CheckConfig {
		return c.check(env, &cfg)
	}
	update, end := verbs.Progress("loading")
	defer end()
	cfg.Progress = func(read, total int64) {
		if update(read, total); read == total {
			end()
		}
	}
	return service.Run(context.Background(), cfg)
}

func (c *Serve) check(env *verbs.Env, cfg *service.Config) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "dataset: %s, version %s, released %s\n", cfg.Where, set.Info.Version, set.Info.Released)
	ledger, state := cfg.Place.Address(), "will be created"
	if _, missing := os.Lstat(ledger); errors.Is(missing, fs.ErrNotExist) && !ledgers.Shared(ledger) {
		err = verbs.CheckDirectory(filepath.Dir(ledger))
	} else {
		err = cfg.Place.With(context.Background(), quota.Options{MustExist: true}, func(ctx context.Context, keys operator.Keys) error {
			list, err := keys.List(ctx, quota.Filter{}, 0)
			state = record.Counted(len(list), "key")
			return err
		})
	}
	if err == nil {
		fmt.Fprintf(env.Stdout, "ledger: %s, %s\naddress: %s\nthe configuration is fine\n", ledger, state, cfg.Addr)
	}
	return err
}

func (c *Serve) config(env *verbs.Env) (cfg service.Config, err error) {
	src, err := c.Find(env)
	if err != nil {
		return cfg, err
	}
	schemas, err := schemas(env.Shipped)
	if err != nil {
		return cfg, err
	}
	place := c.place()
	place.Socket = c.AdminSocket
	log := c.logger(env)
	c.warnIgnored(log)
	return service.Config{
		Config: httpapi.Config{
			Files: src.Files, BaseURL: c.BaseURL, SupportEmail: c.SupportEmail, RepositoryURL: c.RepositoryURL, Dumps: httpapi.DumpMode(c.Dumps),
			CacheBytes: c.CacheMB << 20, Connections: c.MaxConnections, ConnectionsPerAddress: c.MaxConnsPerAddr,
			PagesPerMinute: c.PagesPerMinute, PagesAtOnce: c.PagesAtOnce, TrialPerDay: c.TrialPerDay,
			TrustedProxies: c.trusted, Schemas: schemas, Version: env.Version, Log: log,
		},
		Dir: src.Dir, Where: src.Where, Place: place, SignupsPerHour: c.SignupsPerHour, KeysPerEmail: c.KeysPerEmail, PlusTags: c.FoldPlusTags,
		Addr: c.Addr, AdminAddr: c.AdminAddr, AdminToken: c.AdminToken, AdminTokenFile: c.AdminTokenFile,
		WebhooksToLoopback: c.HooksToLoopback, Stdout: env.Stdout,
	}, nil
}

func (c *Serve) logger(env *verbs.Env) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // one of the enum above
	opt := &slog.HandlerOptions{Level: level}
	text := c.LogFormat == "text" || c.LogFormat == "" && term.IsTerminal(int(os.Stderr.Fd()))
	return service.NewLog(env.Stderr, func(w io.Writer) slog.Handler {
		if text {
			return slog.NewTextHandler(w, opt)
		}
		return slog.NewJSONHandler(w, opt)
	})
}

func schemas(shipped fs.FS) (map[string][]byte, error) {
	out := map[string][]byte{path.Base(snapshot.SchemaPath): snapshot.Schema()}
	names, err := fs.Glob(shipped, "schemas/*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := fs.ReadFile(shipped, name)
		if err != nil {
			return nil, fmt.Errorf("reading a schema of this build: %w", err)
		}
		out[path.Base(name)] = b
	}
	return out, nil
}
