package snapshot

import (
	"os"
	"testing"
)

func BenchmarkZZ(b *testing.B) {
	for b.Loop() {
		if _, f, err := Open(os.DirFS("../data/snapshots")); len(f) > 0 || err != nil {
			b.Fatal(err)
		}
	}
}
