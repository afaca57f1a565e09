package quotatest

import (
	"os"
	"syscall"
)

const (
	memoryDir  = "/dev/shm" // a tmpfs on nearly every Linux
	memoryRoom = 2 << 30    // bytes: the tests of a package keep a tenth of it
	noExec     = 8          // of syscall.Statfs_t.Flags: the tests run programs that they build
)

// FilesInMemory lets the tests of a package keep their temporary files in memory, if the machine has room for them: for
// TestMain. Ledgers sync each change to the disk, which is most of the time of the tests of quota. What a killed process
// wrote is found again either way; only a cut of power is different, and no test has one. The long form of the tests
// (MODELDEX_LONG_TESTS=1) has its files on the disk, and TMPDIR in the environment stays as it is.
func FilesInMemory() {
	if os.Getenv("MODELDEX_LONG_TESTS") == "1" || os.Getenv("TMPDIR") != "" {
		return
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &s); err != nil || float64(s.Bavail)*float64(s.Bsize) < memoryRoom || s.Flags&noExec != 0 {
		return
	}
	probe, err := os.MkdirTemp(memoryDir, "")
	if err != nil {
		return
	}
	_ = os.Remove(probe)
	_ = os.Setenv("TMPDIR", memoryDir) // fails for an invalid name alone
}
