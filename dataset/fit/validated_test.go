package fit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEncodeValidated writes the shipped evaluation again: the file is in the form that
// EncodeValidated gives, and nothing of it is lost on reading.
func TestEncodeValidated(t *testing.T) {
	got, err := EncodeValidated(&validated)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(validatedJSON), string(got)); diff != "" {
		t.Errorf("validated.json: -file +encoded\n%s", diff)
	}
}
