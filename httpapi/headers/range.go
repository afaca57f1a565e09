package headers

import (
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Range is a part of a file.
type Range struct{ From, Size int64 }

// RangeOf reads a Range header (RFC 9110, 14.2) for a file of a size. It gives 206 with the range, or 416 where
// the file has no such bytes. Without a header it gives 200 with the whole file, and also where the header may be
// ignored: other units, several ranges, a malformed one.
func RangeOf(header string, size int64) (Range, int) {
	whole := Range{0, size}
	unit, spec, ok := strings.Cut(header, "=")
	first, last, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok || !dash || !strings.EqualFold(unit, "bytes") || !optionalDigits(first) || !optionalDigits(last) || first+last == "" {
		return whole, http.StatusOK
	}
	from, to := position(first), position(last)
	switch {
	case first == "": // so many bytes at the end
		from, to = max(0, size-to), size-1
	case last == "":
		to = size - 1
	case to < from:
		return whole, http.StatusOK
	}
	if from >= size {
		return whole, http.StatusRequestedRangeNotSatisfiable
	}
	return Range{from, min(to, size-1) - from + 1}, http.StatusPartialContent
}

func optionalDigits(v string) bool { return strings.Trim(v, "0123456789") == "" }

// position reads a number. What is too large for a file is the largest number.
func position(v string) int64 {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}
