package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/index"
	"modeldex/quota"
	"modeldex/quota/hooks"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Attempts is how often one message is tried.
const Attempts = len(delays) + 1

// patience is how long a test waits for something that will come unless there is a defect.
const patience = 2 * time.Minute

// kit is a service on a real ledger, with a clock that can be moved.
type kit struct {
	*Service
	t      *testing.T
	ledger *quota.Ledger
	owner  quota.ID
	cfg    Config
	path   string

	mu     sync.Mutex
	moved  time.Duration
	latest *Dataset
}

func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{t: t, path: filepath.Join(t.TempDir(), "modeldex.db")}
	k.cfg = Config{
		Allowed: func(tier string) bool { return tier != "free" },
		Latest: func() *Dataset {
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.latest
		},
		Match: func(gen *index.Generation, filters string, ords []uint32) ([]uint32, error) {
			if filters == "bad" {
				return nil, errors.New("bad")
			}
			var q index.Query
			if filters != "" {
				q.Sets = []index.Set{{Field: index.Backend, Values: []string{filters}}}
			}
			return gen.Benchmarks.Among(q, ords), nil
		},
		Guard: &Guard{AllowLoopback: true},
		Log:   slog.New(slog.DiscardHandler),
		Now: func() time.Time {
			k.mu.Lock()
			defer k.mu.Unlock()
			return time.Now().Add(k.moved)
		},
	}
	k.open()
	r := quota.Record{ID: 1 << 40, Rev: 1, Status: quota.StatusActive, Tier: "pro"}
	_, _ = rand.Read(r.Digest[:])
	if err := k.ledger.Create(context.Background(), r, quota.Person{Name: "A"}, 0); err != nil {
		t.Fatal(err)
	}
	k.owner = r.ID
	k.publish(nil)
	k.start()
	t.Cleanup(func() {
		if k.Service != nil {
			k.stop()
		}
		if report, err := quota.Check(k.path); err != nil || len(report.Findings) > 0 {
			t.Errorf("after the test the ledger has findings: %v, %v", report.Findings, err)
		}
	})
	return k
}

func (k *kit) open() {
	k.t.Helper()
	var err error
	if k.ledger, err = quota.Open(k.path, quota.Options{}); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) start() {
	k.t.Helper()
	var err error
	if k.cfg.Store, err = hooks.Open(context.Background(), k.ledger); err != nil {
		k.t.Fatal(err)
	}
	if k.Service, err = New(k.cfg); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) stop() {
	k.t.Helper()
	k.Service.Close()
	if err := k.ledger.Close(); err != nil {
		k.t.Error(err)
	}
	k.Service = nil
}

// move lets time pass on the clock of the service.
func (k *kit) move(d time.Duration) {
	k.mu.Lock()
	k.moved += d
	k.mu.Unlock()
	if k.Service == nil {
		return
	}
	all, err := k.Store.List(context.Background(), 0)
	if err != nil {
		k.t.Fatal(err)
	}
	k.wake(all...) // its timers run by the real clock
}

// publish serves a dataset with these benchmarks.
func (k *kit) publish(recs []dataset.Benchmark) {
	k.t.Helper()
	set := &dataset.Set{Info: dataset.Info{Version: fmt.Sprintf("v%d", len(recs))}}
	_, _ = rand.Read(set.Digest[:])
	set.Benchmarks = dataset.Pointers(recs)
	slices.SortFunc(set.Benchmarks, record.NewerRun)
	gen, err := index.Build(context.Background(), set, index.Renderers{Benchmark: func(dst []byte, b *dataset.Benchmark, _ index.Computed) ([]byte, error) {
		out, err := json.Marshal(map[string]any{"id": b.ID, "generation_tps": b.GenerationTPS, "notes": b.Notes})
		return append(dst, out...), err
	}})
	if err != nil {
		k.t.Fatal(err)
	}
	k.mu.Lock()
	k.latest = &Dataset{set, gen}
	k.mu.Unlock()
	if k.Service != nil {
		k.Published()
	}
}

// bench is a benchmark with a speed.
func bench(i int, tps float64, backend string) dataset.Benchmark {
	return dataset.Benchmark{ID: dataset.Slug(fmt.Sprintf("bm-%04d", i)), GenerationTPS: &tps, Backend: &backend, HardwareCount: 1}
}

