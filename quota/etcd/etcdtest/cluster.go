// Package etcdtest starts real etcd members for tests. A test that needs them is skipped on a
// machine without the etcd program, unless MODELDEX_REQUIRE_ETCD=1.
package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// patience is how long a test waits for what must come; it bounds a failing test only.
const patience = 2 * time.Minute

// Cluster is a number of etcd processes on this machine.
type Cluster struct {
	// Endpoints are the client addresses of the members, host:port.
	Endpoints []string

	tb      testing.TB
	dir     string
	cluster string // --initial-cluster
	scheme  string // of client addresses
	args    []string
	client  clientv3.Config // how this package's own clients connect
	peers   []string
	members []*exec.Cmd // nil when killed
}

// Start starts an etcd of so many members and waits until it answers. The members end with the test.
func Start(tb testing.TB, members int) *Cluster {
	tb.Helper()
	c := &Cluster{scheme: "http"}
	c.start(tb, members)
	return c
}

// start starts c, whose scheme, arguments and client are set.
func (c *Cluster) start(tb testing.TB, members int) {
	tb.Helper()
	if _, err := exec.LookPath("etcd"); err != nil {
		if os.Getenv("MODELDEX_REQUIRE_ETCD") == "1" {
			tb.Fatal("MODELDEX_REQUIRE_ETCD=1, but etcd is not installed on this machine (Debian: etcd-server)")
		}
		tb.Skip("this test needs the etcd program (Debian: etcd-server), which is not on this machine")
	}
	c.tb, c.dir, c.members = tb, tb.TempDir(), make([]*exec.Cmd, members)
	var initial []string
	for i := range members {
		c.Endpoints = append(c.Endpoints, FreeAddr(tb))
		c.peers = append(c.peers, FreeAddr(tb))
		initial = append(initial, fmt.Sprintf("m%d=http://%s", i, c.peers[i]))
	}
	c.cluster = strings.Join(initial, ",")
	tb.Cleanup(func() {
		for i := range c.members {
			c.Kill(i)
		}
	})
	for i := range members {
		c.Restart(i)
	}
	c.Wait()
}

// Restart starts a member that is not running, on its old data.
func (c *Cluster) Restart(i int) {
	c.tb.Helper()
	name := fmt.Sprintf("m%d", i)
	cmd := exec.Command("etcd", append([]string{
		"--name", name, "--data-dir", filepath.Join(c.dir, name), "--log-level", "error", "--logger", "zap",
		"--listen-client-urls", c.scheme + "://" + c.Endpoints[i], "--advertise-client-urls", c.scheme + "://" + c.Endpoints[i],
		"--listen-peer-urls", "http://" + c.peers[i], "--initial-advertise-peer-urls", "http://" + c.peers[i],
		"--initial-cluster", c.cluster, "--initial-cluster-state", "new", "--initial-cluster-token", c.dir,
		"--unsafe-no-fsync", "--heartbeat-interval", "100", "--election-timeout", "1000",
	}, c.args...)...)
	cmd.Env = append(os.Environ(), "ETCD_UNSUPPORTED_ARCH=arm64")
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.tb.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.tb.Fatal(err)
	}
	_ = log.Close() // the process has its own copy
	c.members[i] = cmd
}

// Kill ends a member as a power cut would.
func (c *Cluster) Kill(i int) {
	if cmd := c.members[i]; cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		c.members[i] = nil
	}
}

// Save keeps the data of a member that is not running; the function it returns puts them back, as from a backup.
func (c *Cluster) Save(i int) (restore func()) {
	c.tb.Helper()
	data, saved := filepath.Join(c.dir, fmt.Sprintf("m%d", i)), c.tb.TempDir()
	if err := os.CopyFS(saved, os.DirFS(data)); err != nil {
		c.tb.Fatal(err)
	}
	return func() {
		c.tb.Helper()
		if err := errors.Join(os.RemoveAll(data), os.Mkdir(data, 0o700), os.CopyFS(data, os.DirFS(saved))); err != nil {
			c.tb.Fatal(err)
		}
	}
}

// Signal sends a signal to a member: SIGSTOP stops it without ending it, SIGCONT lets it go on.
func (c *Cluster) Signal(i int, s syscall.Signal) {
	c.tb.Helper()
	if err := c.members[i].Process.Signal(s); err != nil {
		c.tb.Fatal(err)
	}
}

// Client returns a client of the cluster, which ends with the test.
func (c *Cluster) Client() *clientv3.Client {
	c.tb.Helper()
	cfg := c.client
	for _, e := range c.Endpoints {
		cfg.Endpoints = append(cfg.Endpoints, c.scheme+"://"+e)
	}
	cfg.DialTimeout, cfg.Logger = 10*time.Second, zap.NewNop()
	client, err := clientv3.New(cfg)
	if err != nil {
		c.tb.Fatal(err)
	}
	c.tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Leader returns the number of the member that leads.
func (c *Cluster) Leader() int {
	c.tb.Helper()
	client := c.Client()
	for i, e := range c.Endpoints {
		if c.members[i] == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		status, err := client.Status(ctx, c.scheme+"://"+e)
		cancel()
		if err == nil && status.Leader == status.Header.MemberId {
			return i
		}
	}
	c.tb.Fatal("no member leads")
	return -1
}

// Wait waits until the cluster has a quorum and answers.
func (c *Cluster) Wait() {
	c.tb.Helper()
	client := c.Client()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := client.Get(ctx, "ready")
		cancel()
		if err == nil {
			return
		}
	}
	logs, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	for _, l := range logs {
		text, _ := os.ReadFile(l)
		c.tb.Logf("%s:\n%s", l, text)
	}
	c.tb.Fatal("etcd did not answer")
}
