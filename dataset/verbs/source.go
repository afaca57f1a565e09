package verbs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modeldex/dataset"
)

// defaultDir is the dataset of the directory that the program is started in.
const defaultDir = "data"

// Dataset is the flag that names a dataset.
type Dataset struct {
	Data string `help:"Dataset directory. Without it ./data is used if it contains a dataset, else the copy inside the binary." env:"MODELDEX_DATA" placeholder:"DIR"`
}

// DatasetArg is Dataset, for verbs that also take the directory as an argument.
type DatasetArg struct {
	Dir string `arg:"" optional:"" help:"Dataset directory; the same as --data."`
	Dataset
}

// Source is a dataset that was found.
type Source struct {
	Files fs.FS
	// Dir is the directory, empty for the copy inside the binary.
	Dir string
	// Where is the directory, or words for the copy inside the binary.
	Where string
}

// Find finds the dataset that the flag names, or the default.
func (d Dataset) Find(env *Env) (Source, error) {
	dir := d.Data
	if dir == "" {
		if !exists(filepath.Join(defaultDir, "dataset.json")) {
			return Source{Files: env.Shipped, Where: "the copy inside the binary"}, nil
		}
		dir = defaultDir
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return Source{}, fmt.Errorf("%s: not a directory", dir)
	}
	return Source{Files: dataset.Dir(dir), Dir: dir, Where: dir}, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Find finds the dataset that the argument names, else that of the flag.
func (d DatasetArg) Find(env *Env) (Source, error) { return d.flag().Find(env) }

func (d DatasetArg) flag() Dataset {
	if d.Dir != "" {
		return Dataset{d.Dir}
	}
	return d.Dataset
}

// Load finds the dataset and loads it. Findings name files by their path from the working
// directory.
func (d Dataset) Load(env *Env) (*dataset.Set, Source, error) {
	src, err := d.Find(env)
	if err != nil {
		return nil, src, err
	}
	var set *dataset.Set
	err = withProgress(func(update func(read, total int64)) (err error) {
		set, err = dataset.Load(context.Background(), src.Files, dataset.Options{Progress: update})
		return err
	})
	return set, src, src.place(err)
}

// place puts the directory before the paths of findings.
func (s Source) place(err error) error {
	var findings dataset.Findings
	if s.Dir != "" && errors.As(err, &findings) {
		return findings.Under(s.Dir)
	}
	return err
}
