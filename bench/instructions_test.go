//go:build linux

package main

// What fixed paths take in instructions, counted by valgrind's callgrind. Whatever the machine,
// the program is shown the same processor, with AVX2, and nothing but the path is counted: eleven
// runs, some of them beside three busy loops, agreed within one per cent. Allocations, copies and system
// calls are counted beside the code, in the tests called Guard of index and httpapi.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"
	"modeldex/httpapi"
	"modeldex/httpapi/rows"
	"modeldex/index"
	"modeldex/quota"
)

// fixedPaths are what is counted. seen is what a call took when the line was last touched, with
// Go 1.26 on amd64; a path may take instructionMargin more. A change that needs more has to say
// so here; one that needs less lowers the figure, or the next may waste what it won.
var fixedPaths = []struct {
	name  string
	seen  int
	round func(p *fixture) func() // makes what makes pathCalls calls
}{
	{"ParseKey", 4_890, (*fixture).parse},
	{"Admit and Charge", 855, (*fixture).spend},
	{"Select, two filters", 38_150, func(p *fixture) func() { return p.choose(index.Query{Sets: guardedFilters}) }},
	{"Select, fastest of a filter", 36_160, func(p *fixture) func() { return p.choose(index.Query{Sets: guardedFilters[:1], Sort: byTPS}) }},
	{"Select, two filters and a threshold", 118_300, func(p *fixture) func() { return p.choose(index.Query{Sets: guardedFilters, Ranges: atLeast50}) }},
	{"warm page of 100 rows", 24_420, func(p *fixture) func() { return p.requests(200, "/api/v1/benchmarks") }},
	{"warm page of two filters", 25_760, func(p *fixture) func() {
		return p.requests(200, "/api/v1/benchmarks?backend=cuda&quantization=Q8_0&sort=-generation_tps")
	}},
	{"not modified", 24_160, func(p *fixture) func() { return p.requests(304, "/api/v1/benchmarks", "If-None-Match: "+p.etag) }},
	{"page never asked for before", 180_000, func(p *fixture) func() {
		return p.requests(200, "/api/v1/benchmarks?backend=cuda&quantization=Q8_0&min_tps=0.00%d")
	}},
	{"unknown slug", 1_160_000, func(p *fixture) func() { return p.requests(404, "/api/v1/models/unheard-of") }},
}

const (
	pathCalls  = 20 // of a round; what opening a connection takes is shared among them
	pathRounds = 5  // of which the cheapest counts: meanwhile leases are written
	pathWarmUp = 10 // rounds before: caches, pools, and the stack, which must not move when counted

	instructionMargin = 15 // per cent: other versions of valgrind and Go's patch releases
)

var (
	guardedFilters = []index.Set{{Field: index.Backend, Values: []string{"cuda"}}, {Field: index.Quantization, Values: []string{"Q8_0"}}}
	atLeast50      = []index.Range{{Field: index.GenerationTPS, Min: 50, Max: 1e9}}
	byTPS          = index.Sort{Field: index.GenerationTPS, Desc: true}
)

// TestGuardInstructions runs TestFixedPaths under callgrind. MODELDEX_REQUIRE_VALGRIND=1 makes
// it a failure that there is none.
func TestGuardInstructions(t *testing.T) {
	switch {
	case os.Getenv("MODELDEX_REQUIRE_VALGRIND") != "1":
		t.Skip("instructions are counted with MODELDEX_REQUIRE_VALGRIND=1: it takes half a minute")
	case runtime.GOARCH != "amd64":
		t.Skip("the figures are those of amd64")
	}
	valgrind, err := exec.LookPath("valgrind")
	if err != nil && os.Getenv("MODELDEX_REQUIRE_VALGRIND") == "1" {
		t.Fatal("no valgrind found, and MODELDEX_REQUIRE_VALGRIND=1")
	} else if err != nil {
		t.Skip("no valgrind to count instructions with")
	}
	for i, rounds := range countInstructions(t, valgrind) {
		p := fixedPaths[i]
		got, most := slices.Min(rounds)/pathCalls, p.seen+p.seen*instructionMargin/100
		t.Logf("%-36s %7d instructions a call, %+.1f %%", p.name, got, 100*float64(got-p.seen)/float64(p.seen))
		switch {
		case got > most:
			t.Errorf("%s rose to %d instructions a call, want at most %d: %d %% above the %d seen before", p.name, got, most, instructionMargin, p.seen)
		case got < p.seen/2: // or callgrind has lost the thread
			t.Errorf("%s fell to %d instructions a call, less than half of the %d seen before: lower the figure if that is true", p.name, got, p.seen)
		}
	}
}

