//go:build unix

package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
)

// patience is how long a test waits for what must come; it bounds a failing test only.
const patience = 2 * time.Minute

// outcome is what a watcher handed over.
type outcome struct {
	set *dataset.Set
	err error
}

// watched is a watcher over a copy of the base dataset and what it handed over.
type watched struct {
	*Watcher
	t   *testing.T
	dir string
	got chan outcome
}

// quick is a watch that does not wait long.
func quick() Options {
	return Options{Load: dataset.Options{Now: datasettest.Day}, Every: 5 * time.Millisecond, Quiet: 5 * time.Millisecond}
}

// watch watches dir, which holds a clean dataset that has been loaded.
func watch(t *testing.T, dir string, opt Options) *watched {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, leaks) })
	last, err := dataset.Load(context.Background(), dataset.Dir(dir), opt.Load)
	datasettest.Must(t, err)
	w := &watched{t: t, dir: dir, got: make(chan outcome, 1000)}
	w.Watcher = Watch(context.Background(), dir, last, opt, func(set *dataset.Set, err error) { w.got <- outcome{set, err} })
	t.Cleanup(w.Close)
	return w
}

// wantVersion waits until the dataset with a version is handed over.
func (w *watched) wantVersion(version string) *dataset.Set {
	w.t.Helper()
	late := time.After(patience)
	for {
		select {
		case o := <-w.got:
			if o.err == nil && o.set.Info.Version == version {
				return o.set
			}
		case <-late:
			w.t.Fatalf("version %s was not handed over", version)
		}
	}
}

// wantRefused waits until a rejection that says text is handed over.
func (w *watched) wantRefused(text string) {
	w.t.Helper()
	late := time.After(patience)
	for {
		select {
		case o := <-w.got:
			if o.err != nil && strings.Contains(o.err.Error(), text) {
				return
			}
		case <-late:
			w.t.Fatalf("no refusal with %q was handed over", text)
		}
	}
}

// info is dataset.json with a version.
func info(version string) string {
	return fmt.Sprintf(`{"schema_version": 1, "version": %q, "released": "2026-01-02", "title": "fixture", "licence": "CC-BY-SA-4.0"}`, version)
}

func (w *watched) setVersion(version string) {
	w.t.Helper()
	datasettest.PutFile(w.t, filepath.Join(w.dir, "dataset.json"), info(version))
}

// swapVersion is setVersion at one moment: no look finds half of the file.
func swapVersion(t *testing.T, dir, version string) {
	t.Helper()
	beside := filepath.Join(t.TempDir(), "dataset.json")
	datasettest.PutFile(t, beside, info(version))
	datasettest.Must(t, os.Rename(beside, filepath.Join(dir, "dataset.json")))
}

// TestWatchEdits: each way of changing files is found.
func TestWatchEdits(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteBase(t, dir)
	w := watch(t, dir, quick())
	tool := filepath.Join(dir, "tools", "runner.json")
	text, err := os.ReadFile(tool)
	datasettest.Must(t, err)

	w.setVersion("2")
	w.wantVersion("2")

	// Written beside and renamed over, as editors do.
	datasettest.PutFile(t, filepath.Join(dir, "new.json"), info("3"))
	datasettest.Must(t, os.Rename(filepath.Join(dir, "new.json"), filepath.Join(dir, "dataset.json")))
	w.wantVersion("3")

	datasettest.Must(t, os.Truncate(tool, 20))
	w.wantRefused("tools/runner.json")
	datasettest.Must(t, os.WriteFile(tool, text, 0o644))
	w.wantVersion("3") // back to what was handed over last: told, for a rejection came between

	datasettest.Must(t, os.Remove(tool))
	w.wantRefused(`no tool has slug "runner"`)
	datasettest.Must(t, os.WriteFile(tool, text, 0o644))
	w.wantVersion("3")

	// A record folder that is replaced, and one edit more in the new one.
	datasettest.Must(t, os.Rename(filepath.Join(dir, "tools"), filepath.Join(dir, ".tools-old")))
	w.wantRefused("tools: the folder is missing")
	datasettest.Must(t, os.Mkdir(filepath.Join(dir, "tools"), 0o755))
	datasettest.Must(t, os.WriteFile(tool, text, 0o644))
	w.wantVersion("3")
	datasettest.Must(t, os.WriteFile(tool, []byte("{}"), 0o644))
	w.wantRefused("tools/runner.json")
	datasettest.Must(t, os.WriteFile(tool, append(text, '\n'), 0o644))
	w.wantVersion("3")
}

