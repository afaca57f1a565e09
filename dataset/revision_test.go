package dataset

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRevision compares two commits of a repository whose dataset lies in a folder.
func TestRevision(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git command here")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "some where", "data")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q")
	writeBase(t, dir)
	run("add", ".")
	run("commit", "-q", "-m", "one")
	putFile(t, filepath.Join(dir, infoFile), info("2"))
	run("commit", "-q", "-a", "-m", "two")
	putFile(t, filepath.Join(dir, infoFile), info("3")) // not committed

	shallow := filepath.Join(t.TempDir(), "shallow")
	run("clone", "-q", "--depth=1", "file://"+root, shallow)
	if _, err := Revision(context.Background(), filepath.Join(shallow, "some where", "data"), "HEAD~1"); err == nil || !strings.Contains(err.Error(), "the clone is shallow, run git fetch --unshallow") {
		t.Errorf("in a shallow clone: %v", err)
	}

	version := func(revision string) string {
		files, err := Revision(context.Background(), dir, revision)
		must(t, err)
		set, err := Load(context.Background(), files, Options{Now: fixtureDay})
		must(t, err)
		return set.Info.Version
	}
	if one, two := version("HEAD~1"), version("HEAD"); one != "1" || two != "2" {
		t.Errorf("HEAD~1 has version %s and HEAD %s, want 1 and 2", one, two)
	}
	for _, bad := range []string{"no-such-branch", "--output=x", "", "HEAD:some"} {
		if _, err := Revision(context.Background(), dir, bad); err == nil || !strings.Contains(err.Error(), "neither a directory nor a git revision") {
			t.Errorf("Revision(%q) = %v, want an error that says what it is not", bad, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Revision(context.Background(), dir, "HEAD"); !errors.Is(err, errNoGit) {
		t.Errorf("without git Revision = %v, want errNoGit", err)
	}
}

// TestCommits: the commit of the records is that of the last change of a record, and edits show.
func TestCommits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git command here")
	}
	dir, ctx := filepath.Join(t.TempDir(), "data"), context.Background()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-03-04T05:06:07+02:00")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	writeBase(t, dir)
	run("init", "-q")
	run("add", ".")
	run("commit", "-q", "-m", "records")
	records := run("rev-parse", "HEAD")
	putFile(t, filepath.Join(dir, "README.md"), "a page")
	run("add", ".")
	run("commit", "-q", "-m", "a page")
	found, clean, err := CommitsOf(ctx, dir, 5)
	if err != nil || !clean || len(found) != 1 || found[0].Hash != records || found[0].Time.Format("2006-01-02T15:04:05Z07:00") != "2026-03-04T03:06:07Z" {
		t.Errorf("CommitsOf = %v, %t, %v; want %s alone", found, clean, err, records)
	}
	putFile(t, filepath.Join(dir, infoFile), info("2"))
	if _, clean, err := CommitsOf(ctx, dir, 1); clean || err != nil {
		t.Errorf("an edit that is not committed: clean %t, %v", clean, err)
	}
}
