//go:build !linux

package quotatest

// inMemory makes no directory: a file system in memory is not at a known place here.
func inMemory() (dir string, remove func()) { return "", nil }
