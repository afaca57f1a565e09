package verbs

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"modeldex/snapshot/importer"
)

// TestCheckFuture: a document of the future is a finding, because it would be the newest for good.
func TestCheckFuture(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	for _, tt := range []struct {
		at   time.Time
		want string
	}{
		{now, ""},
		{now.AddDate(500, 0, 0), "snapshots/snapshot-1.json: /generated_at: must not be in the future"},
	} {
		doc, _, err := importer.Build(t.Context(), os.DirFS("../importer/testdata/small"), importer.Options{GeneratedAt: tt.at})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range Check(fstest.MapFS{"snapshots/snapshot-1.json": {Data: doc}}) {
			got += f.String()
		}
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("Check of a document of %s: %q, want %q", tt.at, got, tt.want)
		}
	}
}
