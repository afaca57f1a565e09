package quota_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"modeldex/quota"
	"modeldex/quota/quotatest"
)

var ctx = context.Background()

// validIssue is a request with nothing wrong, changed by change.
func validIssue(change func(*quota.IssueRequest)) quota.IssueRequest {
	req := quota.IssueRequest{Name: "Ada", Email: "ada@example.com", UseCase: "Sums"}
	if change != nil {
		change(&req)
	}
	return req
}

// TestValidateIssue: each field has texts that are accepted and texts with one fault, which never repeats the address. Names
// are read in lists by operators: nothing in one may look like another row.
func TestValidateIssue(t *testing.T) {
	label := strings.Repeat("abcdefg.", 30)
	for _, field := range []struct {
		name      string
		set       func(r *quota.IssueRequest, text string)
		good, bad []string
	}{
		{"name", func(r *quota.IssueRequest, text string) { r.Name = text }, []string{strings.Repeat("é", 100), "Ren\u00e9's board, \u6771\u4eac"}, []string{
			strings.Repeat("é", 101), "", " \t ", "a\xff", "ok\nkey_2IOsjUfAAAA  active", "a\rb", "a\tb", "a\u202eb", "a\u200bb", "a\u2028b", "a\x00b", "a\x1b[31mb", "a\u2066b", "\ufeffa",
		}},
		{"use_case", func(r *quota.IssueRequest, text string) { r.UseCase = text }, []string{strings.Repeat("x", 1000), "one\r\ntwo\tthree"}, []string{strings.Repeat("x", 1001), ""}},
		{"email", func(r *quota.IssueRequest, text string) { r.Email = text }, []string{
			"Ada@Example.COM", "ada+api@example.co.uk", "ada@bücher.example", strings.Repeat("a", 64) + "@example.com", "ada@" + label + "exampl.com", "ada@4.a1", "ada@x.4d",
		}, []string{
			"", "ada.example.com", "ada@a@example.com", "Ada <ada@example.com>", "<ada@example.com>", "ada@example.com (Ada)", " ada@example.com", "ada@example.com\r\nBcc: x@example.com",
			"ada@localhost", "ada@example.com.", "ada@example..com", "ada@-example.com", "ada@example-.com", "ada@example.com-", "ada@exa_mple.com", "ada@example._", "ada@example.-a", "ada@[127.0.0.1]", "ada@127.0.0.1", strings.Repeat("a", 65) + "@example.com",
			"ada@" + strings.Repeat("a", 64) + ".com", "ada@" + label + "example.com",
		}},
	} {
		for i, text := range append(field.good, field.bad...) {
			faults := quota.ValidateIssue(validIssue(func(r *quota.IssueRequest) { field.set(r, text) }))
			if good := i < len(field.good); good && len(faults) > 0 || !good && (len(faults) != 1 || faults[0].Field != field.name) {
				t.Errorf("%s %q: faults %+v, want it accepted: %v", field.name, text, faults, good)
			}
			if len(faults) > 0 && field.name == "email" && text != "" && strings.Contains(faults[0].Detail, text) {
				t.Errorf("fault repeats the address: %q", faults[0].Detail)
			}
		}
	}
	if got := quota.ValidateIssue(quota.IssueRequest{}); len(got) != 3 {
		t.Errorf("ValidateIssue(empty) = %+v, want three faults at once", got)
	}
}

func TestIssue(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	issued, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Email = "Ada@Example.com" }))
	if err != nil || refusal.Reason != 0 {
		t.Fatalf("Issue() = %+v, %v", refusal, err)
	}
	want := quota.Account{
		ID: issued.Account.ID, Hint: issued.Secret.Hint(), Name: "Ada", Email: "ada@example.com", UseCase: "Sums",
		Tier: "free", Status: quota.StatusActive, Limit: 1000, Remaining: 1000,
		ResetsAt: date(2026, time.April, 1, 0, 0, 0), Burst: quota.Burst{Rate: 10, PerSeconds: 1, Depth: 10},
		CreatedAt: quotatest.Start, ChangedAt: quotatest.Start, OldUntil: []time.Time{},
	}
	if diff := cmp.Diff(want, issued.Account); diff != "" {
		t.Errorf("Issue() (-want +got)\n%s", diff)
	}
	key := kit.KeyOf(issued)
	kit.MustSpend(key, 2)
	kit.Reopen()
	want.Used, want.Remaining = 2, 998
	for _, text := range []string{want.ID.String(), want.Hint, "ADA@example.com"} {
		got, err := kit.Find(ctx, text)
		if err != nil || len(got) != 1 {
			t.Fatalf("Find(%q) = %v, %v, want one account", text, got, err)
		}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("Find(%q) (-want +got)\n%s", text, diff)
		}
	}
	for _, text := range []string{"", " ", "\t\n", "key_00000000001", "mdx_...none", "none@example.com"} { // blank text does not mean every key
		if got, err := kit.Find(ctx, text); err != nil || len(got) != 0 {
			t.Errorf("Find(%q) = %v, %v, want none", text, got, err)
		}
	}
}

