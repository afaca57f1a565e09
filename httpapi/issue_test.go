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

// TestContributeWorkflow: whatever an issue says, the workflow runs nothing of it and changes no file but those of
// benchmarks. The commands are those of the workflow.
func TestContributeWorkflow(t *testing.T) {
	for _, program := range []string{"bash", "git", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	workflow, err := os.ReadFile("../.github/workflows/contribute.yml")
	if err != nil {
		t.Fatal(err)
	}
	jobs := strings.Split(string(workflow), "\n  propose:\n")
	if regexp.MustCompile(`\{\{[^}]*secrets`).Match(workflow) || strings.Contains(jobs[0], ": write") || !strings.Contains(jobs[0], "label.name == 'accepted'") {
		t.Error("the job that reads an issue may write, or runs without the label")
	}
	if used := regexp.MustCompile(`\$\{\{ *github\.event\.(.*?) *\}\}`).FindAllStringSubmatch(string(workflow), -1); len(used) != 1 || used[0][1] != "issue.number" {
		t.Errorf("expressions use %v of the issue", used)
	}
	run := regexp.MustCompile(`(?s)- name: make and check the line\n +run: \|\n(.*?)\n      - `).FindStringSubmatch(jobs[0])
	if run == nil {
		t.Fatal("the workflow has no step that makes the line")
	}
	filled := "### Model\n\nLlama 2 7B Q4_0\n\n### Hardware\n\nRTX 3090\n\n### Tool\n\nllama.cpp\n\n### Generation speed\n\n101.27\n\n### Date\n\n2026-05-01\n\n" +
		"### Source page\n\nhttps://github.com/ggml-org/llama.cpp/discussions/4167\n\n### Notes for readers\n\n"
	hostile := []string{
		`$(touch pwned) ` + "`touch pwned`" + `; touch pwned #`, `'"; touch pwned; "'`, "\n::set-env name=PATH::/tmp\n::error::x", "${{ github.token }}",
		`<script>alert(1)</script> @everyone ![x](https://evil.example/x.png)`, "\u202e\x1b[31m\x00", `"}` + "\n" + `{"id":"bm-000000000000"}`, "EOF\nLINES\n", "../../../etc/passwd",
	}
	bodies := []string{filled + "nothing", filled + strings.Join(hostile[:5], " ")}
	for _, h := range hostile {
		bodies = append(bodies, strings.NewReplacer("RTX 3090", h, "101.27", h).Replace(filled)+h)
	}
	for i, body := range bodies {
		dir, temp := t.TempDir(), t.TempDir()
		git := func(args ...string) string {
			t.Helper()
			cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(mustSmallData(t))); err != nil {
			t.Fatal(err)
		}
		format := exec.Command(mustProgram(t), "fmt", "data")
		if format.Dir, format.Env = dir, environment(); format.Run() != nil {
			t.Fatal("the dataset cannot be formatted")
		}
		git("init", "-q")
		git("add", "-A")
		git("commit", "-qm", "data")
		event, err := json.Marshal(map[string]any{"issue": map[string]any{"number": 7, "body": body}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(temp, "event.json"), event, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(mustProgram(t), filepath.Join(temp, "modeldex")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "-e", "-c", run[1])
		cmd.Dir, cmd.Env = dir, environment("RUNNER_TEMP="+temp, "GITHUB_EVENT_PATH="+filepath.Join(temp, "event.json"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", body, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "::") {
				t.Errorf("%q: prints a command for the runner: %s", body, line)
			}
		}
		for _, changed := range strings.Fields(git("diff", "--cached", "--name-only")) {
			if !regexp.MustCompile(`^data/benchmarks/(20\d\d|undated)\.ndjson$`).MatchString(changed) {
				t.Errorf("%q: changes %s", body, changed)
			}
		}
		if left := git("status", "--porcelain", "--untracked-files=all"); strings.Contains(left, "pwned") || strings.Contains(left, "??") {
			t.Errorf("%q: leaves %s", body, left)
		}
		report, err := os.ReadFile(filepath.Join(temp, "made", "report.md"))
		if err != nil {
			t.Fatal(err)
		}
		shown := regexp.MustCompile("`[^`]*`").ReplaceAllString(string(report), "")
		if strings.ContainsAny(shown, "<@!$\x1b\u202e") || strings.Contains(shown, "pwned") {
			t.Errorf("%q: the report shows a value that is not code: %s", body, report)
		}
		patch, _ := os.ReadFile(filepath.Join(temp, "made", "line.patch"))
		if i == 0 && strings.Count(string(patch), "\n+{") != 1 {
			t.Errorf("a good issue gives the patch %s and the report %s, and %s", patch, report, out)
		}
	}
}
