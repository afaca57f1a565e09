//go:build linux

package load

import (
	"bytes"
	"errors"
)

// answer is how much of an answer has been read.
type answer struct {
	started bool
	chunked bool
	left    int     // bytes of the body to come, unless chunked
	tail    [5]byte // the last bytes of a chunked body
}

var (
	errTorn   = errors.New("the head did not come in one piece")
	errStatus = errors.New("another status than expected")
	errMore   = errors.New("more bytes than announced")
)

var (
	headEnd = []byte("\r\n\r\n")
	lastOne = [5]byte{'0', '\r', '\n', '\r', '\n'}
)

// take looks at what was read and says whether the answer is whole.
func (a *answer) take(b []byte, status int) (whole bool, err error) {
	if !a.started {
		end := bytes.Index(b, headEnd)
		if end < 0 {
			return false, errTorn
		}
		head := b[:end+2]
		if statusOf(head) != status {
			return false, errStatus
		}
		a.started, a.left, a.chunked = true, lengthOf(head, status), isChunked(head)
		b = b[end+4:]
	}
	if a.chunked {
		a.keepTail(b)
		return a.tail == lastOne, nil
	}
	if a.left -= len(b); a.left < 0 {
		return false, errMore
	}
	return a.left == 0, nil
}

// keepTail shifts the last bytes of b into the tail.
func (a *answer) keepTail(b []byte) {
	if n := len(b); n < len(a.tail) {
		copy(a.tail[:], a.tail[n:])
		copy(a.tail[len(a.tail)-n:], b)
		return
	}
	copy(a.tail[:], b[len(b)-len(a.tail):])
}

func statusOf(head []byte) int {
	const before = len("HTTP/1.1 ")
	if len(head) < before+3 {
		return 0
	}
	n := 0
	for _, c := range head[before : before+3] {
		n = n*10 + int(c-'0')
	}
	return n
}

// lengthOf is the announced length of the body, 0 if there is none.
func lengthOf(head []byte, status int) int {
	i := bytes.Index(head, []byte("ontent-Length: "))
	if i < 0 {
		i = bytes.Index(head, []byte("ontent-length: "))
	}
	if i < 0 || status == 304 || status == 204 {
		return 0
	}
	n := 0
	for _, c := range head[i+len("ontent-Length: "):] {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func isChunked(head []byte) bool {
	return bytes.Contains(head, []byte("ransfer-Encoding: chunked")) || bytes.Contains(head, []byte("ransfer-encoding: chunked"))
}
