package quota

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

var flips = flag.Int("flips", 0, "damaged copies TestDamage makes; 0: 50, or 300 in the long form (MODELDEX_LONG_TESTS=1)")

func openLedger(tb testing.TB, path string) *Ledger {
	tb.Helper()
	l, err := Open(path, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// writeBolt makes a bbolt file that is not a ledger.
func writeBolt(tb testing.TB, path string, fn func(*bolt.Tx) error) {
	tb.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		tb.Fatal(err)
	}
}

// Every way in which a file can be wrong has its own error, which names the file and says what
// to do.
func TestOpenErrors(t *testing.T) {
	t.Parallel() // it waits, for the disk mostly
	write := func(b string) func(testing.TB, string) {
		return func(tb testing.TB, path string) {
			if err := os.WriteFile(path, []byte(b), 0o600); err != nil {
				tb.Fatal(err)
			}
		}
	}
	damaged := func(change func([]byte) []byte) func(testing.TB, string) {
		return func(tb testing.TB, path string) {
			fillLedger(tb, path, 3_000, MonthOf(time.Now()))
			b, err := os.ReadFile(path)
			if err != nil {
				tb.Fatal(err)
			}
			write(string(change(b)))(tb, path)
		}
	}
	refuse := func(errno syscall.Errno) Options {
		return Options{OpenFile: func(name string, _ int, _ os.FileMode) (*os.File, error) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: errno}
		}}
	}
	tests := []struct {
		name string
		make func(testing.TB, string)
		path string // below the test's directory
		opt  Options
		want error
		say  string
	}{
		{name: "directory missing", path: "no/such/modeldex.db", want: ErrNoDirectory, say: "create it"},
		{name: "directory is a file", make: write("x"), path: "modeldex.db/modeldex.db", want: ErrNoDirectory, say: "choose another path"},
		{name: "a directory", path: ".", want: ErrNotLedger, say: "choose another path"},
		{name: "a named pipe", make: func(tb testing.TB, path string) {
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				tb.Fatal(err)
			}
		}, want: ErrNotLedger, say: "choose another path"},
		{name: "locked", make: func(tb testing.TB, path string) { openLedger(tb, path) }, opt: Options{Timeout: time.Millisecond}, want: ErrLocked, say: "stop that process"},
		{name: "missing", opt: Options{MustExist: true}, want: ErrMissing, say: "check the path"},
		{name: "missing for reading", opt: Options{ReadOnly: true}, want: ErrMissing, say: "check the path"},
		{name: "empty for reading", make: write(""), opt: Options{ReadOnly: true}, want: ErrNotLedger, say: "choose another path"},
		{name: "empty, of an existing ledger", make: write(""), opt: Options{MustExist: true}, want: ErrNotLedger, say: "it is empty"},
		{name: "unfinished, of an existing ledger", make: func(tb testing.TB, path string) {
			db, err := bolt.Open(path, 0o600, nil)
			if err := errors.Join(err, db.Close()); err != nil {
				tb.Fatal(err)
			}
		}, opt: Options{MustExist: true}, want: ErrNotLedger, say: "it is empty because the start"},
		{name: "text", make: write(strings.Repeat("not a ledger\n", 5_000)), want: ErrNotLedger, say: "choose another path"},
		{name: "short text", make: write("hello"), want: ErrNotLedger, say: "choose another path"},
		{name: "another bbolt file", make: func(tb testing.TB, path string) {
			writeBolt(tb, path, func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err })
		}, want: ErrNotLedger, say: "choose another path"},
		{name: "newer format", make: func(tb testing.TB, path string) {
			writeBolt(tb, path, func(tx *bolt.Tx) error {
				if err := makeBuckets(tx); err != nil {
					return err
				}
				return tx.Bucket([]byte(metaBucket)).Put(formatKey, seal(formatKey, []byte{formatVersion + 1}))
			})
		}, want: ErrVersion, say: "newer one"},
		{name: "bucket missing", make: func(tb testing.TB, path string) {
			writeBolt(tb, path, func(tx *bolt.Tx) error {
				return errors.Join(makeBuckets(tx), tx.DeleteBucket([]byte(usageBucket)))
			})
		}, want: ErrCorrupt, say: "restore a backup"},
		{name: "no bucket left", make: func(tb testing.TB, path string) {
			writeBolt(tb, path, func(*bolt.Tx) error { return nil })
		}, want: ErrCorrupt, say: "restore a backup"},
		{name: "cut in half", make: damaged(func(b []byte) []byte { return b[:64<<10] }), want: ErrTruncated, say: "restore a backup"},
		{name: "cut within the first page", make: damaged(func(b []byte) []byte { return b[:50] }), want: ErrTruncated, say: "restore a backup"},
		{name: "both metas damaged", make: damaged(func(b []byte) []byte { b[40]++; b[4096+40]++; return b }), want: ErrCorrupt, say: "restore a backup"},
		{name: "middle zeroed", make: damaged(func(b []byte) []byte { clear(b[3*4096 : 60*4096]); return b }), want: ErrCorrupt, say: "restore a backup"},
		{name: "read-only file system", opt: refuse(syscall.EROFS), want: ErrReadOnly, say: "writable"},
		{name: "no permission", opt: refuse(syscall.EACCES), want: ErrPermission, say: "run the command as the user of the server"},
		{name: "not permitted", opt: refuse(syscall.EPERM), want: ErrPermission, say: "run the command as the user of the server"},
		{name: "no room", opt: refuse(syscall.ENOSPC), want: ErrDiskFull, say: "free some space"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "modeldex.db")
			if tt.make != nil {
				tt.make(t, path)
			}
			if tt.path != "" {
				path = filepath.Join(dir, tt.path)
			}
			l, err := Open(path, tt.opt)
			if l != nil || !errors.Is(err, tt.want) {
				t.Fatalf("Open() = %v, %v, want %v", l, err, tt.want)
			}
			if text := err.Error(); !strings.Contains(text, "opening ledger "+path) || !strings.Contains(text, tt.say) {
				t.Errorf("Open() = %q, want the file's name and %q", text, tt.say)
			}
		})
	}
}

