package quota

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// secondRead is a ledger whose second reading fails after the first batch of a copy.
type secondRead struct {
	Portable
	reads int
}

var errSecondRead = errors.New("the disk failed")

func (s *secondRead) Export(ctx context.Context, fn func(Exported) error) error {
	s.reads++
	n := 0
	return s.Portable.Export(ctx, func(a Exported) error {
		if n++; s.reads > 1 && n > importBatch+1 {
			return errSecondRead
		}
		return fn(a)
	})
}

// A copy that fails while it is written leaves the target as it was, and no other file.
func TestCopyFileFails(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "from.db")
	fillLedger(t, source, importBatch+20, MonthOf(time.Now()))
	from := openLedger(t, source)
	for _, exists := range []bool{false, true} {
		to := filepath.Join(t.TempDir(), "to.db")
		want := 0
		if exists {
			want = 1
			l, err := Open(to, Options{})
			if err := errors.Join(err, l.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := CopyFile(t.Context(), &secondRead{Portable: from}, to, Options{}); !errors.Is(err, errSecondRead) {
			t.Errorf("CopyFile() = %v, want %v", err, errSecondRead)
		}
		left, err := os.ReadDir(filepath.Dir(to))
		if err != nil || len(left) != want {
			t.Errorf("target exists %v: files %v, %v, want %d", exists, left, err, want)
		}
		if !exists {
			continue
		}
		if report, err := Check(to); err != nil || report.Accounts != 0 || len(report.Findings) > 0 {
			t.Errorf("Check(target) = %+v, %v, want no account", report, err)
		}
	}
}

// canceled is a ledger whose reader gives up during the second reading.
type canceled struct {
	Portable
	reads  int
	giveUp context.CancelFunc
}

func (c *canceled) Export(ctx context.Context, fn func(Exported) error) error {
	if c.reads++; c.reads == 2 {
		c.giveUp()
	}
	return c.Portable.Export(ctx, fn)
}

// A copy that a signal ends leaves nothing.
func TestCopyFileCanceled(t *testing.T) {
	t.Parallel()
	source, to := filepath.Join(t.TempDir(), "from.db"), filepath.Join(t.TempDir(), "to.db")
	fillLedger(t, source, 3, MonthOf(time.Now()))
	ctx, giveUp := context.WithCancel(t.Context())
	if _, err := CopyFile(ctx, &canceled{Portable: openLedger(t, source), giveUp: giveUp}, to, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("CopyFile() = %v, want %v", err, context.Canceled)
	}
	if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A link to the target stays a link.
func TestCopyFileThroughLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, file, link := filepath.Join(dir, "from.db"), filepath.Join(dir, "file.db"), filepath.Join(dir, "link.db")
	fillLedger(t, source, 3, MonthOf(time.Now()))
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if report, err := CopyFile(t.Context(), openLedger(t, source), link, Options{}); err != nil || report.Accounts != 3 {
		t.Fatalf("CopyFile() = %+v, %v, want 3 accounts", report, err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v, want a link still", st, err)
	}
	if report, err := Check(file); err != nil || report.Accounts != 3 {
		t.Errorf("Check() = %+v, %v, want 3 accounts", report, err)
	}
	if _, err := CopyFile(t.Context(), openLedger(t, filepath.Join(dir, "another.db")), file, Options{}); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("CopyFile(to accounts) = %v, want ErrNotEmpty", err)
	}
	target := filepath.Join(dir, "target.db")
	if err := openLedger(t, target).Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := CopyFile(t.Context(), openLedger(t, file), target, Options{MustExist: true}); err != nil || report.Accounts != 3 {
		t.Errorf("CopyFile(to an empty ledger) = %+v, %v, want 3 accounts", report, err)
	}
}
