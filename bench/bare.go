//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/valyala/fasthttp"
)

// bareCmd is the least a server in this language and with this library can do. It holds
// bytes in memory by their path, and has no routes, no keys, no counting, no headers of its
// own and no timeouts.
type bareCmd struct {
	Addr  string `required:"" help:"Address to listen on."`
	Files string `required:"" help:"Directory of the bytes. An empty file is answered with 304."`
}

// Run serves until it is killed.
func (c *bareCmd) Run() error {
	names, err := filepath.Glob(filepath.Join(c.Files, "*"))
	if err != nil {
		return err
	}
	bodies := map[string][]byte{}
	for _, name := range names {
		if bodies["/"+filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	server := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		body, ok := bodies[string(ctx.Path())]
		switch {
		case !ok:
			ctx.SetStatusCode(fasthttp.StatusNotFound)
		case len(body) == 0:
			ctx.SetStatusCode(fasthttp.StatusNotModified)
		default:
			ctx.Response.Header.SetContentType("application/json")
			ctx.Response.SetBodyRaw(body)
		}
	}}
	if err := server.ListenAndServe(c.Addr); err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}