func TestIssueRefuses(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("pro", 0)
	_, refusal, err := kit.Issue(ctx, quota.IssueRequest{})
	if err != nil || refusal.Reason != quota.InvalidRequest || len(refusal.Faults) != 3 {
		t.Errorf("Issue(empty) = %+v, %v, want three faults", refusal, err)
	}
	for _, tt := range []struct {
		tier  string
		limit uint64
		want  error
		say   string
	}{
		{"gold", 0, quota.ErrUnknownTier, `tier: must be one of free, pro, enterprise, got "gold"`},
		{"enterprise", 0, quota.ErrNeedsLimit, `tier "enterprise" has no limit of its own: give one with --limit`},
		{"pro", quota.MaxLimit + 1, quota.ErrLimitRange, ""},
	} {
		_, _, issued := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Tier, r.Limit = tt.tier, tt.limit }))
		_, set := kit.SetTier(ctx, key.ID, tt.tier, tt.limit)
		for act, err := range map[string]error{"Issue": issued, "SetTier": set} {
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("%s(%s, %d) = %v, want %v", act, tt.tier, tt.limit, err, tt.want)
			}
		}
	}
	if _, err := kit.List(ctx, quota.Filter{Tier: "gold"}, 0); !errors.Is(err, quota.ErrUnknownTier) { // not an empty list
		t.Errorf("List(gold) = %v, want ErrUnknownTier", err)
	}
}

// Five keys an address of mail, in any case; a revoked one makes room, a suspended one does not.
func TestKeysPerEmail(t *testing.T) {
	kit := quotatest.New(t, quota.Config{KeysPerEmail: 2})
	issue := func(email string) (quota.IssuedKey, quota.Reason) {
		t.Helper()
		issued, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Email = email }))
		if err != nil {
			t.Fatal(err)
		}
		return issued, refusal.Reason
	}
	first, _ := issue("ada@example.com")
	second, _ := issue("ADA@Example.com")
	if _, got := issue("Ada@example.COM"); got != quota.TooManyKeys {
		t.Errorf("third key: %v, want TooManyKeys", got)
	}
	if _, got := issue("bob@example.com"); got != 0 {
		t.Errorf("another address: %v, want a key", got)
	}
	if _, err := kit.SetStatus(ctx, first.Account.ID, quota.StatusSuspended); err != nil {
		t.Fatal(err)
	}
	if _, got := issue("ada@example.com"); got != quota.TooManyKeys {
		t.Errorf("with one suspended: %v, want TooManyKeys", got)
	}
	_, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Unlimited = true }))
	if err != nil || refusal.Reason != 0 {
		t.Errorf("an operator: %+v, %v, want a key", refusal, err)
	}
	local, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Addr, r.Unlimited = netip.MustParseAddr("127.0.0.1"), true }))
	if err != nil || refusal.Reason != 0 {
		t.Errorf("from loopback: %+v, %v, want a key", refusal, err)
	}
	for _, a := range []quota.IssuedKey{first, second, local} {
		if _, err := kit.SetStatus(ctx, a.Account.ID, quota.StatusRevoked); err != nil {
			t.Fatal(err)
		}
	}
	kit.Reopen()
	if _, got := issue("ada@example.com"); got != 0 {
		t.Errorf("with two revoked: %v, want a key", got)
	}
}

