package quota

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ReadFile reads a regular file that a setting names, such as that of a token. Anything else is an error that
// names the file and its type: opening a named pipe would wait for a writer, and a device may have no end. A
// link to a regular file is followed.
func ReadFile(path string) (b []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for a writer
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: must be a regular file, got a %s", path, kindOf(st.Mode()))
	}
	return io.ReadAll(f)
}

// kindOf names what is not a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "file of another kind"
	}
}
