package httpapi

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"modeldex/dataset/datasettest"
)

var seedFlag = flag.Uint64("seed", 0, "seed of tests that draw random queries; 0 picks one")

// seedOf returns the seed of a test and says it where the test fails.
func seedOf(tb testing.TB) uint64 {
	tb.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	tb.Logf("repeat with -seed %d", seed)
	return seed
}

// workDir holds what all tests share: the binary, and datasets they read.
var workDir string

func TestMain(m *testing.M) {
	flag.Parse()
	datasettest.RareCollections()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		// What runs in parallel waits for other processes most of the time, not for a processor.
		if err := f.Value.Set(strconv.Itoa(2 + 4*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mdx")
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.Setenv("TMPDIR", dir)) // proxies read files there as another user
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) // also what a run of some scripts leaves, which was made for all of them
	workDir = dir
	return m.Run()
}

// program builds the program the first time a test asks for it and returns its path.
var program = sync.OnceValues(func() (string, error) {
	var flags []string
	if raceEnabled {
		flags = append(flags, "-race")
	}
	return datasettest.Program("..", workDir, flags...)
})

func mustProgram(tb testing.TB) string {
	tb.Helper()
	path, err := program()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