// Spellings of one address are one address, in ledgers that compared by letter case too.
func TestEmailForms(t *testing.T) {
	issue := func(t *testing.T, kit *quotatest.Kit, email string) quota.Reason {
		t.Helper()
		_, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Email = email }))
		if err != nil {
			t.Fatal(err)
		}
		return refusal.Reason
	}
	for _, tt := range []struct {
		name, first, second string
		plusTags, same      bool
	}{
		{"composed and decomposed", "r\u00e9n\u00e9@example.com", "re\u0301ne\u0301@example.com", false, true},
		{"full width", "ada@example.com", "\uff41da@example.com", false, true},
		{"full case folding", "STRASSE@example.com", "stra\u00dfe@example.com", false, true},
		{"domain in Unicode", "ada@b\u00fccher.example", "ada@xn--bcher-kva.example", false, true},
		{"domain in full width", "ada@example.com", "ada@\uff45xample.com", false, true},
		{"plus tag", "ada+1@example.com", "ada+2@example.com", false, false},
		{"plus tag, folded", "ada+1@example.com", "Ada+2@example.com", true, true},
		{"plus tag against none, folded", "ada@example.com", "ada+2@example.com", true, true},
		{"another person", "ada@example.com", "eda@example.com", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kit := quotatest.New(t, quota.Config{KeysPerEmail: 1, PlusTags: tt.plusTags})
			if got := issue(t, kit, tt.first); got != 0 {
				t.Fatalf("first key: %v", got)
			}
			if got := issue(t, kit, tt.second) == quota.TooManyKeys; got != tt.same {
				t.Errorf("%q after %q: too many is %v, want %v", tt.second, tt.first, got, tt.same)
			}
			accounts, err := kit.List(ctx, quota.Filter{Email: tt.first}, 0)
			if err != nil || len(accounts) != 1 {
				t.Errorf("List(%q) = %d accounts, %v, want 1", tt.first, len(accounts), err)
			}
		})
	}
}

// Signing up in time: the limit, one second less than told, as told.
func TestSignupsPerHour(t *testing.T) {
	kit := quotatest.New(t, quota.Config{SignupsPerHour: 2})
	issue := func(addr string) quota.Refusal {
		t.Helper()
		_, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Addr = netip.MustParseAddr(addr) }))
		if err != nil {
			t.Fatal(err)
		}
		return refusal
	}
	want := func(addr string, reason quota.Reason, retry time.Duration) {
		t.Helper()
		if got := issue(addr); got.Reason != reason || got.RetryAfter != retry {
			t.Errorf("Issue from %s = %+v, want %v after %v", addr, got, reason, retry)
		}
	}
	want("192.0.2.1", 0, 0)
	kit.Clock.Advance(10 * time.Minute)
	want("::ffff:192.0.2.1", 0, 0)
	want("192.0.2.1", quota.SignupLimited, 50*time.Minute)
	want("192.0.2.2", 0, 0)
	kit.Clock.Advance(50*time.Minute - time.Second)
	want("192.0.2.1", quota.SignupLimited, time.Second)
	kit.Clock.Advance(time.Second)
	want("192.0.2.1", 0, 0)
	want("192.0.2.1", quota.SignupLimited, 10*time.Minute)
	// One subscriber's IPv6 network is one address.
	want("2001:db8::1", 0, 0)
	want("2001:db8::ffff:1", 0, 0)
	want("2001:db8:0:0:9::", quota.SignupLimited, time.Hour)
	want("2001:db8:0:1::1", 0, 0)
	for range 5 {
		if _, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Addr, r.Unlimited = netip.MustParseAddr("::1"), true })); err != nil || refusal.Reason != 0 {
			t.Errorf("a local request: %+v, %v, want a key", refusal, err)
		}
	}
	// Loopback is an address like any other where a proxy may be behind it.
	want("127.0.0.1", 0, 0)
	want("127.0.0.1", 0, 0)
	want("127.0.0.1", quota.SignupLimited, time.Hour)
	// A request with faults costs nothing.
	for range 5 {
		kit.Issue(ctx, quota.IssueRequest{Addr: netip.MustParseAddr("192.0.2.9")})
	}
	want("192.0.2.9", 0, 0)
}

