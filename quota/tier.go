package quota

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
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
)

// Burst is the per-second allowance: Rate calls in PerSeconds seconds, of which Depth may
// come at once.
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
	for i, t := range list {
		for _, fault := range t.faults() {
			faults = append(faults, fmt.Errorf("tiers[%d].%s", i, fault))
		}
		if slices.ContainsFunc(list[:i], func(o Tier) bool { return o.Name == t.Name }) {
			faults = append(faults, fmt.Errorf("tiers[%d].name: must be unique, got %q again", i, t.Name))
		}
	}
	if len(list) > maxTiers {
		faults = append(faults, fmt.Errorf("tiers: must be at most %d, got %d", maxTiers, len(list)))
	}
	if !slices.ContainsFunc(list, func(t Tier) bool { return t.Name == FreeTier && t.CallsPerMonth > 0 }) {
		faults = append(faults, fmt.Errorf("tiers: must hold a tier named %q with calls_per_month", FreeTier))
	}
	if len(faults) > 0 {
		return Tiers{}, errors.Join(faults...)
	}
	return Tiers{list: slices.Clone(list)}, nil
}

// faults lists what is wrong with one tier, each as "field: rule, got value".
func (t Tier) faults() []string {
	var out []string
	if !validTierName(t.Name) {
		out = append(out, fmt.Sprintf("name: must be 1 to %d lower-case letters, digits or dashes, got %q", maxTierLen, t.Name))
	}
	if t.CallsPerMonth > MaxLimit {
		out = append(out, fmt.Sprintf("calls_per_month: must be 1 to %d, got %d", uint64(MaxLimit), t.CallsPerMonth))
	}
	for _, f := range []struct {
		name     string
		got, max int
	}{
		{"rate", t.Burst.Rate, maxBurst},
		{"per_seconds", t.Burst.PerSeconds, 3600},
		{"depth", t.Burst.Depth, maxBurst},
	} {
		if f.got < 1 || f.got > f.max {
			out = append(out, fmt.Sprintf("burst.%s: must be 1 to %d, got %d", f.name, f.max, f.got))
		}
	}
	return out
}

func validTierName(name string) bool {
	return name != "" && len(name) <= maxTierLen &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// All returns the tiers in order. The slice is the caller's.
func (ts Tiers) All() []Tier { return slices.Clone(ts.list) }

// Get returns the tier called name.
func (ts Tiers) Get(name string) (Tier, bool) {
	for _, t := range ts.list {
		if t.Name == name {
			return t, true
		}
	}
	return Tier{}, false
}

// Names returns the names in order, for error texts.
func (ts Tiers) Names() []string {
	names := make([]string, len(ts.list))
	for i, t := range ts.list {
		names[i] = t.Name
	}
	return names
}

// UnknownTierError is an ErrUnknownTier that says which tiers there are.
type UnknownTierError struct {
	Tier  string
	Known []string
}

// Rule is the error without the name of the field.
func (e *UnknownTierError) Rule() string {
	return fmt.Sprintf("must be one of %s, got %q", strings.Join(e.Known, ", "), e.Tier)
}

func (e *UnknownTierError) Error() string { return "tier: " + e.Rule() }
func (e *UnknownTierError) Unwrap() error { return ErrUnknownTier }

// needsLimitError is an ErrNeedsLimit that names the tier.
type needsLimitError struct{ tier string }

func (e *needsLimitError) Error() string {
	return fmt.Sprintf("tier %q has no limit of its own", e.tier)
}
func (e *needsLimitError) Unwrap() error { return ErrNeedsLimit }

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
			Burst *burstFile     `json:"burst"`
		} `json:"tiers"`
	}
	if err := jsonv2.Unmarshal(b, &file, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Tiers{}, placeJSON(b, err)
	}
	list := make([]Tier, len(file.Tiers))
	for i, t := range file.Tiers {
		calls, err := parseCalls(t.Calls)
		if err != nil {
			return Tiers{}, fmt.Errorf("tiers[%d].calls_per_month: %w", i, err)
		}
		list[i] = Tier{Name: t.Name, CallsPerMonth: calls, Burst: paidBurst}
		if t.Name == FreeTier {
			list[i].Burst = freeBurst
		}
		if t.Burst == nil {
			continue
		}
		if list[i].Burst, err = t.Burst.parse(); err != nil {
			return Tiers{}, fmt.Errorf("tiers[%d].burst.%w", i, err)
		}
	}
	return NewTiers(list...)
}

