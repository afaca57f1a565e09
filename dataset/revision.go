package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

var errNoGit = errors.New("git is not installed: install it, or name two directories")

// Revision returns the files of the dataset directory dir as they were at a git revision, in memory.
func Revision(ctx context.Context, dir, revision string) (fs.FS, error) {
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	var silent *exec.ExitError
	if errors.As(err, &silent) {
		hint := ""
		if shallow, err := git(ctx, dir, "rev-parse", "--is-shallow-repository"); err == nil && strings.TrimSpace(string(shallow)) == "true" {
			hint = "; the clone is shallow, run git fetch --unshallow"
		}
		return nil, fmt.Errorf("%s: is neither a directory nor a git revision of %s%s", revision, dir, hint)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: is neither a directory nor a git revision of %s: %w", revision, dir, err)
	}
	// In a folder, git packs that folder.
	packed, err := git(ctx, dir, "archive", "--format=zip", strings.TrimSpace(string(commit)), ".")
	if err != nil {
		return nil, fmt.Errorf("%s: reading %s: %w", revision, dir, err)
	}
	files, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("%s: reading %s: %w", revision, dir, err)
	}
	return files, nil
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errNoGit
	case errors.As(err, &exit) && len(exit.Stderr) > 0:
		return nil, errors.New(strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return nil, err
	}
	return out, nil
}

// Commit is a commit of git.
type Commit struct {
	Hash string    // in hex
	Time time.Time // of the commit, in UTC
}

// CommitsOf returns at most n commits that changed the records below dir, newest first. clean: they are those of HEAD.
func CommitsOf(ctx context.Context, dir string, n int) (found []Commit, clean bool, err error) {
	files, folders := Layout()
	paths := append(append([]string{"--"}, files...), folders...)
	status, err := git(ctx, dir, append([]string{"status", "--porcelain", "--untracked-files=all"}, paths...)...)
	if err != nil {
		return nil, false, err
	}
	text, err := git(ctx, dir, append([]string{"log", "--format=%H %ct", fmt.Sprintf("-%d", n), "HEAD"}, paths...)...)
	for line := range strings.Lines(string(text)) {
		hash, seconds, _ := strings.Cut(strings.TrimSpace(line), " ")
		at, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			return nil, false, fmt.Errorf("git log printed %q", line)
		}
		found = append(found, Commit{hash, time.Unix(at, 0).UTC()})
	}
	return found, len(status) == 0, err
}