// Rotating: the counters go on, the old secret works for its grace and not a second longer.
func TestRotate(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	old := kit.MustIssue("", 10)
	kit.MustSpend(old, 3)
	issued, v, err := kit.Rotate(ctx, old.Digest, time.Minute)
	if err != nil || v != quota.Admitted {
		t.Fatalf("Rotate() = %v, %v", v, err)
	}
	key := kit.KeyOf(issued)
	if key.ID != old.ID || key.Secret == old.Secret || len(issued.Account.OldUntil) != 1 {
		t.Errorf("Rotate() = %+v, want a new secret of the same account", issued)
	}
	kit.MustSpend(key, 1)
	if got := kit.MustSpend(old, 1); got.Remaining != 5 {
		t.Errorf("old secret in its grace: Remaining = %d, want 5", got.Remaining)
	}
	if _, v, _ := kit.Rotate(ctx, old.Digest, 0); v != quota.Rotated {
		t.Errorf("Rotate with the old secret = %v, want rotated", v)
	}
	if _, v, _ := kit.RevokeSelf(ctx, old.Digest); v != quota.Rotated {
		t.Errorf("RevokeSelf with the old secret = %v, want rotated", v)
	}
	kit.Clock.Jump(quotatest.Start.Add(time.Minute - time.Second))
	wantVerdict(t, kit, old, quota.Admitted)
	kit.Reopen()
	wantVerdict(t, kit, old, quota.Admitted)
	kit.Clock.Jump(quotatest.Start.Add(time.Minute))
	got := wantVerdict(t, kit, old, quota.Rotated)
	if got.Limit != 10 || got.Remaining != 5 || got.Tier != "free" {
		t.Errorf("rotated: %+v, want the key's real numbers", got)
	}
	kit.MustSpend(key, 1)
}

func TestRotateGrace(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	for _, grace := range []time.Duration{-time.Second, quota.MaxGrace + time.Second} {
		if _, _, err := kit.Rotate(ctx, key.Digest, grace); !errors.Is(err, quota.ErrGrace) {
			t.Errorf("Rotate(%v) = %v, want ErrGrace", grace, err)
		}
	}
	for digest, want := range map[quota.Digest]quota.Verdict{{9}: quota.UnknownKey, key.Digest: quota.Admitted} {
		if _, v, err := kit.Rotate(ctx, digest, 0); v != want || err != nil {
			t.Errorf("Rotate() = %v, %v, want %v", v, err, want)
		}
	}
	wantVerdict(t, kit, key, quota.Rotated) // without grace, at once
}

// A secret that was rotated out while the clock was a year ahead does not work for a year, nor does its owner
// read so; one that was rotated out on another server, whose clock is a little ahead, has its full grace.
func TestRotateClockAhead(t *testing.T) {
	for _, test := range []struct {
		name         string
		grace, ahead time.Duration
		want         quota.Verdict
	}{
		{"a year", time.Hour, 365 * 24 * time.Hour, quota.Rotated},
		{"a year, without grace", 0, 365 * 24 * time.Hour, quota.Rotated},
		{"a minute", quota.MaxGrace, time.Minute, quota.Admitted},
	} {
		t.Run(test.name, func(t *testing.T) {
			kit := quotatest.New(t, quota.Config{})
			key := kit.MustIssue("", 0)
			right := kit.Clock.Now()
			kit.Clock.Jump(right.Add(test.ahead))
			if _, _, err := kit.Rotate(ctx, key.Digest, test.grace); err != nil {
				t.Fatal(err)
			}
			kit.Clock.Jump(right)
			kit.Reopen()
			call := kit.Admit(key.Digest)
			call.Release()
			a, err := kit.Show(ctx, key.ID)
			if err != nil || call.Verdict != test.want || a.OldUntil[0].After(right) != (test.want == quota.Admitted) {
				t.Errorf("Admit() = %v, old secrets until %v at %v, %v, want %v", call.Verdict, a.OldUntil, right, err, test.want)
			}
		})
	}
}

// Only the last few old secrets are remembered; an older one is unknown.
func TestRotateForgets(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	keys := []quotatest.Key{kit.MustIssue("", 0)}
	for range quota.MaxOldSecrets + 2 {
		issued, _, err := kit.Rotate(ctx, keys[len(keys)-1].Digest, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, kit.KeyOf(issued))
	}
	for range 2 {
		for i, key := range keys {
			want := quota.Admitted
			if i < 2 {
				want = quota.UnknownKey
			}
			wantVerdict(t, kit, key, want)
		}
		kit.Clock.Advance(time.Second)
		kit.Reopen()
	}
}

