package httpapi

import (
	"bytes"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// headerLines are headers as they are sent, "Name: value\r\n" one after the other, in the order they were set.
// fasthttp's own table compares the name of each header with those of all before it, and copies and
// writes each one by itself. That took two fifths of the instructions of a cached response.
type headerLines []byte

// set adds a header, in place of one with the same name. The name is sent in the spelling given: fasthttp would make
// X-Ratelimit-Limit and Etag of X-RateLimit-Limit and ETag, which is the same to programs but not to readers.
func (l headerLines) set(name, value string) headerLines { return l.without(name).add(name, value) }

var noLineBreaks = strings.NewReplacer("\r", " ", "\n", " ")

// add adds a header that is not there yet. Line breaks in the value become spaces: no value can begin
// another header, or end the head.
func (l headerLines) add(name, value string) headerLines {
	if strings.IndexByte(value, '\n') >= 0 || strings.IndexByte(value, '\r') >= 0 {
		value = noLineBreaks.Replace(value)
	}
	l = append(append(l, name...), ": "...)
	return append(append(l, value...), "\r\n"...)
}

// addInt adds a header whose value is a number.
func (l headerLines) addInt(name string, n int64) headerLines {
	l = append(append(l, name...), ": "...)
	return append(appendInt(l, n), "\r\n"...)
}

// without is the lines without the header of a name.
func (l headerLines) without(name string) headerLines {
	for at := 0; at < len(l); {
		end := at + bytes.IndexByte(l[at:], '\n') + 1
		if line := l[at:end]; line[min(len(name), len(line)-1)] == ':' && string(line[:len(name)]) == name {
			return slices.Delete(l, at, end)
		}
		at = end
	}
	return l
}

// sendTo makes the lines the headers of a response, with one more at the end. fasthttp writes a header as
// its name, a colon and its value, and takes a name in canonical form as it is. So it is given the lines
// and the last name as one name.
func (l headerLines) sendTo(h *fasthttp.ResponseHeader, name string, value []byte) {
	h.SetCanonical(append(l, name...), value)
}
