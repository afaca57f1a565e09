package headers

import "testing"

func TestRangeOf(t *testing.T) {
	tests := []struct {
		header     string
		size       int64
		status     int
		from, want int64
	}{
		{"", 100, 200, 0, 100},
		{"bytes=0-0", 100, 206, 0, 1},
		{"bytes=10-19", 100, 206, 10, 10},
		{"Bytes= 10-19 ", 100, 206, 10, 10},
		{"bytes=90-", 100, 206, 90, 10},
		{"bytes=90-1000", 100, 206, 90, 10},
		{"bytes=-10", 100, 206, 90, 10},
		{"bytes=-1000", 100, 206, 0, 100},
		{"bytes=0-99999999999999999999999", 100, 206, 0, 100},
		{"bytes=100-", 100, 416, 0, 100},
		{"bytes=99999999999999999999999-", 100, 416, 0, 100},
		{"bytes=-0", 100, 416, 0, 100},
		{"bytes=0-", 0, 416, 0, 0},
		{"bytes=19-10", 100, 200, 0, 100},
		{"bytes=0-1,3-4", 100, 200, 0, 100},
		{"bytes=-", 100, 200, 0, 100},
		{"bytes=5", 100, 200, 0, 100},
		{"bytes=a-b", 100, 200, 0, 100},
		{"bytes=+1-2", 100, 200, 0, 100},
		{"bytes", 100, 200, 0, 100},
		{"rows=0-1", 100, 200, 0, 100},
	}
	for _, tt := range tests {
		got, status := RangeOf(tt.header, tt.size)
		if status != tt.status || got != (Range{tt.from, tt.want}) {
			t.Errorf("rangeOf(%q, %d) = %+v, %d, want from %d, size %d, status %d", tt.header, tt.size, got, status, tt.from, tt.want, tt.status)
		}
	}
}

// FuzzRange: any header gives a part that the file has, and never more than the file.
func FuzzRange(f *testing.F) {
	for _, header := range []string{"", "bytes=0-0", "bytes=-5", "bytes=99-", "bytes=5-4", "bytes=0-1,3-4", "bytes=99999999999999999999-", "Bytes = 1-2", "lines=1-2", "bytes=+1-2"} {
		f.Add(header, int64(100))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			size = -(size + 1)
		}
		part, status := RangeOf(header, size)
		switch status {
		case 200, 416:
			if part != (Range{0, size}) {
				t.Errorf("%q of %d bytes: status %d with %+v", header, size, status, part)
			}
		case 206:
			if part.From < 0 || part.Size < 1 || part.Size > size-part.From {
				t.Errorf("%q of %d bytes: %+v", header, size, part)
			}
		default:
			t.Errorf("%q of %d bytes: status %d", header, size, status)
		}
	})
}
