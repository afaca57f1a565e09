//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A rival is another server on the same rows or bytes. Its address and questions are known
// once it runs.
type rival struct {
	name string
	*process
	// path is where it has what a question asks for, false where it does not; paths is set
	// where every request is to differ.
	path func(q question) (path string, paths func(dst []byte, n int) []byte, ok bool)
	same bool // answers must be equal to ours, byte by byte
	// conns is how many connections it is asked over where it cannot take as many as the
	// others; 0 is as many.
	conns int
}

// errMissing is why a rival does not take part.
type errMissing struct{ why string }

func (e errMissing) Error() string { return e.why }

// staticPath is where rivals that send bytes from a file have a question's answer.
func staticPath(q question) (string, func(dst []byte, n int) []byte, bool) {
	return "/" + q.name, nil, true
}

// nginxConf is a server of files as its documentation advises: sendfile, head and file in one
// packet, descriptors kept open, no log. Paths are relative to the prefix.
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
	keepalive_timeout 75s;
	open_file_cache max=1000 inactive=1h;
	open_file_cache_valid 1h;
	client_body_temp_path tmp;
	proxy_temp_path tmp;
	fastcgi_temp_path tmp;
	uwsgi_temp_path tmp;
	scgi_temp_path tmp;
	server {
		listen ADDR;
		root files;
	}
}
`

// startNginx serves files with the nginx of the machine.
func startNginx(dir, files string) (*rival, error) {
	name, err := exec.LookPath("nginx")
	if err != nil {
		name = "/usr/sbin/nginx"
		if _, err := os.Stat(name); err != nil {
			return nil, errMissing{"nginx is not installed (apt-get install nginx-light)"}
		}
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	prefix := filepath.Join(dir, "nginx")
	if err := os.MkdirAll(prefix, 0o755); err != nil {
		return nil, err
	}
	conf := strings.NewReplacer("ADDR", addr, "root files", "root "+files).Replace(nginxConf)
	if err := os.WriteFile(filepath.Join(prefix, "nginx.conf"), []byte(conf), 0o644); err != nil {
		return nil, err
	}
	p, err := startProcess(prefix, addr, name, "-p", prefix, "-c", filepath.Join(prefix, "nginx.conf"))
	if err != nil {
		return nil, err
	}
	r := &rival{name: "nginx", process: p, same: true}
	r.path = func(q question) (string, func(dst []byte, n int) []byte, bool) {
		p, ps, _ := staticPath(q)
		return p, ps, q.status == 0
	}
	return r, r.awaitListening(10 * time.Second)
}

// startBare serves files with nothing but fasthttp: see bareCmd.
func startBare(dir, files string) (*rival, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(dir, addr, self, "bare", "--addr", addr, "--files", files)
	if err != nil {
		return nil, err
	}
	return &rival{name: "fasthttp", process: p, same: true, path: staticPath}, p.awaitListening(10 * time.Second)
}

// startModule builds one of the servers of bench/rivals, a module of its own, and has it take
// in the benchmarks of a dataset.
func startModule(name, root, dir, data string, path func(q question) (string, func(dst []byte, n int) []byte, bool)) (*rival, error) {
	program := filepath.Join(dir, name)
	build := exec.Command("go", "build", "-o", program, "./"+name)
	build.Dir = filepath.Join(root, "bench", "rivals")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errMissing{fmt.Sprintf("%s cannot be built here: %s", name, lastLine(string(out)))}
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	own := filepath.Join(dir, name+"-data")
	if err := os.MkdirAll(own, 0o755); err != nil {
		return nil, err
	}
	p, err := startProcess(dir, addr, program, "-addr", addr, "-data", data, "-dir", own)
	if err != nil {
		return nil, err
	}
	return &rival{name: name, process: p, path: path}, p.awaitListening(5 * time.Minute)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// filtered says how a rival spells the question of two filters; suffix precedes the threshold.
func filtered(plain, suffix, end string) func(q question) (string, func(dst []byte, n int) []byte, bool) {
	return func(q question) (string, func(dst []byte, n int) []byte, bool) {
		if !q.filter {
			return "", nil, false
		}
		if q.paths == nil {
			return plain + end, nil, true
		}
		numbered := below("")
		cut := len("&min_tps=")
		return "", func(dst []byte, n int) []byte {
			var space [64]byte
			dst = append(append(dst, plain...), suffix...)
			return append(append(dst, numbered(space[:0], n)[cut:]...), end...)
		}, true
	}
}

var (
	sqlitePath     = filtered("/benchmarks?backend=cuda&quantization=Q4_K_M", "&min_tps=", "")
	pocketbasePath = filtered("/api/collections/benchmarks/records?perPage=100&sort=-run_date,id&filter=backend='cuda'%26%26quantization='Q4_K_M'", "%26%26generation_tps>=", "")
	jsonServerPath = filtered("/benchmarks?_sort=run_date,id&_order=desc,asc&_limit=100&backend=cuda&quantization=Q4_K_M", "&generation_tps_gte=", "")
)

// jsonServer is the version that is measured: the last one that is not a preview.
const jsonServer = "json-server@0.17.4"

// startJSONServer installs json-server below dir and serves the benchmarks of a dataset.
func startJSONServer(dir, data string) (*rival, error) {
	if _, err := exec.LookPath("npm"); err != nil {
		return nil, errMissing{"npm is not installed"}
	}
	own := filepath.Join(dir, "json-server")
	if err := os.MkdirAll(own, 0o755); err != nil {
		return nil, err
	}
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", own, jsonServer)
	install.Dir = own
	if out, err := install.CombinedOutput(); err != nil {
		return nil, errMissing{"json-server cannot be installed here: " + lastLine(string(out))}
	}
	db := filepath.Join(own, "db.json")
	if err := writeArray(db, data); err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(addr, ":")
	p, err := startProcess(own, addr, "node", "node_modules/json-server/lib/cli/bin.js", "--quiet", "--read-only", "--host", host, "--port", port, db)
	if err != nil {
		return nil, err
	}
	// It works on one request at a time; a connection that waits for longer than five seconds
	// finds itself closed.
	return &rival{name: "json-server", process: p, path: jsonServerPath, conns: 4}, p.awaitListening(2 * time.Minute)
}

// writeArray writes the benchmarks of a dataset as {"benchmarks":[...]}.
func writeArray(name, data string) (err error) {
	files, err := filepath.Glob(filepath.Join(data, "benchmarks", "*.ndjson"))
	if err != nil {
		return err
	}
	out := []byte(`{"benchmarks":[`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		out = append(out, strings.ReplaceAll(string(b), "\n", ",\n")...)
	}
	out = append(out[:len(out)-len(",\n")], "]}"...)
	return os.WriteFile(name, out, 0o644)
}

// rivalNames are the rivals in the order of tables and plots.
var rivalNames = []string{"nginx", "fasthttp", "sqlite", "pocketbase", "json-server"}

// startRivals starts all that are installed; for the others it returns why not.
func startRivals(starts map[string]func() (*rival, error), say func(format string, args ...any)) (rivals []*rival, skipped map[string]string, err error) {
	skipped = map[string]string{}
	for _, name := range rivalNames {
		start := starts[name]
		if start == nil {
			continue
		}
		r, err := start()
		var missing errMissing
		if errors.As(err, &missing) {
			skipped[name] = missing.why
			say("skipping %s: %s", name, missing.why)
			continue
		}
		if r != nil {
			rivals = append(rivals, r)
		}
		if err != nil {
			return rivals, skipped, fmt.Errorf("%s: %w", name, err)
		}
	}
	return rivals, skipped, nil
}
