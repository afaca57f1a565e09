//go:build linux

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/valyala/fasthttp"
)

func (o *options) startRivals(questions []*question, root string) (ts []*target, missing []string, err error) {
	files := filepath.Join(o.dir, "files")
	if err := os.Mkdir(files, 0o755); err != nil {
		return nil, nil, err
	}
	for _, q := range questions {
		if err := os.WriteFile(filepath.Join(files, q.name), q.body, 0o644); err != nil {
			return nil, nil, err
		}
	}
	data := filepath.Join(root, "data", "benchmarks")
	for _, start := range []func() (*target, error){
		func() (*target, error) { return startNginx(o.dir, files) },
		func() (*target, error) { return startBare(files) },
		func() (*target, error) { return startSQLite(o.dir, root, data) },
		func() (*target, error) { return startDuckDB(o.dir, data) },
	} {
		t, err := start()
		var none errMissing
		switch {
		case errors.As(err, &none):
			missing = append(missing, string(none))
		case err != nil:
			return ts, missing, err
		default:
			ts = append(ts, t)
		}
	}
	return ts, missing, nil
}

type errMissing string

func (e errMissing) Error() string { return string(e) }

const nginxConf = `
worker_processes 2;
daemon off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
	access_log off;
	default_type application/json;
	sendfile on;
	sendfile_max_chunk 0;
	tcp_nopush on;
	tcp_nodelay on;
	keepalive_requests 1000000000;
	open_file_cache max=1000 inactive=1h;
	open_file_cache_valid 1h;
	client_body_temp_path tmp;
	proxy_temp_path tmp;
	fastcgi_temp_path tmp;
	uwsgi_temp_path tmp;
	scgi_temp_path tmp;
	server { listen %s; root %s; }
}
`

func startRival(t *target, dir, program string, args func(addr string) ([]string, error)) (*target, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	with, err := args(addr)
	if err != nil {
		return nil, err
	}
	if t.process, err = startProcess(dir, program, with...); err != nil {
		return nil, err
	}
	return t, t.awaitListening(addr)
}

func startNginx(dir, files string) (*target, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // Debian's, not on the path of everybody
		if _, err := os.Stat(program); err != nil {
			return nil, errMissing("nginx is not installed (Debian: nginx-light)")
		}
	}
	prefix := filepath.Join(dir, "nginx")
	if err := os.Mkdir(prefix, 0o755); err != nil {
		return nil, err
	}
	t := &target{name: "nginx", same: true, path: func(q *question) string {
		if q.status == http.StatusNotModified {
			return "" // it has other ETags
		}
		return "/" + q.name
	}}
	return startRival(t, prefix, program, func(addr string) ([]string, error) {
		conf := filepath.Join(prefix, "nginx.conf")
		return []string{"-p", prefix, "-c", conf}, os.WriteFile(conf, fmt.Appendf(nil, nginxConf, addr, files), 0o644)
	})
}

func startBare(files string) (*target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t := &target{name: "fasthttp", same: true, path: func(q *question) string { return "/" + q.name }}
	return startRival(t, files, self, func(addr string) ([]string, error) { return []string{"bare", addr, files}, nil })
}

// serveBare is the least a server with this library can do: bytes by their path. An empty file is answered with 304.
func serveBare(addr, files string) error {
	names, err := filepath.Glob(filepath.Join(files, "*"))
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
			ctx.SetStatusCode(http.StatusNotFound)
		case len(body) == 0:
			ctx.SetStatusCode(http.StatusNotModified)
		default:
			ctx.Response.Header.SetContentType("application/json")
			ctx.Response.SetBodyRaw(body)
		}
	}}
	return server.ListenAndServe(addr)
}

func startSQLite(dir, root, data string) (*target, error) {
	program := filepath.Join(dir, "sqlite")
	if err := build(filepath.Join(root, "bench", "rivals", "sqlite"), program, "."); err != nil {
		return nil, errMissing("SQLite cannot be built here: " + lastLine(err.Error()))
	}
	t := &target{name: "sqlite", path: func(q *question) string { return q.sqlite }, check: sameSize}
	return startRival(t, dir, program, func(addr string) ([]string, error) { return []string{addr, data}, nil })
}

const duckDB = "@duckdb/node-api@1.5.6-r.1"

//go:embed rivals/duckdb.mjs
var duckServer []byte

func startDuckDB(dir, data string) (*target, error) {
	own := filepath.Join(dir, "duckdb")
	if err := os.Mkdir(own, 0o755); err != nil {
		return nil, err
	}
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", own, duckDB)
	if out, err := install.CombinedOutput(); err != nil {
		return nil, errMissing("DuckDB cannot be installed from npm: " + lastLine(err.Error()+": "+string(out)))
	}
	if err := os.WriteFile(filepath.Join(own, "duckdb.mjs"), duckServer, 0o644); err != nil {
		return nil, err
	}
	t := &target{name: "duckdb", path: func(q *question) string { return q.duck }, check: sameSize}
	return startRival(t, own, "node", func(addr string) ([]string, error) { return []string{"duckdb.mjs", addr, data}, nil })
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func sameSize(q *question, body []byte) error {
	type response struct {
		Data []struct{} `json:"data"`
		Meta struct {
			Total int `json:"total"`
		} `json:"meta"`
	}
	var ours, theirs response
	if err := errors.Join(jsonv2.Unmarshal(q.body, &ours), jsonv2.Unmarshal(body, &theirs)); err != nil {
		return err
	}
	if q.duck == "" && ours.Meta != theirs.Meta || len(ours.Data) != len(theirs.Data) {
		return fmt.Errorf("found %d of %d entries, we %d of %d", len(theirs.Data), theirs.Meta.Total, len(ours.Data), ours.Meta.Total)
	}
	return nil
}
