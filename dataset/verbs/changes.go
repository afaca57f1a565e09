package verbs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/diff"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
)

// ChangesRecord appends what a release changed to the files of changes.
type ChangesRecord struct {
	Data string `help:"Dataset directory; the release is appended to its changes/<year>.ndjson." env:"MODELDEX_DATA" default:"data" placeholder:"DIR"`
	From string `help:"Previous release: a dataset directory, or a git revision of the one in --data; default the last recorded release, found in git." placeholder:"OLD"`
	To   string `help:"The release, given as for --from; default the files in --data. If they match a commit, the commit is recorded." placeholder:"NEW"`
}

// Run records the changes, once: a release that is recorded changes nothing.
func (c *ChangesRecord) Run(env *Env) error {
	ctx := context.Background()
	log, to, err := c.load(ctx)
	if err != nil {
		return err
	}
	if i := log.Find(to.Digest.String()); i >= 0 {
		fmt.Fprintf(env.Stdout, "nothing to record: release %s has these records\n", log.Steps[i].Version)
		return nil
	}
	from, err := c.before(ctx, log)
	if err != nil {
		return err
	}
	if from != nil {
		if err := c.raised(log, from, to); err != nil {
			return err
		}
	}
	path, err := diff.Record(c.Data, log, from, to)
	if err != nil {
		return err
	}
	if path == "" {
		fmt.Fprintf(env.Stdout, "nothing to record: the files differ from release %s in form or in sources.json alone, and the version is the same\n", from.Info.Version)
		return nil
	}
	if to.Commit == nil && c.To == "" {
		fmt.Fprintln(env.Stderr, "the files are not those of a commit, so that none is noted; commit first")
	}
	if from == nil {
		fmt.Fprintf(env.Stdout, "%s: the history begins with release %s\n", path, to.Info.Version)
		return nil
	}
	fmt.Fprintf(env.Stdout, "%s: release %s since %s: %s\n", path, to.Info.Version, from.Info.Version, diff.Compare(from.Set, to.Set).Summary())
	return nil
}

// raised is the error of a release with the version of a recorded one and other records: two releases of one name.
func (c *ChangesRecord) raised(log *history.Log, from *diff.Recorded, to diff.Recorded) error {
	named := func(s history.Step) bool { return s.Version == to.Info.Version }
	if log == nil || !slices.ContainsFunc(log.Steps, named) || len(diff.Compare(from.Set, to.Set).Records) == 0 {
		return nil
	}
	name := cmp.Or(c.To, c.Data)
	return fmt.Errorf("%s: version: must be raised: release %s is recorded with other records", c.placeOf(name, "version"), to.Info.Version)
}

// placeOf is the file and line of a field of dataset.json in a directory or at a revision.
func (c *ChangesRecord) placeOf(name, field string) string {
	place := name + ":" + infoFile // as git names the files of a revision
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		place = filepath.Join(name, infoFile)
	}
	files, err := filesOf(c.Data, name)
	if err != nil {
		return place
	}
	info, err := fs.ReadFile(files, infoFile)
	if err != nil {
		return place
	}
	return fmt.Sprintf("%s:%d", place, 1+bytes.Count(info[:record.Locate(info, field)], []byte{'\n'}))
}

// load reads the log of --data and the release to be recorded.
func (c *ChangesRecord) load(ctx context.Context) (*history.Log, diff.Recorded, error) {
	if err := datasetIn(c.Data); err != nil { // no revision either, as --from may be
		return nil, diff.Recorded{}, err
	}
	here, err := loadFrom(c.Data, c.Data)
	if err != nil {
		return nil, diff.Recorded{}, err
	}
	to := diff.Recorded{Set: here}
	if c.To != "" {
		to, err = c.edition(ctx, c.To)
		return here.Releases, to, err
	}
	if found, clean, err := dataset.CommitsOf(ctx, c.Data, 1); err == nil && clean && len(found) > 0 {
		to.Commit = &found[0]
	}
	return here.Releases, to, nil
}

// edition loads a directory or a revision.
func (c *ChangesRecord) edition(ctx context.Context, name string) (out diff.Recorded, err error) {
	if out.Set, err = loadFrom(c.Data, name); err != nil {
		return out, err
	}
	if st, err := os.Stat(name); err != nil || !st.IsDir() {
		commit, err := dataset.CommitOf(ctx, c.Data, name)
		if err != nil {
			return out, err
		}
		out.Commit = &commit
	}
	return out, nil
}

// searched is how many commits are searched for the last recorded release.
const searched = 50

// before is the release before: the one named, or the last recorded one as git has it. Nil begins
// the history.
func (c *ChangesRecord) before(ctx context.Context, log *history.Log) (*diff.Recorded, error) {
	if c.From != "" {
		found, err := c.edition(ctx, c.From)
		return &found, err
	}
	last := log.Last()
	if last == nil {
		return nil, nil //nolint:nilnil // there is no release before the first
	}
	var hashes []string
	if last.Commit != nil {
		hashes = append(hashes, *last.Commit)
	} else if found, _, err := dataset.CommitsOf(ctx, c.Data, searched); err == nil {
		for _, commit := range found {
			hashes = append(hashes, commit.Hash)
		}
	}
	errs := []error{fmt.Errorf("the last recorded release, %s with digest %.12s…, was not found in git: commit it, or name its directory or revision with --from", last.Version, last.Digest)}
	for _, hash := range hashes {
		if last.Commit == nil && c.versionAt(hash) != last.Version {
			continue // another release, which the rules of today may not accept
		}
		found, err := c.edition(ctx, hash)
		if err == nil && found.IsRelease(last.Digest) {
			return &found, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// versionAt is the version the dataset names at a revision; empty where it names none.
func (c *ChangesRecord) versionAt(revision string) string {
	files, err := filesOf(c.Data, revision)
	if err != nil {
		return ""
	}
	info, err := fs.ReadFile(files, infoFile)
	if err != nil {
		return ""
	}
	return record.TextAt(info, "version")
}

// loadFrom loads a directory, or a revision of the dataset directory.
func loadFrom(data, name string) (*dataset.Set, error) {
	return (&Diff{Data: data}).load(name)
}
