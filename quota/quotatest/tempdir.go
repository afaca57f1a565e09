package quotatest

import "os"

// TempDir makes a directory for all temporary files of a test process and names it in TMPDIR: for TestMain, which calls
// remove at its end. In the short form it is in memory, if the machine has room there: ledgers sync each change to the
// disk, which is most of the time of the tests of quota. What a killed process wrote is found again either way; only a
// cut of power is different, and no test has one. In the long form (MODELDEX_LONG_TESTS=1) it is on the disk, and where
// TMPDIR is set it is below that.
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
