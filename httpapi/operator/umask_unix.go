//go:build !windows

package operator

import "syscall"

// forOwnerOnly gives new files mode 0600 until restore is called.
func forOwnerOnly() (restore func()) {
	old := syscall.Umask(0o177)
	return func() { syscall.Umask(old) }
}
