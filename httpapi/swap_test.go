package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"
	"modeldex/httpapi/changes"
)

// The long form is go test ./httpapi -run TestSwap -swap.readers 1000 -swap.time 60s -swap.pause 100ms.
var (
	readersFlag = flag.Int("swap.readers", datasettest.Rounds(15, 50), "connections that read in TestSwap")
	swapFlag    = flag.Duration("swap.time", time.Duration(datasettest.Rounds(2, 3))*time.Second, "how long TestSwap edits")
	pauseFlag   = flag.Duration("swap.pause", time.Duration(datasettest.Rounds(60, 10))*time.Millisecond, "how long a reader of TestSwap rests between calls")
)

// TestSwap edits the dataset of the real program in every way while readers call: no answer is
// an error or of two generations, every good edit is served, every bad one rejected with its
// reason shown, and memory comes back to its level.
//
// Every record has a mark, which the version of its dataset names too: an answer whose marks
// and version do not agree is torn.
func TestSwap(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	readers := d.read(*readersFlag)
	d.good("a first edit", d.bump) // so that both levels are taken behind a collection
	before := d.heap()
	edits := d.edits()
	for end := time.Now().Add(*swapFlag); time.Now().Before(end) && !t.Failed(); {
		for _, i := range d.rng.Perm(len(edits)) {
			if edits[i](); t.Failed() || time.Now().After(end) {
				break
			}
		}
	}
	readers.stop()
	d.good("a last edit", d.bump)
	d.checkHeap(before)
	slices.Sort(d.latencies)
	if n := len(d.latencies); n > 0 {
		t.Logf("%d readers, %d answers (%d not modified); %d good edits visible after %s at half of them, %s at most; %d bad ones refused",
			*readersFlag, readers.answers.Load(), readers.unmodified.Load(), n, d.latencies[n/2], d.latencies[n-1], d.refused)
	}
}

// desk is a maintainer's desk: two git work trees of one dataset, of which the server follows one through a link.
type desk struct {
	*site
	rng       *rand.Rand
	c         *caller
	root      string
	tree      string // the one the link leads to
	mark      int
	minor     int
	git       bool
	latencies []time.Duration
	refused   int
}

// marks is how many states of the dataset are committed.
const marks = 4

func newDesk(t *testing.T) *desk {
	d := &desk{site: newSite(t, mustRead(t, "testdata/tiers.json")), rng: rand.New(rand.NewPCG(seedOf(t), 4)), mark: 1, tree: "tree-a"}
	d.root = filepath.Join(d.dir, "work")
	d.buildTrees()
	d.ok(os.Symlink(d.tree, filepath.Join(d.root, "current")))
	d.flags = []string{"--data=" + filepath.Join(d.root, "current", "data"), "--log-level=info", "--cache-mb=8"}
	d.variables = []string{"GOGC="} // as an operator starts it: memory is looked at
	d.start()
	d.c = d.caller()
	return d
}

