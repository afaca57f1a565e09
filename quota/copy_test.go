package quota

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// failing is a ledger whose reading fails after the first batch of a copy.
type failing struct{ Portable }

var errFailing = errors.New("the disk failed")

func (s *failing) Export(ctx context.Context, fn func(Exported) error) error {
	n := 0
	return s.Portable.Export(ctx, func(a Exported) error {
		if n++; n > importBatch+1 {
			return errFailing
		}
		return fn(a)
	})
}

// A copy that fails while it is written, or that a signal ends, leaves nothing. A file that is there is left alone.
func TestCopyFileFails(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "from.db")
	fillLedger(t, source, importBatch+20, MonthOf(time.Now()))
	from := openLedger(t, source)
	for want, source := range map[error]func(giveUp func()) Portable{
		errFailing:       func(func()) Portable { return &failing{from} },
		context.Canceled: func(giveUp func()) Portable { return &canceled{from, giveUp} },
	} {
		ctx, giveUp := context.WithCancel(t.Context())
		to := filepath.Join(t.TempDir(), "to.db")
		if _, err := BackupTo(ctx, source(giveUp), to); !errors.Is(err, want) {
			t.Errorf("BackupTo() = %v, want %v", err, want)
		}
		if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	ctx, giveUp := context.WithCancel(t.Context())
	giveUp()
	to := filepath.Join(t.TempDir(), "to.db")
	if _, err := from.BackupFile(ctx, to); !errors.Is(err, context.Canceled) {
		t.Errorf("BackupFile() = %v, want %v", err, context.Canceled)
	}
	if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := CopyFile(t.Context(), from, source); !errors.Is(err, os.ErrExist) {
		t.Errorf("CopyFile(to a file) = %v, want %v", err, os.ErrExist)
	}
}

// canceled is a ledger whose reader gives up while it is read.
type canceled struct {
	Portable
	giveUp context.CancelFunc
}

func (c *canceled) Export(ctx context.Context, fn func(Exported) error) error {
	c.giveUp()
	return c.Portable.Export(ctx, fn)
}
