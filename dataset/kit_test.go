package dataset

import (
	"context"
	"flag"
	"os"
	"sync"
	"testing"

	"modeldex/dataset/datasettest"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden parts of fixtures and pages")

// plainSet is all there is to a set, its benchmarks as values.
type plainSet struct {
	*Set
	Benchmarks []Benchmark
}

func unpacked(s *Set) plainSet {
	out, rest := plainSet{Benchmarks: s.Benchmarks.All()}, *s
	rest.Benchmarks = Pack{}
	out.Set = &rest
	return out
}

// shippedSet is the shipped data, loaded once for all tests that only read it.
var shippedSet = sync.OnceValues(func() (*Set, error) { return Load(context.Background(), os.DirFS("../data"), Options{}) })

func mustShipped(tb testing.TB) *Set {
	tb.Helper()
	set, err := shippedSet()
	must(tb, err)
	return set
}

// What the tests take from the kit.
var (
	must       = datasettest.Must
	putFile    = datasettest.PutFile
	writeBase  = datasettest.WriteBase
	shipped    = datasettest.Shipped
	sample     = datasettest.Sample
	fixtureFS  = datasettest.Fixture
	fixtureDay = datasettest.Day
	info       = datasettest.Info
)
