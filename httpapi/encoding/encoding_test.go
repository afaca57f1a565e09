package encoding

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// FuzzAcceptEncoding compares the choice of a coding with a slow reading of RFC 9110, for
// headers that keep its grammar; others must only be answered.
func FuzzAcceptEncoding(f *testing.F) {
	for _, h := range []string{
		"", "gzip", "gzip, br", "zstd;q=0.5, gzip", "*", "*;q=0", "identity;q=0", "gzip;q=0,*", "br;q=1.0,gzip;q=0.999",
		"GZIP", "identity, gzip;q=0.5", "identity;q=0.5, gzip;q=0.5", "deflate", " gzip ; q=0.3 , br ; q=0.2", "gzip;q=", "gzip;q=2", ";q=1", ",,,", "gzip;q=0.0001",
	} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := Accepted([]byte(header))
		if got >= Count {
			t.Fatalf("Accepted(%q) = %d", header, got)
		}
		if want, ok := acceptedByTheBook(header); ok && got != want {
			t.Fatalf("Accepted(%q) = %s, want %s", header, Names[got], Names[want])
		}
	})
}

var codingForm = regexp.MustCompile(`^[ \t]*([A-Za-z]+|\*)[ \t]*(?:;[ \t]*[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?[ \t]*$`)

// acceptedByTheBook is false where the header has another form or names a coding twice.
func acceptedByTheBook(header string) (Coding, bool) {
	weights := map[string]float64{}
	if header != "" {
		for item := range strings.SplitSeq(header, ",") {
			m := codingForm.FindStringSubmatch(item)
			name := ""
			if m != nil {
				name = strings.ToLower(m[1])
			}
			if _, twice := weights[name]; m == nil || twice {
				return 0, false
			}
			weights[name] = 1
			if m[2] != "" {
				weights[name], _ = strconv.ParseFloat(m[2], 64) // the form allows numbers only
			}
		}
	}
	best, bestWeight := Identity, 0.0
	for c := Zstandard; c < Count; c++ {
		w, named := weights[Names[c]]
		if !named {
			w = weights["*"]
		}
		if w > bestWeight {
			best, bestWeight = c, w
		}
	}
	if weights["identity"] > bestWeight {
		best = Identity
	}
	return best, true
}

// BenchmarkAccepted chooses a coding as for every call.
func BenchmarkAccepted(b *testing.B) {
	for _, h := range []string{"", "gzip, deflate, br, zstd", "br;q=1.0, gzip;q=0.8, *;q=0.1"} {
		b.Run(fmt.Sprintf("bytes=%d", len(h)), func(b *testing.B) {
			header := []byte(h)
			b.ReportAllocs()
			for b.Loop() {
				Accepted(header)
			}
		})
	}
}