// Every act is in effect when it returns, and after a restart.
func TestStatusChanges(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	kit.MustSpend(key, 1)
	revokeSelf := func(context.Context, quota.ID) (quota.Account, error) {
		a, v, err := kit.RevokeSelf(ctx, key.Digest)
		if _, again, _ := kit.RevokeSelf(ctx, key.Digest); v != quota.Admitted || a.Status != quota.StatusRevoked || again != quota.Revoked {
			t.Errorf("RevokeSelf() = %+v, %v, and then %v", a, v, again)
		}
		return a, err
	}
	set := func(to quota.Status) func(context.Context, quota.ID) (quota.Account, error) {
		return func(ctx context.Context, id quota.ID) (quota.Account, error) { return kit.SetStatus(ctx, id, to) }
	}
	steps := []struct {
		name string
		act  func(context.Context, quota.ID) (quota.Account, error)
		want quota.Verdict
		fail error
	}{
		{"suspend", set(quota.StatusSuspended), quota.Suspended, nil},
		{"suspend again", set(quota.StatusSuspended), quota.Suspended, nil},
		{"resume", set(quota.StatusActive), quota.Admitted, nil},
		{"revoke oneself", revokeSelf, quota.Revoked, nil},
		{"revoke again", set(quota.StatusRevoked), quota.Revoked, nil},
		{"resume a revoked one", set(quota.StatusActive), quota.Revoked, quota.ErrFinal},
		{"suspend a revoked one", set(quota.StatusSuspended), quota.Revoked, quota.ErrFinal},
	}
	for _, s := range steps {
		if _, err := s.act(ctx, key.ID); !errors.Is(err, s.fail) {
			t.Errorf("%s: %v, want %v", s.name, err, s.fail)
		}
		if got := wantVerdict(t, kit, key, s.want); got.Remaining != 999 || got.Tier != "free" {
			t.Errorf("%s: standing %+v, want the key's real numbers", s.name, got)
		}
	}
	if _, err := kit.SetTier(ctx, key.ID, "pro", 0); !errors.Is(err, quota.ErrFinal) {
		t.Errorf("SetTier of a revoked account = %v, want ErrFinal", err)
	}
	if _, err := kit.Keeper.SetStatus(ctx, 12345, quota.StatusRevoked); !errors.Is(err, quota.ErrNotFound) {
		t.Errorf("Revoke(unknown) = %v, want ErrNotFound", err)
	}
	kit.Reopen()
	wantVerdict(t, kit, key, quota.Revoked)
	a, v, err := kit.Self(ctx, key.Digest)
	if v != quota.Revoked || err != nil || a.Status != quota.StatusRevoked || a.Used != 1 {
		t.Errorf("Self() = %+v, %v, %v, want the revoked account", a, v, err)
	}
}

// A tier is in effect at once: a higher limit admits, a lower one rejects, counts stay.
func TestSetTier(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 5)
	kit.MustSpend(key, 5)
	kit.Clock.Advance(time.Second)
	wantVerdict(t, kit, key, quota.QuotaExhausted)
	set := func(tier string, limit, remaining uint64) {
		t.Helper()
		a, err := kit.SetTier(ctx, key.ID, tier, limit)
		if err != nil || a.Tier != tier || a.Remaining != remaining || a.Custom != (limit > 0) {
			t.Errorf("SetTier(%s, %d) = %+v, %v, want %d left", tier, limit, a, err, remaining)
		}
	}
	set("pro", 0, 99_995)
	if got := kit.MustSpend(key, 1); got.Remaining != 99_994 || got.Tier != "pro" {
		t.Errorf("in pro: %+v, want 99994 left", got)
	}
	set("enterprise", 7, 1)
	kit.MustSpend(key, 1)
	kit.Clock.Advance(time.Second)
	wantVerdict(t, kit, key, quota.QuotaExhausted)
	set("free", 3, 0)
	if got := wantVerdict(t, kit, key, quota.QuotaExhausted); got.Remaining != 0 || got.Limit != 3 {
		t.Errorf("below what is spent: %+v, want 0 of 3", got)
	}
	kit.Reopen()
	wantVerdict(t, kit, key, quota.QuotaExhausted)
	set("free", 0, 993)
	kit.MustSpend(key, 1)
}