func mustRead(t *testing.T, name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (d *desk) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// data is a path in the dataset the server follows, by the name of its tree.
func (d *desk) data(name string) string { return filepath.Join(d.root, d.tree, "data", name) }

// buildTrees commits the dataset with each mark. Without git the trees are plain folders.
func (d *desk) buildTrees() {
	_, err := exec.LookPath("git")
	d.git = err == nil
	first := filepath.Join(d.root, "tree-a")
	d.writeMarked(filepath.Join(first, "data"), 1)
	if !d.git {
		d.writeMarked(filepath.Join(d.root, "tree-b", "data"), 1)
		return
	}
	d.inTree("tree-a", "init", "-q")
	for mark := 1; mark <= marks; mark++ {
		d.writeMarked(filepath.Join(first, "data"), mark)
		d.inTree("tree-a", "add", "-A")
		d.inTree("tree-a", "commit", "-q", "-m", fmt.Sprint("mark ", mark))
		d.inTree("tree-a", "tag", fmt.Sprint("m", mark))
	}
	d.inTree("tree-a", "checkout", "-q", "--detach", "m1")
	d.inTree("tree-a", "worktree", "add", "-q", "--detach", "../tree-b", "m1")
}

func (d *desk) inTree(tree string, args ...string) {
	d.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", filepath.Join(d.root, tree), "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// writeMarked writes the small dataset with a mark in every record.
func (d *desk) writeMarked(dir string, mark int) {
	d.t.Helper()
	note := fmt.Sprintf("mark %d.", mark)
	small := os.DirFS(mustSmallData(d.t))
	d.ok(fs.WalkDir(small, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(small, name)
		if err != nil {
			return err
		}
		switch filepath.Dir(name) {
		case "models":
			b, err = marked(b, record.Pretty, func(m *dataset.Model) { m.Notes = &note })
		case "hardware":
			b, err = marked(b, record.Pretty, func(h *dataset.Hardware) { h.Note = &note })
		case "tools":
			b, err = marked(b, record.Pretty, func(t *dataset.Tool) { t.Description = note })
		case "benchmarks":
			b, err = markedLines(b, func(m *dataset.Benchmark) { m.Notes = &note })
		case ".":
			if name == "dataset.json" {
				b, err = marked(b, record.Pretty, func(i *dataset.Info) { i.Version = versionOf(mark, 0) })
			}
		}
		return errors.Join(err, writeFile(filepath.Join(dir, name), b))
	}))
}

func versionOf(mark, minor int) string { return fmt.Sprintf("m%d.%d", mark, minor) }

func marked[T any](b []byte, form func(any) ([]byte, error), mark func(*T)) ([]byte, error) {
	var rec T
	if err := json.Unmarshal(b, &rec); err != nil {
		return nil, err
	}
	mark(&rec)
	return form(&rec)
}

func markedLines[T any](b []byte, mark func(*T)) (out []byte, err error) {
	for line := range bytes.Lines(b) {
		one, err := marked(line, record.Line, mark)
		if err != nil {
			return nil, err
		}
		out = append(append(out, one...), '\n')
	}
	return out, nil
}

// edits is every kind of edit.
func (d *desk) edits() []func() {
	out := []func(){
		func() { d.good("an edit in place", d.bump) },
		func() { d.good("a file replaced", d.replace) },
		func() { d.good("a file written in two halves", d.halves) },
		func() { d.good("a link turned", d.turn) },
		func() { d.good("the directory replaced", d.rename) },
		func() { d.good("an edit and a SIGHUP", d.hangup) },
		func() {
			d.bad("hardware/nvidia-rtx-4090.json", `"nvdia"; did you mean "nvidia"?`, func(name string, b []byte) error {
				return os.WriteFile(name, bytes.Replace(b, []byte(`"vendor": "nvidia"`), []byte(`"vendor": "nvdia"`), 1), 0o600)
			})
		},
		func() {
			d.bad("models/llama-2-7b.json", "the file ends inside the record", func(name string, b []byte) error { return os.Truncate(name, int64(len(b)/2)) })
		},
		func() {
			d.bad("benchmarks/2023.ndjson", "benchmarks/2023.ndjson:", func(name string, b []byte) error { return os.Truncate(name, int64(len(b)/2)) })
		},
		func() {
			d.bad("tools/llama.cpp.json", `no tool has slug "llama.cpp"`, func(name string, _ []byte) error { return os.Remove(name) })
		},
		func() {
			d.bad("models/llama-1-7b.json", "must match the name of the file", func(name string, _ []byte) error {
				return os.Rename(name, filepath.Join(filepath.Dir(name), "another.json"))
			})
		},
		func() { d.bad("tools/ollama.json", "tools/ollama.json", unreadable) },
		func() {
			d.bad("quantizations.json", "quantizations.json", func(name string, _ []byte) error { return os.WriteFile(name, nil, 0o600) })
		},
	}
	if d.git {
		for range 3 {
			out = append(out, func() { d.good("a checkout", d.checkout) })
		}
	}
	return out
}

// unreadable makes a file that cannot be read: for root, who may read all, a link to itself.
func unreadable(name string, _ []byte) error {
	if os.Geteuid() != 0 {
		return os.Chmod(name, 0)
	}
	return errors.Join(os.Remove(name), os.Symlink(filepath.Base(name), name))
}

// good makes an edit and waits until it is served.
func (d *desk) good(what string, edit func()) {
	d.t.Helper()
	edit()
	made := time.Now()
	want := versionOf(d.mark, d.minor)
	view := d.await(func(v *DatasetView) bool { return v.Version == want && v.Refused == nil })
	if view.Version != want || view.Refused != nil {
		d.t.Fatalf("%s: version %s and refusal %+v are shown, want version %s\n%.3000s", what, view.Version, view.Refused, want, d.server.stderr)
	}
	d.latencies = append(d.latencies, time.Since(made))
}

// bad spoils a file, waits until the reason is shown, and repairs it.
func (d *desk) bad(name, reason string, spoil func(name string, b []byte) error) {
	d.t.Helper()
	b, err := os.ReadFile(d.data(name))
	d.ok(err)
	d.ok(spoil(d.data(name), b))
	shows := func(r *changes.Refused) bool { return r != nil && strings.Contains(r.Text, reason) }
	view := d.await(func(v *DatasetView) bool { return shows(v.Refused) })
	if !shows(view.Refused) || view.Version != versionOf(d.mark, d.minor) {
		d.t.Fatalf("%s spoilt: version %s and refusal %+v are shown, want version %s and %q", name, view.Version, view.Refused, versionOf(d.mark, d.minor), reason)
	}
	var ready Health
	d.get("/readyz", &ready)
	if ready.Status != "ok" || !shows(ready.Refused) {
		d.t.Errorf("%s spoilt: /readyz tells %+v", name, ready)
	}
	d.refused++
	_ = os.Remove(d.data("models/another.json")) // where the file was renamed to, if it was
	_ = os.Remove(d.data(name))                  // whatever stands in its place
	d.ok(os.WriteFile(d.data(name), b, 0o600))
	if view := d.await(func(v *DatasetView) bool { return v.Refused == nil }); view.Refused != nil {
		d.t.Fatalf("%s mended: still refused: %s", name, view.Refused.Text)
	}
}

func (d *desk) get(path string, out any) {
	d.t.Helper()
	h := d.must(d.c, http.StatusOK, path, "")
	d.ok(json.Unmarshal(h.body, out))
}

// await asks what is served until ok holds, or patience ends.
func (d *desk) await(ok func(*DatasetView) bool) *DatasetView {
	d.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var answer struct{ Data DatasetView }
		d.get("/api/v1/dataset", &answer)
		if ok(&answer.Data) || time.Now().After(end) {
			return &answer.Data
		}
	}
}

