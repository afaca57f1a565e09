package record

import (
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-json/jsontext"
)

// TestNumberHint: a text that holds a number is told what is wrong with its form.
func TestNumberHint(t *testing.T) {
	r := &Rule{Kind: reflect.Float64}
	for text, want := range map[string]string{
		`"24"`: "without quotes", `"131,4"`: "decimals have a point", `"24_000"`: "decimals have a point", `"+24"`: "decimals have a point",
		`"024"`: "decimals have a point", `".5"`: "each side", `"5."`: "each side", `"24GB"`: "unit", `"24 GB/s"`: "unit", `"95%"`: "unit",
		`"fast"`: "", `"NaN"`: "", `"None"`: "", `"1.2.3"`: "", `""`: "", `true`: "",
	} {
		got := r.Check(jsontext.Value(text), false)
		if !strings.HasPrefix(got, "must be a number, got ") || want == "" && strings.Contains(got, ";") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want a hint with %q", text, got, want)
		}
	}
}
