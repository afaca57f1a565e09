package mirror

import (
	"context"
	"errors"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDiskFull: where the disk is full, the directory stays as it is, the cause is told, and the next
// check after there is room succeeds.
func TestDiskFull(t *testing.T) {
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a small file system cannot be mounted here (%v), so a full disk is not tried", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(small, 0) })
	o := &origin{t: t}
	server := httptest.NewServer(o)
	defer server.Close()
	one := base(t, "1")
	o.publish(regular(one), one, digestOf(t, one))
	dir := filepath.Join(small, "data")
	m, err := New(Config{Origin: server.URL, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(small, "filler")
	for size := 64 << 10; size > 0; size /= 2 {
		f, err := os.OpenFile(filler, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.WriteString(strings.Repeat("x", size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		f.Close()
	}
	two := base(t, "2")
	o.publish(regular(two), two, digestOf(t, two))
	if changed, err := m.Once(context.Background()); changed || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk Once = %t, %v", changed, err)
	}
	if st := m.State(); !st.Stale() || st.Cause != "the copy cannot be written: no space left on device" {
		t.Errorf("state %+v", st)
	}
	if !maps.Equal(contents(t, dir), one) {
		t.Error("the directory changed")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if changed, err := m.Once(context.Background()); !changed || err != nil || !maps.Equal(contents(t, dir), two) {
		t.Errorf("with room again Once = %t, %v", changed, err)
	}
}
