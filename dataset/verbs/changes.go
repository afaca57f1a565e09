package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/diff"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/dataset/wholefile"
)

// ChangesRecord appends what a release changed to the files of changes.
type ChangesRecord struct {
	Data string `help:"Dataset directory; the release is appended to its changes/<year>.ndjson." env:"MODELDEX_DATA" default:"data" placeholder:"DIR"`
	From string `help:"Previous release: a dataset directory, or a git revision of the one in --data; default the last recorded release, found in git." placeholder:"OLD"`
}

// Run records the changes, once: a release that is recorded changes nothing.
func (c *ChangesRecord) Run(env *Env) error {
	if err := datasetIn(c.Data); err != nil { // no revision either, as --from may be
		return err
	}
	to, err := loadFrom(c.Data, c.Data)
	if err != nil {
		return err
	}
	log, last := to.Releases, to.Releases.Last()
	if i := log.Find(to.Digest.String()); i >= 0 {
		fmt.Fprintf(env.Stdout, "nothing to record: release %s already has these records\n", log.Steps[i].Version)
		return nil
	}
	step := &history.Step{Release: record.Release{Version: to.Info.Version, Digest: to.Digest.String(), Released: to.Info.Released}}
	said := fmt.Sprintf("the history now starts with release %s", step.Version)
	if last != nil {
		from, err := c.before(last)
		if err != nil {
			return err
		}
		changes := diff.Compare(from, to)
		if len(changes.Records) == 0 {
			fmt.Fprintf(env.Stdout, "nothing to record: only formatting or sources.json differ from release %s, and the version is the same\n", last.Version)
			return nil
		}
		if err := c.follows(log, step); err != nil {
			return err
		}
		step.Entries, step.After = changes.Step(to).Entries, &last.Digest
		said = fmt.Sprintf("release %s since %s: %s", step.Version, last.Version, changes.Summary())
	}
	if found, clean, err := dataset.CommitsOf(context.Background(), c.Data, 1); err == nil && clean && len(found) > 0 {
		at := found[0].Time.Format(time.RFC3339)
		step.Commit, step.Committed = &found[0].Hash, &at
	}
	path, err := c.write(step)
	if err != nil {
		return err
	}
	if step.Commit == nil {
		fmt.Fprintln(env.Stderr, "the files differ from the last commit, so no commit is recorded; commit first")
	}
	fmt.Fprintf(env.Stdout, "%s: %s\n", path, said)
	return nil
}

func (c *ChangesRecord) follows(log *history.Log, step *history.Step) error {
	if slices.ContainsFunc(log.Steps, func(s history.Step) bool { return s.Version == step.Version }) {
		place := filepath.Join(c.Data, infoFile)
		info, _ := os.ReadFile(place) // it was loaded just now
		line := 1 + bytes.Count(info[:record.Locate(info, "version")], []byte{'\n'})
		return fmt.Errorf("%s:%d: version: must be raised, because release %s is recorded with other records", place, line, step.Version)
	}
	if last := log.Last(); step.Released < last.Released {
		return fmt.Errorf("%s was released on %s, before %s of %s: record releases in order", step.Version, step.Released, last.Version, last.Released)
	}
	return nil
}

func (c *ChangesRecord) write(step *history.Step) (path string, err error) {
	path = filepath.Join(c.Data, dataset.ChangesDir, string(step.Released)[:4]+".ndjson")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return path, err
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	b, err := history.Append(old, step)
	if err != nil {
		return path, err
	}
	return path, wholefile.WriteBytes(path, b)
}

const searched = 50

func (c *ChangesRecord) before(last *history.Step) (*dataset.Set, error) {
	var names []string
	switch found, _, err := dataset.CommitsOf(context.Background(), c.Data, searched); {
	case c.From != "":
		names = []string{c.From}
	case last.Commit != nil:
		names = []string{*last.Commit}
	case err == nil:
		for _, commit := range found {
			if files, err := filesOf(c.Data, commit.Hash); err == nil {
				info, _ := fs.ReadFile(files, infoFile)
				if record.TextAt(info, "version") == last.Version { // the current rules may not accept other releases
					names = append(names, commit.Hash)
				}
			}
		}
	}
	errs := []error{fmt.Errorf("the last recorded release, %s with digest %.12s…, is not in git: commit it, or name its directory or revision with --from", last.Version, last.Digest)}
	if c.From != "" {
		errs[0] = fmt.Errorf("--from must be the last recorded release, %s with digest %.12s…", last.Version, last.Digest)
	}
	for _, name := range names {
		found, err := loadFrom(c.Data, name)
		if err == nil && found.Digest.String() == last.Digest {
			return found, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
