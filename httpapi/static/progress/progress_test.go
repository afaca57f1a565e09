package progress

import (
	"strings"
	"testing"
	"time"
)

// TestLines: the steps, then a line every three seconds however often files are written, and the end.
func TestLines(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(0, 0)
	report := Lines(&out, func() time.Time { return clock })
	report(State{})
	clock = clock.Add(2 * time.Second)
	for n := 0; n <= 8; n++ {
		report(State{Addresses: n, Total: 8, Files: 4 * n, Bytes: int64(n) * 250_000})
		clock = clock.Add(time.Second)
	}
	want := `export: making the dump
export: 8 addresses to write after 2s
export: 3 of 8 addresses (37%) after 5s: 12 files of 0.8 MB
export: 6 of 8 addresses (75%) after 8s: 24 files of 1.5 MB
export: 8 of 8 addresses (100%) after 10s: 32 files of 2.0 MB
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out.String(), want)
	}
}
