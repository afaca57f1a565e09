package verbs

import (
	"context"
	"errors"
	"fmt"
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
	Process        service.Options `embed:""`
	API            httpapi.Options `embed:""`
	AdminSocket    string          `help:"Unix socket for administration, mode 0600; default the ledger's name with .sock." env:"MODELDEX_ADMIN_SOCKET" placeholder:"FILE"`
	CacheMB        int64           `name:"cache-mb" help:"Memory for cached responses, in MiB. GOMEMLIMIT limits the whole server." env:"MODELDEX_CACHE_MB" default:"256"`
	TrustedProxies []string        `help:"Addresses or networks of proxies whose X-Forwarded-For and Forwarded are trusted, separated by commas." env:"MODELDEX_TRUSTED_PROXIES" placeholder:"CIDR"`
	CheckConfig    bool            `help:"Check flags, dataset and ledger, print the result and exit. A running server is not affected."`
	LogFormat      string          `help:"text or json; default text on a terminal, json otherwise." env:"MODELDEX_LOG_FORMAT" enum:"text,json," default:""`
	LogLevel       string          `help:"debug (every request), info, warn or error." env:"MODELDEX_LOG_LEVEL" enum:"debug,info,warn,error" default:"info"`

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
		fmt.Fprintf(env.Stdout, "ledger: %s, %s\naddress: %s\nthe configuration is valid\n", ledger, state, c.Process.Addr)
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
			Options: c.API, Files: src.Files, CacheBytes: c.CacheMB << 20, TrustedProxies: c.trusted, Schemas: schemas, Version: env.Version, Log: log,
		},
		Options: c.Process, Dir: src.Dir, Where: src.Where, Place: place, Stdout: env.Stdout,
	}, nil
}

func (c *Serve) logger(env *verbs.Env) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // one of the enum above
	opt := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "text" || c.LogFormat == "" && term.IsTerminal(int(os.Stderr.Fd())) {
		return slog.New(slog.NewTextHandler(env.Stderr, opt))
	}
	return slog.New(slog.NewJSONHandler(env.Stderr, opt))
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