// A failed Open leaves no lock behind.
func TestOpenFailsWithoutLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "modeldex.db")
	writeBolt(t, path, func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err })
	if _, err := Open(path, Options{}); !errors.Is(err, ErrNotLedger) {
		t.Fatalf("Open() = %v, want ErrNotLedger", err)
	}
	if _, err := Open(path, Options{Timeout: time.Millisecond}); !errors.Is(err, ErrNotLedger) {
		t.Errorf("Open() again = %v, want ErrNotLedger and no lock", err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("no file is read-only to root; the refusal itself is in TestOpenErrors")
	}
	path := filepath.Join(t.TempDir(), "modeldex.db")
	fillLedger(t, path, 1, MonthOf(time.Now()))
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrPermission) {
		t.Errorf("Open() = %v, want ErrPermission", err)
	}
	if report, err := Check(path); err != nil || report.Accounts != 1 {
		t.Errorf("Check() = %+v, %v, want one account", report, err)
	}
}

// A new ledger, one made of an empty file with whatever mode, and one whose start was killed between making the file and the
// buckets are for their owner alone. To the tools that only read, the last is no ledger.
func TestNewLedgers(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"missing": func(string) error { return nil },
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"unfinished": func(path string) error {
			db, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			err = db.Close()
			if _, check := Check(path); !errors.Is(check, ErrNotLedger) || !strings.Contains(check.Error(), "it is empty because the start") {
				t.Errorf("Check() = %v, want ErrNotLedger that says why", check)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "modeldex.db")
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			l := openLedger(t, path)
			info, err := os.Stat(path)
			if err := errors.Join(err, l.Ping(context.Background())); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode is %v, %v, want 0600", info.Mode(), err)
			}
		})
	}
}

