package watch

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when the bytes of a file, or what is known of it, were changed last: a time that programs
// cannot set, as they can the time of the last write. False where it is unknown.
func changeTime(info fs.FileInfo) (time.Time, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(st.Ctim.Unix()), true
}
