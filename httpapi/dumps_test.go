package httpapi

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"modeldex/httpapi/export"
	"modeldex/index"
)

// TestDumpMadeOnce: a dump is made once for all who ask for it, and one that cannot be made, because the files were
// changed since they were loaded, is not tried again for each of them.
func TestDumpMadeOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		files  fs.FS
		status int
	}{
		{"made", os.DirFS(mustSmallData(t)), http.StatusOK},
		{"changed files", fstest.MapFS{}, http.StatusServiceUnavailable},
	} {
		s := newService(t, mustSmallLive(t))
		var tried atomic.Int32
		sources := s.dumps.sources
		s.cfg.Dumps, s.cfg.Files, s.dumps.sources = DumpsOpen, tt.files, func(gen *index.Generation) *export.Sources {
			tried.Add(1)
			return sources(gen)
		}
		var callers sync.WaitGroup
		var answers sync.Map
		for range 8 {
			callers.Go(func() {
				a := s.ask(t, "GET", "/api/v1/dumps", "Authorization", "")
				answers.Store(fmt.Sprint(a.status, a.header.Get("Retry-After"), a.header.Get("ETag")), a.status)
			})
		}
		callers.Wait()
		answers.Range(func(key, status any) bool {
			if status != tt.status {
				t.Errorf("%s: status %v (%s), want %d", tt.name, status, key, tt.status)
			}
			return true
		})
		if tried.Load() != 1 {
			t.Errorf("%s: tried %d times", tt.name, tried.Load())
		}
	}
}