// A lease written under a higher limit is not spent above a lower one.
func TestSetTierTakesLeaseBack(t *testing.T) {
	kit := quotatest.New(t, quota.Config{Tiers: wide(t)})
	key := kit.MustIssue("enterprise", 1_000_000)
	kit.MustSpend(key, 5_000) // so that there is a long lease
	if _, err := kit.SetTier(ctx, key.ID, "enterprise", 5_002); err != nil {
		t.Fatal(err)
	}
	kit.MustSpend(key, 2)
	wantVerdict(t, kit, key, quota.QuotaExhausted)
}

// Erasing removes the person from every bucket, and from the file once it is compacted.
func TestErase(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	issued, _, err := kit.Issue(ctx, quota.IssueRequest{Name: "Marker Name", Email: "marker@example.com", UseCase: "Marker Use"})
	if err != nil {
		t.Fatal(err)
	}
	key := kit.KeyOf(issued)
	kit.MustSpend(key, 2)
	a, err := kit.Erase(ctx, key.ID)
	if err != nil || !a.Erased || a.Status != quota.StatusRevoked || a.Name+a.Email+a.UseCase != "" || a.Used != 2 {
		t.Errorf("Erase() = %+v, %v, want nobody's revoked account with 2 calls", a, err)
	}
	wantVerdict(t, kit, key, quota.Revoked)
	if got, err := kit.Find(ctx, "marker@example.com"); err != nil || len(got) != 0 {
		t.Errorf("Find(address) = %v, %v, want none", got, err)
	}
	if _, err := kit.Erase(ctx, key.ID); err != nil {
		t.Errorf("Erase() again = %v", err)
	}
	kit.Stop()
	if _, _, err := quota.Compact(kit.Path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(kit.Path)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.ToLower(string(b)); strings.Contains(text, "marker") {
		t.Error("the person is still in the compacted file")
	}
	kit.Start()
	wantVerdict(t, kit, key, quota.Revoked)
}

func TestList(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	var ids []quota.ID
	for i := range 6 {
		key := kit.MustIssue([]string{"free", "pro"}[i%2], 0)
		ids = append(ids, key.ID)
		kit.Clock.Advance(time.Second)
	}
	if _, err := kit.SetStatus(ctx, ids[1], quota.StatusSuspended); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct { // what filters choose is in the conformance suite
		filter quota.Filter
		limit  int
		want   []quota.ID
	}{
		{quota.Filter{}, 0, ids},
		{quota.Filter{}, 2, ids[:2]},
		{quota.Filter{After: ids[1]}, 2, ids[2:4]},
		{quota.Filter{Tier: "free", After: ids[0]}, 1, ids[2:3]},
		{quota.Filter{Status: quota.StatusSuspended}, 0, ids[1:2]},
		{quota.Filter{Tier: "enterprise"}, 0, nil},
	} {
		list, err := kit.List(ctx, tt.filter, tt.limit)
		var got []quota.ID
		for _, a := range list {
			got = append(got, a.ID)
		}
		if diff := cmp.Diff(tt.want, got); err != nil || list == nil || diff != "" {
			t.Errorf("List(%+v, %d) = %v (-want +got)\n%s", tt.filter, tt.limit, err, diff)
		}
	}
}

// A tier that accounts have but the configuration lacks keeps the server from starting, unless they are revoked.
func TestTierMissing(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("pro", 0)
	kit.MustSpend(key, 3)
	free, err := quota.NewTiers(quota.Tier{Name: "free", CallsPerMonth: 1, Burst: quota.Burst{Rate: 1, PerSeconds: 1, Depth: 1}})
	if err != nil {
		t.Fatal(err)
	}
	restart := func(tiers quota.Tiers) error {
		if err := kit.Keeper.Close(ctx); err != nil && !errors.Is(err, quota.ErrClosed) {
			t.Fatal(err)
		}
		keeper, err := quota.NewKeeper(context.Background(), kit.Ledger, quota.Config{Tiers: tiers, Now: kit.Clock.Now, Mono: kit.Clock.Mono})
		if err == nil {
			kit.Keeper = keeper
		}
		return err
	}
	if err := restart(free); !errors.Is(err, quota.ErrUnknownTier) || !strings.Contains(err.Error(), `"pro"`) {
		t.Errorf("NewKeeper() = %v, want ErrUnknownTier naming pro", err)
	}
	if err := restart(quota.Tiers{}); err != nil {
		t.Fatal(err)
	}
	if _, err := kit.SetStatus(ctx, key.ID, quota.StatusRevoked); err != nil {
		t.Fatal(err)
	}
	if err := restart(free); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, kit, key, quota.Revoked)
	list, err := kit.List(ctx, quota.Filter{Tier: "pro"}, 0)
	if err != nil || len(list) != 1 || list[0].Used != 3 || list[0].Limit != 0 {
		t.Errorf("List(pro) = %+v, %v, want the revoked account with 3 calls", list, err)
	}
	if a, err := kit.Erase(ctx, key.ID); err != nil || !a.Erased {
		t.Errorf("Erase() = %+v, %v", a, err)
	}
}

