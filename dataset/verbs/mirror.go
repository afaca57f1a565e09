package verbs

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/mirror"
)

// Origin is the flags of the key for an origin that asks for one.
type Origin struct {
	OriginKeyFile string `help:"File with the API key for the origin, if its dumps need one; MODELDEX_ORIGIN_KEY is used instead of it." env:"MODELDEX_ORIGIN_KEY_FILE" placeholder:"FILE"`
	OriginKey     string `hidden:"" help:"The key itself, for the environment only: others can read flags in the list of processes." env:"MODELDEX_ORIGIN_KEY"`
}

// ReadKey returns the key, empty for none.
func (o Origin) ReadKey() (string, error) {
	if o.OriginKey != "" || o.OriginKeyFile == "" {
		return o.OriginKey, nil
	}
	b, err := readRegular(o.OriginKeyFile)
	key := strings.TrimSpace(string(b))
	if err == nil && key == "" {
		err = errors.New("has no key")
	}
	if err != nil {
		return "", FileError(o.OriginKeyFile, err)
	}
	return key, nil
}

// readRegular reads a regular file as those of a dataset are read, which never waits; links are followed anywhere.
func readRegular(file string) ([]byte, error) {
	file, err := filepath.EvalSymlinks(file)
	var b []byte
	if err == nil {
		b, err = fs.ReadFile(dataset.Dir(filepath.Dir(file)), filepath.Base(file))
	}
	return b, err
}

// Mirror keeps a dataset directory in step with another service.
type Mirror struct {
	URL   string        `arg:"" help:"Address of the service to mirror, such as https://example.org."`
	Data  string        `help:"Dataset directory to keep in step: one that does not exist yet, or one a mirror made. It becomes a symbolic link." env:"MODELDEX_DATA" default:"data" placeholder:"DIR"`
	Every time.Duration `help:"How often to ask." default:"1m"`
	Once  bool          `help:"Bring the directory in step once and end."`
	Origin
}

// Validate checks the address and the flags, before anything is made.
func (c *Mirror) Validate() error {
	var errs []error
	if _, err := mirror.ParseOrigin(c.URL); err != nil && c.URL != "" { // the parser reports a missing one
		errs = append(errs, err)
	}
	if c.Every < time.Second {
		errs = append(errs, fmt.Errorf("--every: must be at least 1s, got %s", c.Every))
	}
	if _, err := c.ReadKey(); err != nil {
		errs = append(errs, fmt.Errorf("--origin-key-file: %w", err))
	}
	return errors.Join(errs...)
}

// Run follows the origin until SIGTERM or SIGINT, or asks it once.
func (c *Mirror) Run(env *Env) error {
	key, err := c.ReadKey()
	if err != nil {
		return err
	}
	m, err := mirror.New(mirror.Config{Origin: c.URL, Dir: c.Data, Key: key, Every: c.Every, Log: slog.New(slog.NewTextHandler(env.Stderr, nil))})
	if err != nil {
		return err
	}
	defer m.Close()
	ctx, stop := UntilSignal()
	defer stop()
	if !c.Once {
		m.Follow(ctx)
		return nil
	}
	changed, err := m.Once(ctx)
	if err != nil {
		return CutShort(ctx, err, c.Data)
	}
	word := "is up to date"
	if changed {
		word = "was replaced"
	}
	fmt.Fprintf(env.Stdout, "%s %s\n", c.Data, word)
	return nil
}
