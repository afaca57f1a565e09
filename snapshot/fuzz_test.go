package snapshot

import (
	"bytes"
	"testing"
)

// FuzzRead: a document is either rejected or is exactly what seal writes of it.
func FuzzRead(f *testing.F) {
	good, _ := mustBuild(f, smallInputs())
	for _, seed := range [][]byte{
		good, nil, []byte("{}"), []byte("[]"), good[:200], []byte(`{"meta":{"model_count":1e999999999}}`),
		bytes.Replace(good, []byte(`"rank"`), []byte(`"rang"`), 1), []byte("{\"a\":\"\xff\"}"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, findings := Read(bytes.NewReader(b))
		if (doc == nil) != (len(findings) > 0) {
			t.Fatalf("document %v and findings %v", doc != nil, findings)
		}
		if doc == nil {
			return
		}
		again, err := seal(doc)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("accepted bytes are not the sealed document, %v", err)
		}
	})
}
