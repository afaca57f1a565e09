package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"modeldex/dataset"

	"golang.org/x/sync/errgroup"
)

// Options says what to make.
type Options struct {
	Rows int    // benchmarks
	Seed uint64 // equal seeds give equal bytes
	// Lean leaves out of the lines unknown fields and fields that are neither filters nor sorts, which
	// makes them about 330 bytes long instead of 900.
	Lean bool

	shardLines int // of tests; 0: the constant
}

// shardLines is how many benchmarks one file holds.
const shardLines = 50_000

// Write makes a dataset below dir from the one in from. The directory is created and must be
// empty; from must load. It returns the bytes of all benchmark lines.
func Write(dir string, from fs.FS, opt Options) (int64, error) {
	if err := refuse(dir); err != nil {
		return 0, err
	}
	set, err := dataset.Load(context.Background(), from, dataset.Options{})
	if err != nil {
		return 0, fmt.Errorf("loading the source: %w", err)
	}
	if set.Benchmarks.Len() == 0 {
		return 0, errors.New("the source has no benchmarks to go by")
	}
	if err := prepare(dir); err != nil {
		return 0, err
	}
	if err := copyRest(dir, from); err != nil {
		return 0, err
	}
	if err := writeInfo(dir, set.Info, opt); err != nil {
		return 0, err
	}
	return newMaker(set, opt).writeShards(filepath.Join(dir, "benchmarks"))
}

// refuse says why nothing may be written to a directory: it has files.
func refuse(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s: must be empty, has %s", dir, entries[0].Name())
	}
	return nil
}

// prepare makes the folders.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, sub := range []string{"models", "hardware", "tools", "benchmarks"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// copyRest copies everything but benchmarks, as it is.
func copyRest(dir string, from fs.FS) error {
	for _, pattern := range []string{"quantizations.json", "sources.json", "models/*", "hardware/*", "tools/*"} {
		names, err := fs.Glob(from, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			b, err := fs.ReadFile(from, name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), b, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeInfo says in version and title that the content is made up.
func writeInfo(dir string, info dataset.Info, opt Options) error {
	info.Title = fmt.Sprintf("%d made-up benchmarks", opt.Rows)
	info.Version = fmt.Sprintf("0.0.0-made.%d.%d", opt.Rows, opt.Seed)
	b, err := dataset.File("dataset.json", info)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "dataset.json"), b, 0o644)
}

// writeShards writes all benchmarks in the order of files: by run date, unknown first, then by
// id.
func (m *maker) writeShards(dir string) (total int64, err error) {
	order := make([]stamp, m.opt.Rows)
	for i := range order {
		order[i] = m.stamp(i)
	}
	slices.SortFunc(order, func(a, b stamp) int { return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.id, b.id)) })
	shards := slices.Collect(slices.Chunk(order, cmp.Or(m.opt.shardLines, shardLines)))
	sizes := make([]int64, len(shards))
	var writing errgroup.Group
	writing.SetLimit(runtime.GOMAXPROCS(0))
	for i, shard := range shards {
		writing.Go(func() (err error) {
			sizes[i], err = m.writeShard(filepath.Join(dir, fmt.Sprintf("%04d.ndjson", i+1)), shard)
			return err
		})
	}
	err = writing.Wait()
	for _, n := range sizes {
		total += n
	}
	return total, err
}

func (m *maker) writeShard(name string, shard []stamp) (int64, error) {
	var out []byte
	for _, s := range shard {
		line, err := m.line(int(s.row))
		if err != nil {
			return 0, err
		}
		out = append(append(out, line...), '\n')
	}
	return int64(len(out)), os.WriteFile(name, out, 0o644)
}
