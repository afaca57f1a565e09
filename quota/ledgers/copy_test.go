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
	if _, err := ledgers.Copy(context.Background(), from, to, ledgers.Credentials{}); !errors.Is(err, quota.ErrNotLedger) {
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

// A damaged source leaves no target.
func TestCopyDamaged(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]error{3: quota.ErrCorrupt, 520: quota.ErrCorrupt, 521: quota.ErrTruncated} {
		t.Run(fmt.Sprintf("%d accounts", n), func(t *testing.T) {
			t.Parallel()
			from, to := damagedBackup(t, n), filepath.Join(t.TempDir(), "to.db")
			if want == quota.ErrTruncated { //nolint:errorlint // it is which case this is
				if err := os.Truncate(from, 64<<10); err != nil {
					t.Fatal(err)
				}
			}
			_, err := ledgers.Copy(t.Context(), from, to, ledgers.Credentials{})
			if !errors.Is(err, want) || !strings.HasSuffix(err.Error(), "; try another backup") {
				t.Errorf("Copy() = %v, want %v and to try another backup", err, want)
			}
			if left, err := filepath.Glob(to + "*"); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
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