// heard is one message as a receiver got it.
type heard struct {
	id, event string
	body      []byte
	msg       Message
}

// receiver verifies what it gets with the library of the specification.
type receiver struct {
	*httptest.Server
	t  *testing.T
	mu sync.Mutex
	// answer is the status for the next requests, the last one stays; 0 is 200.
	answers []int
	header  http.Header
	secrets []string
	heard   []heard
	more    chan struct{}
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, more: make(chan struct{}, 1000), header: http.Header{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP takes a message.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range r.secrets {
		verifier, err := standard.NewWebhook(secret)
		if err != nil {
			r.t.Errorf("the library does not take the secret: %v", err)
			continue
		}
		if err := verifier.VerifyIgnoringTimestamp(body, req.Header); err != nil {
			r.t.Errorf("message %s is not signed with each secret: %v", req.Header.Get("webhook-id"), err)
		}
	}
	status := http.StatusOK
	if len(r.answers) > 0 {
		if status = r.answers[0]; len(r.answers) > 1 {
			r.answers = r.answers[1:]
		}
	}
	h := heard{id: req.Header.Get("webhook-id"), body: body}
	if err := json.Unmarshal(body, &h.msg); err != nil {
		r.t.Errorf("the body is no JSON: %v", err)
	}
	h.event = h.msg.Type
	r.heard = append(r.heard, h)
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(status)
	r.more <- struct{}{}
}

func (r *receiver) answer(statuses ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = statuses
}

// wait waits until n messages have come and returns them all.
func (r *receiver) wait(n int) []heard {
	r.t.Helper()
	limit := time.After(patience)
	for {
		r.mu.Lock()
		got := slices.Clone(r.heard)
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-r.more:
		case <-limit:
			r.t.Fatalf("%d messages came, want %d", len(got), n)
		}
	}
}