// TestWatchRenamedDirectory: the dataset itself is renamed away and another takes its place.
func TestWatchRenamedDirectory(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	datasettest.WriteBase(t, dir)
	w := watch(t, dir, quick())
	for version := 2; version < 6; version++ {
		next := filepath.Join(root, "next")
		datasettest.WriteBase(t, next)
		datasettest.PutFile(t, filepath.Join(next, "dataset.json"), info(fmt.Sprint(version)))
		datasettest.Must(t, os.Rename(dir, filepath.Join(root, fmt.Sprint("old", version))))
		datasettest.Must(t, os.Rename(next, dir))
		w.wantVersion(fmt.Sprint(version))
		// The new one is watched too.
		w.setVersion(fmt.Sprint(version, ".1"))
		w.wantVersion(fmt.Sprint(version, ".1"))
	}
	datasettest.Must(t, os.Rename(dir, filepath.Join(root, "gone")))
	w.wantRefused("no such file")
	datasettest.Must(t, os.Rename(filepath.Join(root, "gone"), dir))
	w.wantVersion("5.1")
}

// TestWatchMounts turns links as those who mount volumes do: the dataset is swapped by one
// rename, somewhere on the way to it.
func TestWatchMounts(t *testing.T) {
	for name, links := range map[string]map[string]string{
		"the directory is a link":        {"data": "rev"},
		"a link above the directory":     {"data": "rev/data"}, // reached by current
		"a link to a link":               {"data": "..data/data"},
		"links inside, as in Kubernetes": nil,
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "data")
			turn := turner(t, root, links["data"])
			turn("1")
			w := watch(t, dir, quick())
			for version := 2; version < 6; version++ {
				turn(fmt.Sprint(version))
				w.wantVersion(fmt.Sprint(version))
			}
		})
	}
}

// turner returns what makes a new version under root and turns one link to it.
func turner(t *testing.T, root, shape string) func(version string) {
	fresh := func(version string, under string) string {
		name := filepath.Join(root, "..v"+version)
		datasettest.WriteBase(t, filepath.Join(name, under))
		datasettest.PutFile(t, filepath.Join(name, under, "dataset.json"), info(version))
		return filepath.Base(name)
	}
	link := func(to, name string) {
		datasettest.Must(t, os.Symlink(to, filepath.Join(root, "tmp")))
		datasettest.Must(t, os.Rename(filepath.Join(root, "tmp"), filepath.Join(root, name)))
	}
	switch shape {
	case "rev":
		return func(version string) { link(fresh(version, ""), "data") }
	case "rev/data":
		link("rev/data", "data")
		return func(version string) { link(fresh(version, "data"), "rev") }
	case "..data/data":
		link("..data/data", "data")
		return func(version string) { link(fresh(version, "data"), "..data") }
	default: // root/data holds ..data and links into it
		datasettest.Must(t, os.Mkdir(filepath.Join(root, "data"), 0o755))
		for _, name := range []string{"dataset.json", "quantizations.json", "models", "hardware", "tools", "benchmarks"} {
			datasettest.Must(t, os.Symlink(filepath.Join("..data", name), filepath.Join(root, "data", name)))
		}
		return func(version string) {
			name := fresh(version, "")
			datasettest.Must(t, os.Rename(filepath.Join(root, name), filepath.Join(root, "data", name)))
			link(name, "data/..data")
		}
	}
}

// TestWatchMoving: a load under which a file changes is not handed over, good as it may be.
func TestWatchMoving(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteBase(t, dir)
	opt := quick()
	opt.loaded = func() {
		if b, err := os.ReadFile(filepath.Join(dir, "dataset.json")); err == nil && string(b) == info("2") {
			swapVersion(t, dir, "3") // a look that read version 2 is not over yet
		}
	}
	w := watch(t, dir, opt)
	swapVersion(t, dir, "2")
	for o := range w.got {
		if o.err != nil || o.set.Info.Version == "3" {
			datasettest.Must(t, o.err)
			break
		}
		t.Fatalf("version %s was handed over, though dataset.json changed while it was read", o.set.Info.Version)
	}
}

