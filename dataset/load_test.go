package dataset

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"modeldex/dataset/record"
)

// TestLoadInParallel: workers change neither records nor order nor digest.
func TestLoadInParallel(t *testing.T) {
	fsys := sample(t)
	want, err := Load(context.Background(), fsys, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []Options{{Workers: 64}, {}} {
		t.Run(fmt.Sprintf("workers=%d", opt.Workers), func(t *testing.T) {
			got, err := Load(context.Background(), fsys, opt)
			if err != nil {
				t.Fatal(err)
			}
			if got.Digest != want.Digest {
				t.Errorf("digest %s, want %s", got.Digest, want.Digest)
			}
			if got, want := unpacked(got), unpacked(want); !reflect.DeepEqual(got, want) {
				t.Errorf("set differs (-want +got):\n%s", cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })))
			}
		})
	}
}

// TestFindingsInParallel: workers do not change what is found either.
func TestFindingsInParallel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	fsys := sample(t)
	for name, f := range fsys {
		if kindOf(name) == benchmarksDir {
			f.Data = planted(random, f.Data)
		}
	}
	want := findingsText(t, fsys, Options{Workers: 1})
	for _, opt := range []Options{{Workers: 5}, {Workers: 2}} {
		if diff := cmp.Diff(want, findingsText(t, fsys, opt)); diff != "" {
			t.Errorf("findings with %d workers (-want +got):\n%s", opt.Workers, diff)
		}
	}
}

func findingsText(t *testing.T, fsys fs.FS, opt Options) string {
	t.Helper()
	_, err := Load(context.Background(), fsys, opt)
	var found Findings
	if !errors.As(err, &found) {
		t.Fatalf("Load = %v, want findings", err)
	}
	return found.Error()
}

// planted spoils every tenth line or so.
func planted(random *rand.Rand, b []byte) []byte {
	lines := strings.SplitAfter(string(b), "\n")
	for i := range lines {
		switch random.IntN(30) {
		case 0:
			lines[i] = strings.Replace(lines[i], `"source":"`, `"source":"x`, 1)
		case 1:
			lines[i] = strings.Replace(lines[i], `"model":"`, `"model":"no-such-`, 1)
		case 2:
			lines[i] = lines[i][:len(lines[i])/2] + "\n"
		}
	}
	return []byte(strings.Join(lines, ""))
}

func TestDigest(t *testing.T) {
	digest := func(change func(fstest.MapFS)) Digest {
		fsys, _ := fixtureFS(&txtar.Archive{})
		change(fsys)
		set, err := Load(context.Background(), fsys, Options{Now: fixtureDay})
		if err != nil {
			t.Fatal(err)
		}
		return set.Digest
	}
	base := digest(func(fstest.MapFS) {})
	same := map[string]func(fstest.MapFS){
		"again":             func(fstest.MapFS) {},
		"a page for people": func(f fstest.MapFS) { f["tools/README.md"] = &fstest.MapFile{Data: []byte("x")} },
	}
	for name, change := range same {
		if got := digest(change); got != base {
			t.Errorf("%s: digest changed", name)
		}
	}
	differ := map[string]func(fstest.MapFS){
		"a blank more": func(f fstest.MapFS) { f["tools/runner.json"].Data = append(f["tools/runner.json"].Data, '\n') },
		"a file moved": func(f fstest.MapFS) {
			f["benchmarks/0001.ndjson"] = f["benchmarks/2026.ndjson"]
			delete(f, "benchmarks/2026.ndjson")
		},
		"an empty file": func(f fstest.MapFS) { f["benchmarks/2025.ndjson"] = &fstest.MapFile{} },
	}
	for name, change := range differ {
		if got := digest(change); got == base {
			t.Errorf("%s: digest is unchanged", name)
		}
	}
}

// brokenFS fails to open or to read one file.
type brokenFS struct {
	fstest.MapFS
	name   string
	onRead bool
}

var errBroken = errors.New("input/output error")

func (b brokenFS) Open(name string) (fs.File, error) {
	f, err := b.MapFS.Open(name)
	switch {
	case name != b.name || err != nil:
		return f, err
	case b.onRead:
		return brokenFile{f}, nil
	default:
		return nil, errBroken
	}
}

type brokenFile struct{ fs.File }

func (brokenFile) Read([]byte) (int, error) { return 0, errBroken }

