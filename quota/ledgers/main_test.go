package ledgers_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets tests wait side by side, whatever the number of processors: nearly all of their time
// is that of connections which must fail after five seconds, and of logins that must expire.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // every test binary has the flag
	}
	os.Exit(m.Run())
}
