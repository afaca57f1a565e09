package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"modeldex/httpapi/operator"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

var hookKills = flag.Int("hooks.kills", 3, "how many times TestWebhooksKilled kills the server")

// hookReceiver takes messages of the real program and verifies them with the library of the
// specification. It fails some of them, so that kills hit retries too.
type hookReceiver struct {
	tb       testing.TB
	mu       sync.Mutex
	verifier *standard.Webhook
	fails    *rand.Rand
	failed   map[string]bool
	bodies   map[string][]byte            // by id of the message
	tellers  map[string]map[string]string // event -> benchmark -> id of the message that told of it
	order    []string                     // ids of messages as they were accepted first
	repeats  int
	came     chan struct{} // one slot: a message has come
}

// mostFailed is how many messages a receiver fails: each keeps those behind it waiting for 5 seconds.
const mostFailed = 3

// ServeHTTP takes a message.
func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the server was killed
	}
	defer func() {
		select {
		case r.came <- struct{}{}:
		default:
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.verifier.Verify(body, req.Header); err != nil {
		r.tb.Errorf("a message is not signed: %v", err)
	}
	id := req.Header.Get("Webhook-Id")
	if !r.failed[id] && len(r.failed) < mostFailed && r.fails.IntN(4) == 0 {
		r.failed[id] = true // once: the second delay is a minute
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if before, known := r.bodies[id]; known {
		r.repeats++
		if !bytes.Equal(before, body) {
			r.tb.Errorf("message %s came again with another body", id)
		}
		return
	}
	r.bodies[id], r.order = body, append(r.order, id)
	var m struct {
		Type string
		Data struct {
			Records []struct{ ID string }
			Total   int
		}
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Data.Total != len(m.Data.Records) {
		r.tb.Errorf("message %s: %v, %s", id, err, body)
	}
	if r.tellers[m.Type] == nil {
		r.tellers[m.Type] = map[string]string{}
	}
	for _, rec := range m.Data.Records {
		if other := r.tellers[m.Type][rec.ID]; other != "" {
			r.tb.Errorf("%s of %s came in message %s and again in %s", m.Type, rec.ID, other, id)
		}
		r.tellers[m.Type][rec.ID] = id
	}
}

func (r *hookReceiver) told(event string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tellers[event])
}

// growing is a dataset to which benchmarks are added.
type growing struct {
	dir, file string
	line      []byte // a benchmark to make others of
	lines     [][]byte
}

func newGrowing(tb testing.TB) *growing {
	tb.Helper()
	return newGrowingOf(tb, mustSmallData(tb))
}

func newGrowingOf(tb testing.TB, from string) *growing {
	tb.Helper()
	g := &growing{dir: tb.TempDir()}
	if err := os.CopyFS(g.dir, os.DirFS(from)); err != nil {
		tb.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(g.dir, "benchmarks", "*.ndjson"))
	if err != nil || len(files) == 0 {
		tb.Fatal("the small dataset has no benchmarks")
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		tb.Fatal(err)
	}
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, 1<<20)
	s.Scan()
	g.line = bytes.Clone(s.Bytes())
	g.file = filepath.Join(g.dir, "benchmarks", "0001.ndjson")
	return g
}

// add adds n benchmarks in one change of the files and returns their ids.
func (g *growing) add(tb testing.TB, n int) (ids []string) {
	tb.Helper()
	for range n {
		var fields map[string]any
		if err := json.Unmarshal(g.line, &fields); err != nil {
			tb.Fatal(err)
		}
		id := fmt.Sprintf("bm-%012x", len(g.lines)+1)
		line := strings.Replace(string(g.line), fields["id"].(string), id, 1)
		tps := fmt.Sprintf(`"generation_tps":%v,`, fields["generation_tps"])
		line = strings.Replace(line, tps, fmt.Sprintf(`"generation_tps":%.3f,`, fields["generation_tps"].(float64)*(1+float64(len(g.lines)+1)/1e5)), 1)
		g.lines = append(g.lines, []byte(line))
		ids = append(ids, id)
	}
	whole := append(bytes.Join(g.lines, []byte("\n")), '\n')
	if err := os.WriteFile(g.file+".new", whole, 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(g.file+".new", g.file); err != nil {
		tb.Fatal(err)
	}
	return ids
}

// TestWebhooksKilled kills the real program at random moments around releases: every benchmark must
// be told of, and in one message only, however often that comes.
//
//	go test ./httpapi -run TestWebhooksKilled -hooks.kills 50
func TestWebhooksKilled(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(seedOf(t), 7))
	work, data := t.TempDir(), newGrowing(t)
	r := &hookReceiver{tb: t, fails: rand.New(rand.NewPCG(rng.Uint64(), 1)), bodies: map[string][]byte{}, tellers: map[string]map[string]string{}, failed: map[string]bool{}, came: make(chan struct{}, 1)}
	receiver := httptest.NewServer(r)
	defer receiver.Close()
	secret, _, code := runProgram(t, work, nil, "keys", "issue", "--name", "hooks", "--email", "h@example.com", "--use-case", "hooks", "--tier", "pro")
	if code != 0 {
		t.Fatal("no key")
	}
	secret = strings.TrimSpace(secret)
	start := func() *process {
		p := launch(t, work, nil, "serve", "--addr", "127.0.0.1:0", "--data", data.dir, "--webhooks-to-loopback", "--dumps", "off", "--log-level", "info")
		if err := p.awaitServing(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := start()
	r.verifier = subscribe(t, p.addr, secret, receiver.URL)
	var want []string
	for round := range *hookKills {
		want = append(want, data.add(t, 1+rng.IntN(20))...)
		moment := time.Duration(rng.IntN(900)) * time.Millisecond
		if round%2 == 0 { // between a message and its outcome
			select {
			case <-r.came:
			case <-time.After(5 * time.Second):
			}
			moment = time.Duration(rng.IntN(15)) * time.Millisecond
		}
		time.Sleep(moment)
		p.kill()
		if rng.IntN(3) == 0 {
			want = append(want, data.add(t, 1+rng.IntN(20))...) // while it is down
		}
		p = start()
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
	for limit := time.Now().Add(2 * patience); r.told("benchmark.created") < len(want); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d of %d benchmarks were told of within %s\n%s", r.told("benchmark.created"), len(want), 2*patience, p.stderr)
		}
	}
	r.mu.Lock()
	for _, id := range want {
		if r.tellers["benchmark.created"][id] == "" {
			t.Errorf("benchmark %s was not told of", id)
		}
	}
	t.Logf("%d kills, %d benchmarks in %d messages, %d came again", *hookKills, len(want), len(r.order), r.repeats)
	r.checkOrder()
	r.mu.Unlock()
	client, err := operator.Dial(filepath.Join(work, "modeldex.db.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	metrics, err := client.Metrics(t.Context())
	for _, line := range []string{`modeldex_webhooks{state="active"} 1`, `modeldex_webhooks{state="disabled"} 0`, `modeldex_webhook_deliveries_total{result="delivered"} `, "modeldex_webhook_messages_pending ", "modeldex_webhook_oldest_pending_seconds "} {
		if err != nil || !bytes.Contains(metrics, []byte("\n"+line)) {
			t.Errorf("no line %q in the metrics, %v", line, err)
		}
	}
	if code, err := p.stop(); code != 0 || err != nil {
		t.Errorf("the server ended with %d, %v", code, err)
	}
	if out, _, code := runProgram(t, work, nil, "ledger", "check"); code != 0 {
		t.Errorf("ledger check: %s", out)
	}
}

// subscribe makes a webhook and returns what verifies its messages.
func subscribe(t *testing.T, addr, secret, url string) *standard.Webhook {
	t.Helper()
	var made struct{ Data struct{ ID, Secret string } }
	askJSON(t, "POST", addr, "/api/v1/webhooks", secret, fmt.Sprintf(`{"url":%q,"events":["benchmark.created","benchmark.changed"]}`, url), &made)
	verifier, err := standard.NewWebhook(made.Data.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

// askJSON asks the program and reads its answer.
func askJSON(t *testing.T, method, addr, path, secret, body string, into any) {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	resp, err := newTransport(t).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode > 299 || json.Unmarshal(b, into) != nil {
		t.Fatalf("%s %s: %d %v %s", method, path, resp.StatusCode, err, b)
	}
}

// checkOrder checks that releases were told of in their order: each added benchmarks with higher ids.
func (r *hookReceiver) checkOrder() {
	var last []string // of each message
	for _, message := range r.order {
		told := ""
		for id, teller := range r.tellers["benchmark.created"] {
			if teller == message {
				told = max(told, id)
			}
		}
		last = append(last, told)
	}
	if !slices.IsSorted(last) {
		r.tb.Errorf("messages were accepted in the order %v", last)
	}
}
