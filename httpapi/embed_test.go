package httpapi

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEmbed: answers and charts may be shown in frames of other pages, with their source, and nothing else may.
func TestEmbed(t *testing.T) {
	s := newService(t, mustShipped(t).live)
	for path, want := range map[string]string{
		"/embed/fit?model=qwen3-8b&hardware=nvidia-rtx-4090":       `<a href="/fit?model=qwen3-8b&amp;hardware=nvidia-rtx-4090">modeldex `,
		"/embed/fit?hardware=nvidia-rtx-4090":                      `<ul class="picks">`,
		"/embed/models/qwen3-8b":                                   `Qwen3 8B`,
		"/embed/charts/model-speeds?model=qwen3-8b":                `src="/charts/model-speeds.svg?model=qwen3-8b" alt="`,
		"/embed/charts/hardware-frontier?hardware=nvidia-rtx-4090": `<a href="/hardware/nvidia-rtx-4090">modeldex `,
	} {
		a := s.ask(t, "GET", path, "Authorization", "")
		body, policy := string(a.body), a.header.Get("Content-Security-Policy")
		if a.status != 200 || !strings.Contains(body, want) || !strings.Contains(policy, "frame-ancestors *;") || !strings.Contains(policy, "script-src 'self'") {
			t.Errorf("%s: %d %s %.1500s", path, a.status, policy, body)
		}
		if !strings.Contains(body, `<base target="_blank">`) || strings.Contains(body, "<form") || strings.Contains(body, "<nav") {
			t.Errorf("%s: has more than the answer, or its links open in the frame", path)
		}
		page := s.ask(t, "GET", strings.TrimPrefix(path, "/embed"), "Authorization", "")
		if strings.Contains(page.header.Get("Content-Security-Policy"), "frame-ancestors *") {
			t.Errorf("%s may be framed without /embed", path)
		}
	}
	for path, want := range map[string]int{
		"/embed/models/Qwen/Qwen3-8B": 301, "/embed/charts/model-speeds?model=Qwen/Qwen3-8B": 301, "/embed/charts/nothing?model=qwen3-8b": 404,
		"/embed/models/nothing-9b": 404, "/embed/embed/fit": 404, "/embed/contribute": 404, "/embed/": 404, "/embed/fit?modell=x": 400,
	} {
		a := s.ask(t, "GET", path, "Authorization", "")
		if a.status != want || want == 301 && !strings.HasPrefix(a.header.Get("Location"), "/embed/") {
			t.Errorf("%s: %d to %q, want %d", path, a.status, a.header.Get("Location"), want)
		}
	}
}

// TestNotebookLines: the lines that the guide gives for notebooks work as they are.
func TestNotebookLines(t *testing.T) {
	var doc struct{ Info struct{ Description string } }
	if err := json.Unmarshal(openapiJSON(), &doc); err != nil {
		t.Fatal(err)
	}
	line := func(begin string) string {
		m := regexp.MustCompile(`(?m)^    +(` + regexp.QuoteMeta(begin) + `.*)$`).FindStringSubmatch(doc.Info.Description)
		if m == nil {
			t.Fatalf("the guide has no line that begins with %s", begin)
		}
		return m[1]
	}
	dir := t.TempDir()
	p := launch(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--ledger", "modeldex.db")
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	t.Run("pandas", func(t *testing.T) {
		python := "/usr/bin/python3"
		if err := exec.Command(python, "-c", "import pandas").Run(); err != nil {
			if os.Getenv("MODELDEX_REQUIRE_PANDAS") == "1" {
				t.Fatal("python3-pandas is not installed")
			}
			t.Skip("python3-pandas is not installed")
		}
		code := strings.ReplaceAll(line("runs = pandas"), "$BASE", "http://"+p.addr)
		if out := run(t, python, "-c", "import pandas\n"+code+"\nprint(len(runs), runs.generation_tps.median() > 0)"); !regexp.MustCompile(`^[1-9][0-9]* True$`).MatchString(out) {
			t.Errorf("%s gives %s", code, out)
		}
	})
	t.Run("DuckDB", func(t *testing.T) {
		modules := os.Getenv("MODELDEX_DUCKDB")
		if modules == "" {
			if os.Getenv("MODELDEX_REQUIRE_DUCKDB") == "1" {
				t.Fatal("MODELDEX_DUCKDB names no folder with @duckdb/node-api")
			}
			t.Skip("MODELDEX_DUCKDB names no folder with @duckdb/node-api")
		}
		address := regexp.MustCompile(`"(\$BASE[^"]*)"`).FindStringSubmatch(line("runs = pandas"))[1]
		run(t, "curl", "-so", "runs.csv", strings.ReplaceAll(address, "$BASE", "http://"+p.addr))
		script := `const {DuckDBInstance} = require(process.argv[1] + '/node_modules/@duckdb/node-api');
DuckDBInstance.create().then(i => i.connect()).then(c => c.runAndReadAll(process.argv[2])).then(r => console.log(r.getRowsJson().length))`
		if out := run(t, "node", "-e", script, filepath.Clean(modules), line("SELECT")); !regexp.MustCompile(`^[1-9][0-9]*$`).MatchString(out) {
			t.Errorf("%s gives %s rows", line("SELECT"), out)
		}
	})
}