// await waits until something holds.
func (k *kit) await(what string, ok func() bool) {
	k.t.Helper()
	for limit := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			k.t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

func (k *kit) create(r *receiver, filters string, events ...string) hooks.Key {
	k.t.Helper()
	h, secret, err := k.Create(context.Background(), k.owner, func(h *hooks.Hook) {
		h.URL, h.Filters = r.URL+"/hook", filters
		if events != nil {
			h.Events = events
		}
	})
	if err != nil {
		k.t.Fatal(err)
	}
	r.mu.Lock()
	r.secrets = []string{secret}
	r.mu.Unlock()
	return h.Key
}

func (k *kit) hook(key hooks.Key) hooks.Hook {
	k.t.Helper()
	h, err := k.Store.Get(context.Background(), key)
	if err != nil {
		k.t.Fatal(err)
	}
	return h
}

func ids(m Message) (out []string) {
	for _, raw := range m.Data.Records {
		var r struct{ ID, Change string }
		_ = json.Unmarshal(raw, &r)
		out = append(out, r.Change+" "+r.ID)
	}
	return out
}

// TestRelease follows releases from the dataset to a receiver: events, order, filters, counts.
func TestRelease(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	withdrawn := func(i int, tps float64) dataset.Benchmark {
		b := bench(i, tps, "vulkan")
		b.Withdrawn = &dataset.Withdrawal{}
		return b
	}
	k.publish([]dataset.Benchmark{bench(1, 10, "cuda"), bench(2, 20, "vulkan"), withdrawn(5, 50), withdrawn(7, 70)})
	k.create(r, "", Events...)
	k.publish([]dataset.Benchmark{
		bench(1, 11, "cuda"), withdrawn(2, 20), bench(3, 30, "cuda"), bench(4, 40, "vulkan"),
		bench(5, 50, "vulkan"), // counts again
		withdrawn(6, 60),       // never counted
		withdrawn(7, 71),
	})
	got := r.wait(4)
	for i, want := range []struct {
		event string
		total int
		ids   []string
	}{
		{Created, 2, []string{"created bm-0003", "created bm-0004"}},
		{Changed, 3, []string{"changed bm-0001", "changed bm-0005", "changed bm-0007"}},
		{Withdrawn, 1, []string{"withdrawn bm-0002"}},
		{Released, 6, nil},
	} {
		m := got[i].msg
		if m.Type != want.event || m.Data.Total != want.total || !slices.Equal(ids(m), want.ids) || *m.Data.Dataset != (hooks.Changes{
			Version: "v7", Digest: k.latest.Set.Digest.String(), PreviousVersion: "v4", PreviousDigest: m.Data.Dataset.PreviousDigest,
			Created: 2, Changed: 3, Withdrawn: 1,
		}) {
			t.Errorf("message %d is %s, want %+v", i, got[i].body, want)
		}
	}
	// A record that is gone is told of; one that was withdrawn before is not.
	k.publish([]dataset.Benchmark{bench(3, 30, "cuda"), bench(4, 40, "vulkan")})
	got = r.wait(6)
	if list := ids(got[4].msg); got[4].event != Withdrawn || !slices.Equal(list, []string{"removed bm-0001", "removed bm-0005"}) {
		t.Errorf("removed: %s %v", got[4].event, list)
	}
	// The same content under another digest is a release without benchmarks.
	k.publish([]dataset.Benchmark{bench(3, 30, "cuda"), bench(4, 40, "vulkan")})
	if got = r.wait(7); got[6].event != Released || got[6].msg.Data.Total != 0 {
		t.Errorf("release without changes: %s", got[6].body)
	}
}

// TestFilters has two webhooks with other filters, and one whose filters no program can read.
func TestFilters(t *testing.T) {
	k := newKit(t)
	cuda, vulkan, bad := newReceiver(t), newReceiver(t), newReceiver(t)
	k.create(cuda, "cuda", Created)
	k.create(vulkan, "vulkan", Created)
	broken := k.create(bad, "bad", Created)
	var recs []dataset.Benchmark
	for i := range 300 {
		recs = append(recs, bench(i, 1, []string{"cuda", "vulkan", "cuda"}[i%3]))
	}
	k.publish(recs)
	if m := cuda.wait(1)[0].msg.Data; m.Total != 200 || m.Count != MaxRecords || len(m.Records) != MaxRecords {
		t.Errorf("cuda: total %d, count %d", m.Total, m.Count)
	}
	if m := vulkan.wait(1)[0].msg.Data; m.Total != 100 || m.Count != MaxRecords {
		t.Errorf("vulkan: total %d, count %d", m.Total, m.Count)
	}
	k.await("disabling", func() bool { return k.hook(broken).State == hooks.Disabled })
}

// TestFailingLedger: work that is tried again every few seconds logs the reason once, and is done when the ledger works
// again. What a ledger has stored although it said that it had not is not announced twice, and is sent.
func TestFailingLedger(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	key := k.create(r, "", Created)
	k.Close()
	var log bytes.Buffer
	k.cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	k.start()
	hide := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	hide(k.path, k.path+".away") // what is written is not durable
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
	k.await("the release", func() bool { return len(k.hook(key).Queue) == 1 })
	for range 3 {
		k.Published() // instead of waiting for the next attempt
	}
	r.wait(1)
	k.await("the outcome", func() bool { return len(k.hook(key).Queue) == 0 })
	hide(k.path+".away", k.path)
	k.await("the next release", func() bool {
		if k.Results.Delivered.Load() == 0 {
			return false
		}
		k.publish([]dataset.Benchmark{bench(1, 1, "cuda"), bench(2, 1, "cuda")})
		return true
	})
	if got := r.wait(2); ids(got[1].msg)[0] != "created bm-0002" {
		t.Errorf("the next message is %s", got[1].body)
	}
	k.stop()
	if got := strings.Count(log.String(), "removed or replaced"); got < 1 || got > 2 {
		t.Errorf("the log has %d lines of a ledger that fails, want one for the release and one for the outcome:\n%s", got, log.String())
	}
}

// TestWhileDown loads a release while the service is down.
func TestWhileDown(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	k.create(r, "", Created)
	k.stop()
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
	k.open()
	k.start()
	if got := r.wait(1); ids(got[0].msg)[0] != "created bm-0001" {
		t.Errorf("after the start came %s", got[0].body)
	}
	k.stop()
	k.open()
	k.start() // the same dataset again announces nothing
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda"), bench(2, 1, "cuda")})
	if got := r.wait(2); len(got) != 2 || ids(got[1].msg)[0] != "created bm-0002" {
		t.Errorf("after the second start came %s", got[1].body)
	}
}

// TestWrongClock: what was noted while the clock was ahead, an attempt to repeat and a message that waits behind it, is
// sent once the clock is right.
func TestWrongClock(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"hours": 10 * time.Hour, "years": 10 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			k, r := newKit(t), newReceiver(t)
			key := k.create(r, "", Created)
			r.answer(500, 200, 200)
			k.move(ahead)
			k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
			k.await("the first attempt", func() bool { return k.tries(key) == 1 })
			k.publish([]dataset.Benchmark{bench(1, 1, "cuda"), bench(2, 1, "cuda")})
			k.await("the second message", func() bool { return len(k.hook(key).Queue) == 2 })
			k.stop()
			k.move(-ahead)
			k.open()
			k.start()
			if got := r.wait(3); got[1].id != got[0].id || ids(got[2].msg)[0] != "created bm-0002" {
				t.Errorf("sent were %s, %s and %s", got[0].body, got[1].body, got[2].body)
			}
		})
	}
}

