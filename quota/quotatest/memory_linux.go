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

// inMemory makes a directory in memory; dir is empty where there is no room. A test process that was killed leaves its
// directory: the next one removes it.
func inMemory() (dir string, remove func()) {
	removeLeftovers(memoryDir)
	var s syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &s); err != nil || float64(s.Bavail)*float64(s.Bsize) < memoryRoom || s.Flags&noExec != 0 {
		return "", nil
	}
	dir, err := os.MkdirTemp(memoryDir, memoryName)
	if err != nil {
		return "", nil
	}
	locked, err := lock(dir)
	if err != nil {
		_ = os.Remove(dir)
		return "", nil
	}
	return dir, func() {
		_ = os.RemoveAll(dir)
		_ = locked.Close()
	}
}

// lock locks a directory until the file is closed, or the process ends in any way. It fails if another process has
// locked it.
func lock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// removeLeftovers removes the directories of processes that are gone: nobody locks them. One that is younger than a
// minute may be about to be locked.
func removeLeftovers(in string) {
	dirs, _ := filepath.Glob(filepath.Join(in, memoryName)) // the pattern is valid
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if f, err := lock(dir); err == nil {
			_ = os.RemoveAll(dir)
			_ = f.Close()
		}
	}
}
