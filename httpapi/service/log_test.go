package service

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLogNotRead: a log that nobody reads stops nobody for more than a moment, and says later what it lacks.
func TestLogNotRead(t *testing.T) {
	t.Parallel()
	out, in := io.Pipe() // it keeps nothing: the first line waits for a reader
	log := NewLog(in, func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) })
	written := make(chan struct{})
	go func() {
		defer close(written)
		for _, line := range []string{"first", "second", "third"} {
			log.Info(line)
		}
	}()
	select {
	case <-written:
	case <-time.After(patience):
		t.Fatal("the log waits for its reader")
	}
	lines := bufio.NewScanner(out)
	next := func(want ...string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("the log ends: %v", lines.Err())
		}
		for _, w := range want {
			if !strings.Contains(lines.Text(), w) {
				t.Errorf("the log has %s, want %s in it", lines.Text(), want)
			}
		}
	}
	next("msg=first")
	go func() {
		for range 100 { // until the end of the first write is seen
			log.Info("later")
			time.Sleep(time.Millisecond)
		}
		in.Close()
	}()
	next("level=WARN", "dropped", "lines=")
	next("msg=later")
	for lines.Scan() {
		if strings.Contains(lines.Text(), "dropped") {
			t.Errorf("a reader is there, and %s", lines.Text())
		}
	}
}

// TestSignals: SIGHUP does not end a start, and a pipe that nobody reads any more does not end a server.
func TestSignals(t *testing.T) {
	const child = "MODELDEX_TEST_SIGNALS"
	if os.Getenv(child) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSignals$")
		cmd.Env = append(os.Environ(), child+"=1")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		stderr.Close() // the program that reads the log is gone
		if out, err := cmd.Output(); err != nil {
			t.Errorf("the server ended: %v\n%s", err, out)
		}
		return
	}
	cfg, _ := config(t)
	cfg.watch = (&fakeWatcher{kicks: make(chan struct{}, 100)}).watch
	cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	cfg.Progress = func(_, _ int64) {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(syscall.SIGHUP)
		}
		if err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, stop := serving(t, cfg)
	if err := stop(); err != nil {
		t.Error(err)
	}
}
