package dataset

import (
	"flag"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "rewrite the golden parts of fixtures and pages")

// plainSet is all there is to a set, without how it is packed.
type plainSet struct {
	*Set
	Benchmarks []Benchmark
	order      []uint32
	places     []place
}

func unpacked(s *Set) plainSet {
	out, rest, kept := plainSet{Benchmarks: s.Benchmarks.All()}, *s, *s.kept
	out.order, out.places = kept.benchmarks.order, kept.benchmarks.places
	kept.benchmarks, rest.Benchmarks, rest.kept, out.Set = runStock{}, Pack{}, &kept, &rest
	return out
}

// shipped reads the shipped data into memory.
func shipped(tb testing.TB) fstest.MapFS {
	tb.Helper()
	out, src := fstest.MapFS{}, os.DirFS("../data")
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(src, name)
		out[name] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