// TestRetries fails a message until its webhook is disabled, and makes it active again.
func TestRetries(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	key := k.create(r, "", Created)
	r.answer(500)
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
	k.await("queueing", func() bool { return len(k.hook(key).Queue) == 1 }) // otherwise both may be one release
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda"), bench(2, 1, "cuda")})
	k.await("queueing", func() bool { return len(k.hook(key).Queue) == 2 })
	for n := 1; n <= Attempts; n++ {
		got := r.wait(n)
		if got[n-1].id != got[0].id || string(got[n-1].body) != string(got[0].body) {
			t.Fatalf("attempt %d has another id or body", n)
		}
		if n < Attempts {
			k.await("storing the attempt", func() bool { return k.tries(key) >= n })
			k.move(26 * time.Hour)
			if h := k.hook(key); len(h.Queue) != 2 || k.now().Unix()-h.Queue[0].Created < int64(n*26*3600) {
				t.Errorf("after attempt %d: %+v; want two messages, the oldest %d times 26 hours old", n, h, n)
			}
		}
	}
	k.await("disabling", func() bool { return k.hook(key).State == hooks.Disabled })
	k.await("counting results", func() bool { return k.Results.Failed.Load() == 1 })
	if got := int(k.Results.Retried.Load()); got != Attempts-1 {
		t.Errorf("%d attempts are counted as retried, want %d", got, Attempts-1)
	}
	h := k.hook(key)
	if h.Reason == "" || h.LastFailure.Status != 500 || len(h.Queue) != 2 {
		t.Errorf("the disabled webhook is %+v", h)
	}
	// What waits goes on when it is active again, the message that failed first.
	r.answer(200)
	k.activate(key)
	got := r.wait(Attempts + 2)
	if got[Attempts].id != got[0].id || string(got[Attempts].body) != string(got[0].body) || got[Attempts+1].id == got[0].id {
		t.Errorf("active again, the webhook got %s and %s", got[Attempts].body, got[Attempts+1].body)
	}
	k.await("counting deliveries", func() bool { return k.Results.Delivered.Load() == 2 })
}

// tries is how many attempts the first message of a webhook has had.
func (k *kit) tries(key hooks.Key) int {
	k.t.Helper()
	if queue := k.hook(key).Queue; len(queue) > 0 {
		return len(queue[0].Attempts)
	}
	return 0
}

func (k *kit) activate(key hooks.Key) {
	k.t.Helper()
	if _, err := k.Update(context.Background(), key, func(h *hooks.Hook) { h.State = hooks.Active }); err != nil {
		k.t.Fatal(err)
	}
}

// test sends a test message, which must be accepted.
func (k *kit) test(key hooks.Key) {
	k.t.Helper()
	if a, err := k.Test(context.Background(), key); err != nil || a.Status != http.StatusOK || a.Error != "" {
		k.t.Errorf("Test() = %+v, %v", a, err)
	}
}

