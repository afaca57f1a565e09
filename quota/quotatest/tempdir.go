package quotatest

import "os"

// TempDir makes a directory for all temporary files of a test process and sets TMPDIR to it. It is for
// TestMain, which calls remove at its end. In short runs the directory is in memory, if there is room: ledgers
// sync each change, and on a disk that is most of the time of quota's tests. What a killed process wrote is
// kept either way. Only a power failure would lose it, and no test has one. In long runs
// (MODELDEX_LONG_TESTS=1) the directory is on the disk. If TMPDIR is set, the directory is below it.
func TempDir() (dir string, remove func(), err error) {
	if os.Getenv("MODELDEX_LONG_TESTS") != "1" && os.Getenv("TMPDIR") == "" {
		dir, remove = inMemory()
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "mdx"); err != nil {
			return "", nil, err
		}
		remove = func() { _ = os.RemoveAll(dir) }
	}
	if err := os.Chmod(dir, 0o755); err != nil { // proxies that tests start read their files as another user
		return "", nil, err
	}
	return dir, remove, os.Setenv("TMPDIR", dir)
}
