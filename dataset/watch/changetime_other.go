//go:build !linux

package watch

import (
	"io/fs"
	"time"
)

// changeTime is not looked up on other systems: a watcher then reads the files once when it begins.
func changeTime(fs.FileInfo) (time.Time, bool) { return time.Time{}, false }
