package quota_test

import (
	"path/filepath"
	"testing"

	"modeldex/quota"
	"modeldex/quota/quotatest"
)

func TestFileConforms(t *testing.T) {
	t.Parallel() // it waits, for the disk mostly
	quotatest.Conformance(t, func(t *testing.T) []quota.Store {
		l, err := quota.Open(filepath.Join(t.TempDir(), "modeldex.db"), quota.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		return []quota.Store{l}
	})
}
