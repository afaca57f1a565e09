package quota_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
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

func TestValidateIssue(t *testing.T) {
	name := func(s string) func(*quota.IssueRequest) { return func(r *quota.IssueRequest) { r.Name = s } }
	email := func(s string) func(*quota.IssueRequest) { return func(r *quota.IssueRequest) { r.Email = s } }
	use := func(s string) func(*quota.IssueRequest) { return func(r *quota.IssueRequest) { r.UseCase = s } }
	tests := []struct {
		name   string
		change func(*quota.IssueRequest)
		want   string // field of the one fault; "" for none
	}{
		{"plain", nil, ""},
		{"name of 100", name(strings.Repeat("é", 100)), ""},
		{"name of 101", name(strings.Repeat("é", 101)), "name"},
		{"no name", name(""), "name"},
		{"blank name", name(" \t "), "name"},
		{"name not UTF-8", name("a\xff"), "name"},
		{"name with control", name("a\x00b"), "name"},
		{"use case of 1000", use(strings.Repeat("x", 1000)), ""},
		{"use case of 1001", use(strings.Repeat("x", 1001)), "use_case"},
		{"use case of lines", use("one\r\ntwo\tthree"), ""},
		{"no use case", use(""), "use_case"},
		{"no email", email(""), "email"},
		{"capitals", email("Ada@Example.COM"), ""},
		{"plus", email("ada+api@example.co.uk"), ""},
		{"international domain", email("ada@bücher.example"), ""},
		{"no at", email("ada.example.com"), "email"},
		{"two ats", email("ada@a@example.com"), "email"},
		{"display name", email("Ada <ada@example.com>"), "email"},
		{"angle brackets", email("<ada@example.com>"), "email"},
		{"comment", email("ada@example.com (Ada)"), "email"},
		{"space before", email(" ada@example.com"), "email"},
		{"line after", email("ada@example.com\r\nBcc: x@example.com"), "email"},
		{"no dot", email("ada@localhost"), "email"},
		{"dot at the end", email("ada@example.com."), "email"},
		{"two dots", email("ada@example..com"), "email"},
		{"label of dashes", email("ada@-example.com"), "email"},
		{"underscore", email("ada@exa_mple.com"), "email"},
		{"address literal", email("ada@[127.0.0.1]"), "email"},
		{"numbers only", email("ada@127.0.0.1"), "email"},
		{"local of 64", email(strings.Repeat("a", 64) + "@example.com"), ""},
		{"local of 65", email(strings.Repeat("a", 65) + "@example.com"), "email"},
		{"label of 64", email("ada@" + strings.Repeat("a", 64) + ".com"), "email"},
		{"254 bytes", email("ada@" + strings.Repeat("abcdefg.", 30) + "exampl.com"), ""},
		{"255 bytes", email("ada@" + strings.Repeat("abcdefg.", 30) + "example.com"), "email"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := validIssue(tt.change)
			faults := quota.ValidateIssue(req)
			if tt.want == "" && len(faults) > 0 || tt.want != "" && (len(faults) != 1 || faults[0].Field != tt.want) {
				t.Errorf("ValidateIssue() = %+v, want a fault of %q", faults, tt.want)
			}
			for _, f := range faults {
				if req.Email != "" && strings.Contains(f.Detail, req.Email) {
					t.Errorf("fault repeats the address: %q", f.Detail)
				}
			}
		})
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
	for _, text := range []string{"", "key_00000000001", "mdx_...none", "none@example.com"} {
		if got, err := kit.Find(ctx, text); text != "" && (err != nil || len(got) != 0) {
			t.Errorf("Find(%q) = %v, %v, want none", text, got, err)
		}
	}
}

