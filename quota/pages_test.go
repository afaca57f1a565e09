package quota

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestPagesBeyondAnyFile: a head whose checksum is right and whose number of pages is not is damage, and
// no reason to reserve memory for them.
func TestPagesBeyondAnyFile(t *testing.T) {
	for pages, want := range map[uint64]error{2: nil, 1 << 20: ErrTruncated, maxPages: ErrTruncated, maxPages + 1: ErrCorrupt, 1 << 62: ErrCorrupt, 1<<63 + 1: ErrCorrupt, math.MaxUint64: ErrCorrupt} {
		file := make([]byte, 2*4096)
		for _, page := range [][]byte{file, file[4096:]} {
			m := page[pageHeader:]
			binary.NativeEndian.PutUint32(m, boltMagic)
			binary.NativeEndian.PutUint32(m[8:], 4096)
			binary.NativeEndian.PutUint64(m[40:], pages)
			binary.NativeEndian.PutUint64(m[48:], lastInitTx+1)
			sum := fnv.New64a()
			_, _ = sum.Write(m[:metaSumAt])
			binary.NativeEndian.PutUint64(m[metaSumAt:], sum.Sum64())
		}
		name := filepath.Join(t.TempDir(), "ledger.db")
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := inspect(name, int64(len(file))); !errors.Is(err, want) {
			t.Errorf("%d pages: %v, want %v", pages, err, want)
		}
	}
}
