package headers

import "bytes"

// Weight is the weight among the parameters of an item, in thousandths; 1000 without one.
func Weight(params []byte) (weight int) {
	for len(params) > 0 {
		var param []byte
		param, params, _ = bytes.Cut(params, []byte{';'})
		name, v, _ := bytes.Cut(param, []byte{'='})
		if v = bytes.TrimSpace(v); len(v) == 0 || !EqualFold(bytes.TrimSpace(name), "q") {
			continue
		}
		weight = 1000 * int(v[0]-'0')
		scale := 100
		for _, c := range v[min(2, len(v)):] {
			if c < '0' || c > '9' || scale == 0 {
				break
			}
			weight += int(c-'0') * scale
			scale /= 10
		}
		return max(0, min(weight, 1000))
	}
	return 1000
}

// EqualFold reports whether b is a text in lower case, whatever the case of its letters.
func EqualFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
