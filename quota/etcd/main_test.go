package etcd_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets tests wait side by side, whatever the number of processors: nearly all of their time is that
// of an etcd which starts, and of connections which are noticed to be broken, and made again, seconds later.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // every test binary has the flag
	}
	os.Exit(m.Run())
}
