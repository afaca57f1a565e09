package quota

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// FreeTier is the tier a key is issued in when nothing else is asked. Every set of tiers has it.
const FreeTier = "free"

// MaxLimit is the largest monthly limit: a period counts calls in 40 bits.
const MaxLimit = 1_000_000_000_000

const (
	maxBurst   = 1_000_000 // rate and depth: one call per microsecond
	maxTiers   = 100
	maxTierLen = 32
	tierChars  = "abcdefghijklmnopqrstuvwxyz0123456789-"
)

// Burst is the burst limit: Rate calls in PerSeconds seconds, at most Depth at once.
type Burst struct {
	Rate       int `json:"rate"`
	PerSeconds int `json:"per_seconds"`
	Depth      int `json:"depth"`
}

// The bursts of the free tier and of tiers that are paid for: 10 and 50 requests per second.
var (
	freeBurst = Burst{Rate: 10, PerSeconds: 1, Depth: 10}
	paidBurst = Burst{Rate: 50, PerSeconds: 1, Depth: 50}
)

func (b Burst) pace() pace {
	step := int64(b.PerSeconds) * int64(time.Second) / int64(b.Rate)
	return pace{step: step, depth: step * int64(b.Depth)}
}

// Tier is a plan and its limits.
type Tier struct {
	Name string `json:"name"`

	// CallsPerMonth is the monthly limit, 1 to MaxLimit. Zero means that the tier has none of
	// its own and every account in it carries a custom one.
	CallsPerMonth uint64 `json:"calls_per_month"`

	Burst Burst `json:"burst"`
}

// Tiers is a checked set of tiers, in the order of its file. The zero value is empty; a
// Config takes it as defaultTiers. Safe for concurrent use.
type Tiers struct {
	list []Tier
}

// defaultTiers returns the contract's tiers: free with 1,000 calls per month, pro with 100,000,
// enterprise with a custom limit; with 10 calls per second in the free tier and 50 in the others.
func defaultTiers() Tiers {
	return Tiers{list: []Tier{
		{Name: FreeTier, CallsPerMonth: 1_000, Burst: freeBurst},
		{Name: "pro", CallsPerMonth: 100_000, Burst: paidBurst},
		{Name: "enterprise", Burst: paidBurst},
	}}
}

// NewTiers checks list and returns it as a set; the error joins every fault found.
func NewTiers(list ...Tier) (Tiers, error) {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	seen, free := map[string]bool{}, false
	for i, t := range list {
		fault(t.Name == "" || len(t.Name) > maxTierLen || strings.Trim(t.Name, tierChars) != "", "tiers[%d].name: must be 1 to %d lower-case letters, digits or dashes, got %q", i, maxTierLen, t.Name)
		fault(t.CallsPerMonth > MaxLimit, "tiers[%d].calls_per_month: must be 1 to %d, got %d", i, uint64(MaxLimit), t.CallsPerMonth)
		within := func(name string, got, most int) {
			fault(got < 1 || got > most, "tiers[%d].burst.%s: must be 1 to %d, got %d", i, name, most, got)
		}
		within("rate", t.Burst.Rate, maxBurst)
		within("per_seconds", t.Burst.PerSeconds, 3600)
		within("depth", t.Burst.Depth, maxBurst)
		fault(seen[t.Name], "tiers[%d].name: must be unique, got %q again", i, t.Name)
		seen[t.Name] = true
		free = free || t.Name == FreeTier && t.CallsPerMonth > 0
	}
	fault(len(list) > maxTiers, "tiers: must be at most %d, got %d", maxTiers, len(list))
	fault(!free, "tiers: must have a tier named %q with calls_per_month", FreeTier)
	if len(faults) > 0 {
		return Tiers{}, errors.Join(faults...)
	}
	return Tiers{list: slices.Clone(list)}, nil
}

// All returns the tiers in order. The slice is the caller's.
func (ts Tiers) All() []Tier { return slices.Clone(ts.list) }

// Get returns the tier called name.
func (ts Tiers) Get(name string) (Tier, bool) {
	i := slices.IndexFunc(ts.list, func(t Tier) bool { return t.Name == name })
	if i < 0 {
		return Tier{}, false
	}
	return ts.list[i], true
}

