package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAjv: ajv takes every schema the real program serves in strict mode, each has an identifier, and the
// shipped documents pass. MODELDEX_AJV names the folder in which npm has installed ajv and ajv-formats;
// MODELDEX_REQUIRE_AJV=1 makes it a failure that there is none.
func TestAjv(t *testing.T) {
	modules := os.Getenv("MODELDEX_AJV")
	if modules == "" {
		if os.Getenv("MODELDEX_REQUIRE_AJV") == "1" {
			t.Fatal("MODELDEX_AJV names no folder with ajv, and MODELDEX_REQUIRE_AJV=1")
		}
		t.Skip("MODELDEX_AJV names no folder with ajv, so ajv does not read the schemas")
	}
	dir := t.TempDir()
	p := launch(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--data", mustSmallData(t), "--ledger", filepath.Join(dir, "modeldex.db"), "--dumps", "off")
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	get := func(path string) []byte {
		t.Helper()
		resp, err := http.Get("http://" + p.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: status %d, %v", path, resp.StatusCode, err)
		}
		return body
	}
	var list struct{ Data []SchemaInfo }
	if err := json.Unmarshal(get("/api/v1/schemas"), &list); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "schemas")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Data {
		if err := os.WriteFile(filepath.Join(folder, s.Name), get(s.URL), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	snapshots, err := filepath.Glob("../data/snapshots/snapshot-*.json")
	if err != nil || len(snapshots) == 0 {
		t.Fatalf("no shipped snapshot: %v", err)
	}
	script, err := filepath.Abs("testdata/ajv.mjs")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{script, modules, folder, "dataset.schema.json", "../data/dataset.json"}
	for _, name := range snapshots {
		args = append(args, "service-model-intelligence-snapshot-v1.json", name)
	}
	out, err := exec.Command("node", args...).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || lines[len(lines)-1] != fmt.Sprint(len(list.Data)) || len(list.Data) < 10 {
		t.Errorf("ajv took %s of %d schemas: %v\n%s", lines[len(lines)-1], len(list.Data), err, out)
	}
	for _, line := range lines[:len(lines)-1] {
		t.Errorf("ajv in strict mode: %s", line)
	}
}
