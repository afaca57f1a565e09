package httpapi

import "testing"

// TestWorthKeeping: an address is worth a body the second time it is asked for and every
// sixteenth from there, for each content by itself.
func TestWorthKeeping(t *testing.T) {
	c, err := newBodyCache(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, content := range []string{"one", "another"} {
		for n := range 40 {
			if got, want := c.worthKeeping([]byte(content), "/api/v1/tools"), n%again == 1; got != want {
				t.Errorf("%s, asked %d times: %t, want %t", content, n+1, got, want)
			}
		}
	}
}
