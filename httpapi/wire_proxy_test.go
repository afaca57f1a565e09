package httpapi

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/quota/etcd/etcdtest"
)

// proxyConfigs are real proxies in front of the server: how each is configured, and started with the file that says so.
var proxyConfigs = []struct {
	name, config string
	args         func(file string) []string
}{
	{"haproxy", `defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
listen wire
  bind $proxy
  option http-keep-alive
  http-reuse always
  server one $server
`, func(file string) []string { return []string{"-db", "-f", file} }},
	{"nginx", `daemon off;
master_process off;
pid $dir/nginx.pid;
error_log $dir/error.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path $dir/body; proxy_temp_path $dir/proxy; fastcgi_temp_path $dir/f; uwsgi_temp_path $dir/u; scgi_temp_path $dir/s;
  upstream one { server $server; keepalive 8; }
  server {
    listen $proxy;
    location / { proxy_pass http://one; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host wire.test; }
  }
}
`, func(file string) []string { return []string{"-c", file, "-p", filepath.Dir(file)} }},
}

// TestWireProxies attacks the server through real proxies, which use one connection for the
// requests of many callers. MODELDEX_REQUIRE_PROXIES=1 makes it a failure that one is missing.
func TestWireProxies(t *testing.T) {
	t.Parallel()
	for _, tt := range proxyConfigs {
		t.Run(tt.name, func(t *testing.T) {
			program, err := findProxy(tt.name)
			if err != nil && os.Getenv("MODELDEX_REQUIRE_PROXIES") == "1" {
				t.Fatalf("%v, and MODELDEX_REQUIRE_PROXIES=1", err)
			} else if err != nil {
				t.Skipf("%s is not installed, so the server is not tried behind it", tt.name)
			}
			s := newService(t, mustShipped(t).live)
			s.pay(t)
			dir, proxy := t.TempDir(), etcdtest.FreeAddr(t)
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "config")
			config := strings.NewReplacer("$proxy", proxy, "$server", s.listenTCP(t), "$dir", dir).Replace(tt.config)
			if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, tt.args(file)...)
			out := newWatched()
			cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, time.Second
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			if err := awaitListening(proxy); err != nil {
				t.Fatalf("%s: %v\n%s", tt.name, err, out)
			}
			s.attack(t, proxy, true, datasettest.Rounds(100, 1500))
		})
	}
}

// findProxy looks in the directories of system programs too, which are not in everybody's path.
func findProxy(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return exec.LookPath("/usr/sbin/" + name)
	}
	return path, nil
}

func awaitListening(addr string) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			return c.Close()
		}
	}
	return fmt.Errorf("nothing listens at %s", addr)
}