// countInstructions returns the instructions of every round of every path.
func countInstructions(t *testing.T, valgrind string) [][]int {
	t.Helper()
	dir, symbol := t.TempDir(), "modeldex/bench.counted"
	counts, tests := filepath.Join(dir, "counts"), filepath.Join(dir, "tests")
	// The binary that is running has no names of functions: go leaves them out of those it runs itself.
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", tests, ".").CombinedOutput(); err != nil {
		t.Fatalf("building the tests: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), valgrind, "--tool=callgrind", "--toggle-collect="+symbol, "--dump-after="+symbol,
		"--callgrind-out-file="+counts, tests, "-test.run=^TestFixedPaths$")
	// Callgrind cannot follow the signals by which goroutines are interrupted. With one processor and no
	// collections, nothing else runs on the thread that is counted.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("counting: %v\n%s", err, out)
	}
	out := make([][]int, len(fixedPaths))
	for n := range len(fixedPaths) * pathRounds { // a file each time counted was left
		out[n/pathRounds] = append(out[n/pathRounds], summary(t, fmt.Sprintf("%s.%d", counts, n+1)))
	}
	return out
}

// summary is the sum of a file of callgrind's.
func summary(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("\nsummary: "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.Atoi(string(line))
	if err != nil || n == 0 {
		t.Fatalf("%s: no summary: %q", file, line)
	}
	return n
}

// Callgrind takes a function for left once the stack pointer is above its frame. The runtime's own
// stack of the main thread lies below those of all goroutines, that of another thread may not.
func init() { runtime.LockOSThread() }

// mainThread takes what is to run on the main thread; TestMain runs it while tests run.
var mainThread = make(chan func())

func TestMain(m *testing.M) {
	flag.Parse()
	datasettest.RareCollections()
	code := make(chan int)
	go func() { code <- m.Run() }()
	for {
		select {
		case f := <-mainThread:
			f()
		case c := <-code:
			os.Exit(c)
		}
	}
}

func onMainThread(f func()) {
	done := make(chan struct{})
	mainThread <- func() { f(); close(done) }
	<-done
}

// counted is where callgrind counts: from entering it to leaving it.
//
//go:noinline
func counted(round func()) { round() }

// TestFixedPaths goes every path as often as TestGuardInstructions wants it; alone, it shows
// that they lead where they should.
func TestFixedPaths(t *testing.T) {
	p := newFixture(t)
	for _, fixed := range fixedPaths {
		for range pathWarmUp {
			onMainThread(fixed.round(p))
			time.Sleep(time.Millisecond) // the cache takes what it is offered in a goroutine of its own
		}
		for range pathRounds {
			round := fixed.round(p)
			onMainThread(func() { counted(round) })
		}
	}
}

// fixture is what the paths lead through.
type fixture struct {
	tb     testing.TB
	server *httpapi.Server
	keeper *quota.Keeper
	table  *index.Table
	secret string
	digest quota.Digest
	etag   string
	asked  int // requests made; those that want it have its number
}

// newFixture serves benchmarks that stay the same when the dataset of the repository grows.
func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	gen, err := index.Build(context.Background(), fixedSet(20_000), rows.Renderers)
	must(err)
	live := &index.Live{}
	live.Publish(gen)
	ledger, err := quota.Open(filepath.Join(tb.TempDir(), "modeldex.db"), quota.Options{})
	must(err)
	endless := quota.Burst{Rate: 1_000_000, PerSeconds: 1, Depth: 1_000_000}
	tiers, err := quota.NewTiers(quota.Tier{Name: quota.FreeTier, CallsPerMonth: quota.MaxLimit, Burst: endless})
	must(err)
	keeper, err := quota.NewKeeper(context.Background(), ledger, quota.Config{Tiers: tiers})
	must(err)
	tb.Cleanup(func() {
		if err := errors.Join(keeper.Close(context.Background()), ledger.Close()); err != nil {
			tb.Error(err)
		}
	})
	issued, _, err := keeper.Issue(context.Background(), quota.IssueRequest{Name: "tests", Email: "tests@example.com", UseCase: "tests"})
	must(err)
	server, err := httpapi.New(httpapi.Config{Live: live, Keeper: keeper})
	must(err)
	p := &fixture{tb: tb, server: server, keeper: keeper, table: gen.Benchmarks, secret: issued.Secret.Reveal()}
	p.digest, _ = quota.ParseKey(p.secret, keeper.KeyPrefix())
	p.etag = p.tagOf("/api/v1/benchmarks")
	return p
}

// raw is a request as it goes over the line.
func (p *fixture) raw(path string, header ...string) []byte {
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: x", "Authorization: Bearer " + p.secret}, header...)
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n")
}