// info is dataset.json of the next minor version.
func (d *desk) info() []byte {
	d.t.Helper()
	d.minor++
	b, err := os.ReadFile(d.data("dataset.json"))
	d.ok(err)
	b, err = marked(b, record.Pretty, func(i *dataset.Info) { i.Version = versionOf(d.mark, d.minor) })
	d.ok(err)
	return b
}

func (d *desk) bump() { d.ok(os.WriteFile(d.data("dataset.json"), d.info(), 0o600)) }

func (d *desk) replace() {
	d.ok(os.WriteFile(d.data("dataset.json~"), d.info(), 0o600))
	d.ok(os.Rename(d.data("dataset.json~"), d.data("dataset.json")))
}

func (d *desk) halves() {
	b := d.info()
	f, err := os.Create(d.data("dataset.json"))
	d.ok(err)
	_, err = f.Write(b[:len(b)/2])
	time.Sleep(time.Duration(d.rng.IntN(400)) * time.Millisecond) // longer than the watcher waits, at times
	_, rest := f.Write(b[len(b)/2:])
	d.ok(errors.Join(err, rest, f.Close()))
}

func (d *desk) hangup() {
	d.bump()
	d.ok(d.server.signal(syscall.SIGHUP))
}

// another is a mark that is not being served.
func (d *desk) another() int { return (d.mark+d.rng.IntN(marks-1))%marks + 1 }

// checkout has git write the whole tree.
func (d *desk) checkout() {
	d.mark, d.minor = d.another(), 0
	d.inTree(d.tree, "checkout", "-q", "-f", "--detach", fmt.Sprint("m", d.mark))
}

// turn makes the other tree and turns the link to it.
func (d *desk) turn() {
	other := map[string]string{"tree-a": "tree-b", "tree-b": "tree-a"}[d.tree]
	d.tree, d.mark, d.minor = other, d.another(), 0
	d.writeMarked(d.data(""), d.mark)
	d.ok(os.Symlink(d.tree, filepath.Join(d.root, "next")))
	d.ok(os.Rename(filepath.Join(d.root, "next"), filepath.Join(d.root, "current")))
}

// rename puts another directory in the place of the dataset.
func (d *desk) rename() {
	d.mark, d.minor = d.another(), 0
	dir := filepath.Clean(d.data(""))
	d.writeMarked(dir+".new", d.mark)
	d.ok(os.Rename(dir, dir+".old"))
	d.ok(os.Rename(dir+".new", dir))
	d.ok(os.RemoveAll(dir + ".old"))
}

// metric reads one number of the admin listener.
func (d *desk) metric(name string) float64 {
	d.t.Helper()
	metrics, err := d.admin().Metrics(context.Background())
	d.ok(err)
	for lines := bufio.NewScanner(bytes.NewReader(metrics)); lines.Scan(); {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			v, err := strconv.ParseFloat(text, 64)
			d.ok(err)
			return v
		}
	}
	d.t.Fatalf("no metric %s", name)
	return 0
}

// heap is what is allocated; a load has just been taken, which ends with a collection.
func (d *desk) heap() float64 { return d.metric("go_memstats_heap_alloc_bytes") }

