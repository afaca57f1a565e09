package record

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestTagParts checks that an escaped comma does not end a value: what follows it is text, even
// where it looks like a rule.
func TestTagParts(t *testing.T) {
	got := tagParts(`nullable,example=a\,minimum=5,minLength=1`)
	if want := []string{"nullable", "example=a,minimum=5", "minLength=1"}; !slices.Equal(got, want) {
		t.Errorf("tagParts = %q, want %q", got, want)
	}
}

// TestZeroOfRequired: a flag that must be there is false where the text says so, and a fault where it does not.
func TestZeroOfRequired(t *testing.T) {
	file, err := os.ReadFile("../../data/hardware/nvidia-rtx-4090.json")
	if err != nil {
		t.Fatal(err)
	}
	file = regexp.MustCompile(`"\$schema": "[^"]*",`).ReplaceAll(file, nil)
	const member = `"unified_memory": false,`
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"as it is", member, nil},
		{"another format", `"unified_memory" :false,`, nil},
		{"left out", ``, []string{"unified_memory"}},
		{"null", `"unified_memory": null,`, []string{"unified_memory"}},
		{"in a text", `"architecture": "\"unified_memory\": false",`, []string{"architecture", "unified_memory"}},
	} {
		text := bytes.Replace(file, []byte(member), []byte(tt.in), 1)
		var rec Hardware
		var got []string
		for _, p := range Decode(text, &rec) {
			got = append(got, p.Field)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: faults of %q, want %q", tt.name, got, tt.want)
		}
	}
}
