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
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/pack"
	"modeldex/index"
	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

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
		Account: func(ctx context.Context, id quota.ID) (quota.Record, error) {
			r, _, err := k.ledger.Get(ctx, id)
			return r, err
		},
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
		Guard: Guard{AllowLoopback: true},
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
	k.cfg.Store = k.ledger
	var err error
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
	if k.Service != nil {
		k.dispatch.look()
	}
}

// publish serves a dataset with these benchmarks.
func (k *kit) publish(recs []dataset.Benchmark) {
	k.t.Helper()
	set := &dataset.Set{Info: dataset.Info{Version: fmt.Sprintf("v%d", len(recs))}}
	_, _ = rand.Read(set.Digest[:])
	list := make([]*dataset.Benchmark, len(recs))
	for i := range recs {
		list[i] = &recs[i]
	}
	set.Benchmarks, _ = pack.Sorted(list)
	gen, err := index.Build(context.Background(), set, index.Renderers{Benchmark: func(dst []byte, b *dataset.Benchmark, _ index.Computed) ([]byte, error) {
		out, err := json.Marshal(map[string]any{"id": b.ID, "generation_tps": b.GenerationTPS})
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

func (k *kit) create(r *receiver, filters string, events ...string) quota.HookKey {
	k.t.Helper()
	url := r.URL + "/hook"
	h, secret, err := k.Create(context.Background(), k.owner, Draft{URL: &url, Events: events, Filters: &filters})
	if err != nil {
		k.t.Fatal(err)
	}
	r.mu.Lock()
	r.secrets = []string{secret}
	r.mu.Unlock()
	return h.Key
}

func (k *kit) hook(key quota.HookKey) quota.Hook {
	k.t.Helper()
	h, err := k.Get(context.Background(), key)
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

// fieldsOf are the changed fields of the first record of a message.
func fieldsOf(t *testing.T, m Message) []string {
	t.Helper()
	var r MessageRecord
	if err := json.Unmarshal(m.Data.Records[0], &r); err != nil {
		t.Fatal(err)
	}
	return r.Fields
}

// TestRelease follows releases from the dataset to a receiver: events, order, filters, counts.
func TestRelease(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	first := []dataset.Benchmark{bench(1, 10, "cuda"), bench(2, 20, "vulkan")}
	k.publish(first)
	k.create(r, "", Events...)
	withdrawn := bench(2, 20, "vulkan")
	withdrawn.Withdrawn = &dataset.Withdrawal{}
	k.publish([]dataset.Benchmark{bench(1, 11, "cuda"), withdrawn, bench(3, 30, "cuda"), bench(4, 40, "vulkan")})
	got := r.wait(4)
	want := []string{Created, Changed, Withdrawn, Released}
	for i, h := range got {
		if h.event != want[i] || h.msg.Data.Dataset == nil || *h.msg.Data.Dataset != (MessageDataset{
			"v4", k.latest.Set.Digest.String(), "v2", h.msg.Data.Dataset.PreviousDigest, 2, 1, 1,
		}) {
			t.Errorf("message %d is %s: %s", i, h.event, h.body)
		}
	}
	if list := ids(got[0].msg); !slices.Equal(list, []string{"created bm-0003", "created bm-0004"}) || got[0].msg.Data.Total != 2 {
		t.Errorf("created: %v", list)
	}
	if list := ids(got[1].msg); !slices.Equal(list, []string{"changed bm-0001"}) {
		t.Errorf("changed: %v", list)
	}
	if list := ids(got[2].msg); !slices.Equal(list, []string{"withdrawn bm-0002"}) {
		t.Errorf("withdrawn: %v", list)
	}
	if got[3].msg.Data.Total != 4 || len(got[3].msg.Data.Records) != 0 {
		t.Errorf("released: %s", got[3].body)
	}
	// A record that is gone is told of; one that was withdrawn before is not.
	k.publish([]dataset.Benchmark{bench(3, 30, "cuda"), bench(4, 40, "vulkan")})
	got = r.wait(6)
	if list := ids(got[4].msg); got[4].event != Withdrawn || !slices.Equal(list, []string{"removed bm-0001"}) {
		t.Errorf("removed: %s %v", got[4].event, list)
	}
	// The same content under another digest is a release without benchmarks.
	k.publish([]dataset.Benchmark{bench(3, 30, "cuda"), bench(4, 40, "vulkan")})
	if got = r.wait(7); got[6].event != Released || got[6].msg.Data.Total != 0 {
		t.Errorf("release without changes: %s", got[6].body)
	}
}

// TestChangedFields: a message names what changed of a benchmark, also of one whose run date did. After a start it does not:
// what was announced before is not kept.
func TestChangedFields(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	k.create(r, "", Changed)
	k.publish([]dataset.Benchmark{bench(1, 10, "cuda"), bench(2, 20, "cuda")})
	date := dataset.Date("2026-01-02")
	other := bench(1, 11, "vulkan")
	other.RunDate = &date
	k.publish([]dataset.Benchmark{other, bench(2, 20, "cuda")})
	if got, want := fieldsOf(t, r.wait(1)[0].msg), []string{"backend", "generation_tps", "run_date"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	k.stop()
	k.open()
	k.start()
	k.publish([]dataset.Benchmark{other, bench(2, 21, "cuda")})
	if got := r.wait(2)[1]; fieldsOf(t, got.msg) != nil || bytes.Contains(got.body, []byte("fields")) {
		t.Errorf("after a start: %s", got.body)
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
	k.await("disabling", func() bool { return k.hook(broken).State == quota.HookDisabled })
}

// fullDisk is a ledger that can store neither releases nor outcomes while it has failures left.
type fullDisk struct {
	quota.HookStore
	announce, settle atomic.Int32
}

var errFullDisk = errors.New("disk is full")

func (d *fullDisk) Announce(ctx context.Context, a *quota.Announcement) ([]quota.Waiting, error) {
	if d.announce.Add(-1) >= 0 {
		return nil, errFullDisk
	}
	return d.HookStore.Announce(ctx, a)
}

func (d *fullDisk) Settle(ctx context.Context, list []quota.Outcome, now int64) ([]int64, error) {
	if d.settle.Add(-1) >= 0 {
		return nil, errFullDisk
	}
	return d.HookStore.Settle(ctx, list, now)
}

// TestFullDisk: work that is tried again every few seconds logs the reason once, and is done when the disk has room.
func TestFullDisk(t *testing.T) {
	k := newKit(t)
	r := newReceiver(t)
	key := k.create(r, "", Created)
	k.Close()
	disk := &fullDisk{HookStore: k.ledger}
	disk.announce.Store(2)
	disk.settle.Store(2)
	var log bytes.Buffer
	cfg := k.cfg
	cfg.Store, cfg.Log = disk, slog.New(slog.NewTextHandler(&log, nil))
	var err error
	if k.Service, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
	k.await("the release", func() bool {
		k.Published() // instead of waiting for the next attempt
		return disk.announce.Load() < 0
	})
	k.await("a stored outcome", func() bool { return disk.settle.Load() < 0 && k.hook(key).Queued == 0 })
	k.stop()
	if got := strings.Count(log.String(), "disk is full"); got != 2 {
		t.Errorf("the log has %d lines of a full disk, want one for the release and one for the outcome:\n%s", got, log.String())
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
			k.await("the first attempt", func() bool { return len(k.log(key)[0].Attempts) == 1 })
			k.publish([]dataset.Benchmark{bench(1, 1, "cuda"), bench(2, 1, "cuda")})
			k.await("the second message", func() bool { return k.log(key)[1].Seq > 0 })
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
	k.await("queueing", func() bool { return k.hook(key).Queued == 1 }) // otherwise both may be one release
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda"), bench(2, 1, "cuda")})
	k.await("queueing", func() bool { return k.hook(key).Queued == 2 })
	for n := 1; n <= Attempts; n++ {
		got := r.wait(n)
		if got[n-1].id != got[0].id || string(got[n-1].body) != string(got[0].body) {
			t.Fatalf("attempt %d has another id or body", n)
		}
		if n < Attempts {
			k.await("storing the attempt", func() bool { return len(k.log(key)[1].Attempts)+len(k.log(key)[0].Attempts) >= n })
			k.move(26 * time.Hour)
			if got, age := k.Counts(context.Background()), k.OldestPending(context.Background()); got.Active != 1 || got.Pending != 2 || age < time.Duration(n)*26*time.Hour {
				t.Errorf("after attempt %d: %+v, the oldest message waits for %s; want two messages, for %d times 26 hours", n, got, age, n)
			}
		}
	}
	k.await("disabling", func() bool { return k.hook(key).State == quota.HookDisabled })
	k.move(countEvery)
	if got := k.Counts(context.Background()); got != (quota.HookCounts{Disabled: 1}) {
		t.Errorf("counts of the disabled webhook are %+v", got)
	}
	k.await("counting results", func() bool { return k.Results.Failed.Load() == 1 })
	if got := int(k.Results.Retried.Load()); got != Attempts-1 {
		t.Errorf("%d attempts are counted as retried, want %d", got, Attempts-1)
	}
	h := k.hook(key)
	if h.Reason == "" || h.LastFailure.Status != 500 || h.Queued == 0 {
		t.Errorf("the disabled webhook is %+v", h)
	}
	// What waits goes on when it is active again, and a redelivery repeats id and body.
	r.answer(200)
	active := quota.HookActive
	if _, err := k.Update(context.Background(), key, Draft{State: &active}); err != nil {
		t.Fatal(err)
	}
	got := r.wait(Attempts + 1)
	if got[Attempts].id == got[0].id {
		t.Error("the failed message came again by itself")
	}
	if _, err := k.Redeliver(context.Background(), key, 1); err != nil {
		t.Fatal(err)
	}
	if got = r.wait(Attempts + 2); got[Attempts+1].id != got[0].id || string(got[Attempts+1].body) != string(got[0].body) {
		t.Errorf("the redelivery has another id or body")
	}
	k.await("counting deliveries", func() bool { return k.Results.Delivered.Load() == 2 })
}

func (k *kit) log(key quota.HookKey) []quota.Delivery {
	k.t.Helper()
	list, err := k.Deliveries(context.Background(), key, 0, 100)
	if err != nil {
		k.t.Fatal(err)
	}
	return append(list, quota.Delivery{}, quota.Delivery{})
}

// A receiver that is gone, one that sends elsewhere, and one that asks for time.
func TestAnswers(t *testing.T) {
	k := newKit(t)
	gone, redirect, busy, elsewhere := newReceiver(t), newReceiver(t), newReceiver(t), newReceiver(t)
	keys := []quota.HookKey{k.create(gone, "", Created), k.create(redirect, "", Created), k.create(busy, "", Created)}
	gone.answer(http.StatusGone)
	redirect.answer(http.StatusTemporaryRedirect)
	redirect.header.Set("Location", elsewhere.URL)
	busy.answer(http.StatusServiceUnavailable)
	busy.header.Set("Retry-After", "3600")
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
	k.await("410", func() bool { return k.hook(keys[0]).State == quota.HookDisabled })
	k.await("redirect", func() bool { return k.hook(keys[1]).LastFailure != nil })
	k.await("busy", func() bool { return k.hook(keys[2]).LastFailure != nil })
	if h := k.hook(keys[1]); h.LastFailure.Status != 307 || h.LastFailure.Error != "status 307: redirects are not followed" || h.State != quota.HookActive {
		t.Errorf("after a redirect the webhook is %+v", h)
	}
	if d := k.log(keys[2])[0]; d.NextAt < k.now().Add(50*time.Minute).Unix() {
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
	if _, err := k.Try(context.Background(), key); err != nil {
		t.Fatal(err)
	}
	if got := r.wait(1); got[0].event != Test {
		t.Errorf("the test is %s", got[0].body)
	}
	k.move(2 * time.Hour)
	r.mu.Lock()
	first := r.secrets[0]
	r.secrets = []string{second}
	r.mu.Unlock()
	if _, err := k.Try(context.Background(), key); err != nil {
		t.Fatal(err)
	}
	r.wait(2)
	h := k.hook(key)
	signed := signatures(h.Secrets, "msg_x", k.now().Unix(), &body{head: []byte("{"), tail: []byte("}")})
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
	k.await("queueing", func() bool { return k.hook(key).Queued == 1 })
	change(func(r *quota.Record) { r.Status, r.Tier = quota.StatusActive, "free" })
	k.move(time.Hour)
	k.await("disabling", func() bool { return k.hook(key).State == quota.HookDisabled })
	if n := len(r.wait(0)); n != 0 {
		t.Errorf("%d messages were sent for a suspended key", n)
	}
	change(func(r *quota.Record) { r.Tier = "pro" })
	active := quota.HookActive
	if _, err := k.Update(context.Background(), key, Draft{State: &active}); err != nil {
		t.Fatal(err)
	}
	r.wait(1)
	change(func(r *quota.Record) { r.Status = quota.StatusRevoked })
	if _, err := k.Get(context.Background(), key); !errors.Is(err, quota.ErrNoHook) {
		t.Errorf("the webhook of a revoked key: %v", err)
	}
}

func TestDrafts(t *testing.T) {
	k := newKit(t)
	text := func(s string) *string { return &s }
	number := func(n int) *int { return &n }
	disabled := quota.HookDisabled
	for name, d := range map[string]Draft{
		"url":         {},
		"no url":      {URL: text("nonsense")},
		"events":      {URL: text("http://127.0.0.1:9999/"), Events: []string{"x"}},
		"none":        {URL: text("http://127.0.0.1:9999/"), Events: []string{}},
		"max_records": {URL: text("http://127.0.0.1:9999/"), MaxRecords: number(101)},
		"status":      {URL: text("http://127.0.0.1:9999/"), State: &disabled},
		"description": {URL: text("http://127.0.0.1:9999/"), Description: text(strings.Repeat("é", MaxDescription+1))},
	} {
		if _, _, err := k.Create(context.Background(), k.owner, d); !errors.As(err, new(Faults)) {
			t.Errorf("%s: Create() = %v, want faults", name, err)
		}
	}
	longest := text(strings.Repeat("é", MaxDescription))
	if h, _, err := k.Create(context.Background(), k.owner, Draft{URL: text("http://127.0.0.1:9999/"), Description: longest}); err != nil || h.Description != *longest {
		t.Errorf("the longest description: %v", err)
	} else if err := k.Delete(context.Background(), h.Key); err != nil {
		t.Fatal(err)
	}
	for i := range MaxPerKey + 1 {
		_, _, err := k.Create(context.Background(), k.owner, Draft{URL: text("http://127.0.0.1:9999/")})
		if (i < MaxPerKey) != (err == nil) || err != nil && !errors.Is(err, quota.ErrTooManyHooks) {
			t.Errorf("webhook %d: %v", i+1, err)
		}
	}
}

// TestExplain: the owner of a webhook reads why there was no response, without an address of the server's network.
func TestExplain(t *testing.T) {
	for want, err := range map[string]error{
		"the name cannot be resolved":                   &net.DNSError{Err: "no such host", Name: "x.example", Server: "10.0.0.53"},
		"no response within 15 seconds":                 context.DeadlineExceeded,
		"the TLS certificate is not valid for the name": &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x.example"}},
		"the connection was refused":                    syscall.ECONNREFUSED,
		"the connection was closed without a response":  io.ErrUnexpectedEOF,
		"the host cannot be reached":                    syscall.ENETUNREACH,
		"the request failed before a response":          errors.New("something else at 10.0.0.7"),
		"the name has an address of a loopback, private, link-local or reserved network, to which nothing is sent": ErrForbidden,
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
			d, more := nextDelay(n, 0)
			if asked, _ := nextDelay(n, 1000*time.Hour); !more || d <= last || max(d, asked) > quota.LongestRetry {
				t.Fatalf("delay %d is %v after %v, or %v if asked for; none is above %v", n, d, last, asked, quota.LongestRetry)
			}
			sum, last = sum+d, d
		}
		if _, more := nextDelay(Attempts, 0); more || sum < 64*time.Hour || sum > 80*time.Hour {
			t.Errorf("%d attempts are spread over %v, want about 72 h", Attempts, sum)
		}
	}
	if d, _ := nextDelay(1, time.Hour); d != time.Hour {
		t.Errorf("Retry-After of an hour gives %v", d)
	}
	if d, _ := nextDelay(1, 1000*time.Hour); d != maxRetryAfter {
		t.Errorf("Retry-After of 1000 hours gives %v", d)
	}
}

// A field that gets a value changes the hash, one that has none does not count.
func TestHash(t *testing.T) {
	var h hasher
	seen := map[uint64]string{}
	add := func(name string, b dataset.Benchmark) {
		t.Helper()
		sum := h.hash(&b)
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
	if seen[h.hash(&again)] != "plain" {
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

// TestComparePart: what a release did to benchmarks, by their marks before and after it. comparable is whether their hashes
// were made in the same way.
func TestComparePart(t *testing.T) {
	mark := func(id string, hash uint64, withdrawn bool) quota.Mark {
		return quota.Mark{ID: id, Hash: hash, Withdrawn: withdrawn}
	}
	before := []quota.Mark{mark("same", 1, false), mark("text", 1, false), mark("gone", 1, false), mark("gone withdrawn", 1, true), mark("withdrawn now", 1, false), mark("withdrawn before", 1, true), mark("counts again", 1, true)}
	now := []quota.Mark{mark("same", 1, false), mark("text", 2, false), mark("withdrawn now", 2, true), mark("withdrawn before", 2, true), mark("counts again", 2, false), mark("new", 1, false), mark("new withdrawn", 1, true)}
	places := []int32{0, 1, 2, 3, 4, 5, 6}
	for comparable, changed := range map[bool][]int{true: {1, 3, 4}, false: {4}} {
		var d difference
		if !d.comparePart(before, now, places, comparable) {
			t.Error("nothing differs")
		}
		if !slices.Equal(d.created, []int{5}) || !slices.Equal(d.withdrawn, []int{2}) || !slices.Equal(d.changed, changed) || !slices.Equal(d.removed, []string{"gone"}) {
			t.Errorf("comparable %t: created %v, withdrawn %v, changed %v, want %v, removed %v", comparable, d.created, d.withdrawn, d.changed, changed, d.removed)
		}
	}
	if new(difference).comparePart(now, now, places, true) {
		t.Error("a part differs from itself")
	}
}

// TestBody: the body put together of parts is what the encoder makes of the whole, and says how many
// records there are; lists that are kept for other messages are bounded and do not mix.
func TestBody(t *testing.T) {
	k := newKit(t)
	l := &k.lists
	for round := range 200 {
		rows := make([][]byte, round%(MaxRecords+1))
		kept := records{}
		for i := range rows {
			rows[i] = fmt.Appendf(nil, `{"id":"bm-%d","record":{"text":"\"records\":[] %d","long":%q}}`, i, round, strings.Repeat("x", (round*i)%5000))
			kept[uint32(i)] = rows[i]
		}
		l.store = kept
		job := quota.Job{Delivery: quota.Delivery{Key: quota.HookKey{Account: 1, Hook: 2}, Event: Created, Release: uint64(round + 1), Total: 2 * len(rows)}}
		job.Release.Number, job.Hook.Filters = job.Delivery.Release, `note="records":[]`
		for i := range rows {
			job.Rows = append(job.Rows, uint32(i))
		}
		for range 2 { // made, and kept
			list, err := l.of(context.Background(), &job.Delivery)
			if err != nil {
				t.Fatal(err)
			}
			b, err := newBody(&job, "https://models.example.org", list)
			if err != nil {
				t.Fatal(err)
			}
			var m Message
			if err := jsonv2.Unmarshal(b.bytes(), &m); err != nil {
				t.Fatal(err)
			}
			whole, err := jsonv2.Marshal(&m)
			if err != nil || !bytes.Equal(whole, b.bytes()) || int64(len(whole)) != b.size() {
				t.Fatalf("%v: %s\nwant\n%s", err, b.bytes(), whole)
			}
			size := 0
			for i, record := range m.Data.Records {
				if size += len(record); !bytes.Equal(record, rows[i]) {
					t.Fatalf("record %d is %s, want %s", i, record, rows[i])
				}
			}
			if n := m.Data.Count; n != len(m.Data.Records) || n < len(rows) && size+len(rows[n]) <= maxBytes || size > maxBytes {
				t.Fatalf("%d of %d records with %d bytes, %d said", len(m.Data.Records), len(rows), size, n)
			}
		}
		size := 0
		for _, list := range l.byName {
			size += len(list.text)
		}
		if size != l.bytes || size > maxLists+maxBytes || len(l.names) != len(l.byName) {
			t.Fatalf("%d bytes in %d lists are kept, counted are %d in %d", size, len(l.byName), l.bytes, len(l.names))
		}
	}
}

// records is a store with the records of one release.
type records map[uint32][]byte

func (r records) Records(_ context.Context, _ uint64, places []uint32) (out [][]byte, err error) {
	for _, p := range places {
		out = append(out, r[p])
	}
	return out, nil
}

// TestPace: of many messages that wait, no more than the pace allows are sent.
func TestPace(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	const n = burst + perSecond/4
	keys := make([]quota.HookKey, 0, MaxPerKey)
	for range MaxPerKey {
		keys = append(keys, k.create(r, ""))
	}
	r.mu.Lock()
	r.secrets = nil
	r.mu.Unlock()
	began := time.Now()
	for i := range n {
		if _, err := k.Try(context.Background(), keys[i%len(keys)]); err != nil {
			t.Fatal(err)
		}
	}
	r.wait(n)
	if took, least := time.Since(began), time.Second*(n-burst)/perSecond; took < least {
		t.Errorf("%d messages were sent in %s, which must take %s", n, took, least)
	}
}