// TestWatchNeverAtRest: files that change at every look are told of, and taken once they rest.
func TestWatchNeverAtRest(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteBase(t, dir)
	var restless atomic.Bool
	var n atomic.Int32
	opt := quick()
	opt.BeforeLoad = func() {
		if restless.Load() {
			opt := n.Add(1)
			datasettest.PutFile(t, filepath.Join(dir, "tools", "note.md"), strings.Repeat("x", int(opt)))
		}
	}
	opt.loaded = opt.BeforeLoad
	w := watch(t, dir, opt)
	restless.Store(true)
	w.setVersion("2")
	w.wantRefused(errMoving.Error())
	restless.Store(false)
	w.wantVersion("2")
}

// TestWatchCheckout: while git holds its lock the files are half written, however long it rests.
func TestWatchCheckout(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	datasettest.WriteBase(t, dir)
	datasettest.Must(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	var looks atomic.Int32
	opt := quick()
	opt.BeforeLoad = func() { looks.Add(1) }
	w := watch(t, dir, opt)
	w.Rescan()
	for looks.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	lock := filepath.Join(root, ".git", "index.lock")
	datasettest.PutFile(t, lock, "")
	before := looks.Load()
	w.setVersion("half")
	time.Sleep(20 * opt.Quiet)
	if n := looks.Load() - before; n > 1 { // one may have begun before the lock was there
		t.Errorf("the files were read %d times during a checkout", n)
	}
	w.setVersion("whole")
	datasettest.Must(t, os.Remove(lock))
	for o := range w.got {
		if o.err != nil || o.set.Info.Version == "half" {
			t.Fatalf("half a checkout was handed over: %v", o)
		}
		if o.set.Info.Version == "whole" {
			break
		}
	}
}

// TestGitLock finds the index of a linked work tree, and passes over a lock that was left behind.
func TestGitLock(t *testing.T) {
	root := t.TempDir()
	datasettest.Must(t, os.MkdirAll(filepath.Join(root, "tree", "data"), 0o755))
	datasettest.PutFile(t, filepath.Join(root, "tree", ".git"), "gitdir: ../repo/.git/worktrees/tree\n")
	root, err := filepath.EvalSymlinks(root)
	datasettest.Must(t, err)
	want := filepath.Join(root, "repo/.git/worktrees/tree/index.lock")
	if got := gitLock(filepath.Join(root, "tree", "data")); got != want {
		t.Errorf("gitLock = %q, want %q", got, want)
	}
	datasettest.PutFile(t, want, "")
	if s := stateOf(filepath.Join(root, "tree", "data"), nil); !s.locked() {
		t.Error("the work tree is not locked")
	}
	for _, age := range []time.Duration{time.Hour, -time.Hour} {
		at := time.Now().Add(-age)
		datasettest.Must(t, os.Chtimes(want, at, at))
		if s := stateOf(filepath.Join(root, "tree", "data"), nil); s.locked() {
			t.Errorf("a lock %v old keeps the files locked", age)
		}
	}
}

// TestWatchFutureFiles: files that are newer than the clock, which has gone back, or which came from a machine that is
// ahead, are not read again at each look.
func TestWatchFutureFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock begins in the year 2000
		dir := t.TempDir()
		datasettest.WriteBase(t, dir)
		var looks atomic.Int32
		opt := Options{Load: dataset.Options{Now: datasettest.Day}, BeforeLoad: func() { looks.Add(1) }, noEvents: true}
		w := watch(t, dir, opt)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := looks.Load(); n != 2 {
			t.Errorf("the files were read %d times in five minutes, want once and once again when they had been like that for a while", n)
		}
		w.setVersion("2")
		w.wantVersion("2")
	})
}

// TestWatchEvents: an event has the files looked at long before the next look is due, also in a folder that came later.
func TestWatchEvents(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteBase(t, dir)
	opt := quick()
	opt.Every = time.Hour
	w := watch(t, dir, opt)
	for _, version := range []string{"2", "3"} {
		w.setVersion(version)
		w.wantVersion(version)
	}
}

// TestWatchSameTime: a file of the same size and time written right after it was read is found.
func TestWatchSameTime(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteBase(t, dir)
	opt := quick()
	w := watch(t, dir, opt)
	name := filepath.Join(dir, "dataset.json")
	w.setVersion("2")
	w.wantVersion("2")
	st, err := os.Stat(name)
	datasettest.Must(t, err)
	w.setVersion("3")
	datasettest.Must(t, os.Chtimes(name, st.ModTime(), st.ModTime()))
	w.wantVersion("3")
}