// TestUnreadable: a file that cannot be read is one finding at its path. What refers to its
// records is not to blame.
func TestUnreadable(t *testing.T) {
	for _, name := range []string{"dataset.json", "tools/runner.json", "benchmarks/2026.ndjson"} {
		for _, onRead := range []bool{false, true} {
			base, _ := fixtureFS(&txtar.Archive{})
			set, err := Load(context.Background(), brokenFS{base, name, onRead}, Options{Now: fixtureDay})
			var found Findings
			want := name + ": cannot be read: " + errBroken.Error()
			if set != nil || !errors.As(err, &found) || found.Error() != want || !found.Unreadable() {
				t.Errorf("Load with %s unreadable (on read: %t) = %v, %v, want %s", name, onRead, set, err, want)
			}
		}
	}
}

// TestDecoderVersion: releases before v0.12.0 accept text that is not JSON and can end the process.
func TestDecoderVersion(t *testing.T) {
	const module = "github.com/goccy/go-json"
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no go command here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var version [3]int
	if _, err := fmt.Sscanf(string(out), "v%d.%d.%d", &version[0], &version[1], &version[2]); err != nil {
		t.Fatalf("%s has version %q: %v", module, out, err)
	}
	if least := [3]int{0, 12, 0}; slices.Compare(version[:], least[:]) < 0 {
		t.Errorf("%s is at %v, want %v or later", module, version, least)
	}
}

func TestLoadOfNothing(t *testing.T) {
	_, err := Load(context.Background(), os.DirFS(t.TempDir()), Options{})
	want := "benchmarks: the folder is missing\ndataset.json: the file is missing\nhardware: the folder is missing\nmodels: the folder is missing\nquantizations.json: the file is missing\ntools: the folder is missing"
	if err == nil || err.Error() != want {
		t.Errorf("Load of an empty folder = %v, want\n%s", err, want)
	}
}

// fadingFS opens each file once; a second look finds nothing.
type fadingFS struct {
	files  fstest.MapFS
	opened map[string]bool
	mu     *sync.Mutex
}

func (f fadingFS) Open(name string) (fs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	st, err := f.files.Stat(name)
	if err == nil && !st.IsDir() && f.opened[name] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f.opened[name] = true
	return f.files.Open(name)
}

func (f fadingFS) Stat(name string) (fs.FileInfo, error) { return f.files.Stat(name) }

// TestFileGoesAway: a file that is gone when a column is looked up leaves the finding its line.
func TestFileGoesAway(t *testing.T) {
	base, _ := fixtureFS(&txtar.Archive{})
	base["benchmarks/2026.ndjson"].Data = bytes.Replace(base["benchmarks/2026.ndjson"].Data, []byte(`"alpha-8b"`), []byte(`"alpha-9b"`), 1)
	_, err := Load(context.Background(), fadingFS{base, map[string]bool{}, new(sync.Mutex)}, Options{Now: fixtureDay})
	want := `benchmarks/2026.ndjson:1: model: no model has slug "alpha-9b"; did you mean "alpha-8b"?`
	if err == nil || err.Error() != want {
		t.Errorf("Load = %v, want %s", err, want)
	}
}

func TestValidate(t *testing.T) {
	good := Tool{Slug: "x", Name: "X", Category: "runner", Description: "d"}
	if err := record.Validate(&good); err != nil {
		t.Errorf("Validate of a good tool = %v", err)
	}
	bad := Tool{Slug: "X", Category: "runer", Description: "d", Homepage: ptr(URL("x"))}
	err := record.Validate(&bad)
	for _, want := range []string{"slug: must be lower-case", "name: must not be empty", `category: must be one of`, "homepage: must be an address"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v, want %q in it", err, want)
		}
	}
	if err := record.Validate(&Benchmark{ID: "b", GenerationTPS: ptr(math.NaN())}); err == nil {
		t.Error("Validate took NaN")
	}
}

// TestLoadEnds: a load whose context ends at any moment returns the error of the context, never findings or a set.
func TestLoadEnds(t *testing.T) {
	last, err := shippedSet()
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if set, err := Load(ended, os.DirFS("../data"), Options{Last: last}); set != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("beside the last set: Load = %v, %v, want the error of the context", set != nil, err)
	}
	for _, at := range []string{"tools/vllm.json", "changes/2026.ndjson"} {
		ctx, cancel := context.WithCancel(t.Context())
		set, err := Load(ctx, endingFS{os.DirFS("../data"), at, cancel}, Options{})
		if set != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("at %s: Load = %v, %v, want the error of the context", at, set != nil, err)
		}
		cancel()
	}
}

// endingFS ends a context when a file is opened.
type endingFS struct {
	fs.FS
	name string
	end  func()
}

func (e endingFS) Open(name string) (fs.File, error) {
	if name == e.name {
		e.end()
	}
	return e.FS.Open(name)
}

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
	if !reflect.DeepEqual(got.Benchmarks, want.Benchmarks) {
		t.Error("benchmarks shuffled among files load in another order")
	}
}

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