// A receiver that is gone, one that sends elsewhere, and one that asks for time.
func TestAnswers(t *testing.T) {
	k := newKit(t)
	gone, redirect, busy, elsewhere := newReceiver(t), newReceiver(t), newReceiver(t), newReceiver(t)
	keys := []hooks.Key{k.create(gone, "", Created), k.create(redirect, "", Created), k.create(busy, "", Created)}
	gone.answer(http.StatusGone)
	redirect.answer(http.StatusTemporaryRedirect)
	redirect.header.Set("Location", elsewhere.URL)
	busy.answer(http.StatusServiceUnavailable)
	busy.header.Set("Retry-After", "3600")
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
	k.await("410", func() bool { return k.hook(keys[0]).State == hooks.Disabled })
	k.await("redirect", func() bool { return k.hook(keys[1]).LastFailure != nil })
	k.await("busy", func() bool { return k.hook(keys[2]).LastFailure != nil })
	if h := k.hook(keys[1]); h.LastFailure.Status != 307 || h.LastFailure.Error != "status 307: redirects are not followed" || h.State != hooks.Active {
		t.Errorf("after a redirect the webhook is %+v", h)
	}
	if d := k.hook(keys[2]).Queue[0]; d.NextAt < k.now().Add(50*time.Minute).Unix() {
		t.Errorf("the next attempt is in %d s, want the hour asked for", d.NextAt-k.now().Unix())
	}
	if n := len(elsewhere.wait(0)); n != 0 {
		t.Errorf("%d requests followed the redirect", n)
	}
}

