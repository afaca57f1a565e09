package dataset

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// alter makes one change to the files of a clean dataset that leaves it clean, and says which.
func alter(r *rand.Rand, fsys fstest.MapFS, step int) string {
	names := func(dir string) (out []string) {
		for name := range fsys {
			if kindOf(name) == dir && strings.Contains(name, "json") && len(fsys[name].Data) > 0 {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	some := func(dir string) (string, *fstest.MapFile) {
		list := names(dir)
		name := list[r.IntN(len(list))]
		fsys[name] = &fstest.MapFile{Data: bytes.Clone(fsys[name].Data)}
		return name, fsys[name]
	}
	switch step % 8 {
	case 0: // one number
		name, f := some(benchmarksDir)
		f.Data = bytes.Replace(f.Data, []byte(`"hardware_count":1`), fmt.Appendf(nil, `"hardware_count":%d`, 2+step), 1)
		return "edit " + name
	case 1: // a line gone
		name, f := some(benchmarksDir)
		f.Data = f.Data[bytes.IndexByte(f.Data, '\n')+1:]
		return "cut " + name
	case 2: // all lines from one file to another
		name, f := some(benchmarksDir)
		delete(fsys, name)
		fsys[fmt.Sprintf("benchmarks/01%02d.ndjson", step)] = f
		return "move " + name
	case 3: // half of a file to another
		name, f := some(benchmarksDir)
		half := bytes.LastIndexByte(f.Data[:len(f.Data)/2], '\n') + 1
		fsys[fmt.Sprintf("benchmarks/02%02d.ndjson", step)] = &fstest.MapFile{Data: f.Data[half:]}
		f.Data = f.Data[:half]
		return "split " + name
	case 4: // a model: its computed sizes depend on it
		name, f := some(modelsDir)
		f.Data = bytes.Replace(f.Data, []byte(`"aliases": [`), fmt.Appendf(nil, `"aliases": ["one more %d",`, step), 1)
		f.Data = bytes.Replace(f.Data, []byte(",]"), []byte("]"), 1)
		return "edit " + name
	case 5: // what every computed size depends on
		f := fsys[quantizationsFile]
		fsys[quantizationsFile] = &fstest.MapFile{Data: append(bytes.Clone(f.Data), '\n')}
		return "edit " + quantizationsFile
	case 6: // no other bytes
		name, _ := some(hardwareDir)
		return "touch " + name
	default:
		name, f := some(toolsDir)
		f.Data = append(f.Data, ' ')
		return "edit " + name
	}
}

var stepsFlag = flag.Int("steps", 8, "changes of files that TestLast makes; there are eight kinds")

// TestLast: a load given the last set gives what a load without gives, edit after edit.
func TestLast(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	fsys := sample(t)
	delete(fsys, "changes/2026.ndjson") // it would know what is cut
	last, err := Load(context.Background(), fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for step := range *stepsFlag {
		what := alter(r, fsys, step)
		got, err := Load(context.Background(), fsys, Options{Last: last, Workers: 1 + r.IntN(3)})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		want, err := Load(context.Background(), fsys, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(unpacked(got), unpacked(want)) {
			t.Fatalf("after %q the set differs from that of a load without Last", what)
		}
		if same := got == last; same != (want.Digest == last.Digest) {
			t.Fatalf("after %q Load returned Last: %t, want it where no byte differs", what, same)
		}
		last = got
	}
}

// TestLastFindings: given the last set the findings are the same too.
func TestLastFindings(t *testing.T) {
	fsys := sample(t)
	last, err := Load(context.Background(), fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const name = "benchmarks/2024.ndjson"
	fsys[name] = &fstest.MapFile{Data: planted(rand.New(rand.NewPCG(seed, 0)), fsys[name].Data)}
	fsys["benchmarks/0001.ndjson"] = fsys["benchmarks/2023.ndjson"]
	delete(fsys, "models/llama-3.1-8b-instruct.json")
	want := findingsText(t, fsys, Options{})
	if got := findingsText(t, fsys, Options{Last: last}); got != want {
		t.Errorf("findings with Last:\n%.2000s\nwithout:\n%.2000s", got, want)
	}
}
