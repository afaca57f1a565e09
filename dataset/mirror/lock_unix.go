//go:build unix

package mirror

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes a file for this process until it is closed, or the process ends in whatever way.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