// checkHeap gives the server time for the collection behind its last load. What may be added to
// the level is the finished answers.
func (d *desk) checkHeap(before float64) {
	d.t.Helper()
	limit := 2*before + 48<<20
	after := d.heap()
	for end := time.Now().Add(patience); after > limit && time.Now().Before(end); after = d.heap() {
		time.Sleep(100 * time.Millisecond)
		d.good("an edit", d.bump)
	}
	d.t.Logf("heap %.1f MB before the edits, %.1f MB after", before/(1<<20), after/(1<<20))
	if after > limit {
		d.t.Errorf("heap %.0f bytes after the edits, %.0f before", after, before)
	}
	if got := d.metric("modeldex_dataset_refusals_total"); got < float64(d.refused) {
		d.t.Errorf("modeldex_dataset_refusals_total = %v, %d were seen", got, d.refused)
	}
}

// audience is the readers.
type audience struct {
	d                   *desk
	done                atomic.Bool
	work                sync.WaitGroup
	bodies              sync.Map // path + entity tag -> hash of the body
	answers, unmodified atomic.Int64
}

var readPaths = []string{
	"/api/v1/models", "/api/v1/models/llama-2-7b", "/api/v1/models/llama-3.1-8b-instruct", "/api/v1/hardware?vendor=nvidia",
	"/api/v1/tools", "/api/v1/benchmarks?limit=500", "/api/v1/benchmarks?model=llama-2-7b&sort=-generation_tps",
	"/api/v1/benchmarks?q=llama&limit=3", "/api/v1/changes?limit=20",
}

// read starts readers, each with a connection of its own.
func (d *desk) read(n int) *audience {
	c := &audience{d: d}
	secret, _ := d.issue("reader", "bulk")
	for i := range n {
		reader := d.caller()
		c.work.Go(func() {
			defer reader.hangUp()
			r := rand.New(rand.NewPCG(uint64(i), 5))
			tags := map[string]string{}
			for !c.done.Load() {
				c.once(reader, r, secret, tags)
				time.Sleep(time.Duration(r.Int64N(2*int64(*pauseFlag) + 1)))
			}
		})
	}
	d.t.Cleanup(c.stop) // before the connections are hung up
	return c
}

func (c *audience) stop() {
	c.done.Store(true)
	c.work.Wait()
}

// once makes one call and holds its answer to one generation.
func (c *audience) once(reader *caller, r *rand.Rand, secret string, tags map[string]string) {
	path := readPaths[r.IntN(len(readPaths))]
	var more []string
	if tag := tags[path]; tag != "" && r.IntN(4) == 0 {
		more = append(more, "If-None-Match: "+tag)
	}
	h, err := reader.call("GET", path, secret, more...)
	switch {
	case err != nil:
		c.d.t.Errorf("a connection broke: %v", err)
		c.done.Store(true)
		return
	case h.status == http.StatusNotModified && more != nil:
		c.unmodified.Add(1)
	case h.status != http.StatusOK:
		c.d.t.Errorf("GET %s is answered %d: %.500s", path, h.status, h.body)
	default:
		tags[path] = h.header.Get("ETag")
		if fault := c.torn(path, h); fault != "" {
			c.d.t.Errorf("GET %s: %s", path, fault)
		}
	}
	c.answers.Add(1)
}

var (
	versionText = regexp.MustCompile(`"meta":\{[^{}]*"dataset_version":"m(\d+)\.(\d+)"`)
	markText    = regexp.MustCompile(`mark (\d+)\.`)
)

// torn says in what an answer is not of one generation.
func (c *audience) torn(path string, h *heard) string {
	version := versionText.FindSubmatch(h.body)
	if version == nil {
		return fmt.Sprintf("no version in %.300s", h.body)
	}
	if got, want := h.header.Get("Dataset-Version"), fmt.Sprintf("m%s.%s", version[1], version[2]); got != want {
		return fmt.Sprintf("header of version %s, body of version %s", got, want)
	}
	sum := sha256.Sum256(h.body)
	if was, seen := c.bodies.LoadOrStore(path+h.header.Get("ETag"), sum); seen && was != sum {
		return "one tag, two bodies"
	}
	if strings.HasPrefix(path, "/api/v1/changes") { // speaks of many generations
		return ""
	}
	found := markText.FindAllSubmatch(h.body, -1)
	for _, mark := range found {
		if !bytes.Equal(mark[1], version[1]) {
			return fmt.Sprintf("a record with mark %s in an answer of version m%s.%s", mark[1], version[1], version[2])
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("no marks in %.300s", h.body)
	}
	return ""
}
