//go:build unix

package wholefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// Lock takes an open file or directory for this process until it is closed, or the process ends in
// whatever way. It does not wait: a lock of another process is an error. It is safe for concurrent use.
func Lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
