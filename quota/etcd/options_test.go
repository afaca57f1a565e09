package etcd

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/etcd/etcdtest"
)

func TestParseAddress(t *testing.T) {
	for _, tt := range []struct {
		address, prefix, want string // want is an error's words, empty for none
		endpoints             []string
	}{
		{"etcd://a:2379/modeldex", "modeldex", "", []string{"a:2379"}},
		{"etcd://a:2379,[::1]:2379,10.0.0.3:4/x/y/", "x/y", "", []string{"a:2379", "[::1]:2379", "10.0.0.3:4"}},
		{"modeldex.db", "", "must begin with etcd://", nil},
		{"etcd://a:2379", "", "must name a prefix", nil},
		{"etcd://a:2379/", "", "must name a prefix", nil},
		{"etcd://a/x", "", "host:port", nil},
		{"etcd://a:2379,/x", "", "host:port", nil},
		{"etcd://user:secret@a:2379/x", "", "process list", nil},
		{"etcd://a:2379/x?tls=1", "", "without parameters", nil},
	} {
		got, err := ParseAddress(tt.address)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("ParseAddress(%q) = %v, want an error with %q and no password", tt.address, err, tt.want)
			}
			continue
		}
		if err != nil || got.Prefix != tt.prefix || !slices.Equal(got.Endpoints, tt.endpoints) {
			t.Errorf("ParseAddress(%q) = %+v, %v", tt.address, got, err)
		}
	}
}

// Numbers of servers that are gone are folded; the sum stays.
func TestFold(t *testing.T) {
	const today = 20_000
	c := counts{"me": {Calls: 10, Day: today - 9}, "old": {Calls: 7, Day: today - foldAfter}, "alive": {Calls: 5, Day: today - 40}, "new": {Calls: 3, Day: today - foldAfter + 1}, "": {Calls: 1, Day: today - 50}}
	before := c.total()
	c.fold(c.old("me", today), map[string]bool{"alive": true}, today)
	if c.total() != before || len(c) != 4 || c[""].Calls != 8 {
		t.Errorf("fold() = %v, want the old server's 7 calls in the nameless entry and a sum of %d", c, before)
	}
	if c := (counts{"me": {Calls: 1, Day: 0}, "": {Calls: 2, Day: 0}, "x": {Calls: 3, Day: today}}); len(c.old("me", today)) > 0 {
		t.Errorf("old(%v) has servers, want none", c)
	}
}

// TestFoldWrongClock: a server whose clock is years ahead takes all numbers for old ones. It folds that of a server that
// is gone, and not that of one which began after it last looked who is there: that one would have to end.
func TestFoldWrongClock(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.Start(t, 1)
	ctx := context.Background()
	start := func() *Store {
		t.Helper()
		s, err := Open(ctx, Options{Endpoints: c.Endpoints, Prefix: "clocks"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	count := func(s *Store, before, own uint64) quota.Count {
		t.Helper()
		batch := []quota.Count{{ID: 1, Month: 24_000, Before: before, Own: own, Limit: 1000}}
		if err := s.Reserve(ctx, batch); err != nil {
			t.Fatal(err)
		}
		return batch[0]
	}
	ahead, gone := start(), start()
	defer ahead.Close()
	ahead.now = func() time.Time { return time.Now().AddDate(3, 0, 0) }
	count(gone, 0, 7)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	count(ahead, 0, 1) // reads who is there
	late := start()
	defer late.Close()
	count(late, 0, 5)
	for own := range uint64(3) { // the first finds that the value has changed
		count(ahead, 1+own, 2+own)
	}
	if got := count(late, 5, 6); got.Total != 7+6+4 {
		t.Errorf("%d calls are counted, want %d", got.Total, 7+6+4)
	}
	resp, err := ahead.client.Get(ctx, "clocks/u/2000-01/0000000000000001")
	if err != nil {
		t.Fatal(err)
	}
	if left, err := parseCounts("", resp.Kvs[0].Value); err != nil || left[""].Calls != 7 {
		t.Errorf("the number of the server that is gone was not folded: %v, %v", left, err)
	}
}
