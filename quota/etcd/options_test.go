package etcd

import (
	"slices"
	"strings"
	"testing"
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
	if !c.foldable("me", today) {
		t.Error("foldable() = false, want true")
	}
	c.fold("me", today, func(s string) bool { return s == "alive" })
	if c.total() != before || len(c) != 4 || c[""].Calls != 8 {
		t.Errorf("fold() = %v, want the old server's 7 calls in the nameless entry and a sum of %d", c, before)
	}
	if c := (counts{"me": {Calls: 1, Day: 0}, "": {Calls: 2, Day: 0}, "x": {Calls: 3, Day: today}}); c.foldable("me", today) {
		t.Errorf("foldable(%v) = true, want false", c)
	}
}
