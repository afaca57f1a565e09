package service

import (
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
)

// A span is addresses of this process: from..to.
type span struct{ from, to uint64 }

// programSpans finds in a /proc/PID/maps where the file that holds the instruction at an address is
// in memory, without what the program may write to.
func programSpans(maps string, at uint64) []span {
	type mapping struct {
		span
		file string // device and inode
	}
	var all []mapping
	program := ""
	for line := range strings.Lines(maps) {
		f := strings.Fields(line) // 00400000-01439000 r-xp 00000000 fe:00 1234 /usr/bin/modeldex
		if len(f) < 6 || len(f[1]) < 2 || f[4] == "0" {
			continue
		}
		first, end, _ := strings.Cut(f[0], "-")
		from, err1 := strconv.ParseUint(first, 16, 64)
		to, err2 := strconv.ParseUint(end, 16, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		file := f[3] + " " + f[4]
		if from <= at && at < to {
			program = file
		}
		if f[1][1] != 'w' {
			all = append(all, mapping{span{from, to}, file})
		}
	}
	var out []span
	for _, m := range all {
		if m.file == program {
			out = append(out, m.span)
		}
	}
	return out
}

// forgetProgram gives back the mapped pages of the program's own file. The start touches 25 MB of them, most of
// the code and the tables about it; serving needs half of that. Nothing is written and nothing is read again
// from disk. The next use of a page maps it again from the system's cache of files, sixteen pages at a time.
// That takes less than a millisecond for all of them. See madvise(2), MADV_DONTNEED.
func forgetProgram() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return // a system without /proc: the pages stay
	}
	for _, s := range programSpans(string(maps), uint64(reflect.ValueOf(forgetProgram).Pointer())) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(s.from), uintptr(s.to-s.from), syscall.MADV_DONTNEED) // a rejection leaves them
	}
}