// A ledger removed or replaced under the running process is noticed.
func TestRemovedWhileOpen(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "modeldex.db")
	l := openLedger(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"removed", "replaced"} {
		if err := l.Ping(ctx); !errors.Is(err, ErrRemoved) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Ping() = %v, want ErrRemoved naming the file", name, err)
		}
		if _, err := l.BackupFile(ctx, path+".copy"); !errors.Is(err, ErrRemoved) {
			t.Errorf("%s: BackupFile() = %v, want ErrRemoved", name, err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// dump reads everything a ledger holds, or the first error.
func dump(l *Ledger) (out []any, err error) {
	ctx := context.Background()
	report, err := l.Check(ctx)
	if err != nil || len(report.Findings) > 0 {
		return nil, errors.Join(err, ErrCorrupt)
	}
	err = l.Find(ctx, Filter{}, func(r Record, p Person) bool {
		out = append(out, r, p)
		return true
	})
	if err != nil {
		return nil, err
	}
	for i := range min(len(out)/2, 52) {
		lines, err := l.Usage(ctx, out[2*i].(Record).ID)
		if err != nil {
			return nil, err
		}
		out = append(out, lines)
	}
	return out, nil
}

// Whatever byte of a ledger is damaged, reading it either notices or is not touched by it; it
// never returns something else and never takes the process with it.
func TestDamage(t *testing.T) {
	t.Parallel() // it waits, for the disk mostly
	dir := t.TempDir()
	path := filepath.Join(dir, "modeldex.db")
	fillLedger(t, path, 300, MonthOf(time.Now()))
	if _, _, err := Compact(path); err != nil { // else most of the file is empty
		t.Fatal(err)
	}
	l, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := dump(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := *flips
	switch {
	case n > 0:
	case os.Getenv("MODELDEX_LONG_TESTS") == "1":
		n = 300
	default:
		n = 50
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	noticed := 0
	for range n {
		b := bytes.Clone(whole)
		for range rnd.IntN(3) + 1 {
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		}
		bad := filepath.Join(dir, "bad.db")
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readDamaged(bad)
		if err != nil {
			noticed++
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("damage went unnoticed (-want +got)\n%s", diff)
		}
	}
	if noticed == 0 {
		t.Error("no damage was noticed: nothing was tested")
	}
	t.Logf("%d of %d damaged files noticed, the others are damaged where nothing stands", noticed, n)
}

func readDamaged(path string) ([]any, error) {
	l, err := Open(path, Options{Timeout: time.Millisecond})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return dump(l)
}

// Check names what is wrong, each fault of a broken ledger on its own.
func TestCheckFindings(t *testing.T) {
	month := MonthOf(time.Now())
	first := ID(1_700_000_000) << idSecond
	put := func(bucket string, k, payload []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { b := Rows{tx}.Bucket(bucket); return b.Put(k, payload) }
	}
	record := func(change func(*Record)) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			r, err := Rows{tx}.Account(first)
			if err != nil {
				return err
			}
			change(&r)
			return Rows{tx}.putRecord(&r)
		}
	}
	tests := []struct {
		name   string
		damage func(*bolt.Tx) error
		want   string
	}{
		{"value not sealed", func(tx *bolt.Tx) error { return tx.Bucket([]byte(accountsBucket)).Put(first.key(), []byte("x")) }, "accounts: account " + first.String() + ": file is corrupt: value has 1 bytes"},
		{"value moved", func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(accountsBucket))
			return b.Put(first.key(), bytes.Clone(b.Get((first + 1<<idSecond).key())))
		}, "value fails its checksum"},
		{"secret shared", record(func(r *Record) { r.ID++ }), "share a secret"},
		{"erased but active", record(func(r *Record) { r.Erased = true }), "is erased but active"},
		{"erased but a person", record(func(r *Record) { r.Erased, r.Status = true, StatusRevoked }), "is erased but its personal data is still there"},
		{"account of a short key", put(accountsBucket, []byte("abc"), nil), "account key has 3 bytes"},
		{"person of nobody", put(peopleBucket, ID(5).key(), []byte(`{"name":"x"}`)), "account key_00000000005 is not there"},
		{"person unreadable", put(peopleBucket, first.key(), []byte(`oops`)), "cannot be read"},
		{"address missing", func(tx *bolt.Tx) error {
			b := Rows{tx}.Bucket(emailsBucket)
			return b.Delete(append(emailKey("tester-0@example.com"), first.key()...))
		}, "emails: account " + first.String() + " is not listed under its e-mail address"},
		{"address of another", put(emailsBucket, append(emailKey("x@example.com"), first.key()...), nil), "is listed under another e-mail address"},
		{"count of nobody", func(tx *bolt.Tx) error {
			k := ID(5).key()
			return Rows{tx}.month(month).b.Put(k, seal(k, []byte{1}))
		}, "usage " + month.String() + ": account key_00000000005 is not there"},
		{"count unreadable", func(tx *bolt.Tx) error {
			return Rows{tx}.month(month).b.Put(first.key(), seal(first.key(), []byte{1, 2}))
		}, "count of " + first.String() + " cannot be read"},
		{"account gone", func(tx *bolt.Tx) error { return tx.Bucket([]byte(accountsBucket)).Delete(first.key()) }, "accounts: rows 2, written 3"},
		{"count gone", func(tx *bolt.Tx) error { return Rows{tx}.month(month).b.Delete(first.key()) }, "usage " + month.String() + ": rows 2, written 3"},
		{"month gone", func(tx *bolt.Tx) error { return tx.Bucket([]byte(usageBucket)).DeleteBucket([]byte(month.String())) }, "usage: rows 0, written 1"},
		{"person gone", func(tx *bolt.Tx) error { b := Rows{tx}.Bucket(peopleBucket); return b.Delete(first.key()) }, "account " + first.String() + " has no personal data but is not erased"},
		{"history out of order", put(historyBucket, first.key(), []byte{2, 1, 1, 1}), "history of " + first.String() + " cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "modeldex.db")
			fillLedger(t, path, 3, month)
			l := openLedger(t, path)
			if err := l.db.Update(tt.damage); err != nil {
				t.Fatal(err)
			}
			report, err := l.Check(context.Background())
			if err != nil || !strings.Contains(strings.Join(report.Findings, "\n"), tt.want) {
				t.Errorf("Check() = %q, %v, want a finding with %q", report.Findings, err, tt.want)
			}
			if strings.Contains(strings.Join(report.Findings, "\n"), "@example.com") {
				t.Errorf("Check() names a person: %q", report.Findings)
			}
		})
	}
}

