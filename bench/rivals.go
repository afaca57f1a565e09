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

// startRivals starts all rivals that are installed; missing says why the others are not.
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

// errMissing says why a rival does not take part.
type errMissing string

func (e errMissing) Error() string { return string(e) }

// nginxConf is a server of files as its documentation advises: sendfile, head and file in one packet, descriptors
// kept open, no log.
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

// startNginx serves our responses as files.
func startNginx(dir, files string) (*target, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // Debian's, not on the path of everybody
		if _, err := os.Stat(program); err != nil {
			return nil, errMissing("nginx is not installed (Debian: nginx-light)")
		}
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	prefix := filepath.Join(dir, "nginx")
	if err := os.Mkdir(prefix, 0o755); err != nil {
		return nil, err
	}
	conf := filepath.Join(prefix, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, addr, files), 0o644); err != nil {
		return nil, err
	}
	p, err := startProcess(prefix, program, "-p", prefix, "-c", conf)
	if err != nil {
		return nil, err
	}
	t := &target{name: "nginx", process: p, same: true, path: func(q *question) string {
		if q.status == http.StatusNotModified {
			return "" // it has other ETags
		}
		return "/" + q.name
	}}
	return t, p.awaitListening(addr)
}

// startBare serves our responses with fasthttp alone, in a process of its own: see serveBare.
func startBare(files string) (*target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(files, self, "bare", addr, files)
	if err != nil {
		return nil, err
	}
	return &target{name: "fasthttp", process: p, same: true, path: func(q *question) string { return "/" + q.name }}, p.awaitListening(addr)
}

// serveBare is the least a server with this library can do: bytes in memory by their path, no routes, keys, counting,
// headers of its own and timeouts. An empty file is answered with 304.
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

// startSQLite builds and starts rivals/sqlite, a module of its own, on the benchmarks in a folder.
func startSQLite(dir, root, data string) (*target, error) {
	program := filepath.Join(dir, "sqlite")
	if err := build(filepath.Join(root, "bench", "rivals", "sqlite"), program, "."); err != nil {
		return nil, errMissing("SQLite cannot be built here: " + lastLine(err.Error()))
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(dir, program, addr, data)
	if err != nil {
		return nil, err
	}
	return &target{name: "sqlite", process: p, path: func(q *question) string { return q.sqlite }, check: sameTotal}, p.awaitListening(addr)
}

// duckDB is the package that is measured.
const duckDB = "@duckdb/node-api@1.5.6-r.1"

//go:embed rivals/duckdb.mjs
var duckServer []byte

// startDuckDB installs DuckDB from npm and starts rivals/duckdb.mjs on the benchmarks in a folder.
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
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(own, "node", "duckdb.mjs", addr, data)
	if err != nil {
		return nil, err
	}
	return &target{name: "duckdb", process: p, path: func(q *question) string { return q.duck }, check: sameGroups}, p.awaitListening(addr)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// sameTotal compares the number of all rows and of those of a page with ours.
func sameTotal(q *question, body []byte) error {
	type list struct {
		Data []struct{} `json:"data"`
		Meta struct {
			Total int `json:"total"`
		} `json:"meta"`
	}
	var ours, theirs list
	if err := errors.Join(jsonv2.Unmarshal(q.body, &ours), jsonv2.Unmarshal(body, &theirs)); err != nil {
		return err
	}
	if ours.Meta != theirs.Meta || len(ours.Data) != len(theirs.Data) {
		return fmt.Errorf("found %d of %d rows, we %d of %d", len(theirs.Data), theirs.Meta.Total, len(ours.Data), ours.Meta.Total)
	}
	return nil
}

// sameGroups compares the number of rows and the median of each group with ours.
func sameGroups(q *question, body []byte) error {
	type stats struct {
		Data []struct {
			Group struct {
				Hardware string `json:"hardware"`
			} `json:"group"`
			N      int     `json:"n"`
			Median float64 `json:"median"`
		} `json:"data"`
	}
	var ours, theirs stats
	if err := errors.Join(jsonv2.Unmarshal(q.body, &ours), jsonv2.Unmarshal(body, &theirs)); err != nil {
		return err
	}
	groups := map[string]int{}
	medians := map[string]float64{}
	for _, g := range theirs.Data {
		groups[g.Group.Hardware], medians[g.Group.Hardware] = g.N, g.Median
	}
	for _, g := range ours.Data {
		if d := medians[g.Group.Hardware] - g.Median; groups[g.Group.Hardware] != g.N || d > 0.01 || d < -0.01 {
			return fmt.Errorf("%s: %d rows with median %v, ours %d and %v", g.Group.Hardware, groups[g.Group.Hardware], medians[g.Group.Hardware], g.N, g.Median)
		}
	}
	if len(ours.Data) != len(theirs.Data) {
		return fmt.Errorf("%d groups, ours %d", len(theirs.Data), len(ours.Data))
	}
	return nil
}
