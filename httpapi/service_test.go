package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/index"
	"modeldex/quota"

	"github.com/valyala/fasthttp/fasthttputil"
)

// service is a server in this process, reached over connections in memory, with a key that may
// call without end. It is what properties over many requests, fuzzing and benchmarks ask.
type service struct {
	*Server
	keeper    *quota.Keeper
	transport *http.Transport
	listener  *fasthttputil.InmemoryListener
	secret    string
	closed    bool // the test has closed the keeper itself
}

// newService serves a dataset until the test ends.
func newService(tb testing.TB, live *index.Live) *service {
	tb.Helper()
	return newServiceWith(tb, live, quota.Burst{Rate: 1_000_000, PerSeconds: 1, Depth: 1_000_000})
}

// shippedService serves the dataset of this repository to a test that runs beside others.
func shippedService(t *testing.T) *service {
	t.Helper()
	t.Parallel()
	return newService(t, mustShipped(t).live)
}

// smallService is shippedService of a sample.
func smallService(t *testing.T) *service {
	t.Helper()
	t.Parallel()
	return newService(t, mustSmallLive(t))
}

// newServiceWith is newService with a burst for all keys.
func newServiceWith(tb testing.TB, live *index.Live, burst quota.Burst) *service {
	tb.Helper()
	return newServiceAt(tb, live, burst, nil)
}

// newServiceAt is newServiceWith and a clock; nil is that of the machine.
func newServiceAt(tb testing.TB, live *index.Live, burst quota.Burst, clock func() time.Time) *service {
	tb.Helper()
	// A benchmark measures the server, not the disk: the ledger is a file all the same.
	ledger, err := quota.Open(filepath.Join(tb.TempDir(), "modeldex.db"), quota.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tiers, err := quota.NewTiers(quota.Tier{Name: quota.FreeTier, CallsPerMonth: quota.MaxLimit, Burst: burst}, quota.Tier{Name: "pro", CallsPerMonth: quota.MaxLimit, Burst: burst})
	if err != nil {
		tb.Fatal(err)
	}
	keeper, err := quota.NewKeeper(context.Background(), ledger, quota.Config{Tiers: tiers, Now: clock, LeaseWait: patience}) // a busy disk is no failure
	if err != nil {
		tb.Fatal(err)
	}
	issued, _, err := keeper.Issue(context.Background(), quota.IssueRequest{Name: "tests", Email: "tests@example.com", UseCase: "tests"})
	if err != nil {
		tb.Fatal(err)
	}
	server, err := New(Config{Live: live, Keeper: keeper, Now: clock, Options: Options{SupportEmail: "support@example.com"}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
	if err != nil {
		tb.Fatal(err)
	}
	s := &service{Server: server, keeper: keeper, listener: fasthttputil.NewInmemoryListener(), secret: issued.Secret.Reveal()}
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.listener) }()
	s.transport = &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: 16,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return s.listener.Dial() },
	}
	tb.Cleanup(func() {
		s.transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			tb.Errorf("shutting down: %v", err)
		}
		if err := <-served; err != nil {
			tb.Errorf("serving: %v", err)
		}
		if err := keeper.Close(ctx); err != nil && !s.closed {
			tb.Errorf("closing the keeper: %v", err)
		}
		if err := ledger.Close(); err != nil {
			tb.Errorf("closing the ledger: %v", err)
		}
	})
	return s
}

// shippedFiles is the dataset of this repository.
func shippedFiles() fs.FS { return os.DirFS("../data") }

// shippedSet is the dataset of this repository, indexed once for all tests.
var shippedSet = sync.OnceValues(func() (*loaded, error) {
	set, live, err := generationOf(shippedFiles())
	return &loaded{set, live}, err
})

type loaded struct {
	set  *dataset.Set
	live *index.Live
}

func mustShipped(tb testing.TB) *loaded {
	tb.Helper()
	l, err := shippedSet()
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func mustSmallLive(tb testing.TB) *index.Live {
	tb.Helper()
	_, live, err := generationOf(os.DirFS(mustSmallData(tb)))
	if err != nil {
		tb.Fatal(err)
	}
	return live
}

// pay moves the service's key to a paid tier, and lets it stream as often as it likes.
func (s *service) pay(tb testing.TB) {
	tb.Helper()
	digest, _ := quota.ParseKey(s.secret, s.keeper.KeyPrefix())
	account, _, err := s.keeper.Self(context.Background(), digest)
	if err == nil {
		_, err = s.keeper.SetTier(context.Background(), account.ID, "pro", 0)
	}
	if err != nil {
		tb.Fatal(err)
	}
	s.streams.Max, s.streams.PerKey = 1000, 1000
}

// ask sends a request with the service's key and reads the answer, which may be any. more are
// headers, name and value in turn.
func (s *service) ask(tb testing.TB, method, path string, more ...string) *answer {
	tb.Helper()
	q := asked{method: method, path: path, header: http.Header{"Authorization": {"Bearer " + s.secret}}}
	for i := 0; i < len(more); i += 2 {
		q.header.Set(more[i], more[i+1])
	}
	a, err := fetch(s.transport, "service", q)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// list asks for one page, which must be there.
func (s *service) list(tb testing.TB, path string) *listEnvelope {
	tb.Helper()
	a := s.ask(tb, "GET", path)
	l, err := readList(a.body)
	if err != nil || a.status != http.StatusOK {
		tb.Fatalf("GET %s: status %d: %v: %s", path, a.status, err, a.body)
	}
	return l
}

// readList reads the body of a list. It cuts data into records without a look inside them, which
// the standard library would read twice: walks read hundreds of megabytes.
func readList(body []byte) (*listEnvelope, error) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"data":[`))
	if !ok {
		return nil, errors.New("a list does not begin with its data")
	}
	l := &listEnvelope{Data: []json.RawMessage{}}
	for len(rest) > 0 && rest[0] != ']' {
		n := endOfObject(rest)
		if n < 0 {
			return nil, fmt.Errorf("record %d has no end", len(l.Data)+1)
		}
		l.Data = append(l.Data, json.RawMessage(rest[:n]))
		rest = bytes.TrimPrefix(rest[n:], []byte{','})
	}
	tail, ok := bytes.CutPrefix(rest, []byte("],"))
	if !ok {
		return nil, errors.New("the data of a list has no end")
	}
	err := json.Unmarshal(append([]byte{'{'}, tail...), l)
	return l, err
}

// endOfObject returns where the JSON object at the start of b ends, -1 if it does not.
func endOfObject(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// walk follows links.next from a path to the end of the list.
func (s *service) walk(tb testing.TB, path string) *listWalk {
	tb.Helper()
	w := &listWalk{}
	for {
		l := s.list(tb, path)
		if err := w.add(l); err != nil {
			tb.Fatalf("GET %s: %v", path, err)
		}
		if l.Links.Next == nil {
			if len(w.names) != *l.Meta.Total {
				tb.Fatalf("GET %s: walked %d records, total is %d", path, len(w.names), *l.Meta.Total)
			}
			return w
		}
		path = *l.Links.Next
	}
}
