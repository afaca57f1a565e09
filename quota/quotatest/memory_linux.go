package quotatest

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	memoryDir  = "/dev/shm" // a tmpfs on nearly every Linux
	memoryRoom = 2 << 30    // bytes: the tests of a package keep a tenth of it
	noExec     = 8          // of syscall.Statfs_t.Flags: the tests run programs that they build

	// memoryName is the pattern of the directories of test processes in memoryDir.
	memoryName = "mdx-test-*" // short: the paths of sockets have at most 103 bytes
)

// inMemory makes a directory in memory; dir is empty if there is no room. A test process that was killed leaves its
// directory: another one removes it an hour later.
func inMemory() (dir string, remove func()) {
	old, _ := filepath.Glob(filepath.Join(memoryDir, memoryName)) // the pattern is valid
	for _, dir := range old {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &s); err != nil || float64(s.Bavail)*float64(s.Bsize) < memoryRoom || s.Flags&noExec != 0 {
		return "", nil
	}
	dir, err := os.MkdirTemp(memoryDir, memoryName)
	if err != nil {
		return "", nil
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}