// No error about a person repeats the person.
func TestErrorsHideThePerson(t *testing.T) {
	kit := quotatest.New(t, quota.Config{KeysPerEmail: 1})
	req := validIssue(func(r *quota.IssueRequest) { r.Email = "secret.person@example.com" })
	first, _, err := kit.Issue(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	_, refusal, _ := kit.Issue(ctx, req)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, _, err1 := kit.Issue(canceled, validIssue(func(r *quota.IssueRequest) { r.Email = "secret.person2@example.com" }))
	_, err2 := kit.Find(canceled, "secret.person@example.com")
	_, err3 := kit.SetStatus(canceled, first.Account.ID, quota.StatusRevoked)
	for _, text := range []string{fmt.Sprintf("%+v", refusal), fmt.Sprint(err1), fmt.Sprint(err2), fmt.Sprint(err3)} {
		if strings.Contains(text, "secret.person") || text == "<nil>" {
			t.Errorf("error %q, want one without the address", text)
		}
	}
}

// laggingStore answers an update some time after it was made, as a slow network does: meanwhile the memory of
// the keeper lags behind the ledger.
type laggingStore struct{ quota.Store }

func (s laggingStore) Update(ctx context.Context, id quota.ID, fn func(*quota.Record, *quota.Person) error) (quota.Record, error) {
	defer time.Sleep(5 * time.Millisecond)
	return s.Store.Update(ctx, id, fn)
}

// Of many changes of one key by its current secret at once exactly one is admitted. The others get a verdict that says
// why not, and never an account.
func TestRotateAtOnce(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	k, err := quota.NewKeeper(ctx, laggingStore{kit.Ledger}, quota.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close(ctx)
	for round := range 6 {
		issued, _, err := k.Issue(ctx, quota.IssueRequest{Name: "A tester", Email: "tester@example.com", UseCase: "Testing"})
		if err != nil {
			t.Fatal(err)
		}
		digest := kit.KeyOf(issued).Digest
		won := make(chan quota.IssuedKey, 100) // without a secret: revoked
		note := func(got quota.IssuedKey, v quota.Verdict, err error) {
			switch {
			case err != nil || v != quota.Admitted && v != quota.Rotated && v != quota.Revoked:
				t.Errorf("a change by a replaced secret = %v, %v", v, err)
			case v == quota.Admitted:
				won <- got
			}
		}
		var work sync.WaitGroup
		for i := range 12 {
			work.Go(func() {
				if round > 2 && i == 0 {
					account, v, err := k.RevokeSelf(ctx, digest)
					note(quota.IssuedKey{Account: account}, v, err)
					return
				}
				note(k.Rotate(ctx, digest, time.Duration(round%2)*time.Minute))
			})
		}
		work.Wait()
		if len(won) != 1 {
			t.Fatalf("%d changes were admitted, want 1", len(won))
		}
		got := <-won
		if got.Account.ID != issued.Account.ID || (got.Secret == "") != (got.Account.Status == quota.StatusRevoked) {
			t.Errorf("the account is %+v", got.Account)
		}
		if got.Secret != "" && k.CheckCurrent(kit.KeyOf(got).Digest) != quota.Admitted {
			t.Error("the secret of the rotation does not work")
		}
	}
}
