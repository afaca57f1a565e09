package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modeldex/dataset/archive"
	"modeldex/dataset/wholefile"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Served is a dataset that a server had, whose dump is on the disk: a later process can load it again.
type Served struct {
	Version string `json:"version"`
	Digest  string `json:"digest"` // of the dataset, in hex
	// Content is what its tables were made of beside the dataset, as in Sources.
	Content string    `json:"content"`
	Loaded  time.Time `json:"loaded"` // when it was taken into service
	// Dump is the name of the directory of its dump, and Edition that of the dump.
	Dump    string `json:"dump"`
	Edition string `json:"edition"`

	dir string // where the dumps are
}

// notePrefix begins the names of the files that say what was served from one place. A directory of dumps
// can be shared by servers of different datasets, which must not answer from each other's.
const notePrefix = "served-"

// served is the content of such a file.
type served struct {
	From   string   `json:"from"` // the place, for people
	Served []Served `json:"served"`
}

func noteOf(dir, from string) string {
	sum := sha256.Sum256([]byte(from))
	return filepath.Join(dir, notePrefix+hex.EncodeToString(sum[:16])+".json")
}

// Note notes that the dataset of d is served from a place, such as the path of a directory; a later process finds
// it with Earlier. content is that of the sources, loaded the time when it was taken into service. A dump whose
// files have no names is not noted. Of two servers that note for the same place at the same moment one may win.
func (d *Dump) Note(from, content string, loaded time.Time) error {
	if d.dir == "" {
		return nil
	}
	dir := filepath.Dir(d.dir)
	before, err := readNote(dir, from)
	if err != nil {
		before = nil // it is damaged, and replaced
	}
	now := served{From: from, Served: []Served{{
		Version: d.Version, Digest: d.Digest, Content: content, Loaded: loaded, Dump: filepath.Base(d.dir), Edition: d.Edition,
	}}}
	for _, s := range before {
		if s.Digest != d.Digest && s.there() {
			now.Served = append(now.Served, s)
		}
	}
	text, err := jsonv2.Marshal(now)
	if err != nil {
		return err
	}
	return wholefile.WriteBytes(noteOf(dir, from), text)
}

func readNote(dir, from string) ([]Served, error) {
	text, err := os.ReadFile(noteOf(dir, from))
	if err != nil {
		return nil, err
	}
	var n served
	if err := jsonv2.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("the note of what was served is damaged: %w", err)
	}
	for i := range n.Served {
		n.Served[i].dir = dir
		if !keyName.MatchString(n.Served[i].Dump) {
			return nil, fmt.Errorf("the note of what was served is damaged: %q is no dump", n.Served[i].Dump)
		}
	}
	return n.Served, nil
}

// there reports whether its dump is still on the disk.
func (s *Served) there() bool {
	_, err := os.Stat(filepath.Join(s.dir, s.Dump, manifestName))
	return err == nil
}

// removeNotes removes notes whose dumps are all gone, and what a killed process left of writing one. One that
// cannot be read stays: it is small.
func removeNotes(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, "."+notePrefix+"*"))
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > makingFor {
			_ = os.Remove(name)
		}
	}
	notes, _ := filepath.Glob(filepath.Join(dir, notePrefix+"*.json"))
	for _, name := range notes {
		var n served
		if text, err := os.ReadFile(name); err != nil || jsonv2.Unmarshal(text, &n) != nil {
			continue
		}
		for i := range n.Served {
			n.Served[i].dir = dir
		}
		if !slices.ContainsFunc(n.Served, func(s Served) bool { return s.there() }) {
			_ = os.Remove(name)
		}
	}
}

// Earlier returns at most n datasets that were served from a place and whose dumps are in dir, newest first,
// without the one of a digest. They count as used: dumps that are made from now on rather remove others.
func Earlier(dir, from, without string, n int) ([]Served, error) {
	if dir == "" || n <= 0 {
		return nil, nil
	}
	all, err := readNote(dir, from)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s Served) bool { return s.Digest == without || !s.there() })
	all = all[:min(n, len(all))]
	now := time.Now()
	for i, s := range all {
		markUsed(filepath.Join(dir, s.Dump), now.Add(-time.Duration(i)*time.Microsecond)) // the order stays
	}
	return all, nil
}

// Open opens its dump and compares every file with its SHA-256. Of About it has version and digest.
func (s *Served) Open(ctx context.Context) (*Dump, error) {
	d, err := openKept(ctx, filepath.Join(s.dir, s.Dump), About{Version: s.Version, Digest: s.Digest})
	if err != nil {
		return nil, err
	}
	if d.Edition != s.Edition {
		return nil, errors.Join(s.another(), d.close())
	}
	return d, nil
}

func (s *Served) another() error {
	return fmt.Errorf("the dump %s is another than the one that was noted", s.Dump)
}

// Unpack calls use with a directory that has the files of the dataset, and removes the directory after it.
// The archive is compared with its SHA-256 before.
func (s *Served) Unpack(ctx context.Context, use func(dir string) error) (err error) {
	d, err := readManifest(filepath.Join(s.dir, s.Dump))
	if err != nil {
		return err
	}
	packed := d.Find(archiveName)
	if d.Edition != s.Edition || packed == nil {
		return s.another()
	}
	if err := packed.openIn(ctx, d.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, packed.data.Close()) }()
	making, err := os.MkdirTemp(s.dir, makingPrefix+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(making)) }()
	files := filepath.Join(making, "files")
	if err := archive.Unpack(contextReader{ctx, packed.Section(0, packed.Size)}, files); err != nil {
		return err
	}
	return use(files)
}
