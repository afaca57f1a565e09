package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/goccy/go-json/v2"
)

const (
	// keptOnDisk is how many dumps a directory keeps at least, those that were used last.
	keptOnDisk = 4
	// manifestName is the file that names the others. It is written last.
	manifestName = "dump.json"
	// makingPrefix begins the names of directories that are being written; one that is older than
	// makingFor was left by a process that was killed.
	makingPrefix = ".making-"
	makingFor    = 24 * time.Hour
)

// manifest is the content of manifestName.
type manifest struct {
	Edition string         `json:"edition"`
	Files   []manifestFile `json:"files"`
}

type manifestFile struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`
	SHA256    string `json:"sha256"`
	Rows      int    `json:"rows"`
}

// Make returns the dump of the sources: the one that an earlier call left in src.Dir, of this process
// or of one before, or else a new one, which stays there. reused says which. A dump is found again by
// everything its files are made of: the dataset, src.Content, the extra files and the program itself.
// Every file is read and compared with its SHA-256 before it is used; one that is damaged has the
// dump made again. The directory is created if it does not exist, keeps the four dumps that were used
// last, or src.Keep, and may be shared by several servers. With an empty src.Dir it is Build.
func Make(ctx context.Context, src *Sources) (d *Dump, reused bool, err error) {
	if src.Dir == "" {
		d, err = Build(ctx, src)
		return d, false, err
	}
	key, err := src.key()
	if err != nil {
		return nil, false, err
	}
	dir := filepath.Join(src.Dir, key)
	if d, err := openKept(ctx, dir, src.About); err == nil {
		markUsed(dir, time.Now())
		return d, true, nil
	} else if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if _, err := os.Lstat(dir); err == nil { // it is damaged
		if err := os.RemoveAll(dir); err != nil {
			return nil, false, err
		}
	}
	d, err = buildKept(ctx, src, dir)
	return d, false, err
}

// key names everything that the files of a dump depend on.
func (src *Sources) key() (string, error) {
	program, err := programSum()
	if err != nil {
		return "", fmt.Errorf("reading the program: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x\n%q\n%q %q\n%x\n", program, []string{src.Title, src.Version, src.Digest, src.Licence}, src.Released, src.Description, src.Content)
	for _, o := range src.Originals {
		fmt.Fprintf(h, "%q %d %x\n", o.Name, o.Size, o.Digest)
	}
	for _, pattern := range src.Extras {
		names, err := fs.Glob(src.FS, pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			sum, err := hashFile(src.FS, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%q %s", name, sum)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func hashFile(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum, _, err := hashOf(f)
	return sum, err
}

// hashOf is the SHA-256 of all that is read, and how many bytes it is.
func hashOf(r io.Reader) (sum []byte, n int64, err error) {
	h := sha256.New()
	n, err = io.Copy(h, r)
	return h.Sum(nil), n, err
}

// programSum is the SHA-256 of the program's file: another program may write other rows.
var programSum = sync.OnceValues(func() ([]byte, error) {
	f, err := os.Open("/proc/self/exe") // of Linux; the file that runs, also where another has its name now
	if err != nil {
		path, pathErr := os.Executable()
		if pathErr != nil {
			return nil, pathErr
		}
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
	}
	defer f.Close()
	sum, _, err := hashOf(f)
	return sum, err
})

// openKept opens a dump and compares every file with its hash.
func openKept(ctx context.Context, dir string, about About) (_ *Dump, err error) {
	d, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	d.About = about
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	for _, f := range d.Files {
		if err := f.openIn(ctx, dir); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// readManifest reads which files a dump has, without opening them.
func readManifest(dir string) (*Dump, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := jsonv2.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	d := &Dump{Edition: m.Edition, dir: dir}
	for _, f := range m.Files {
		d.Files = append(d.Files, &File{Name: f.Name, MediaType: f.MediaType, Size: f.Size, SHA256: f.SHA256, Rows: f.Rows})
	}
	if editionOf(d.sums()) != d.Edition {
		return nil, fmt.Errorf("%s of a dump is damaged", manifestName)
	}
	return d, nil
}

// openIn opens a file of a dump and compares it with its hash.
func (f *File) openIn(ctx context.Context, dir string) error {
	data, err := os.Open(filepath.Join(dir, filepath.Base(f.Name)))
	if err != nil {
		return fmt.Errorf("a file of a dump is missing: %s", f.Name)
	}
	sum, n, err := hashOf(contextReader{ctx, data})
	if err == nil && (n != f.Size || hex.EncodeToString(sum) != f.SHA256) {
		err = fmt.Errorf("%s of a dump is damaged", f.Name)
	}
	if err != nil {
		return errors.Join(err, data.Close())
	}
	f.data = data
	return nil
}

// contextReader ends with a context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// buildKept makes a dump in a directory of its own, which gets its name when it is complete.
func buildKept(ctx context.Context, src *Sources, dir string) (*Dump, error) {
	if err := os.MkdirAll(src.Dir, 0o755); err != nil {
		return nil, err
	}
	making, err := os.MkdirTemp(src.Dir, makingPrefix+"*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(making) }() // does nothing once it has its name
	d, err := build(ctx, src, func(name string) (*os.File, error) { return os.Create(filepath.Join(making, name)) })
	if err != nil {
		return nil, err
	}
	m := manifest{Edition: d.Edition}
	for _, f := range d.Files {
		m.Files = append(m.Files, manifestFile{f.Name, f.MediaType, f.Size, f.SHA256, f.Rows})
	}
	text, err := jsonv2.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(making, manifestName), text, 0o644)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	// Where another server made the same dump meanwhile, its files stay, and these have no names.
	if err := os.Rename(making, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(err, d.close())
	}
	d.dir = dir
	markUsed(dir, time.Now())
	return d, prune(src.Dir, max(keptOnDisk, src.Keep))
}

// markUsed dates a dump for prune. The time that files get by themselves is some milliseconds behind that of
// time.Now, so a dump just made would be older than those that were used before it.
func markUsed(dir string, at time.Time) { _ = os.Chtimes(dir, at, at) }

var keyName = regexp.MustCompile(`^[0-9a-f]{32}$`)

// prune removes the dumps that were not used for longest, and what killed processes left. Those who
// have a file of them open go on reading it. It also removes notes of what was served (see Dump.Note) once
// no dump of theirs is left.
func prune(dir string, keep int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	type kept struct {
		path string
		used time.Time
	}
	var all []kept
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() {
			continue // another server removes it
		}
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), makingPrefix) && time.Since(info.ModTime()) > makingFor {
			_ = os.RemoveAll(path) // the next dump tries again
		} else if _, err := os.Stat(filepath.Join(path, manifestName)); err == nil && keyName.MatchString(e.Name()) {
			all = append(all, kept{path, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(x, y kept) int { return y.used.Compare(x.used) })
	for _, k := range all[min(keep, len(all)):] {
		_ = os.RemoveAll(k.path)
	}
	removeNotes(dir)
	return nil
}