// burstFile is a Burst as files write it; nil is a field that was not given.
type burstFile struct {
	Rate       *int `json:"rate"`
	PerSeconds *int `json:"per_seconds"`
	Depth      *int `json:"depth"`
}

func (f *burstFile) parse() (b Burst, err error) {
	for _, field := range []struct {
		name string
		from *int
		to   *int
	}{{"rate", f.Rate, &b.Rate}, {"per_seconds", f.PerSeconds, &b.PerSeconds}, {"depth", f.Depth, &b.Depth}} {
		if field.from == nil {
			return b, fmt.Errorf("%s: must be given", field.name)
		}
		*field.to = *field.from
	}
	return b, nil
}

func parseCalls(raw jsontext.Value) (uint64, error) {
	rule := fmt.Sprintf("must be 1 to %d, or null for custom limits", uint64(MaxLimit))
	switch {
	case len(raw) == 0:
		return 0, fmt.Errorf("%s, and must be given", rule)
	case string(raw) == "null":
		return 0, nil
	case raw.Kind() == '"':
		return 0, fmt.Errorf("%s, got %s", mustBeNumber, raw)
	}
	var n uint64
	if err := jsonv2.Unmarshal(raw, &n); err != nil || n == 0 {
		return 0, fmt.Errorf("%s, got %s", rule, raw)
	}
	return n, nil
}

const mustBeNumber = "must be a number without quotes"

// placeJSON words an error of the decoder: line and column, the field, and what is wrong with it.
func placeJSON(b []byte, err error) error {
	var offset int64
	var pointer jsontext.Pointer
	var syntax *jsontext.SyntacticError
	var kind *jsonv2.SemanticError
	switch {
	case errors.As(err, &syntax):
		offset, pointer, err = syntax.ByteOffset, syntax.JSONPointer, syntax.Err
	case errors.As(err, &kind):
		offset, pointer, err = kind.ByteOffset, kind.JSONPointer, wordKind(kind)
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		err = errors.New("duplicate field")
	case errors.Is(err, jsonv2.ErrUnknownName):
		err = errors.New("is not a known field")
	}
	before := b[:min(max(offset, 0), int64(len(b)))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	col := len(before) - bytes.LastIndexByte(before, '\n')
	if pointer == "" {
		return fmt.Errorf("%d:%d: %w", line, col, err)
	}
	return fmt.Errorf("%d:%d: %s: %w", line, col, fieldPath(pointer), err)
}

// wordKind says what a value of the wrong type must be.
func wordKind(err *jsonv2.SemanticError) error {
	if err.Err != nil && (errors.Is(err.Err, jsonv2.ErrUnknownName) || err.GoType == nil) {
		return err.Err
	}
	switch err.GoType.Kind() {
	case reflect.Struct, reflect.Pointer:
		return errors.New("must be an object")
	case reflect.Slice:
		return errors.New("must be a list")
	case reflect.String:
		return errors.New("must be text")
	default:
		if err.JSONKind == '"' {
			return errors.New(mustBeNumber)
		}
		return errors.New("must be a whole number")
	}
}

// fieldPath writes a pointer as a path: /tiers/0/name is tiers[0].name.
func fieldPath(pointer jsontext.Pointer) string {
	var path strings.Builder
	for token := range pointer.Tokens() {
		switch {
		case strings.Trim(token, "0123456789") == "":
			fmt.Fprintf(&path, "[%s]", token)
		case path.Len() > 0:
			path.WriteString("." + token)
		default:
			path.WriteString(token)
		}
	}
	return path.String()
}

// ReadFile reads a regular file that a setting names, such as that of a token. Anything else is an error that
// names the file and its type: opening a named pipe would wait for a writer, and a device may have no end. A
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
		return nil, fmt.Errorf("%s: must be a regular file, got a %s", path, kindOf(st.Mode()))
	}
	return io.ReadAll(f)
}

// kindOf names what is not a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "file of another kind"
	}
}