// TestRotation signs with both secrets in the grace, and with the new one after it.
func TestRotation(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	key := k.create(r, "", Created)
	_, second, err := k.Rotate(context.Background(), key, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.secrets = append(r.secrets, second)
	r.mu.Unlock()
	k.test(key)
	if got := r.wait(1); got[0].event != Test {
		t.Errorf("the test is %s", got[0].body)
	}
	k.move(2 * time.Hour)
	r.mu.Lock()
	first := r.secrets[0]
	r.secrets = []string{second}
	r.mu.Unlock()
	k.test(key)
	r.wait(2)
	h := k.hook(key)
	signed := signatures(h.Secrets, "msg_x", k.now().Unix(), []byte("{}"))
	verifier, err := standard.NewWebhook(first)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Webhook-Id": {"msg_x"}, "Webhook-Timestamp": {fmt.Sprint(k.now().Unix())}, "Webhook-Signature": {signed}}
	if verifier.VerifyIgnoringTimestamp([]byte("{}"), header) == nil {
		t.Error("the old secret signs after its grace")
	}
}

// Keys that lose their tier, are suspended or revoked.
func TestAccounts(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	key := k.create(r, "", Created)
	change := func(fn func(*quota.Record)) {
		t.Helper()
		if _, err := k.ledger.Update(context.Background(), k.owner, func(r *quota.Record, _ *quota.Person) error { fn(r); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	change(func(r *quota.Record) { r.Status = quota.StatusSuspended })
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
	k.await("queueing", func() bool { return len(k.hook(key).Queue) == 1 })
	change(func(r *quota.Record) { r.Status, r.Tier = quota.StatusActive, "free" })
	k.move(time.Hour)
	k.await("disabling", func() bool { return k.hook(key).State == hooks.Disabled })
	if n := len(r.wait(0)); n != 0 {
		t.Errorf("%d messages were sent for a suspended key", n)
	}
	change(func(r *quota.Record) { r.Tier = "pro" })
	k.activate(key)
	r.wait(1)
	change(func(r *quota.Record) { r.Status = quota.StatusRevoked })
	if _, err := k.Store.Get(context.Background(), key); !errors.Is(err, hooks.ErrNoHook) {
		t.Errorf("the webhook of a revoked key: %v", err)
	}
}

// TestExplain: the owner of a webhook reads why there was no response, without an address of the server's network.
func TestExplain(t *testing.T) {
	for want, err := range map[string]error{
		"the name cannot be resolved":                                                    &net.DNSError{Err: "no such host", Name: "x.example", Server: "10.0.0.53"},
		"no response within 15 seconds":                                                  context.DeadlineExceeded,
		"the TLS certificate is not valid for the name":                                  &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x.example"}},
		"the connection was refused":                                                     syscall.ECONNREFUSED,
		"the connection was closed without a response":                                   io.ErrUnexpectedEOF,
		"the host cannot be reached":                                                     syscall.ENETUNREACH,
		"the request failed before a response":                                           errors.New("something else at 10.0.0.7"),
		"the name has an address in a loopback, private, link-local or reserved network": errForbidden,
	} {
		if got := explain(&url.Error{Op: "Post", URL: "https://x.example/", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}); got != want {
			t.Errorf("explain(%v) = %q, want %q", err, got, want)
		}
	}
}

// The delays grow, and add up to about three days.
func TestSchedule(t *testing.T) {
	for range 100 {
		sum, last := time.Duration(0), time.Duration(0)
		for n := 1; n < Attempts; n++ {
			d := nextDelay(n, 0)
			if asked := nextDelay(n, 1000*time.Hour); d <= last || d > longestRetry || asked != longestRetry {
				t.Fatalf("delay %d is %v after %v, or %v if asked for; none is above %v", n, d, last, asked, longestRetry)
			}
			sum, last = sum+d, d
		}
		if nextDelay(Attempts, 0) != never || sum < 64*time.Hour || sum > 80*time.Hour {
			t.Errorf("%d attempts are spread over %v, want about 72 h", Attempts, sum)
		}
	}
	if d := nextDelay(1, time.Hour); d != time.Hour {
		t.Errorf("Retry-After of an hour gives %v", d)
	}
}

// A field that gets a value changes the hash, one that has none does not count.
func TestHash(t *testing.T) {
	seen := map[uint64]string{}
	add := func(name string, b dataset.Benchmark) {
		t.Helper()
		sum := markOf(&b).Hash
		if other, ok := seen[sum]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[sum] = name
	}
	b := bench(1, 10, "cuda")
	add("plain", b)
	n := int64(512)
	b.NPrompt = &n
	add("prompt length", b)
	b.NPrompt, b.NGen = nil, &n
	add("generated length", b)
	b.Withdrawn = &dataset.Withdrawal{}
	add("withdrawn", b)
	add("speed", bench(1, 10.5, "cuda"))
	again := bench(1, 10, "cuda")
	empty := ""
	again.Notes = &empty
	if seen[markOf(&again).Hash] != "plain" {
		t.Error("an empty field counts")
	}
	// Every field counts, and every value of it.
	fields := reflect.TypeFor[dataset.Benchmark]()
	for i := range fields.NumField() {
		for n := range 2 {
			b := bench(1, 10, "cuda")
			v := reflect.ValueOf(&b).Elem().Field(i)
			if v.Kind() == reflect.Pointer {
				v.Set(reflect.New(v.Type().Elem()))
				v = v.Elem()
			}
			switch v.Kind() {
			case reflect.String:
				v.SetString([]string{"one", "two"}[n])
			case reflect.Int64:
				v.SetInt(int64(100 + n))
			case reflect.Float64:
				v.SetFloat(100.5 + float64(n))
			case reflect.Bool:
				v.SetBool(n == 1)
			default:
				continue
			}
			add(fmt.Sprintf("%s %v", fields.Field(i).Name, v), b)
		}
	}
}

// TestBodyBound: a message lists no more than 256 KiB of records, and counts all.
func TestBodyBound(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	k.create(r, "", Created)
	var recs []dataset.Benchmark
	notes := strings.Repeat("x", 10_000)
	for i := range 50 {
		recs = append(recs, bench(i, 1, "cuda"))
		recs[i].Notes = &notes
	}
	k.publish(recs)
	got := r.wait(1)[0]
	if d := got.msg.Data; d.Total != 50 || d.Count != len(d.Records) || d.Count < 20 || d.Count > 26 || len(got.body) > maxBytes+2000 {
		t.Errorf("%d of %d records in %d bytes, said are %d", len(d.Records), d.Total, len(got.body), d.Count)
	}
}

// TestPace: of many messages that wait, no more than the pace allows are sent.
func TestPace(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	const n = burst + perSecond/4
	keys := make([]hooks.Key, 0, MaxPerKey)
	for range MaxPerKey {
		keys = append(keys, k.create(r, ""))
	}
	r.mu.Lock()
	r.secrets = nil
	r.mu.Unlock()
	began := time.Now()
	var tests sync.WaitGroup
	for i := range n {
		tests.Go(func() { k.test(keys[i%len(keys)]) })
	}
	tests.Wait()
	r.wait(n)
	if took, least := time.Since(began), time.Second*(n-burst)/perSecond; took < least {
		t.Errorf("%d messages were sent in %s, which must take %s", n, took, least)
	}
}
