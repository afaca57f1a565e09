package verbs

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
)

// gitBase is the smallest dataset as the one commit of a repository, and git in it.
func gitBase(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git command here")
	}
	dir = filepath.Join(t.TempDir(), "data")
	datasettest.WriteBase(t, dir)
	git = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	return dir, git
}

// TestChangesRecordVerb records a release from git and a second one after it, finds the one before
// by itself, and changes nothing when run again.
func TestChangesRecordVerb(t *testing.T) {
	dir, git := gitBase(t)
	put := func(name, text string) { datasettest.PutFile(t, filepath.Join(dir, name), text) }
	record := func(c ChangesRecord) string {
		t.Helper()
		var out bytes.Buffer
		c.Data = dir
		if err := c.Run(&Env{Stdout: &out, Stderr: &out}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	says := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("record printed %q, want it to contain %q", got, want)
		}
	}
	says(record(ChangesRecord{}), "the history now starts with release 1")
	says(record(ChangesRecord{}), "nothing to record")

	info, err := os.ReadFile(filepath.Join(dir, "dataset.json"))
	if err != nil {
		t.Fatal(err)
	}
	put("dataset.json", strings.Replace(string(info), `"version": "1"`, `"version": "2"`, 1))
	git("add", ".")
	git("commit", "-q", "-m", "two")
	says(record(ChangesRecord{}), "release 2 since 1: 1 changed")
	info, err = os.ReadFile(filepath.Join(dir, "dataset.json"))
	if err != nil {
		t.Fatal(err)
	}
	put("dataset.json", strings.ReplaceAll(string(info), "\n", "\r\n")) // as git checks out on Windows
	says(record(ChangesRecord{}), "nothing to record: only formatting or sources.json differ from release 2")
	put("dataset.json", string(info))
	file := func() string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, "changes", "*.ndjson"))
		if err != nil || len(found) != 1 {
			t.Fatalf("files %q, %v", found, err)
		}
		b, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := file()
	if n := strings.Count(before, `"committed":"2`); n != 2 || strings.Count(before, "\n") != 3 {
		t.Errorf("recorded:\n%swant two releases with commits and a change", before)
	}
	says(record(ChangesRecord{}), "nothing to record: release 2")
	if file() != before {
		t.Error("recording again changed the file")
	}
}

// TestChangesRecordNowhere holds that --data is a directory, as of every verb, and never taken for a revision.
func TestChangesRecordNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		file: ": not a directory", file + "/none": ": not a directory", "HEAD": ": does not exist", filepath.Dir(file): ": not a dataset: it has no dataset.json",
	} {
		err := (&ChangesRecord{Data: dir}).Run(&Env{Stdout: io.Discard, Stderr: io.Discard})
		if want = dir + want; err == nil || err.Error() != want {
			t.Errorf("changes record --data %s: %v, want %s", dir, err, want)
		}
	}
}

// TestChangesRecordUncommitted: a release that was recorded and never committed is not found, which is said first, and
// commits of other releases, which may not pass the checks of today, are not judged.
func TestChangesRecordUncommitted(t *testing.T) {
	dir, git := gitBase(t)
	put := func(version string, more string) {
		t.Helper()
		info, err := os.ReadFile(filepath.Join(dir, "dataset.json"))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(info), `"version": "`)
		_, rest, _ = strings.Cut(rest, `"`)
		head, _, _ := strings.Cut(string(info), `"version": "`)
		datasettest.PutFile(t, filepath.Join(dir, "dataset.json"), head+`"version": "`+version+`"`+more+rest)
	}
	put("0", `, "fault": 1`)
	git("commit", "-q", "-a", "-m", "a release that has a fault")
	put("1", "")
	info, err := os.ReadFile(filepath.Join(dir, "dataset.json"))
	if err != nil {
		t.Fatal(err)
	}
	datasettest.PutFile(t, filepath.Join(dir, "dataset.json"), strings.Replace(string(info), `, "fault": 1`, "", 1))
	run := func() error {
		return (&ChangesRecord{Data: dir}).Run(&Env{Stdout: io.Discard, Stderr: io.Discard})
	}
	put("2", "")
	if err := run(); err != nil {
		t.Fatal(err)
	}
	put("3", "")
	err = run()
	if err == nil || !strings.HasPrefix(err.Error(), "the last recorded release, 2 with digest ") || !strings.HasSuffix(err.Error(), "is not in git: commit it, or name its directory or revision with --from") {
		t.Errorf("changes record: %v, want the sentence about the release that was not found, alone", err)
	}
}

// TestChangesRecordRaised: a release has a name of its own, and one whose files were not committed says so.
func TestChangesRecordRaised(t *testing.T) {
	dir, git := gitBase(t)
	run := func() (printed string, err error) {
		var out, errs bytes.Buffer
		err = (&ChangesRecord{Data: dir}).Run(&Env{Stdout: &out, Stderr: &errs})
		return errs.String(), err
	}
	edit := func(name, old, text string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		datasettest.PutFile(t, filepath.Join(dir, name), strings.Replace(string(b), old, text, 1))
	}
	if said, err := run(); err != nil || said != "" {
		t.Fatalf("the first release: %v, said %q", err, said)
	}
	git("add", ".")
	git("commit", "-q", "-m", "recorded")
	edit("models/alpha-8b.json", `"Alpha 8B"`, `"Alpha 8b"`)
	_, err := run()
	if want := filepath.Join(dir, "dataset.json") + ":3: version: must be raised, because release 1 is recorded with other records"; err == nil || err.Error() != want {
		t.Errorf("the same version with other records: %v, want %s", err, want)
	}
	edit("dataset.json", `"version": "1"`, `"version": "2"`)
	edit("dataset.json", "2026-01-02", "2025-12-31")
	if _, err := run(); err == nil || !strings.Contains(err.Error(), "record releases in order") {
		t.Errorf("a release before the last: %v", err)
	}
	edit("dataset.json", "2025-12-31", "2026-01-02")
	err = (&ChangesRecord{Data: dir, From: dir}).Run(&Env{Stdout: io.Discard, Stderr: io.Discard})
	if err == nil || !strings.HasPrefix(err.Error(), "--from must be the last recorded release, 1 with digest ") {
		t.Errorf("from a release that is not the last: %v", err)
	}
	if said, err := run(); err != nil || said != "the files differ from the last commit, so no commit is recorded; commit first\n" {
		t.Errorf("files that are not committed: %v, said %q", err, said)
	}
	if form, err := dataset.FormatCheck(os.DirFS(dir)); slices.Contains(form, dataset.ChangesDir+"/2026.ndjson") || err != nil {
		t.Errorf("not in canonical form: %q, %v", form, err)
	}
}
