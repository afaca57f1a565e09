package operator

import (
	"fmt"
	"io/fs"
	"net"
	"os"
)

// MaxSocketPath is how long a path the systems we run on take for a Unix socket: 104 bytes with
// the closing zero on macOS, 108 on Linux.
const MaxSocketPath = 103

// ListenSocket listens on a Unix socket of mode 0600. A socket that a killed server left behind is replaced; that of
// another server, which serves another ledger, is left alone and an error, as is anything else of that name.
func ListenSocket(path string) (net.Listener, error) {
	if len(path) > MaxSocketPath {
		return nil, fmt.Errorf("%s: must be at most %d bytes for a Unix socket, got %d", path, MaxSocketPath, len(path))
	}
	if st, err := os.Lstat(path); err == nil {
		if st.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("%s: exists and is not a socket; remove it, or choose another path for the socket", path)
		}
		if client, err := Dial(path); err == nil {
			client.Close()
			return nil, fmt.Errorf("%s: another server is listening there", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	defer forOwnerOnly()() // before it exists, not after
	return net.Listen("unix", path)
}
