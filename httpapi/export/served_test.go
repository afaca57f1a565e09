package export

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
)

// note makes the dump of a dataset, whose digest is one digit repeated, and notes it.
func note(t *testing.T, src *Sources, from string, digit int) *Dump {
	t.Helper()
	src.Digest = strings.Repeat(fmt.Sprint(digit), 64)
	d, _ := mustMake(t, src)
	if err := d.Note(from, fmt.Sprint("content ", digit), time.Unix(int64(digit), 0).UTC()); err != nil {
		t.Fatal(err)
	}
	return d
}

// digits is what Earlier finds.
func digits(t *testing.T, src *Sources, from, without string, n int) (out string) {
	t.Helper()
	found, err := Earlier(src.Dir, from, without, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found {
		digit := int(s.Digest[0] - '0')
		if s.Content != fmt.Sprint("content ", digit) || s.Loaded.Unix() != int64(digit) || s.Version != src.Version || len(s.Edition) != 32 {
			t.Errorf("noted %+v", s)
		}
		out += s.Digest[:1]
	}
	return out
}

// TestEarlier: what was served from a place is found newest first, each digest once, for that place alone, and
// what is found stays when other dumps are made.
func TestEarlier(t *testing.T) {
	src := sources(t, randomRows(t, 20))
	src.Keep = 5
	if got := digits(t, src, "/here", "", 9); got != "" {
		t.Errorf("an empty directory has %s", got)
	}
	for _, digit := range []int{1, 2, 3, 2} {
		note(t, src, "/here", digit)
	}
	note(t, src, "/there", 4)
	for _, tt := range []struct {
		from, without string
		n             int
		want          string
	}{
		{"/here", "", 9, "231"},
		{"/here", strings.Repeat("2", 64), 9, "31"},
		{"/here", strings.Repeat("3", 64), 1, "2"},
		{"/here", "", 0, ""},
		{"/there", "", 9, "4"},
		{"/elsewhere", "", 9, ""},
		{"/here", "", 9, "231"},
	} {
		if got := digits(t, src, tt.from, tt.without, tt.n); got != tt.want {
			t.Errorf("Earlier(%s, without %.1s, %d) = %s, want %s", tt.from, tt.without, tt.n, got, tt.want)
		}
	}
	for _, digit := range []int{5, 6} { // removes that of /there, which was used before
		note(t, src, "/here", digit)
	}
	if got := digits(t, src, "/here", "", 9); got != "65231" {
		t.Errorf("after two more: %s", got)
	}
	if got := digits(t, src, "/there", "", 9); got != "" {
		t.Errorf("a dump that is gone is found: %s", got)
	}
	if left, err := filepath.Glob(filepath.Join(src.Dir, notePrefix+"*")); err != nil || len(left) != 1 {
		t.Errorf("notes %v %v, want that of /here", left, err)
	}
	if d, err := Build(context.Background(), src); err != nil || d.Note("/here", "", time.Now()) != nil || digits(t, src, "/here", "", 9) != "65231" {
		t.Errorf("a dump without names: %v", err)
	}
}

// TestServedUnpack: the files are those that were loaded, and nothing of them stays behind; an archive that is
// damaged, or of another dump, is not unpacked, and the dump not opened.
func TestServedUnpack(t *testing.T) {
	src := sources(t, nil)
	d := note(t, src, "/here", 1)
	found, err := Earlier(src.Dir, "/here", "", 1)
	if err != nil || len(found) != 1 {
		t.Fatal(err, found)
	}
	before := namesIn(t, src.Dir)
	unpack := func(ctx context.Context) (used bool, err error) {
		err = found[0].Unpack(ctx, func(dir string) error {
			used = true
			for _, o := range src.Originals {
				if b, err := os.ReadFile(filepath.Join(dir, o.Name)); err != nil || int64(len(b)) != o.Size {
					t.Errorf("%s: %v %q", o.Name, err, b)
				}
			}
			return nil
		})
		if now := namesIn(t, src.Dir); fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("left behind: %v, before %v", now, before)
		}
		return used, err
	}
	if used, err := unpack(context.Background()); err != nil || !used {
		t.Errorf("used %t: %v", used, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if used, err := unpack(ended); err == nil || used {
		t.Error("unpacked after the end")
	}
	if opened, err := found[0].Open(context.Background()); err != nil || opened.Edition != d.Edition || opened.Digest != d.Digest || len(opened.Files) != len(d.Files) {
		t.Errorf("opened %+v: %v", opened, err)
	}
	found[0].Edition = strings.Repeat("0", 32)
	if _, err := found[0].Open(context.Background()); err == nil {
		t.Error("another dump was opened")
	}
	if used, err := unpack(context.Background()); err == nil || used {
		t.Error("the archive of another dump was unpacked")
	}
	found[0].Edition = d.Edition
	datasettest.Damage(t, filepath.Join(src.Dir, found[0].Dump, archiveName))
	if used, err := unpack(context.Background()); err == nil || used || !strings.Contains(err.Error(), "dataset.tar.zst of a dump is damaged") {
		t.Errorf("a damaged archive: used %t: %v", used, err)
	}
	if _, err := found[0].Open(context.Background()); err == nil || !strings.Contains(err.Error(), "dataset.tar.zst of a dump is damaged") {
		t.Errorf("a damaged dump: %v", err)
	}
}