// TestWatchUnreadable: a file that cannot be read is rejected with the reason, once, and tried again.
func TestWatchUnreadable(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	datasettest.WriteBase(t, dir)
	opt := quick()
	w := watch(t, dir, opt)
	name := filepath.Join(dir, "tools", "runner.json")
	datasettest.Must(t, os.Rename(name, filepath.Join(root, "kept")))
	datasettest.Must(t, os.Symlink("runner.json", name)) // a link to itself: even root cannot read it
	w.wantRefused("tools/runner.json: cannot be read")
	time.Sleep(20 * opt.Every)
	if n := len(w.got); n > 0 {
		t.Errorf("%d outcomes more for the same reason", n)
	}
	datasettest.Must(t, os.Remove(name))
	datasettest.Must(t, os.Rename(filepath.Join(root, "kept"), name))
	w.wantVersion("1")
}

// TestWatchNeighbours: what changes beside the dataset is no reason to read it.
func TestWatchNeighbours(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	datasettest.WriteBase(t, dir)
	opt := quick()
	var looks atomic.Int32
	opt.BeforeLoad = func() { looks.Add(1) }
	w := watch(t, dir, opt)
	for looks.Load() == 0 { // the look every watch begins with
		time.Sleep(time.Millisecond)
	}
	for i := range 50 {
		datasettest.PutFile(t, filepath.Join(root, "modeldex.db"), fmt.Sprint(i))
	}
	time.Sleep(10 * opt.Quiet)
	if n := looks.Load(); n != 1 {
		t.Errorf("the dataset was read %d times for a file beside it", n-1)
	}
	w.setVersion("2")
	w.wantVersion("2")
}

// TestRescanIsFolded: a thousand kicks during a look are one look more, and none is lost.
func TestRescanIsFolded(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteBase(t, dir)
	var looks atomic.Int32
	looking, kicked := make(chan struct{}), make(chan struct{})
	opt := quick()
	opt.BeforeLoad = func() {
		if looks.Add(1) == 1 { // the look every watch begins with
			close(looking)
			<-kicked
		}
	}
	w := watch(t, dir, opt)
	<-looking
	for range 1000 {
		w.Rescan()
	}
	close(kicked)
	for looks.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	swapVersion(t, dir, "2")
	w.Rescan()
	w.wantVersion("2")
	if n := looks.Load(); n > 4 { // the two, one for the edit, and one more if that was made during the second
		t.Errorf("1000 kicks and an edit were %d looks", n)
	}
}

// TestCloseDoesNotWait: a look that never ends, as on a network mount that hangs, does not keep
// the watch from ending, and hands nothing over later.
func TestCloseDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteBase(t, dir)
	hung, end := make(chan struct{}), make(chan struct{})
	opt := quick()
	opt.BeforeLoad = func() {
		close(hung)
		<-end
	}
	last, err := dataset.Load(context.Background(), dataset.Dir(dir), opt.Load)
	datasettest.Must(t, err)
	var taken atomic.Int32
	w := Watch(context.Background(), dir, last, opt, func(*dataset.Set, error) { taken.Add(1) })
	datasettest.PutFile(t, filepath.Join(dir, "dataset.json"), info("2"))
	<-hung
	closed := make(chan struct{})
	go func() {
		w.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("Close waits for a look that hangs")
	}
	close(end)
	time.Sleep(20 * opt.Quiet)
	if n := taken.Load(); n > 0 {
		t.Errorf("%d sets were handed over after Close", n)
	}
}

// TestWatchStrangeFiles: a file that must not be opened is a rejection with its path, and the
// watch goes on once it is gone.
func TestWatchStrangeFiles(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteBase(t, dir)
	w := watch(t, dir, quick())
	name := filepath.Join(dir, "tools", "x.json")
	for version, strange := range strangeFiles {
		if err := strange.make(name); err != nil {
			t.Logf("%s cannot be made here: %v", strange.want, err)
			continue
		}
		w.wantRefused("tools/x.json: " + strange.want)
		datasettest.Must(t, os.Remove(name))
		w.setVersion(fmt.Sprint("v", version))
		w.wantVersion(fmt.Sprint("v", version))
	}
}

// strangeFiles are files that are not records, and what is said of them.
var strangeFiles = []struct {
	want string
	make func(name string) error
}{
	{"must be a regular file, got a named pipe", func(name string) error { return syscall.Mkfifo(name, 0o644) }},
	{"a link must not point outside the dataset directory", func(name string) error { return os.Symlink("/dev/zero", name) }},
	{"cannot be read", func(name string) error { return os.Symlink("nowhere", name) }},
	{"the file must have at most 32 MiB, got 2048", func(name string) error {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Truncate(2<<30), f.Close())
	}},
}
