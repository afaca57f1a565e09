package verbs

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"modeldex/dataset/verbs"
	"modeldex/httpapi"
	"modeldex/httpapi/service"
)

// MCP answers one agent over standard input and output.
type MCP struct {
	verbs.Dataset
	BaseURL string `help:"Address of a server; answers link to its pages." env:"MODELDEX_BASE_URL" placeholder:"URL" default:"modeldex://local"`
}

// Run answers until standard input ends. It needs no key, writes no file and sends nothing over the network.
func (c *MCP) Run(env *verbs.Env) error {
	src, err := c.Find(env)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log := slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	const cacheBytes = 16 << 20
	return service.ServeMCP(ctx, service.Config{
		Config: httpapi.Config{Options: httpapi.Options{BaseURL: c.BaseURL}, Files: src.Files, CacheBytes: cacheBytes, Version: env.Version, Log: log},
		Dir:    src.Dir, Where: src.Where,
	}, os.Stdin, writeCloser{env.Stdout})
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }
