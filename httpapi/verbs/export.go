package verbs

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"modeldex/dataset/record"
	"modeldex/dataset/verbs"
	"modeldex/httpapi/service"
	"modeldex/httpapi/static"
	"modeldex/httpapi/static/progress"

	"golang.org/x/term"
)

// Export writes what the server answers as files.
type Export struct {
	Dir string `arg:"" help:"Directory to write: one that does not exist, is empty, or was written by export; it is replaced in one step."`
	verbs.Dataset
	verbs.Format
	BaseURL       string   `help:"Address the files will have, where links must be absolute: feeds, sitemaps, canonical links of pages." env:"MODELDEX_BASE_URL" placeholder:"URL" default:"http://localhost"`
	RepositoryURL string   `help:"Where the dataset files are kept, as for serve." env:"MODELDEX_REPOSITORY_URL" placeholder:"URL"`
	SupportEmail  string   `help:"Where callers report failures." env:"MODELDEX_SUPPORT_EMAIL" default:"support@localhost"`
	Pictures      []string `help:"Kinds of records whose pages get a picture for links on other sites, at 30 KB each: ${enum}." enum:"models,hardware,tools,benchmarks,all,none" default:"models,hardware,tools" placeholder:"KIND"`
	Compressed    []string `help:"Compressed forms to write beside a file, for hosts that send them: ${enum}." enum:"gz,br,zst,none" default:"gz,br,zst" placeholder:"FORM"`
	Concurrency   int      `help:"Responses made at a time; 0 is one per processor." placeholder:"N"`
	Progress      bool     `help:"Print a line on standard error every three seconds: what is written, of how much. Without it only if that is a terminal."`
}

// kindsOfPictures are the kinds of records that can have a picture.
var kindsOfPictures = []string{"models", "hardware", "tools", "benchmarks"}

// noPictures are the kinds that get no picture.
func (c *Export) noPictures() []string {
	if slices.Contains(c.Pictures, "all") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(kindsOfPictures), func(kind string) bool { return slices.Contains(c.Pictures, kind) })
}

// checkAlone checks that a value that says everything is the only one of a flag.
func checkAlone(flag string, values []string, alone ...string) error {
	for _, v := range alone {
		if len(values) > 1 && slices.Contains(values, v) {
			return fmt.Errorf("%s: %s must be the only value, got %q", flag, v, strings.Join(values, ","))
		}
	}
	return nil
}

// Validate checks the values of flags.
func (c *Export) Validate() error {
	return errors.Join(checkURL("--base-url", "https://models.example.org", c.BaseURL), checkURL("--repository-url", "https://github.com/owner/name", c.RepositoryURL), checkSupport(c.SupportEmail), checkAlone("--pictures", c.Pictures, "all", "none"), checkAlone("--compressed", c.Compressed, "none"), checkRange("--concurrency", int64(c.Concurrency), 0))
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
	loading, done := verbs.Progress()
	cfg, err := service.Fixed(service.Config{
		Files: src.Files, Dir: src.Dir, Schemas: schemas, BaseURL: c.BaseURL, SupportEmail: c.SupportEmail, RepositoryURL: c.RepositoryURL, Version: env.Version,
		Progress: loading, Log: slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	done()
	if err != nil {
		return err
	}
	cfg.NoPictures = c.noPictures()
	ctx, stop := verbs.UntilSignal()
	defer stop()
	if c.Concurrency == 0 {
		c.Concurrency = runtime.GOMAXPROCS(0)
	}
	var report func(progress.State)
	if c.Progress || term.IsTerminal(int(os.Stderr.Fd())) {
		report = progress.Lines(env.Stderr, time.Now)
	}
	sum, err := static.Export(ctx, static.Config{
		Server: cfg, Dir: c.Dir, Compressed: c.Compressed, Concurrency: c.Concurrency, Progress: report,
	})
	if err != nil {
		return verbs.CutShort(ctx, err, c.Dir)
	}
	if c.JSON() {
		return env.PrintJSON(sum)
	}
	fmt.Fprintf(env.Stdout, "%s: version %s: %s of %.1f MB, and %s of %.1f MB\n",
		c.Dir, sum.Version, record.Counted(sum.Files, "file"), float64(sum.Bytes)/1e6, record.Counted(sum.Compressed, "compressed form"), float64(sum.CompressedBytes)/1e6)
	return nil
}
