// Package archive unpacks dataset.tar.zst, the file of a dump that has a dataset as it was loaded.
//
// What is unpacked is not trusted: sizes and numbers of files are bounded, an archive has regular files
// of a dataset only, and paths cannot leave the directory (os.Root).
package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"modeldex/dataset"

	"github.com/klauspost/compress/zstd"
)

// Bounds of an archive once it is unpacked.
const (
	maxFiles    = 200_000
	maxFile     = 2 << 30
	maxUnpacked = 4 << 30
)

// Unpack writes the files of an archive below dir, which must not exist yet. After an error some of them
// may be there.
func Unpack(in io.Reader, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	plain, err := zstd.NewReader(in, zstd.WithDecoderMaxMemory(256<<20), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer plain.Close()
	entries, total := tar.NewReader(plain), int64(0)
	for n := 0; ; n++ {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeDir {
			continue // made as files need them
		}
		if total += h.Size; n >= maxFiles || h.Size > maxFile || total > maxUnpacked {
			return fmt.Errorf("has more than %d files or %d bytes, or a file of more than %d", maxFiles, int64(maxUnpacked), int64(maxFile))
		}
		if err := allowed(h); err != nil {
			return err
		}
		if err := write(root, h.Name, entries); err != nil {
			return err
		}
	}
}

// allowed says whether an entry is a file that a dataset has.
func allowed(h *tar.Header) error {
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("entry %q must be a regular file", h.Name)
	}
	files, folders := dataset.Layout()
	folders = append(folders, dataset.ChangesDir, "snapshots")
	ext := path.Ext(h.Name)
	if !fs.ValidPath(h.Name) || strings.Contains(h.Name, `\`) || !slices.Contains(files, h.Name) && (!slices.Contains(folders, path.Dir(h.Name)) || ext != ".json" && ext != ".ndjson") {
		return fmt.Errorf("entry %q is not a file of a dataset", h.Name)
	}
	return nil
}

// write writes one file, which must not be there yet.
func write(root *os.Root, name string, in io.Reader) error {
	if dir := path.Dir(name); dir != "." {
		if err := root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