// Names returns the names in order, for error texts.
func (ts Tiers) Names() []string {
	names := make([]string, len(ts.list))
	for i, t := range ts.list {
		names[i] = t.Name
	}
	return names
}

// UnknownTierError is an ErrUnknownTier whose rule says which tiers there are.
type UnknownTierError struct{ Rule string }

func (e *UnknownTierError) Error() string { return "tier: " + e.Rule }
func (e *UnknownTierError) Unwrap() error { return ErrUnknownTier }

// AccountTierError is returned by NewKeeper for an account whose tier does not fit the configuration.
type AccountTierError struct {
	ID   ID
	Tier string
	Err  error // ErrUnknownTier, ErrNeedsLimit or ErrLimitRange
}

func (e *AccountTierError) Error() string { return fmt.Sprintf("account %s: %v", e.ID, e.Err) }
func (e *AccountTierError) Unwrap() error { return e.Err }

// LoadTiers reads a tiers file; see parseTiers for its form. Errors name the file.
func LoadTiers(path string) (Tiers, error) {
	b, err := ReadFile(path)
	if err != nil {
		return Tiers{}, fmt.Errorf("reading tiers: %w", err)
	}
	ts, err := parseTiers(b)
	if err != nil {
		return Tiers{}, fmt.Errorf("reading tiers %s: %w", path, err)
	}
	return ts, nil
}

// parseTiers reads the JSON form of a set of tiers:
//
//	{"tiers": [
//	  {"name": "free", "calls_per_month": 1000, "burst": {"rate": 10, "per_seconds": 1, "depth": 10}},
//	  {"name": "enterprise", "calls_per_month": null}
//	]}
//
// A null limit means a custom one for every account; a tier without burst gets 10 calls per
// second, 10 at once. Unknown and duplicate members, and anything after the object, are
// errors; the limit must be written out, so that a forgotten one is not taken for null.
func parseTiers(b []byte) (Tiers, error) {
	var file struct {
		Tiers []struct {
			Name  string         `json:"name"`
			Calls jsontext.Value `json:"calls_per_month"`
			Burst *Burst         `json:"burst"`
		} `json:"tiers"`
	}
	if err := jsonv2.Unmarshal(b, &file, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Tiers{}, placeJSON(b, err)
	}
	list := make([]Tier, len(file.Tiers))
	for i, t := range file.Tiers {
		list[i] = Tier{Name: t.Name, Burst: paidBurst}
		if t.Name == FreeTier {
			list[i].Burst = freeBurst
		}
		if t.Burst != nil {
			list[i].Burst = *t.Burst
		}
		calls := &list[i].CallsPerMonth
		if err := jsonv2.Unmarshal(t.Calls, calls); err != nil || *calls == 0 && t.Calls.Kind() != 'n' {
			return Tiers{}, fmt.Errorf("tiers[%d].calls_per_month: must be 1 to %d, or null for custom limits, got %q", i, uint64(MaxLimit), string(t.Calls))
		}
	}
	return NewTiers(list...)
}

// placeJSON words an error of the decoder: line and column, the place, and what is wrong there.
func placeJSON(b []byte, err error) error {
	var offset int64
	var place jsontext.Pointer
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, place, err = e.ByteOffset, e.JSONPointer, e.Err
	}
	if e, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		offset, place, err = e.ByteOffset, e.JSONPointer, cmp.Or(e.Err, errors.New("has the wrong type"))
	}
	before := b[:min(max(offset, 0), int64(len(b)))]
	if place != "" {
		err = fmt.Errorf("%s: %w", place, err)
	}
	return fmt.Errorf("%d:%d: %w", bytes.Count(before, []byte{'\n'})+1, len(before)-bytes.LastIndexByte(before, '\n'), err)
}

// ReadFile reads a regular file that a setting names, such as that of a token. Anything else is an error that
// names the file: opening a named pipe would wait for a writer, and a device may have no end. A
// link to a regular file is followed.
func ReadFile(path string) (b []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for a writer
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: must be a regular file", path)
	}
	return io.ReadAll(f)
}
