package quota_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modeldex/quota"
)

// breakableFile opens the ledger's file so that a test can put another file in the place of
// its descriptor: from then on every write meets that one, while the lock and the memory map
// stay as they were.
type breakableFile struct {
	tb    testing.TB
	file  *os.File
	whole int // the descriptor's true file
}

func (b *breakableFile) open(name string, flag int, perm os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag, perm)
	b.file = f
	return f, err
}

// breakWith lets all writes after the one under way meet the file name, opened with flag.
func (b *breakableFile) breakWith(l *quota.Ledger, name string, flag int) {
	b.tb.Helper()
	bad, err := os.OpenFile(name, flag, 0)
	if err != nil {
		b.tb.Skipf("no %s to break the file with: %v", name, err)
	}
	defer bad.Close()
	if b.whole, err = syscall.Dup(int(b.file.Fd())); err != nil {
		b.tb.Fatal(err)
	}
	b.put(l, int(bad.Fd()))
}

// repair lets all writes after the one under way meet the true file again.
func (b *breakableFile) repair(l *quota.Ledger) {
	b.tb.Helper()
	b.put(l, b.whole)
	_ = syscall.Close(b.whole)
}

// put makes the ledger's descriptor one for the file behind fd. It does so between two writes: a
// disk that changed between the pages of a commit and its sync would fail in other ways than a
// disk does.
func (b *breakableFile) put(l *quota.Ledger, fd int) {
	b.tb.Helper()
	var err error
	locked := l.BetweenWrites(func() { err = syscall.Dup3(fd, int(b.file.Fd()), 0) })
	if err := errors.Join(locked, err); err != nil {
		b.tb.Fatal(err)
	}
}

// The disk fails under a running keeper: calls go on from what is leased, then are rejected with
// a time to come back, changes are rejected with the reason, and all goes on by itself when the
// disk is back. Nothing is lost, nothing minted.
func TestDiskFails(t *testing.T) {
	tests := []struct {
		name string
		path func(ledger string) string
		flag int
		want error
	}{
		{"disk full", func(string) string { return "/dev/full" }, os.O_RDWR, quota.ErrDiskFull},
		{"read-only", func(ledger string) string { return ledger }, os.O_RDONLY, quota.ErrReadOnly},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "modeldex.db")
			disk := &breakableFile{tb: t}
			ledger, err := quota.Open(path, quota.Options{OpenFile: disk.open})
			if err != nil {
				t.Fatal(err)
			}
			var failures atomic.Int64
			keeper, err := quota.NewKeeper(context.Background(), ledger, quota.Config{
				Tiers: wide(t), CommitEvery: time.Microsecond, LeaseWait: time.Minute,
				OnError: func(err error) {
					failures.Add(1)
					if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), path) {
						t.Errorf("OnError(%v), want %v naming the file", err, tt.want)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			issued, _, err := keeper.Issue(ctx, quota.IssueRequest{Name: "a", Email: "a@example.com", UseCase: "a", Tier: "pro"})
			if err != nil {
				t.Fatal(err)
			}
			digest, _ := quota.ParseKey(issued.Secret.Reveal(), "mdx")
			charged := uint64(0)
			spend := func() quota.Call {
				call := keeper.Admit(digest)
				if call.Verdict == quota.Admitted {
					call.Charge()
					charged++
				}
				return call
			}
			for range 500 {
				if call := spend(); call.Verdict != quota.Admitted {
					t.Fatalf("Admit() = %v before the disk fails", call.Verdict)
				}
			}

			disk.breakWith(ledger, tt.path(path), tt.flag)
			leased := charged
			var refused quota.Call
			for refused = spend(); refused.Verdict == quota.Admitted; refused = spend() {
			}
			if refused.Verdict != quota.LedgerUnavailable || refused.Standing().RetryAfter < time.Second {
				t.Errorf("Admit() = %v, %+v, want ledger_unavailable and a time to wait", refused.Verdict, refused.Standing())
			}
			if charged == leased || charged-leased > 1_000 {
				t.Errorf("%d calls went on from the lease, want some, and at most a hundredth of the quota", charged-leased)
			}
			if _, err := keeper.SetStatus(ctx, issued.Account.ID, quota.StatusSuspended); !errors.Is(err, tt.want) {
				t.Errorf("Suspend() = %v, want %v", err, tt.want)
			}
			if _, _, err := keeper.Issue(ctx, quota.IssueRequest{Name: "b", Email: "b@example.com", UseCase: "b"}); !errors.Is(err, tt.want) {
				t.Errorf("Issue() = %v, want %v", err, tt.want)
			}
			if err := keeper.Ready(ctx); !errors.Is(err, tt.want) {
				t.Errorf("Ready() = %v, want %v", err, tt.want)
			}
			unkept := "the last change of a key could not be written: " + tt.want.Error() + "; "
			if got := keeper.Warnings(); len(got) != 1 || !strings.HasPrefix(got[0], unkept) || strings.Contains(got[0], path) || !keeper.Stats().Unkept {
				t.Errorf("Warnings() = %q, want one that begins with %q and has no path", got, unkept)
			}
			if _, err := keeper.SetStatus(ctx, issued.Account.ID+1, quota.StatusSuspended); err == nil || len(keeper.Warnings()) != 1 {
				t.Errorf("Suspend(none) = %v, and the warning is gone", err)
			}
			// The committer counts a failure before it reports it.
			for deadline := time.Now().Add(time.Minute); failures.Load() == 0 && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			if got := keeper.Stats(); !got.Failing || got.Failures == 0 || failures.Load() == 0 {
				t.Errorf("Stats() = %+v, OnError called %d times, want failures", got, failures.Load())
			}

			disk.repair(ledger)
			again := spend()
			for deadline := time.Now().Add(time.Minute); again.Verdict == quota.LedgerUnavailable && time.Now().Before(deadline); again = spend() {
				time.Sleep(5 * time.Millisecond)
			}
			if again.Verdict != quota.Admitted {
				t.Fatalf("Admit() = %v after the disk is back, want admitted", again.Verdict)
			}
			// A lease is spent from as soon as it is written; the committer notes the end of the outage next.
			ready := keeper.Ready(ctx)
			for deadline := time.Now().Add(time.Minute); ready != nil && time.Now().Before(deadline); ready = keeper.Ready(ctx) {
				time.Sleep(time.Millisecond)
			}
			if ready != nil {
				t.Errorf("Ready() = %v after the disk is back", ready)
			}
			if _, _, err := keeper.Issue(ctx, quota.IssueRequest{Name: "b", Email: "b@example.com", UseCase: "b"}); err != nil || len(keeper.Warnings()) > 0 || keeper.Stats().Unkept {
				t.Errorf("Issue() = %v after the disk is back, warnings %q", err, keeper.Warnings())
			}
			for range 100 {
				spend()
			}
			if err := keeper.Close(ctx); err != nil {
				t.Fatal(err)
			}
			if got := countOf(t, ledger, issued.Account.ID); got != charged {
				t.Errorf("the ledger counts %d calls, want the %d charged", got, charged)
			}
			if err := ledger.Close(); err != nil {
				t.Fatal(err)
			}
			if report, err := quota.Check(path); err != nil || len(report.Findings) > 0 {
				t.Errorf("Check() = %+v, %v, want no findings", report, err)
			}
		})
	}
}

