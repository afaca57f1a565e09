package diff

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/dataset/wholefile"
)

// Recorded is one edition of a dataset to be recorded, with the commit it was read from, if any.
type Recorded struct {
	*dataset.Set
	Commit *dataset.Commit
}

// Record appends the step from one edition of a dataset to another to the files of changes below dir,
// and returns the path of the file it wrote. log is what these files have so far. An empty log begins
// with from, or with to where from is nil. An edition that is recorded already, or that has the version
// and the records of from, is not recorded: then nothing is written and the path is empty.
func Record(dir string, log *history.Log, from *Recorded, to Recorded) (path string, err error) {
	last := log.Last()
	if log.Find(to.Digest.String()) >= 0 || last != nil && to.IsRelease(last.Digest) {
		return "", nil
	}
	var steps []*history.Step
	switch {
	case last == nil && from == nil:
		steps = append(steps, to.begins())
	case last == nil:
		steps = append(steps, from.begins())
	case from == nil || !from.IsRelease(last.Digest):
		return "", fmt.Errorf("the changes must be those since the last recorded release, %s with digest %.12s…", last.Version, last.Digest)
	}
	if from != nil {
		if from.Digest == to.Digest {
			return "", errors.New("both datasets have the same records")
		}
		changes := Compare(from.Set, to.Set)
		if len(changes.Records) == 0 && from.Info.Version == to.Info.Version {
			return "", nil // other bytes of the same records, such as line ends: no release
		}
		step := changes.Step(to.Set)
		after := step.After
		if last != nil {
			after = &last.Digest
		}
		step.Release = to.release(after)
		steps = append(steps, step)
	}
	return writeSteps(dir, last, steps)
}

func (r *Recorded) release(after *string) record.Release {
	out := record.Release{Version: r.Info.Version, Digest: r.Digest.String(), Released: r.Info.Released, After: after}
	if r.Commit != nil {
		at := r.Commit.Time.UTC().Format(time.RFC3339)
		out.Commit, out.Committed = &r.Commit.Hash, &at
	}
	return out
}

func (r *Recorded) begins() *history.Step { return &history.Step{Release: r.release(nil)} }

// writeSteps appends steps to the files of their years.
func writeSteps(dir string, last *history.Step, steps []*history.Step) (path string, err error) {
	for _, s := range steps {
		if last != nil && s.Released < last.Released {
			return path, fmt.Errorf("%s was released on %s, before %s of %s: releases are recorded in their order", s.Version, s.Released, last.Version, last.Released)
		}
		last = s
		path = filepath.Join(dir, dataset.ChangesDir, string(s.Released)[:4]+".ndjson")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return path, err
		}
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return path, err
		}
		b, err := history.Append(old, s)
		if err != nil {
			return path, err
		}
		if err := wholefile.WriteBytes(path, b); err != nil {
			return path, err
		}
	}
	return path, nil
}
