package archive

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzUnpack unpacks any archive: only regular files of a dataset come of it, and all below the directory.
func FuzzUnpack(f *testing.F) {
	packed := func(names ...string) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for i, name := range names {
			h := tar.Header{Name: name, Size: 2, Mode: 0o644, Typeflag: []byte{tar.TypeReg, tar.TypeSymlink, tar.TypeLink}[i%3]}
			if h.Typeflag != tar.TypeReg {
				h.Size, h.Linkname = 0, "/etc/passwd"
			}
			if err := w.WriteHeader(&h); err != nil {
				f.Fatal(err)
			}
			if _, err := w.Write([]byte("{}")[:h.Size]); err != nil {
				f.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	f.Add(packed("dataset.json"), true)
	f.Add(packed("models/../../x.json"), true)
	f.Add(packed("models/a.json", "models/b.json"), true)
	f.Add(packed("hardware/a.json", "hardware", "/tools/a.json"), true)
	f.Add([]byte("no archive"), false)
	dir := f.TempDir()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte, compress bool) {
		if compress {
			content = z.EncodeAll(content, nil)
		}
		top, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(top)
		_ = Unpack(bytes.NewReader(content), filepath.Join(top, "new")) // an error is as good as success: what it leaves counts
		err = filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(top, name)
			switch {
			case err != nil:
				return err
			case e.IsDir():
			case !e.Type().IsRegular():
				t.Errorf("%s is not a regular file", rel)
			default:
				inside, err := filepath.Rel("new", rel)
				if err != nil || allowed(&tar.Header{Name: filepath.ToSlash(inside), Typeflag: tar.TypeReg}) != nil {
					t.Errorf("%s is not a file of a dataset", rel)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
