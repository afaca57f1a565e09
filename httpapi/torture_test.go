package httpapi

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/quota"
)

// The long form is go test ./httpapi -run TestTorture -torture.kills 50.
var killsFlag = flag.Int("torture.kills", 2, "how many times TestTorture kills the server")

// TestTorture kills the real program at random moments while clients call with several keys. After each restart it compares
// what was answered with what the ledger says, and holds the ledger to the promise of package quota, whose own test of
// crashes issues and revokes keys as well.
func TestTorture(t *testing.T) {
	t.Parallel()
	w := newTorture(t)
	for life := 0; life < *killsFlag || !w.proved(); life++ { // on a busy machine a life may end before anything was said
		w.live(false)
		if t.Failed() {
			t.Fatalf("in life %d", life+1)
		}
	}
	w.live(true)
	w.checkExact()
	w.report()
}

// tortureTiers have limits of which a hundredth is more than any lease (hot, slow), less than
// it (mid) and less than a call (free), and a burst that rejects (paced).
const tortureTiers = `{"tiers": [
  {"name": "free", "calls_per_month": 60, "burst": {"rate": 1000000, "per_seconds": 1, "depth": 1000000}},
  {"name": "mid", "calls_per_month": 4000, "burst": {"rate": 1000000, "per_seconds": 1, "depth": 1000000}},
  {"name": "paced", "calls_per_month": 100000, "burst": {"rate": 50, "per_seconds": 1, "depth": 5}},
  {"name": "slow", "calls_per_month": 1000000, "burst": {"rate": 1000000, "per_seconds": 1, "depth": 1000000}},
  {"name": "hot", "calls_per_month": 50000000, "burst": {"rate": 1000000, "per_seconds": 1, "depth": 1000000}}
]}`

// torture is the world of one run: a ledger, the server of the day, and what is known of keys.
type torture struct {
	*site
	rng       *rand.Rand
	spenders  []*spender
	stillborn int // servers killed before they served
}

const tortureList = "/api/v1/tools?limit=3"

func newTorture(t *testing.T) *torture {
	w := &torture{site: newSite(t, tortureTiers), rng: rand.New(rand.NewPCG(seedOf(t), 3))}
	w.flags = []string{"--keys-per-email=0"}
	w.start()
	w.addSpender("hot", "hot", 6, 0)
	w.addSpender("slow", "slow", 1, 20*time.Millisecond)
	w.addSpender("mid", "mid", 3, 2*time.Millisecond)
	w.addSpender("paced", "paced", 2, 5*time.Millisecond)
	return w
}

// live is one life of the server: load, an end at a random moment, a new start, and the books.
// A gentle end is a SIGTERM, which loses nothing, else it is a SIGKILL.
func (w *torture) live(gentle bool) {
	w.addSpender("edge", "free", 2, 0)
	var load sync.WaitGroup
	stop := make(chan struct{})
	journals := w.spendAll(&load, stop)
	longest := time.Duration(datasettest.Rounds(180, 480)) * time.Millisecond
	time.Sleep(20*time.Millisecond + time.Duration(w.rng.Int64N(int64(longest))))
	if gentle {
		w.stop()
	} else {
		w.server.kill()
	}
	close(stop)
	load.Wait()
	w.stillbirth()
	w.start()
	w.audit(journals, gentle)
}

// stillbirth now and then kills a server while it opens the ledger.
func (w *torture) stillbirth() {
	for w.rng.IntN(4) == 0 {
		w.launch()
		time.Sleep(time.Duration(w.rng.Int64N(int64(w.startup))))
		w.server.kill()
		w.stillborn++
	}
}

// audit compares the ledger with what was answered in the life that has ended.
func (w *torture) audit(journals map[*spender][]*journal, gentle bool) {
	c := &caller{addr: w.server.addr}
	defer c.hangUp()
	for _, s := range w.spenders {
		s.audit(w.t, journals[s], w.used(c, s.secret), gentle)
	}
	w.auditVerb()
}

