package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"runtime"
	"syscall"

	"modeldex/dataset/verbs"
	"modeldex/httpapi/service"
	"modeldex/httpapi/static"
)

// Export writes what the server answers as files.
type Export struct {
	Dir string `arg:"" help:"Directory to write: one that does not exist, is empty, or was written by export; it is replaced in one step."`
	verbs.Dataset
	verbs.Format
	BaseURL       string `help:"Address the files will have, for what must be absolute: feeds, sitemaps, links of pages to themselves." env:"MODELDEX_BASE_URL" placeholder:"URL" default:"http://localhost"`
	RepositoryURL string `help:"As of serve." env:"MODELDEX_REPOSITORY_URL" placeholder:"URL"`
	SupportEmail  string `help:"Where callers report failures." env:"MODELDEX_SUPPORT_EMAIL" default:"support@localhost"`
	Concurrency   int    `help:"Responses made at a time; 0 is one per processor."`
}

// Validate checks the values of flags.
func (c *Export) Validate() error {
	return errors.Join(checkURL("--base-url", "https://models.example.org", c.BaseURL), checkURL("--repository-url", "https://github.com/owner/name", c.RepositoryURL), checkSupport(c.SupportEmail), checkRange("--concurrency", int64(c.Concurrency), 0))
}

// Run exports, and prints counts and bytes.
func (c *Export) Run(env *verbs.Env) error {
	src, err := c.Find(env)
	if err != nil {
		return err
	}
	schemas, err := schemas(env.Shipped)
	if err != nil {
		return err
	}
	progress, done := verbs.Progress()
	cfg, err := service.Fixed(service.Config{
		Files: src.Files, Dir: src.Dir, Schemas: schemas, BaseURL: c.BaseURL, SupportEmail: c.SupportEmail, RepositoryURL: c.RepositoryURL, Version: env.Version,
		Progress: progress, Log: slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	done()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if c.Concurrency == 0 {
		c.Concurrency = runtime.GOMAXPROCS(0)
	}
	sum, err := static.Export(ctx, static.Config{Server: cfg, Dir: c.Dir, Concurrency: c.Concurrency})
	if err != nil {
		return err
	}
	if c.JSON() {
		return env.PrintJSON(sum)
	}
	fmt.Fprintf(env.Stdout, "%s: version %s: %d files of %.1f MB, and %d compressed forms of %.1f MB\n",
		c.Dir, sum.Version, sum.Files, float64(sum.Bytes)/1e6, sum.Compressed, float64(sum.CompressedBytes)/1e6)
	return nil
}
