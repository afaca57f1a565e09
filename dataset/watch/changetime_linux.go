package watch

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when the content or the metadata of a file changed last (ctime). Programs cannot set it, unlike
// the time of the last write. It is false if the time is unknown.
func changeTime(info fs.FileInfo) (time.Time, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(st.Ctim.Unix()), true
}
