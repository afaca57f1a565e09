package ledgers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"modeldex/quota"
	"modeldex/quota/ledgers"
)

// A copy only reads its source: an empty file is rejected as a source and stays empty.
func TestCopyFromEmptyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.db"), filepath.Join(dir, "to.db")
	if err := os.WriteFile(from, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := ledgers.Copy(context.Background(), from, to, ledgers.Options{}); !errors.Is(err, quota.ErrNotLedger) {
		t.Errorf("Copy() = %v, want %v", err, quota.ErrNotLedger)
	}
	if b, err := os.ReadFile(from); err != nil || len(b) > 0 {
		t.Errorf("the source has %d bytes (%v), want none", len(b), err)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target was created: %v", err)
	}
}

// damagedBackup writes a ledger of n accounts whose last person has one byte changed.
func damagedBackup(t *testing.T, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "backup.db")
	ledger, err := quota.Open(path, quota.Options{})
	if err != nil {
		t.Fatal(err)
	}
	accounts := make([]quota.Exported, n)
	for i := range accounts {
		id := quota.ID(i + 1)
		accounts[i] = quota.Exported{
			Record: quota.Record{ID: id, Rev: 1, Status: quota.StatusActive, Tier: "free", Created: 1, Changed: 1, Hint: "mdx_...abcd", Digest: quota.Digest{byte(id), byte(id >> 8)}},
			Person: quota.Person{Name: fmt.Sprintf("name-%04d", id), Email: fmt.Sprintf("a%d@example.com", id), UseCase: "x"},
		}
	}
	if err := errors.Join(ledger.Import(t.Context(), accounts), ledger.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := []byte(fmt.Sprintf("name-%04d", n))
	damaged := bytes.ReplaceAll(b, name, []byte("Name"+string(name[4:])))
	if bytes.Equal(b, damaged) {
		t.Fatal("the last person was not found in the file")
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A damaged source changes nothing: a target that did not exist does not exist, one without accounts stays as it was.
func TestCopyDamaged(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 520} {
		for _, exists := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d accounts, target exists %v", n, exists), func(t *testing.T) {
				t.Parallel()
				from, to := damagedBackup(t, n), filepath.Join(t.TempDir(), "to.db")
				var before []byte
				if exists {
					before = emptyLedger(t, to)
				}
				_, err := ledgers.Copy(t.Context(), from, to, ledgers.Options{})
				if !errors.Is(err, quota.ErrCorrupt) || !strings.HasSuffix(err.Error(), "; try another backup") {
					t.Errorf("Copy() = %v, want ErrCorrupt and to try another backup", err)
				}
				unchanged(t, to, before)
			})
		}
	}
	t.Run("cut in half", func(t *testing.T) {
		t.Parallel()
		from, to := damagedBackup(t, 520), filepath.Join(t.TempDir(), "to.db")
		if err := os.Truncate(from, 64<<10); err != nil {
			t.Fatal(err)
		}
		if _, err := ledgers.Copy(t.Context(), from, to, ledgers.Options{}); !errors.Is(err, quota.ErrTruncated) || !strings.HasSuffix(err.Error(), "; try another backup") {
			t.Errorf("Copy() = %v, want ErrTruncated and to try another backup", err)
		}
		unchanged(t, to, nil)
	})
}

// emptyLedger makes a ledger without accounts and returns its bytes.
func emptyLedger(t *testing.T, path string) []byte {
	t.Helper()
	ledger, err := quota.Open(path, quota.Options{})
	if err == nil {
		err = ledger.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unchanged checks that a directory has one file at most, with the bytes from before; nil means none.
func unchanged(t *testing.T, path string, before []byte) {
	t.Helper()
	left, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	if before == nil && len(left) > 0 || before != nil && len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
	if b, err := os.ReadFile(path); before != nil && (err != nil || !bytes.Equal(b, before)) {
		t.Errorf("the target changed: %d bytes, %v, were %d", len(b), err, len(before))
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.db"), filepath.Join(dir, "link.db")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{file, link, true},
		{file, filepath.Join(dir, "b.db"), false},
		{"none.db", "./none.db", true},
		{file, "etcd://a:1/x", false},
		{"etcd://a:1,b:1/x", "etcd://b:1/x/", true},
		{"etcd://a:1/x", "etcd://a:1/y", false},
		{"etcd://a:1/x", "etcd://b:1/x", false},
	} {
		if got := ledgers.Same(tt.a, tt.b); got != tt.want {
			t.Errorf("Same(%s, %s) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
