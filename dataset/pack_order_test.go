package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/fstest"
)

// TestAnyOrder: default order does not depend on how lines lie in files.
func TestAnyOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	fsys := sample(t)
	want, err := Load(context.Background(), fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for name, f := range fsys {
		if kindOf(name) == benchmarksDir {
			lines = append(lines, bytes.Split(bytes.TrimSpace(f.Data), []byte{'\n'})...)
			delete(fsys, name)
		}
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	for i := range 3 {
		from, to := i*len(lines)/3, (i+1)*len(lines)/3
		fsys[fmt.Sprintf("benchmarks/%04d.ndjson", i)] = &fstest.MapFile{Data: bytes.Join(lines[from:to], []byte{'\n'})}
	}
	got, err := Load(context.Background(), fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Benchmarks.All(), want.Benchmarks.All()) {
		t.Error("benchmarks shuffled among files load in another order")
	}
}
