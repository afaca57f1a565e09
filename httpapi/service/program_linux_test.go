package service

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestProgramSpans: only what the program's file holds and the program may not write to.
func TestProgramSpans(t *testing.T) {
	const maps = `00400000-013c9000 r-xp 00000000 fe:00 10723745 /opt/my programs/modeldex (deleted)
013c9000-04e3d000 r--p 00fc9000 fe:00 10723745 /opt/my programs/modeldex (deleted)
04e3d000-050ce000 rw-p 04a3d000 fe:00 10723745 /opt/my programs/modeldex (deleted)
050ce000-07122000 rw-p 00000000 00:00 0
3d4c17800000-3d4c26000000 rw-p 00000000 00:00 0 [heap]
7f2780787000-7f2780b9b000 r-xp 00000000 fe:00 7 /usr/lib/libc.so.6
7f2780c00000-7f2780d00000 r--s 00000000 fe:01 10723745 /var/ledger.db
damaged
7ffc0000-zzz r-xp 00000000 fe:00 10723745 /opt
`
	for _, tt := range []struct {
		at   uint64
		want []span
	}{
		{0x400123, []span{{0x400000, 0x13c9000}, {0x13c9000, 0x4e3d000}}},
		{0x7f2780787000, []span{{0x7f2780787000, 0x7f2780b9b000}}},
		{0x1, nil},
	} {
		if got := programSpans(maps, tt.at); !slices.Equal(got, tt.want) {
			t.Errorf("programSpans at %#x = %x, want %x", tt.at, got, tt.want)
		}
	}
	own, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("the system has no /proc")
	}
	if got := programSpans(string(own), uint64(reflect.ValueOf(forgetProgram).Pointer())); len(got) == 0 {
		t.Errorf("this program is not found in\n%s", own)
	}
}

// TestForgetProgram: the program runs on while its pages are given back, in all its goroutines.
func TestForgetProgram(t *testing.T) {
	var workers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		workers.Go(func() {
			for text := strings.Repeat("0123456789", 100); ; {
				select {
				case <-done:
					return
				default:
				}
				parts := strings.Split(text, "5")
				slices.SortFunc(parts, strings.Compare)
				if got := strings.Join(parts, "5"); len(got) != len(text) {
					t.Errorf("%d bytes of %d", len(got), len(text))
					return
				}
			}
		})
	}
	for range 200 {
		forgetProgram()
	}
	close(done)
	workers.Wait()
}