// auditVerb compares what the operator's verb says of one key.
func (w *torture) auditVerb() {
	w.t.Helper()
	s := w.spenders[w.rng.IntN(len(w.spenders))]
	shown := w.accounts("keys", "show", "--json", s.id)
	if len(shown) != 1 {
		w.t.Fatalf("keys show %s tells of %d keys", s.id, len(shown))
	}
	if int64(shown[0].Used) != s.used || int64(shown[0].Limit) != s.limit {
		w.t.Errorf("keys show --json says %s used %d of %d, keys/self %d of %d", s.name, shown[0].Used, shown[0].Limit, s.used, s.limit)
	}
}

// checkExact stops the server, whose clients are gone, and asks the ledger itself: after a
// clean stop it holds what was answered and nothing more.
func (w *torture) checkExact() {
	w.t.Helper()
	w.stop()
	used := map[string]int64{}
	for _, a := range w.accounts("keys", "list", "--json") {
		used[a.ID.String()] = int64(a.Used)
	}
	for _, s := range w.spenders {
		if used[s.id] != s.used {
			w.t.Errorf("%s: the stopped ledger holds %d calls, want %d", s.name, used[s.id], s.used)
		}
	}
	if report, err := quota.Check(w.ledger()); err != nil || len(report.Findings) > 0 {
		w.t.Errorf("the ledger in the end: %v %v", err, report.Findings)
	}
}

// proved says whether there was something to lose: calls that were answered.
func (w *torture) proved() bool { return w.spenders[0].answered > 0 }

func (w *torture) report() {
	for _, s := range w.spenders {
		w.t.Logf("%-5s %6d of %d used, answered %d, most in one life %d; lost to crashes %d, at most %d at once (a hundredth is %d)",
			s.name, s.used, s.limit, s.answered, s.busiest, s.lost, s.mostLost, s.limit/100)
	}
	w.t.Logf("%d servers killed before they served", w.stillborn)
}

// spender is a key that clients call with, and what is known of its count.
type spender struct {
	name, secret, id string
	limit            int64
	clients          int
	rest             time.Duration // a client's longest between two calls
	used             int64         // the ledger's word when this life of the server began

	answered, busiest, lost, mostLost int64
}

func (w *torture) addSpender(name, tier string, clients int, rest time.Duration) {
	w.t.Helper()
	secret, account := w.issue(name, tier)
	w.spenders = append(w.spenders, &spender{
		name: name, secret: secret, id: account.ID.String(), limit: int64(account.Limit), clients: clients, rest: rest,
	})
}

// journal is what one client was answered in one life of the server.
type journal struct {
	charged []int64     // what X-RateLimit-Remaining said of the charged calls, in the order of the answers
	begun   []time.Time // when each answered call was sent, charged or free: a free one holds a lease, too
	last    int64       // what the last answer of any kind said
	broken  bool        // the last call was under way when the connection broke
	faults  []string
}

// spendAll has every key called by all its clients until the server is gone or stop is closed.
func (w *torture) spendAll(load *sync.WaitGroup, stop <-chan struct{}) map[*spender][]*journal {
	journals := map[*spender][]*journal{}
	for _, s := range w.spenders {
		for range s.clients {
			j := &journal{last: s.limit - s.used}
			journals[s] = append(journals[s], j)
			rng, c := rand.New(rand.NewPCG(w.rng.Uint64(), 0)), &caller{addr: w.server.addr}
			load.Go(func() {
				defer c.hangUp()
				j.spend(c, s, rng, stop)
			})
		}
	}
	return journals
}

func (j *journal) spend(c *caller, s *spender, rng *rand.Rand, stop <-chan struct{}) {
	tag := `"none"`
	for {
		select {
		case <-stop:
			return
		default:
		}
		begun := time.Now()
		path, more, want := randomCall(rng, tag)
		h, err := c.call("GET", path, s.secret, more...)
		if err != nil {
			j.broken = true
			return
		}
		if t := h.header.Get("ETag"); t != "" && path == tortureList {
			tag = t
		}
		j.hear(h, begun, want, s.limit)
		if h.status == http.StatusTooManyRequests || s.rest > 0 {
			time.Sleep(time.Duration(rng.Int64N(int64(s.rest + 2*time.Millisecond))))
		}
	}
}

