package etcdtest

import (
	"flag"
	"os"
	"testing"
)

// Main runs the tests of a package, and lets them wait side by side, whatever the number of processors. Nearly all of
// their time is spent waiting for an etcd to start, and for broken connections to be noticed or to fail, seconds later.
func Main(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // every test binary has the flag
	}
	os.Exit(m.Run())
}

// Long reports whether tests run in their long form: MODELDEX_LONG_TESTS=1, as in CI. The short form waits for nothing
// that takes seconds.
func Long() bool { return os.Getenv("MODELDEX_LONG_TESTS") == "1" }
