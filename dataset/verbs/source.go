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

const defaultDir = "data"

const infoFile = "dataset.json"

// Dataset is the flag that names a dataset.
type Dataset struct {
	Data string `help:"Dataset directory; default ./data if it exists, else the copy inside the binary." env:"MODELDEX_DATA" placeholder:"DIR"`
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
	// Where is the directory, or a description of the copy inside the binary.
	Where string
}

// Find finds the dataset that the flag names, or the default.
func (d Dataset) Find(env *Env) (Source, error) {
	dir := d.Data
	if dir == "" {
		if st, err := os.Lstat(defaultDir); !(err == nil && (st.IsDir() || st.Mode()&fs.ModeSymlink != 0)) { // a link counts wherever it leads
			return Source{Files: env.Shipped, Where: "the copy inside the binary"}, nil
		}
		if err := datasetIn(defaultDir); err != nil { // the copy instead would hide what happened to ./data
			return Source{}, fmt.Errorf("./%w; restore it, or name a directory with --data", err)
		}
		dir = defaultDir
	} else if err := datasetIn(dir); err != nil {
		return Source{}, err
	}
	return Source{Files: dataset.Dir(dir), Dir: dir, Where: dir}, nil
}

func datasetIn(dir string) error {
	if err := CheckDirectory(dir); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, infoFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it is a finding
	}
	hint := ""
	if _, err := os.Stat(filepath.Join(dir, defaultDir, infoFile)); err == nil {
		hint = "; did you mean " + filepath.Join(dir, defaultDir) + "?"
		if !filepath.IsAbs(dir) {
			hint = "; did you mean ./" + filepath.Join(dir, defaultDir) + "?"
		}
	}
	return fmt.Errorf("%s: not a dataset: it has no %s%s", dir, infoFile, hint)
}

// Find finds the dataset that the argument names, else that of the flag.
func (d DatasetArg) Find(env *Env) (Source, error) { return d.flag().Find(env) }

// FindDir is Find for verbs about files that people edit: the copy inside the binary does not do.
func (d DatasetArg) FindDir(env *Env) (Source, error) {
	src, err := d.Find(env)
	if err == nil && src.Dir == "" {
		err = errors.New("no dataset in ./data: name a directory")
	}
	return src, err
}

func (d DatasetArg) flag() Dataset {
	if d.Dir != "" {
		return Dataset{d.Dir}
	}
	return d.Dataset
}

// Load finds the dataset and loads it. Findings name files by their path from the working directory.
func (d Dataset) Load(env *Env) (*dataset.Set, Source, error) {
	src, err := d.Find(env)
	if err != nil {
		return nil, src, err
	}
	defer Progress("loading")()
	set, err := dataset.Load(context.Background(), src.Files, dataset.Options{})
	return set, src, src.place(err)
}

func (s Source) place(err error) error {
	var findings dataset.Findings
	if s.Dir != "" && errors.As(err, &findings) {
		return findings.Under(s.Dir)
	}
	return err
}
