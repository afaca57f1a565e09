package browsertest

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"modeldex/dataset/datasettest"
)

// patience is how long a page may take on a busy machine before a test gives up.
const patience = 90 * time.Second

var (
	origin  string          // of the running server
	browser context.Context // nil where there is none
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	name := browserPath()
	if name == "" {
		return m.Run() // each test says that it is skipped, or fails
	}
	dir, err := os.MkdirTemp("", "modeldex-browsertest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	stop, err := startServer(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	// Inside a container there is no other user to hand the sandbox to.
	ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(chromedp.NoSandbox, chromedp.ExecPath(name)))
	defer cancel()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "starting the browser:", err)
		return 1
	}
	browser = ctx
	return m.Run()
}

// browserPath finds the browser, "" where there is none.
func browserPath() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startServer builds the program and serves the shipped dataset on a free port.
func startServer(dir string) (stop func(), err error) {
	program := os.Getenv("BROWSERTEST_PROGRAM")
	if program == "" {
		if program, err = datasettest.Program(filepath.Join("..", ".."), dir); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(program, "serve", "--addr", "127.0.0.1:0", "--ledger", filepath.Join(dir, "keys.db"), "--repository-url", "https://github.com/example/modeldex")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if origin = regexp.MustCompile(`http://[^ ]+`).FindString(line); origin == "" {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("the server did not say its address: %q, %w", line, err)
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}, nil
}

// tab is one open page and what it did.
type tab struct {
	context.Context
	mu       sync.Mutex
	requests []string // addresses asked for
	faults   []string // errors of the console, of scripts and of the content policy
}

// look is the form a page is seen in.
type look struct {
	name          string
	width, height int64
	scheme        string
}

var looks = []look{
	{"wide-light", 1440, 1000, "light"},
	{"wide-dark", 1440, 1000, "dark"},
	{"narrow-light", 360, 780, "light"},
	{"narrow-dark", 360, 780, "dark"},
}

// open opens a page of the server in a new tab.
func open(t *testing.T, path string, l look) *tab {
	t.Helper()
	if browser == nil {
		if os.Getenv("MODELDEX_REQUIRE_BROWSER") == "1" {
			t.Fatal("no chromium found, and MODELDEX_REQUIRE_BROWSER=1")
		}
		t.Skip("no chromium found; install it to have the pages tested")
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancelTimeout := context.WithTimeout(ctx, patience)
	t.Cleanup(cancelTimeout)
	p := &tab{Context: ctx}
	if err := chromedp.Listen(ctx, p.note); err != nil {
		t.Fatal(err)
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: l.scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"}, // a click must not aim at what is still moving
	}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	p.do(t, chromedp.EmulateViewport(l.width, l.height), chromedp.Navigate(address(path)))
	return p
}

// note takes down what the page does.
func (p *tab) note(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, ev.Request.URL)
	case *runtime.EventExceptionThrown:
		p.faults = append(p.faults, fmt.Sprintf("exception: %v", ev.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if ev.Type == "error" || ev.Type == "warning" || ev.Type == "assert" {
			p.faults = append(p.faults, fmt.Sprintf("console.%s: %s", ev.Type, arguments(ev.Args)))
		}
	case *cdplog.EventEntryAdded:
		if ev.Entry.Level == "error" || ev.Entry.Level == "warning" {
			p.faults = append(p.faults, fmt.Sprintf("%s %s: %s %s", ev.Entry.Source, ev.Entry.Level, ev.Entry.Text, ev.Entry.URL))
		}
	}
}

func arguments(args []*runtime.RemoteObject) string {
	var out []string
	for _, a := range args {
		out = append(out, string(a.Value)+a.Description)
	}
	return strings.Join(out, " ")
}

// do makes steps of a test that have no result.
func (p *tab) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(p.Context, steps...); err != nil {
		t.Fatal(err)
	}
}

// eval gives the value of an expression in the page.
func eval[T any](t *testing.T, p *tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(p.Context, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression in the page is true.
func (p *tab) wait(t *testing.T, expression string) {
	t.Helper()
	if _, err := chromedp.Run(p.Context, chromedp.Poll[chromedp.Void]("!!("+expression+")", chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		t.Fatalf("waiting for %s: %v\nfaults: %q", expression, err, p.faults)
	}
}

// checkQuiet holds that the page asked nothing of another origin and raised no error, except
// those that have one of the texts.
func (p *tab) checkQuiet(t *testing.T, except ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) == 0 {
		t.Error("the page asked for nothing: the test does not see its requests")
	}
	for _, r := range p.requests {
		u, err := url.Parse(r)
		if err != nil || u.Scheme != "data" && u.Scheme+"://"+u.Host != origin {
			t.Errorf("the page asked for %s", r)
		}
	}
fault:
	for _, f := range p.faults {
		for _, e := range except {
			if strings.Contains(f, e) {
				continue fault
			}
		}
		t.Errorf("the page raised: %s", f)
	}
}

// keep writes a picture of the whole page where pictures are asked for.
func (p *tab) keep(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("MODELDEX_SCREENSHOTS")
	if dir == "" {
		return
	}
	b, err := chromedp.Run(p.Context, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// address is that of a path of the server; other addresses stay.
func address(path string) string {
	if strings.HasPrefix(path, "/") {
		return origin + path
	}
	return path
}
