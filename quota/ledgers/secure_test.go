package ledgers_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/etcd"
	"modeldex/quota/etcd/etcdtest"
	"modeldex/quota/ledgers"
	"modeldex/quota/quotatest"
)

// address is that of the ledger a server of this etcd may use.
func address(c *etcdtest.Secure) string { return etcd.Scheme + c.Endpoints[0] + "/" + c.Prefix }

func credentials(c *etcdtest.Secure) ledgers.Credentials {
	return ledgers.Credentials{User: c.User, Password: c.Password, CAFile: c.CA, CertFile: c.Cert, KeyFile: c.Key}
}

// TestSecureConformance runs the suite of ledgers through TLS, a client certificate and a user who may
// use one prefix only.
func TestSecureConformance(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.StartSecure(t, "300")
	n := 0
	quotatest.Conformance(t, func(t *testing.T) []quota.Store {
		n++
		l, err := ledgers.Open(context.Background(), address(c)+"/"+strings.Repeat("x", n), quota.Options{}, credentials(c))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return []quota.Store{l}
	})
}

// TestLoginExpires lets logins of etcd run out after a second and restarts etcd, which forgets them: a
// ledger that is in use logs in again, also while it watches.
func TestLoginExpires(t *testing.T) {
	t.Parallel() // it waits
	if !etcdtest.Long() {
		t.Skip("it waits seconds until logins expire; MODELDEX_LONG_TESTS=1 runs it")
	}
	c := etcdtest.StartSecure(t, "1")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	open := func() quota.Portable {
		l, err := ledgers.Open(ctx, address(c), quota.Options{}, credentials(c))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	tiers, err := quota.NewTiers(quota.Tier{Name: quota.FreeTier, CallsPerMonth: 100, Burst: quota.Burst{Rate: 1000, PerSeconds: 1, Depth: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	keeper := func(l quota.Portable) *quota.Keeper {
		cfg := quota.Config{Tiers: tiers, LeaseWait: 30 * time.Second}
		ledgers.Tune(address(c), &cfg)
		k, err := quota.NewKeeper(context.Background(), l, cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = k.Close(context.Background()) })
		return k
	}
	one, two := keeper(open()), keeper(open())
	issue := func(when string) quota.IssuedKey {
		t.Helper()
		for {
			key, refusal, err := one.Issue(ctx, quota.IssueRequest{Name: "n", Email: "a@example.org", UseCase: "u"})
			if err == nil && refusal.Reason == 0 {
				return key
			}
			if ctx.Err() != nil {
				t.Fatalf("%s: no key in time: %+v, %v", when, refusal, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	// known waits until the other server answers the key: its watch reported it.
	known := func(when string, key quota.IssuedKey) {
		t.Helper()
		digest, ok := quota.ParseKey(key.Secret.Reveal(), "mdx")
		if !ok {
			t.Fatal("an issued key does not parse")
		}
		for {
			call := two.Admit(digest)
			if call.Verdict == quota.Admitted {
				call.Charge()
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("%s: the other server does not know the key in time: %v", when, call.Verdict)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	known("at first", issue("at first"))
	time.Sleep(2500 * time.Millisecond) // etcd looks for expired logins once per second
	known("after the login expired", issue("after the login expired"))
	c.Kill(0)
	c.Restart(0)
	known("after etcd was restarted", issue("after etcd was restarted"))
}

// TestReplaced replaces everything by which an open ledger connects: the certificates of its authority, its own and its
// password. It goes on with what is in the files, and did not need a restart.
func TestReplaced(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.StartSecure(t, "300")
	who := credentials(c)
	who.PasswordFile = filepath.Join(t.TempDir(), "password")
	write := func(password string) {
		t.Helper()
		if err := os.WriteFile(who.PasswordFile, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(c.Password)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	l, err := ledgers.Open(ctx, address(c), quota.Options{}, who)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	const replaced = "another secret of a test"
	c.Replace(replaced)
	write(replaced)
	for {
		if err = l.Ping(ctx); err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the ledger does not find its way back: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestSecureErrors holds the message of every wrong credential: it says what to look at and never
// contains the password.
func TestSecureErrors(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.StartSecure(t, "300")
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(c.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*ledgers.Credentials)
		prefix string
		want   string // "" is success
		waits  bool   // for an etcd it cannot greet
	}{
		{name: "all right"},
		{name: "password from a file", change: func(c *ledgers.Credentials) { c.Password, c.PasswordFile = "", file }},
		{name: "wrong password", change: func(c *ledgers.Credentials) { c.Password = "not that secret" }, want: "check user, password and role"},
		{name: "unknown user", change: func(c *ledgers.Credentials) { c.User = "stranger" }, want: "check user, password and role"},
		{name: "no user", change: func(c *ledgers.Credentials) { c.User, c.Password = "", "" }, want: "check user, password and role"},
		{name: "foreign prefix", prefix: "foreign", want: "check user, password and role"},
		{name: "no client certificate", change: func(c *ledgers.Credentials) { c.CertFile, c.KeyFile = "", "" }, want: "certificate", waits: true},
		{name: "unknown authority", change: func(c *ledgers.Credentials) { c.CAFile, c.TLS = "", true }, want: "certificate", waits: true},
		{name: "without TLS", change: func(c *ledgers.Credentials) { c.CAFile, c.CertFile, c.KeyFile = "", "", "" }, want: "TLS", waits: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.waits && !etcdtest.Long() {
				t.Skip("opening waits five seconds for an etcd it cannot greet; MODELDEX_LONG_TESTS=1 runs it")
			}
			who := credentials(c)
			if tt.change != nil {
				tt.change(&who)
			}
			where := address(c)
			if tt.prefix != "" {
				where = etcd.Scheme + c.Endpoints[0] + "/" + tt.prefix
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			l, err := ledgers.Open(ctx, where, quota.Options{}, who)
			if err == nil {
				_ = l.Close()
			}
			switch {
			case tt.want == "" && err != nil:
				t.Fatal(err)
			case tt.want != "" && err == nil:
				t.Fatal("opened")
			case tt.want != "" && !strings.Contains(err.Error(), tt.want):
				t.Errorf("error %q does not say %q", err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), c.Password) || strings.Contains(err.Error(), "not that secret")) {
				t.Errorf("error %q has the password", err)
			}
		})
	}
}

// TestNotFiles: a password or certificate in a named pipe is an error that names it; nothing waits for a writer.
func TestNotFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []ledgers.Credentials{
		{User: "modeldex", PasswordFile: pipe}, {CAFile: pipe}, {CertFile: pipe, KeyFile: pipe},
	} {
		err := ledgers.Validate(c, ledgers.Named{Name: "--ledger", Address: "etcd://localhost:2379/modeldex"})
		if err == nil || !strings.Contains(err.Error(), pipe+": must be a regular file") {
			t.Errorf("Validate(%+v) = %v, want an error that names the pipe", c, err)
		}
	}
}
