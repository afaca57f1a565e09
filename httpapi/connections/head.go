package connections

import (
	"bytes"
	"errors"
)

// ErrLineFeed ends the reading of a head whose empty line is not CR LF after CR LF. RFC 9112, 2.2 lets a server accept a
// lone LF or not; fasthttp takes the line for the end of the head and then waits for CR LF CR LF.
var ErrLineFeed = errors.New("the head of a request ends in a lone LF")

// requestHead follows the bytes of a connection through the head of one request. It changes none of them and only
// says that no more are read, so it cannot move the end of a request. It follows a head whose first byte came with
// a Read of its own: only fasthttp knows where requests sent behind another begin. The zero value is before the
// first byte of a connection.
type requestHead struct {
	done   bool // nothing is left to look for: the head has ended well, or where it began is not known
	odd    bool // the head has ended in a way that fasthttp waits behind
	waited bool // the request before has been answered, and nothing was read since

	lines  int  // before this one, without empty ones before the first
	length int  // of this line so far
	cr     bool // the last byte was a CR
	crlf   bool // the line before this one ended in CR LF
}

// answered begins the next head: all before it was read and answered.
func (h *requestHead) answered() { *h = requestHead{waited: true} }

// begins is called when the first byte of a request is there. If no Read brought it, it came with the request before.
func (h *requestHead) begins() { h.done = h.done || h.waited }

var emptyLine = []byte("\r\n\r\n")

// follow looks at bytes that were read, for an empty line behind the first line that is not empty.
func (h *requestHead) follow(b []byte) {
	h.waited = false
	if h.done || h.odd {
		return
	}
	if bytes.HasSuffix(b, emptyLine) { // nearly all requests
		h.done = true
		return
	}
	for _, c := range b {
		if c != '\n' {
			h.length++
			h.cr = c == '\r'
			continue
		}
		cr := h.cr
		empty := h.length == 0 || h.length == 1 && cr
		switch {
		case !empty:
			h.lines++
			h.crlf = cr
		case h.lines > 0:
			h.done = cr && (h.crlf || h.lines == 1)
			h.odd = !h.done
			return
		}
		h.length, h.cr = 0, false
	}
}
