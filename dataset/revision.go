package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
)

// ErrNoGit is returned by Revision where there is no git command.
var ErrNoGit = errors.New("no git command was found: install git, or name two directories")

// Revision returns the files of a dataset directory as they were at a git revision: a branch,
// a tag, a commit, HEAD~3. dir is the directory in the work tree of today. The files are held in
// memory, packed.
func Revision(ctx context.Context, dir, revision string) (fs.FS, error) {
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	var silent *exec.ExitError
	if errors.As(err, &silent) {
		return nil, fmt.Errorf("%s: is neither a directory nor a git revision of %s", revision, dir)
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

// git runs git in a directory and returns what it prints; an error holds what it says.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNoGit
	case errors.As(err, &exit) && len(exit.Stderr) > 0:
		return nil, errors.New(strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return nil, err
	}
	return out, nil
}
