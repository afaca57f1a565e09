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

// A copy that fails while it is written, or that a signal ends, leaves nothing. A file that is there is left alone.
func TestCopyFileFails(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "from.db")
	fillLedger(t, source, importBatch+20, MonthOf(time.Now()))
	from := openLedger(t, source)
	for want, source := range map[error]func(giveUp func()) Portable{
		errSecondRead:    func(func()) Portable { return &secondRead{Portable: from} },
		context.Canceled: func(giveUp func()) Portable { return &canceled{Portable: from, giveUp: giveUp} },
	} {
		ctx, giveUp := context.WithCancel(t.Context())
		to := filepath.Join(t.TempDir(), "to.db")
		if _, err := CopyFile(ctx, source(giveUp), to); !errors.Is(err, want) {
			t.Errorf("CopyFile() = %v, want %v", err, want)
		}
		if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	if _, err := CopyFile(t.Context(), from, source); !errors.Is(err, os.ErrExist) {
		t.Errorf("CopyFile(to a file) = %v, want %v", err, os.ErrExist)
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