// Closing on a broken disk says so, and the ledger then counts the leases, never fewer calls.
func TestCloseOnFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "modeldex.db")
	disk := &breakableFile{tb: t}
	ledger, err := quota.Open(path, quota.Options{OpenFile: disk.open})
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := quota.NewKeeper(context.Background(), ledger, quota.Config{Tiers: wide(t), CommitEvery: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	issued, _, err := keeper.Issue(ctx, quota.IssueRequest{Name: "a", Email: "a@example.com", UseCase: "a"})
	if err != nil {
		t.Fatal(err)
	}
	digest, _ := quota.ParseKey(issued.Secret.Reveal(), "mdx")
	for range 100 {
		call := keeper.Admit(digest)
		call.Charge()
	}
	for deadline := time.Now().Add(time.Minute); countOf(t, ledger, issued.Account.ID) == 100 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // until there is a lease that Close has to give back
	}
	disk.breakWith(ledger, "/dev/full", os.O_RDWR)
	if err := keeper.Close(context.Background()); !errors.Is(err, quota.ErrDiskFull) {
		t.Errorf("Close() = %v, want ErrDiskFull", err)
	}
	disk.repair(ledger)
	if got := countOf(t, ledger, issued.Account.ID); got < 100 || got > 110 {
		t.Errorf("the ledger counts %d calls, want 100 and at most one lease of 10", got)
	}
	if err := ledger.Close(); err != nil {
		t.Fatal(err)
	}
}

const tinyEnv = "QUOTA_TINY_LEDGER"

// A disk too small for a new ledger: a clear error, and once there is room the half-made file
// is no obstacle. The child lowers its own file size limit, which only a process of its own can.
func TestTinyDisk(t *testing.T) {
	if path := os.Getenv(tinyEnv); path != "" {
		tinyChild(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "modeldex.db")
	cmd := exec.Command(os.Args[0], "-test.run=^TestTinyDisk$", "-test.v")
	cmd.Env = append(os.Environ(), tinyEnv+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	if report, err := quota.Check(path); err != nil || report.Accounts != 1 || len(report.Findings) > 0 {
		t.Errorf("Check() = %+v, %v, want one account", report, err)
	}
}

func tinyChild(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ)
	var whole syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &whole); err != nil {
		t.Fatal(err)
	}
	limit := func(bytes uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: whole.Max}); err != nil {
			t.Fatal(err)
		}
	}
	for _, bytes := range []uint64{0, 100, 5_000, 9_000, 16 << 10} {
		limit(bytes)
		if ledger, err := quota.Open(path, quota.Options{}); !errors.Is(err, quota.ErrDiskFull) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open with room for %d bytes = %v, %v, want ErrDiskFull naming the file", bytes, ledger, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := quota.Open(path, quota.Options{}); !errors.Is(err, quota.ErrDiskFull) {
		t.Errorf("Open of a new file = %v, want ErrDiskFull", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the start that failed left a file behind: %v", err)
	}
	limit(whole.Cur)
	ledger, err := quota.Open(path, quota.Options{})
	if err != nil {
		t.Fatalf("Open with room: %v", err)
	}
	keeper, err := quota.NewKeeper(context.Background(), ledger, quota.Config{})
	if err != nil {
		t.Fatal(err)
	}
	req := quota.IssueRequest{Name: "a", Email: "a@example.com", UseCase: strings.Repeat("x", 1000)}
	if _, _, err := keeper.Issue(ctx, req); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(keeper.Close(ctx), ledger.Close()); err != nil {
		t.Fatal(err)
	}
}
