package quota

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// stalled is a ledger that does not answer when it is to be loaded.
type stalled struct {
	Store
	loading chan struct{}
}

func (s stalled) Load(ctx context.Context, _ Month, _ func(Record, uint64) error) error {
	close(s.loading)
	<-ctx.Done()
	return ctx.Err()
}

// A start whose ledger does not answer ends when its caller gives up.
func TestStalledStart(t *testing.T) {
	t.Parallel()
	ctx, giveUp := context.WithCancel(context.Background())
	store := stalled{openLedger(t, filepath.Join(t.TempDir(), "modeldex.db")), make(chan struct{})}
	go func() {
		<-store.loading
		giveUp()
	}()
	if _, err := NewKeeper(ctx, store, Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("NewKeeper() = %v, want %v", err, context.Canceled)
	}
}
