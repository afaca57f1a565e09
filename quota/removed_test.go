package quota

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file removed or replaced while a keeper serves from it: no key is acknowledged any more, no
// lease is granted, and Lost says so, with and without traffic.
func TestRemovedWhileServing(t *testing.T) {
	t.Parallel() // it waits, for the disk mostly
	replace := func(path string) error {
		if err := os.Rename(path, path+".away"); err != nil {
			return err
		}
		return os.WriteFile(path, nil, 0o600)
	}
	for name, damage := range map[string]func(string) error{"removed": os.Remove, "replaced": replace} {
		for _, traffic := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " with traffic", false: " without traffic"}[traffic], func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "modeldex.db")
				ledger := openLedger(t, path)
				keeper, err := NewKeeper(context.Background(), ledger, Config{LeaseWait: 10 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				ctx := context.Background()
				key, _, err := keeper.Issue(ctx, IssueRequest{Name: "Ada", Email: "ada@example.com", UseCase: "Sums"})
				if err != nil {
					t.Fatal(err)
				}
				if err := damage(path); err != nil {
					t.Fatal(err)
				}
				if traffic {
					if _, _, err := keeper.Issue(ctx, IssueRequest{Name: "Bob", Email: "bob@example.com", UseCase: "Sums"}); !errors.Is(err, ErrRemoved) {
						t.Errorf("Issue() = %v, want ErrRemoved", err)
					}
					if _, err := keeper.SetStatus(ctx, key.Account.ID, StatusRevoked); !errors.Is(err, ErrRemoved) {
						t.Errorf("Revoke() = %v, want ErrRemoved", err)
					}
					digest, _ := ParseKey(key.Secret.Reveal(), keeper.KeyPrefix())
					if call := keeper.Admit(digest); call.Verdict != LedgerUnavailable {
						t.Errorf("Admit() = %v, want ledger_unavailable", call.Verdict)
					}
				}
				select {
				case <-keeper.Lost():
				case <-time.After(time.Minute): // far above the second a sweep takes
					t.Error("Lost() is still open")
				}
				if err := keeper.Ready(ctx); !errors.Is(err, ErrRemoved) {
					t.Errorf("Ready() = %v, want ErrRemoved", err)
				}
				_ = keeper.Close(ctx)
			})
		}
	}
}

// One damaged copy of the head: the ledger serves from the other one and says so.
func TestOlderHead(t *testing.T) {
	for _, at := range []int64{40, 4096 + 40} {
		path := filepath.Join(t.TempDir(), "modeldex.db")
		fillLedger(t, path, 3, MonthOf(time.Now()))
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		var b [1]byte
		if _, err := f.ReadAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		b[0]++
		if _, err := f.WriteAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		ledger := openLedger(t, path)
		if got := ledger.Warnings(); len(got) != 1 || !strings.Contains(got[0], "last change") {
			t.Errorf("head at %d: Warnings() = %q, want one about the last change", at, got)
		}
		keeper, err := NewKeeper(context.Background(), ledger, Config{})
		if err != nil {
			t.Fatal(err)
		}
		if got := keeper.Warnings(); len(got) != 1 {
			t.Errorf("head at %d: keeper.Warnings() = %q, want the ledger's", at, got)
		}
		if err := keeper.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	sound := openLedger(t, filepath.Join(t.TempDir(), "modeldex.db"))
	if got := sound.Warnings(); len(got) != 0 {
		t.Errorf("a new ledger has warnings %q", got)
	}
}

// What a killed compaction left beside the ledger goes with the next Open; nothing else does.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "modeldex.db")
	fillLedger(t, path, 1, MonthOf(time.Now()))
	kept := []string{"modeldex.db.1", "modeldex.db.sock", "other.db.unfinished-1"}
	for _, name := range append(kept, "modeldex.db.unfinished-123") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openLedger(t, path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := "modeldex.db modeldex.db.1 modeldex.db.sock other.db.unfinished-1"; strings.Join(names, " ") != want {
		t.Errorf("files are %q, want %q", names, want)
	}
}
