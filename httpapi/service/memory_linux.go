package service

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// forgetProgram gives back the pages of the program and its libraries. The start touches most of the code and of the
// tables about it; serving maps again what it needs, from the system's cache of files. Only mappings without a page
// that was written are given back, see madvise(2), MADV_DONTNEED.
func forgetProgram() {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return // a system without /proc: the pages stay
	}
	var is struct {
		from, to, inode     uintptr
		perms, offset, disk string
	}
	for line := range strings.Lines(string(smaps)) {
		next := is
		n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %d", &next.from, &next.to, &next.perms, &next.offset, &next.disk, &next.inode)
		switch {
		case n == 6:
			is = next
		case is.inode != 0 && !strings.Contains(is.perms, "w") && strings.HasPrefix(line, "Anonymous:") && strings.HasSuffix(line, " 0 kB\n"):
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, is.from, is.to-is.from, syscall.MADV_DONTNEED) // a rejection leaves them
		}
	}
}
