package verbs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"modeldex/dataset"
	"modeldex/dataset/diff"
)

// Diff lists what differs between two datasets.
type Diff struct {
	Old    string `arg:"" help:"Dataset directory, or a git revision of the one in --data."`
	New    string `arg:"" help:"The same for the newer dataset."`
	Format string `help:"text for people, json for programs, markdown for a comment on a pull request; default text." enum:",text,json,markdown" default:"" placeholder:"FORM"`
	AsJSON bool   `name:"json" help:"The same as --format=json."`
	Data   string `help:"Dataset directory that revisions refer to." env:"MODELDEX_DATA" default:"data" placeholder:"DIR"`
}

// Validate checks what contradicts itself.
func (c *Diff) Validate() error { return oneForm(c.Format, c.AsJSON) }

// Run prints what differs. Only datasets without findings can be compared.
func (c *Diff) Run(env *Env) error {
	from, err := c.load(c.Old)
	if err != nil {
		return err
	}
	to, err := c.load(c.New)
	if err != nil {
		return err
	}
	return diff.Compare(from, to).Report(env.Stdout, formOf(c.Format, c.AsJSON))
}

func (c *Diff) load(name string) (*dataset.Set, error) {
	files, err := filesOf(c.Data, name)
	if err != nil {
		return nil, err
	}
	set, err := dataset.Load(context.Background(), files, dataset.Options{})
	return set, Source{Dir: name}.place(err)
}

// filesOf is the dataset in a directory, or as it was at a git revision of the directory data.
func filesOf(data, name string) (fs.FS, error) {
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return dataset.Dir(name), datasetIn(name)
	}
	files, err := dataset.Revision(context.Background(), data, name)
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(files, infoFile); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: not a dataset: it has no %s", name, infoFile)
	}
	return files, nil
}
