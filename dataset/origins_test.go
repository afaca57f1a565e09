package dataset

import (
	"bytes"
	"context"
	"sync"
	"testing"
)

// TestOlderSources: the files of releases that counted in sources.json what each origin gave, and left
// it out of their digest, can still be read, told, and brought into the form of today.
func TestOlderSources(t *testing.T) {
	fsys := sample(t)
	now, err := Load(context.Background(), fsys, Options{})
	must(t, err)
	old := *fsys[sourcesFile]
	old.Data = bytes.ReplaceAll(old.Data, []byte(`"read": "`), []byte(`"measurements": 5, "models": 0, "hardware": 7, "tools": 1, "read": "`))
	fsys[sourcesFile] = &old
	set, err := Load(context.Background(), fsys, Options{})
	must(t, err)
	if len(set.Origins) != len(now.Origins) || set.Origins[0].Owner != now.Origins[0].Owner || set.Origins[0].Read != now.Origins[0].Read {
		t.Errorf("%d origins, the first %+v; want %d and %+v", len(set.Origins), set.Origins[0], len(now.Origins), now.Origins[0])
	}
	if set.Digest == now.Digest {
		t.Error("another sources.json has the same digest")
	}
	var files []LoadedFile
	for _, f := range set.Files() {
		if f.Name != sourcesFile {
			files = append(files, f)
		}
	}
	for digest, want := range map[Digest]bool{digestOf(files): true, set.Digest: true, digestOf(files[1:]): false} {
		if got := set.IsRelease(digest.String()); got != want {
			t.Errorf("IsRelease(%s) = %v", digest, got)
		}
	}
	var formed sync.Map // the samples of .ndjson files may differ as well
	_, err = format(fsys, func(name string, b []byte) error { formed.Store(name, b); return nil })
	must(t, err)
	b, _ := formed.Load(sourcesFile)
	if b, _ := b.([]byte); bytes.Contains(b, []byte("measurements")) || !bytes.Contains(b, []byte(`"read": "`)) {
		t.Errorf("the form of the file is %.200s", b)
	}
}
