//go:build !linux

package quotatest

// FilesInMemory does nothing: a file system in memory is not at a known place here.
func FilesInMemory() {}