func TestIssueRefuses(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	_, refusal, err := kit.Issue(ctx, quota.IssueRequest{})
	if err != nil || refusal.Reason != quota.InvalidRequest || len(refusal.Faults) != 3 {
		t.Errorf("Issue(empty) = %+v, %v, want three faults", refusal, err)
	}
	for _, tt := range []struct {
		tier  string
		limit uint64
		want  error
	}{
		{"gold", 0, quota.ErrUnknownTier},
		{"enterprise", 0, quota.ErrNeedsLimit},
		{"pro", quota.MaxLimit + 1, quota.ErrLimitRange},
	} {
		_, _, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Tier, r.Limit = tt.tier, tt.limit }))
		if !errors.Is(err, tt.want) {
			t.Errorf("Issue(%s, %d) = %v, want %v", tt.tier, tt.limit, err, tt.want)
		}
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
	if _, err := kit.Suspend(ctx, first.Account.ID); err != nil {
		t.Fatal(err)
	}
	if _, got := issue("ada@example.com"); got != quota.TooManyKeys {
		t.Errorf("with one suspended: %v, want TooManyKeys", got)
	}
	_, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Operator = true }))
	if err != nil || refusal.Reason != 0 {
		t.Errorf("an operator: %+v, %v, want a key", refusal, err)
	}
	local, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Addr, r.Local = netip.MustParseAddr("127.0.0.1"), true }))
	if err != nil || refusal.Reason != 0 {
		t.Errorf("from loopback: %+v, %v, want a key", refusal, err)
	}
	for _, a := range []quota.IssuedKey{first, second, local} {
		if _, err := kit.Revoke(ctx, a.Account.ID); err != nil {
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

// Names are read in lists by operators: nothing in one may look like another row.
func TestNamesOfOneLine(t *testing.T) {
	for _, name := range []string{"ok\nkey_2IOsjUfAAAA  active", "a\rb", "a\tb", "a\u202eb", "a\u200bb", "a\u2028b", "a\x00b", "a\x1b[31mb", "a\u2066b", "\ufeffa"} {
		faults := quota.ValidateIssue(validIssue(func(r *quota.IssueRequest) { r.Name = name }))
		if len(faults) != 1 || faults[0].Field != "name" {
			t.Errorf("name %q: %v, want one fault", name, faults)
		}
	}
	if faults := quota.ValidateIssue(validIssue(func(r *quota.IssueRequest) { r.Name, r.UseCase = "Ren\u00e9's board, \u6771\u4eac", "two\nlines" })); faults != nil {
		t.Errorf("a plain name: %v", faults)
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
		if _, refusal, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Addr, r.Local = netip.MustParseAddr("::1"), true })); err != nil || refusal.Reason != 0 {
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
	if _, v, err := kit.Rotate(ctx, quota.Digest{9}, 0); v != quota.UnknownKey || err != nil {
		t.Errorf("Rotate(unknown) = %v, %v, want unknown_key", v, err)
	}
	if _, v, err := kit.Rotate(ctx, key.Digest, 0); v != quota.Admitted || err != nil {
		t.Fatalf("Rotate(0) = %v, %v", v, err)
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
	steps := []struct {
		name string
		act  func(context.Context, quota.ID) (quota.Account, error)
		want quota.Verdict
		fail error
	}{
		{"suspend", kit.Suspend, quota.Suspended, nil},
		{"suspend again", kit.Suspend, quota.Suspended, nil},
		{"resume", kit.Resume, quota.Admitted, nil},
		{"revoke", kit.Revoke, quota.Revoked, nil},
		{"revoke again", kit.Revoke, quota.Revoked, nil},
		{"resume a revoked one", kit.Resume, quota.Revoked, quota.ErrFinal},
		{"suspend a revoked one", kit.Suspend, quota.Revoked, quota.ErrFinal},
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
	if _, err := kit.Keeper.Revoke(ctx, 12345); !errors.Is(err, quota.ErrNotFound) {
		t.Errorf("Revoke(unknown) = %v, want ErrNotFound", err)
	}
	kit.Reopen()
	wantVerdict(t, kit, key, quota.Revoked)
	a, v, err := kit.Self(ctx, key.Digest)
	if v != quota.Revoked || err != nil || a.Status != quota.StatusRevoked || a.Used != 1 {
		t.Errorf("Self() = %+v, %v, %v, want the revoked account", a, v, err)
	}
}

func TestRevokeSelf(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	a, v, err := kit.RevokeSelf(ctx, key.Digest)
	if err != nil || v != quota.Admitted || a.Status != quota.StatusRevoked {
		t.Errorf("RevokeSelf() = %+v, %v, %v, want revoked", a, v, err)
	}
	if _, v, _ := kit.RevokeSelf(ctx, key.Digest); v != quota.Revoked {
		t.Errorf("RevokeSelf() again = %v, want revoked", v)
	}
	if _, v, _ := kit.Self(ctx, quota.Digest{3}); v != quota.UnknownKey {
		t.Errorf("Self(unknown) = %v, want unknown_key", v)
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
	if _, err := kit.SetTier(ctx, key.ID, "enterprise", 0); !errors.Is(err, quota.ErrNeedsLimit) {
		t.Errorf("SetTier(enterprise, 0) = %v, want ErrNeedsLimit", err)
	}
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
	if _, err := kit.Suspend(ctx, ids[1]); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		filter quota.Filter
		limit  int
		want   []quota.ID
	}{
		{"all", quota.Filter{}, 0, ids},
		{"first two", quota.Filter{}, 2, ids[:2]},
		{"the two after", quota.Filter{After: ids[1]}, 2, ids[2:4]},
		{"suspended", quota.Filter{Status: quota.StatusSuspended}, 0, ids[1:2]},
		{"free", quota.Filter{Tier: "free"}, 0, []quota.ID{ids[0], ids[2], ids[4]}},
		{"free after the first", quota.Filter{Tier: "free", After: ids[0]}, 1, ids[2:3]},
		{"address", quota.Filter{Email: "TESTER-3@example.com"}, 0, ids[2:3]},
		{"none", quota.Filter{Tier: "enterprise"}, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, err := kit.List(ctx, tt.filter, tt.limit)
			var got []quota.ID
			for _, a := range list {
				got = append(got, a.ID)
			}
			if diff := cmp.Diff(tt.want, got); err != nil || list == nil || diff != "" {
				t.Errorf("List() = %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// A tier that nobody knows is an error, and not an empty list.
func TestListUnknownTier(t *testing.T) {
	t.Parallel()
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("pro", 0)
	_, err := kit.List(ctx, quota.Filter{Tier: "gold"}, 0)
	if !errors.Is(err, quota.ErrUnknownTier) || !strings.HasSuffix(err.Error(), `tier: must be one of free, pro, enterprise, got "gold"`) {
		t.Errorf("List(gold) = %v, want ErrUnknownTier", err)
	}
	if _, _, err := kit.Issue(ctx, validIssue(func(r *quota.IssueRequest) { r.Tier = "gold" })); !errors.Is(err, quota.ErrUnknownTier) {
		t.Errorf("Issue(gold) = %v, want ErrUnknownTier", err)
	}
	_, err = kit.SetTier(ctx, key.ID, "enterprise", 0)
	if !errors.Is(err, quota.ErrNeedsLimit) || !strings.HasSuffix(err.Error(), `tier "enterprise" has no limit of its own: give one with --limit`) {
		t.Errorf("SetTier(enterprise) = %v, want ErrNeedsLimit", err)
	}
}

// A revoked account needs no tier, so that a tier can leave the configuration once its keys are revoked.
func TestTierOfRevoked(t *testing.T) {
	t.Parallel()
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("pro", 0)
	kit.MustSpend(key, 3)
	if _, err := kit.Revoke(ctx, key.ID); err != nil {
		t.Fatal(err)
	}
	if err := kit.Keeper.Close(ctx); err != nil {
		t.Fatal(err)
	}
	free, err := quota.NewTiers(quota.Tier{Name: "free", CallsPerMonth: 1, Burst: quota.Burst{Rate: 1, PerSeconds: 1, Depth: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if kit.Keeper, err = quota.NewKeeper(context.Background(), kit.Ledger, quota.Config{Tiers: free, Now: kit.Clock.Now, Mono: kit.Clock.Mono}); err != nil {
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

// A tier that accounts have but the configuration lacks keeps the server from starting.
func TestTierMissingAtStart(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	kit.MustIssue("pro", 0)
	if err := kit.Keeper.Close(ctx); err != nil {
		t.Fatal(err)
	}
	free, err := quota.NewTiers(quota.Tier{Name: "free", CallsPerMonth: 1, Burst: quota.Burst{Rate: 1, PerSeconds: 1, Depth: 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = quota.NewKeeper(context.Background(), kit.Ledger, quota.Config{Tiers: free})
	if !errors.Is(err, quota.ErrUnknownTier) || !strings.Contains(err.Error(), `"pro"`) {
		t.Errorf("NewKeeper() = %v, want ErrUnknownTier naming pro", err)
	}
	if kit.Keeper, err = quota.NewKeeper(context.Background(), kit.Ledger, quota.Config{Now: kit.Clock.Now, Mono: kit.Clock.Mono}); err != nil {
		t.Fatal(err)
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
	_, err3 := kit.Revoke(canceled, first.Account.ID)
	for _, text := range []string{fmt.Sprintf("%+v", refusal), fmt.Sprint(err1), fmt.Sprint(err2), fmt.Sprint(err3)} {
		if strings.Contains(text, "secret.person") || text == "<nil>" {
			t.Errorf("error %q, want one without the address", text)
		}
	}
}

// TestFindBlank: blank text means no key. As a filter without a hint it would mean every key.
func TestFindBlank(t *testing.T) {
	t.Parallel()
	kit := quotatest.New(t, quota.Config{})
	kit.MustIssue("free", 0)
	for _, text := range []string{"", " ", "\t\n"} {
		if got, err := kit.Find(ctx, text); err != nil || len(got) > 0 {
			t.Errorf("Find(%q) = %d accounts, %v, want none", text, len(got), err)
		}
	}
}
