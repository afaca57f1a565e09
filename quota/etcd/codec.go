package etcd

import (
	"fmt"
	"path"
	"strconv"

	"modeldex/quota"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// account is a stored account without its id. It keeps unknown members written by newer versions.
type account struct {
	quota.Record
	Newer map[string]jsontext.Value `json:",embed"`
}

// entry is what one server has counted of an account's calls in a month.
type entry struct {
	Calls uint64 `json:"calls"` // answered and leased
	Day   int64  `json:"day"`   // of the last change, in days since 1970

	Newer map[string]jsontext.Value `json:",embed"` // see account
}

// encode writes a value of this package, all of which can be written.
func encode(v any) string {
	b, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(b)
}

// encodeAccount writes a record, with the members of a newer version.
func encodeAccount(r quota.Record, newer map[string]jsontext.Value) string {
	r.ID = 0 // it is the key
	return encode(account{r, newer})
}

func parse(key string, value []byte, v any) error {
	if err := jsonv2.Unmarshal(value, v); err != nil {
		return fmt.Errorf("%w: %s: %w", quota.ErrCorrupt, key, err)
	}
	return nil
}

// parseAccount reads the account stored at key.
func parseAccount(key string, value []byte) (a account, err error) {
	if err = parse(key, value, &a); err == nil {
		a.ID, err = idOf(key)
	}
	if len(a.Old) == 0 {
		a.Old = nil
	}
	if err == nil && a.Check() != nil {
		err = fmt.Errorf("%w: %s: not an account", quota.ErrCorrupt, key)
	}
	return a, err
}

// counts are the entries of one account and month, by server. The empty name holds what was
// folded of servers that are gone.
type counts map[string]entry

func parseCounts(key string, value []byte) (counts, error) {
	c := counts{}
	err := parse(key, value, &c)
	if err == nil && c.total() > quota.MaxLimit {
		err = fmt.Errorf("%w: %s: must be at most %d calls, got %d", quota.ErrCorrupt, key, uint64(quota.MaxLimit), c.total())
	}
	return c, err
}

// total is the sum over all servers; at most 2 x quota.MaxLimit is distinguished from more.
func (c counts) total() (sum uint64) {
	for _, e := range c {
		sum += min(e.Calls, quota.MaxLimit+1)
	}
	return sum
}

// foldAfter is how many days a server must have left its number unchanged, and be unregistered, before its number is
// folded. A server that was cut off for so long and comes back finds its number gone and stops; see Store.Reserve.
const foldAfter = 2

// old lists the servers whose numbers are to be folded if they are gone.
func (c counts) old(self string, today int64) (names []string) {
	for name, e := range c {
		if name != "" && name != self && today-e.Day >= foldAfter {
			names = append(names, name)
		}
	}
	return names
}

// fold joins the numbers of those servers that are gone. The total does not change.
func (c counts) fold(names []string, alive map[string]bool, today int64) {
	for _, name := range names {
		if !alive[name] {
			c[""] = entry{Calls: c[""].Calls + c[name].Calls, Day: today}
			delete(c, name)
		}
	}
}

func hexID(id quota.ID) string { return fmt.Sprintf("%016x", uint64(id)) }

// idOf returns the account whose id is the end of a key.
func idOf(key string) (quota.ID, error) {
	text := path.Base(key)
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		return 0, fmt.Errorf("%w: %s: not an account id", quota.ErrCorrupt, key)
	}
	return quota.ID(n), nil
}