// A backup made while keys are called is a ledger that counts no fewer calls than were charged
// before it began.
func TestBackupWhileServing(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "modeldex.db")
	fillLedger(t, path, 500, MonthOf(time.Now()))
	l := openLedger(t, path)
	k, err := NewKeeper(context.Background(), l, Config{})
	if err != nil {
		t.Fatal(err)
	}
	issued, _, err := k.Issue(ctx, IssueRequest{Name: "b", Email: "b@example.com", UseCase: "b"})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if v := spendOne(k, issued.Secret.Reveal()); v != Admitted {
			t.Fatalf("Admit() = %v", v)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				spendOne(k, issued.Secret.Reveal())
			}
		}
	}()
	to := filepath.Join(dir, "backup.db")
	n, err := l.BackupFile(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.BackupFile(ctx, to); !errors.Is(err, os.ErrExist) {
		t.Errorf("BackupFile onto a file = %v, want ErrExist", err)
	}
	if _, err := l.BackupFile(ctx, filepath.Join(dir, "no", "backup.db")); err == nil {
		t.Error("BackupFile into no directory = nil, want an error")
	}
	close(stop)
	<-stopped
	if err := k.Close(ctx); err != nil {
		t.Fatal(err)
	}
	report, err := Check(to)
	if err != nil || len(report.Findings) > 0 || report.Accounts != 501 || report.Size != n {
		t.Errorf("Check(backup) = %+v, %v, want 501 accounts in %d bytes", report, err, n)
	}
	copied := openLedger(t, to)
	lines, err := copied.Usage(ctx, issued.Account.ID)
	if err != nil || len(lines) != 1 || lines[0].Calls < 8 {
		t.Errorf("Usage() of the backup = %v, %v, want 8 calls or more", lines, err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("backup has mode %v, %v, want 0600", info.Mode(), err)
	}
}

// The tools reject a ledger in use, and a missing one.
func TestToolsRefuse(t *testing.T) {
	t.Parallel() // it waits, for the disk mostly
	path := filepath.Join(t.TempDir(), "modeldex.db")
	if _, err := Check(path); !errors.Is(err, ErrMissing) {
		t.Errorf("Check(missing) = %v, want ErrMissing", err)
	}
	if _, _, err := Compact(path); !errors.Is(err, ErrMissing) {
		t.Errorf("Compact(missing) = %v, want ErrMissing", err)
	}
	openLedger(t, path)
	if _, err := Check(path); !errors.Is(err, ErrLocked) {
		t.Errorf("Check(in use) = %v, want ErrLocked", err)
	}
	if _, _, err := Compact(path); !errors.Is(err, ErrLocked) {
		t.Errorf("Compact(in use) = %v, want ErrLocked", err)
	}
}

func TestClosedLedger(t *testing.T) {
	ctx := context.Background()
	l := openLedger(t, filepath.Join(t.TempDir(), "modeldex.db"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Ping":    l.Ping(ctx),
		"Reserve": l.Reserve(ctx, []Count{{ID: 1, Month: 1, Own: 1, Limit: 1}}),
		"Close":   l.Close(),
	} {
		if name != "Close" && !errors.Is(err, ErrClosed) || name == "Close" && err != nil {
			t.Errorf("%s on a closed ledger = %v", name, err)
		}
	}
}

// The names of buckets have no checksum. Whatever bit of one is damaged is noticed, by a check and by what a server
// does first; so it is of buckets that not every ledger has, and where two months are there.
func TestDamagedNames(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	path := filepath.Join(dir, "modeldex.db")
	month := MonthOf(time.Now())
	fillLedger(t, path, 3, month)
	fillMore(t, path, month)
	if _, _, err := Compact(path); err != nil { // leaves no old pages
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	start := func(l *Ledger) error {
		newest, err := l.Newest(ctx)
		if err == nil && newest != month+1 {
			t.Errorf("the newest month is %s, want %s", newest, month+1)
		}
		return errors.Join(err, l.Load(ctx, month+1, func(Record, uint64) error { return nil }))
	}
	for _, name := range slices.Concat([]string{(month + 1).String()}, hookBuckets, ledgerBuckets) {
		found := 0
		for at := 0; ; at++ {
			i := bytes.Index(whole[at:], []byte(name))
			if i < 0 {
				break
			}
			at += i
			if c := whole[at-1]; c == '"' || c == '_' {
				continue // a member of JSON
			}
			for bit := range 8 * len(name) {
				b := bytes.Clone(whole)
				b[at+bit/8] ^= 1 << (bit % 8)
				bad := filepath.Join(dir, "bad.db")
				if err := os.WriteFile(bad, b, 0o600); err != nil {
					t.Fatal(err)
				}
				l, err := Open(bad, Options{Timeout: time.Millisecond})
				if err != nil {
					continue
				}
				_, checked := dump(l)
				if err := start(l); err == nil || checked == nil {
					t.Errorf("bit %d of %q at %d: start %v, check %v, want both to notice", bit, name, at, err, checked)
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			found++
		}
		if found == 0 {
			t.Errorf("%q is not in the file", name)
		}
	}
}

// fillMore adds a month and rows of webhooks to the first account of a ledger.
func fillMore(t *testing.T, path string, month Month) {
	t.Helper()
	ctx, l, id := context.Background(), openLedger(t, path), ID(1_700_000_000)<<idSecond
	if err := errors.Join(
		l.Reserve(ctx, []Count{{ID: id, Month: month + 1, Limit: 100, Own: 9}}),
		l.UpdateRows(ctx, func(r Rows) (err error) {
			for _, name := range hookBuckets {
				b := r.Bucket(name)
				err = errors.Join(err, b.Put(id.key(), []byte("{}")))
			}
			return err
		}),
		l.Close(),
	); err != nil {
		t.Fatal(err)
	}
}

// Programs that do not know marks of months add months without, and fold marked ones: neither is damage.
func TestMonthsOfEarlierPrograms(t *testing.T) {
	ctx, month := context.Background(), MonthOf(time.Now())
	older := markKey([]byte((month - 1).String()))
	for name, change := range map[string]func(usage *bolt.Bucket) error{
		"no mark":              func(usage *bolt.Bucket) error { return usage.Delete(markKey([]byte(month.String()))) },
		"mark without a month": func(usage *bolt.Bucket) error { return usage.Put(older, seal(older, nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "modeldex.db")
			fillLedger(t, path, 3, month)
			writeBolt(t, path, func(tx *bolt.Tx) error { return change(tx.Bucket([]byte(usageBucket))) })
			l := openLedger(t, path)
			if got, err := l.Newest(ctx); err != nil || got != month {
				t.Errorf("Newest() = %v, %v, want %s", got, err, month)
			}
			if _, err := dump(l); err != nil {
				t.Error(err)
			}
		})
	}
}