// randomCall picks a call and what it is answered when nothing stands against it.
func randomCall(rng *rand.Rand, tag string) (path string, more []string, want []int) {
	switch rng.IntN(8) {
	case 0:
		return "/api/v1/tools/no-such-tool", nil, []int{404}
	case 1:
		return "/api/v1/tools?limit=none", nil, []int{400}
	case 2, 3:
		return tortureList, []string{"If-None-Match: " + tag}, []int{200, 304}
	case 4:
		return "/api/v1/hardware?vendor=nvidia", nil, []int{200}
	default:
		return tortureList, nil, []int{200}
	}
}

// hear writes an answer down and holds it to those this client had before.
func (j *journal) hear(h *heard, begun time.Time, want []int, limit int64) {
	refused := h.status == http.StatusTooManyRequests || h.code == "ledger_unavailable"
	if !refused && !slices.Contains(want, h.status) {
		j.faults = append(j.faults, fmt.Sprintf("answered %d, want one of %d: %s", h.status, want, h.body))
	}
	if h.limit != limit || h.remaining < 0 {
		j.faults = append(j.faults, fmt.Sprintf("status %d says limit %d, remaining %d; the limit is %d", h.status, h.limit, h.remaining, limit))
	}
	highest := j.last
	if !refused {
		j.begun = append(j.begun, begun)
	}
	if h.charged() {
		j.charged = append(j.charged, h.remaining)
		highest--
	}
	if h.remaining > highest {
		j.faults = append(j.faults, fmt.Sprintf("X-RateLimit-Remaining is %d on a %d, it was %d before", h.remaining, h.status, j.last))
	}
	j.last = h.remaining
}

// audit takes over what the ledger says after a restart and compares it with the journals.
func (s *spender) audit(t *testing.T, journals []*journal, used int64, gentle bool) {
	t.Helper()
	var charged []int64
	var begun []time.Time
	var underway int64
	for _, j := range journals {
		for _, fault := range j.faults {
			t.Errorf("%s: %s", s.name, fault)
		}
		charged, begun = append(charged, j.charged...), append(begun, j.begun...)
		if j.broken {
			underway++
		}
	}
	told := s.checkFalling(t, charged, underway)
	lost := used - s.used - told
	lease := max(1, min(s.limit/100, busiest(begun)+underway))
	if gentle {
		lease, underway = 0, 0
	}
	if lost < 0 || lost > lease+underway || used > s.limit {
		t.Errorf("%s: %d calls were answered after %d, the ledger holds %d: lost %d, want 0 to %d of a lease and %d under way",
			s.name, told, s.used, used, lost, lease, underway)
	}
	s.used, s.answered, s.lost = used, s.answered+int64(len(charged)), s.lost+lost
	s.busiest, s.mostLost = max(s.busiest, int64(len(charged))), max(s.mostLost, lost)
}

// checkFalling holds the answers of all clients together: each charged call has a number of its own, and none is left
// out but those of answers that never arrived. It returns how many calls the lowest number stands for.
func (s *spender) checkFalling(t *testing.T, charged []int64, underway int64) int64 {
	t.Helper()
	if len(charged) == 0 {
		return 0
	}
	slices.SortFunc(charged, func(a, b int64) int { return cmp.Compare(b, a) })
	for i := range charged[1:] {
		if charged[i] == charged[i+1] {
			t.Errorf("%s: X-RateLimit-Remaining %d was answered twice", s.name, charged[i])
		}
	}
	before, last := s.limit-s.used, charged[len(charged)-1]
	if gaps := before - last - int64(len(charged)); charged[0] >= before || last < 0 || gaps > underway {
		t.Errorf("%s: %d charged answers from %d down to %d, after %d; %d calls were under way", s.name, len(charged), charged[0], last, before, underway)
	}
	return before - last
}

// busiest is the most calls begun within three seconds. A lease covers the traffic of one,
// which the keeper works out from a window under way and the one before it.
func busiest(begun []time.Time) (most int64) {
	slices.SortFunc(begun, time.Time.Compare)
	first := 0
	for i, at := range begun {
		for at.Sub(begun[first]) > 3*time.Second {
			first++
		}
		most = max(most, int64(i-first+1))
	}
	return most
}
