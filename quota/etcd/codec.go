package etcd

import (
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"

	"modeldex/quota"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// A document is a JSON object as etcd has it. Members are read and replaced one by one, so that
// those of a newer version of the program survive a change made by this one.
type document map[string]jsontext.Value

func parseDocument(key string, value []byte) (document, error) {
	var d document
	if err := jsonv2.Unmarshal(value, &d); err != nil || d == nil {
		return nil, fmt.Errorf("%w: %s: not a JSON object", quota.ErrCorrupt, key)
	}
	return d, nil
}

func (d document) set(name string, v any) {
	raw, err := jsonv2.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts that were checked before
	}
	d[name] = raw
}

func (d document) encode() string {
	b, err := jsonv2.Marshal(d, jsonv2.Deterministic(true))
	if err != nil {
		panic(err) // members are valid JSON
	}
	return string(b)
}

// oldSecret is a rotated-out secret as it is stored.
type oldSecret struct {
	Digest string `json:"digest"`
	Until  int64  `json:"until"` // Unix seconds
}

// account is an account as it is stored: the members of a document that this version knows.
type account struct {
	Rev     uint64       `json:"rev"`
	Status  quota.Status `json:"status"`
	Erased  bool         `json:"erased"`
	Tier    string       `json:"tier"`
	Limit   uint64       `json:"limit"`
	Created int64        `json:"created"`
	Changed int64        `json:"changed"`
	Hint    string       `json:"hint"`
	Digest  string       `json:"digest"`
	Old     []oldSecret  `json:"old"`
}

// setRecord writes the record's members into d.
func setRecord(d document, r quota.Record) {
	d.set("rev", r.Rev)
	d.set("status", r.Status.String())
	d.set("erased", r.Erased)
	d.set("tier", r.Tier)
	d.set("limit", r.Limit)
	d.set("created", r.Created)
	d.set("changed", r.Changed)
	d.set("hint", r.Hint)
	d.set("digest", hex.EncodeToString(r.Digest[:]))
	old := make([]oldSecret, len(r.Old))
	for i, o := range r.Old {
		old[i] = oldSecret{hex.EncodeToString(o.Digest[:]), o.Until}
	}
	d.set("old", old)
}

// parseRecord reads the account stored at key.
func parseRecord(key string, id quota.ID, value []byte) (quota.Record, error) {
	var a account
	if err := jsonv2.Unmarshal(value, &a); err != nil {
		return quota.Record{}, fmt.Errorf("%w: %s: %w", quota.ErrCorrupt, key, err)
	}
	r := quota.Record{
		ID: id, Rev: a.Rev, Status: a.Status, Erased: a.Erased, Tier: a.Tier, Limit: a.Limit,
		Created: a.Created, Changed: a.Changed, Hint: a.Hint,
	}
	ok := parseDigest(&r.Digest, a.Digest)
	for _, o := range a.Old {
		old := quota.OldSecret{Until: o.Until}
		ok = ok && parseDigest(&old.Digest, o.Digest)
		r.Old = append(r.Old, old)
	}
	if err := r.Check(); !ok || err != nil {
		return quota.Record{}, fmt.Errorf("%w: %s: not an account", quota.ErrCorrupt, key)
	}
	return r, nil
}

func parseDigest(d *quota.Digest, text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && copy(d[:], b) == len(d) && len(b) == len(d)
}

// entry is what one server has counted of an account's calls in a month.
type entry struct {
	Calls uint64 `json:"calls"` // answered and leased
	Day   int64  `json:"day"`   // of the last change, in days since 1970

	newer document // members of a newer version of the program; nil without any
}

// MarshalJSON adds the members of a newer version.
func (e entry) MarshalJSON() ([]byte, error) {
	d := maps.Clone(e.newer)
	if d == nil {
		d = document{}
	}
	d.set("calls", e.Calls)
	d.set("day", e.Day)
	return []byte(d.encode()), nil
}

// UnmarshalJSON keeps the members this version does not know.
func (e *entry) UnmarshalJSON(text []byte) error {
	type plain entry // without this method
	if err := jsonv2.Unmarshal(text, (*plain)(e)); err != nil {
		return err
	}
	var d document
	if err := jsonv2.Unmarshal(text, &d); err != nil {
		return err
	}
	delete(d, "calls")
	delete(d, "day")
	e.newer = nil
	if len(d) > 0 {
		e.newer = d
	}
	return nil
}

// counts are the entries of one account and month, by server. The empty name holds what was
// folded of servers that are gone.
type counts map[string]entry

func parseCounts(key string, value []byte) (counts, error) {
	c := counts{}
	if len(value) == 0 {
		return c, nil
	}
	if err := jsonv2.Unmarshal(value, &c); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", quota.ErrCorrupt, key, err)
	}
	if c.total() > quota.MaxLimit {
		return nil, fmt.Errorf("%w: %s: must be at most %d calls, got %d", quota.ErrCorrupt, key, uint64(quota.MaxLimit), c.total())
	}
	return c, nil
}

func (c counts) encode() string {
	b, err := jsonv2.Marshal(c, jsonv2.Deterministic(true))
	if err != nil {
		panic(err) // a map of numbers
	}
	return string(b)
}

// total is the sum over all servers; at most 2 x quota.MaxLimit is distinguished from more.
func (c counts) total() (sum uint64) {
	for _, e := range c {
		sum += min(e.Calls, quota.MaxLimit+1)
	}
	return sum
}

// foldAfter is how many days a server must have left its number unchanged, and be unregistered,
// before its number is folded. A server that was cut off for so long and comes back finds its
// number gone and stops; see Store.Reserve.
const foldAfter = 2

// hasOld reports whether some entry is old enough to be folded if its server is gone.
func (c counts) hasOld(self string, today int64) bool {
	for name, e := range c {
		if name != "" && name != self && today-e.Day >= foldAfter {
			return true
		}
	}
	return false
}

// fold joins the numbers of servers that are gone. The total does not change.
func (c counts) fold(self string, today int64, alive func(server string) bool) {
	for name, e := range c {
		if name == "" || name == self || today-e.Day < foldAfter || alive(name) {
			continue
		}
		c[""] = entry{Calls: c[""].Calls + e.Calls, Day: today}
		delete(c, name)
	}
}

func hexID(id quota.ID) string { return fmt.Sprintf("%016x", uint64(id)) }

func parseHexID(key, text string) (quota.ID, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		return 0, fmt.Errorf("%w: %s: not an account id", quota.ErrCorrupt, key)
	}
	return quota.ID(n), nil
}