// tagOf is the entity tag of an address.
func (p *fixture) tagOf(path string) string {
	p.tb.Helper()
	c := &played{status: http.StatusOK, reads: [][]byte{p.raw(path)}, keep: true}
	if err := p.server.ServeConn(c); err != nil {
		p.tb.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(&c.out), nil)
	if err != nil {
		p.tb.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.Header.Get("ETag")
}

func (p *fixture) parse() func() {
	return func() {
		for range pathCalls {
			if d, ok := quota.ParseKey(p.secret, "mdx"); !ok || d != p.digest {
				p.tb.Error("ParseKey() does not know the key")
			}
		}
	}
}

func (p *fixture) spend() func() {
	return func() {
		for range pathCalls {
			call := p.keeper.Admit(p.digest)
			if call.Charge(); call.Verdict != quota.Admitted {
				p.tb.Errorf("Admit() = %v, want admitted", call.Verdict)
			}
		}
	}
}

func (p *fixture) choose(q index.Query) func() {
	q.Limit = 100
	return func() {
		for range pathCalls {
			if page := p.table.Select(q); len(page.Ords) != q.Limit {
				p.tb.Errorf("Select(%v) has %d records, want %d", q, len(page.Ords), q.Limit)
			}
		}
	}
}

// requests has requests answered over one connection. %d in the address becomes a number that no
// request had before.
func (p *fixture) requests(status int, address string, header ...string) func() {
	c := &played{status: status}
	for range pathCalls {
		p.asked++
		path := strings.Replace(address, "%d", strconv.Itoa(1_000_000+p.asked), 1)
		c.reads = append(c.reads, p.raw(path, header...))
	}
	return func() {
		if err := p.server.ServeConn(c); err != nil || c.answers != pathCalls {
			p.tb.Errorf("%s: %d answers with %d, want %d; %v", address, c.answers, status, pathCalls, err)
		}
	}
}

// played is a connection in memory that gives one request per read and counts the responses.
type played struct {
	reads   [][]byte
	status  int
	answers int  // that have the status
	keep    bool // keep what is written
	out     bytes.Buffer
}

func (c *played) Read(p []byte) (int, error) {
	if len(c.reads) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.reads[0])
	if c.reads[0] = c.reads[0][n:]; len(c.reads[0]) == 0 {
		c.reads = c.reads[1:]
	}
	return n, nil
}

func (c *played) Write(p []byte) (int, error) {
	if rest, begins := bytes.CutPrefix(p, []byte("HTTP/1.1 ")); begins && string(rest[:3]) == strconv.Itoa(c.status) {
		c.answers++
	}
	if c.keep {
		c.out.Write(p)
	}
	return len(p), nil
}

func (c *played) Close() error        { return nil }
func (c *played) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (c *played) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 81} }
func (c *played) SetDeadline(time.Time) error      { return nil }
func (c *played) SetReadDeadline(time.Time) error  { return nil }
func (c *played) SetWriteDeadline(time.Time) error { return nil }

// fixedSet is n benchmarks of few models, pieces of hardware and tools, the same each time.
func fixedSet(n int) *dataset.Set {
	r, s := rand.New(rand.NewPCG(1, 2)), &dataset.Set{Info: dataset.Info{Version: "fixed"}}
	for i := range 40 {
		m := dataset.Model{}
		m.Slug, m.Name, m.Family = numbered("model", i), fmt.Sprintf("Model %d", i), numbered("family", i%4)
		s.Models = append(s.Models, m)
		s.Hardware = append(s.Hardware, dataset.Hardware{Slug: numbered("gpu", i), Name: fmt.Sprintf("GPU %d", i), Vendor: dataset.Vendors[i%3]})
		s.Tools = append(s.Tools, dataset.Tool{Slug: numbered("tool", i), Name: fmt.Sprintf("Tool %d", i)})
	}
	runs := make([]dataset.Benchmark, n)
	for i := range runs {
		runs[i] = fixedBenchmark(r, i)
	}
	slices.SortFunc(runs, func(a, b dataset.Benchmark) int { return record.NewerRun(&a, &b) })
	s.Benchmarks = dataset.Pointers(runs)
	return s
}

func numbered(word string, i int) dataset.Slug { return dataset.Slug(fmt.Sprintf("%s-%02d", word, i)) }

// fixedBenchmark is about as long as a real one.
func fixedBenchmark(r *rand.Rand, i int) dataset.Benchmark {
	b := dataset.Benchmark{
		ID: dataset.Slug(fmt.Sprintf("bm-%012x", i)), Source: dataset.Source(dataset.Source("").Values()[r.IntN(3)]),
		Model: numbered("model", r.IntN(40)), ModelRaw: "a model as its source prints it",
		Hardware: numbered("gpu", r.IntN(40)), HardwareRaw: "hardware as its source prints it", HardwareCount: 1, Tool: numbered("tool", r.IntN(40)),
		Backend: oneOf(r, "cuda", "vulkan", "cpu"), Quantization: oneOf(r, "Q4_K_M", "Q8_0", "F16"),
		NPrompt: oneOf[int64](r, 512, 2048), NGen: oneOf[int64](r, 128), PromptTPS: oneOf(r, 88.71, 512.5), GenerationTPS: oneOf(r, float64(1+r.IntN(1000))/4),
		SourceURL: oneOf[dataset.URL](r, "https://example.org/the/page/where/it/is/shown"), Notes: oneOf(r, "as it was printed, and what was said of it"),
		RunDate: oneOf(r, dataset.Date(fmt.Sprintf("2025-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)))),
	}
	if r.IntN(10) == 0 {
		b.GenerationTPS = nil
	}
	return b
}

func oneOf[T any](r *rand.Rand, values ...T) *T { return &values[r.IntN(len(values))] }
