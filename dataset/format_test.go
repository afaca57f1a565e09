package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// onDisk writes the base dataset with the files of a fixture over it.
func onDisk(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	base, _ := fixtureFS(&txtar.Archive{})
	for name, f := range base {
		if _, own := files[name]; !own {
			writeFile(t, dir, name, string(f.Data))
		}
	}
	for name, text := range files {
		writeFile(t, dir, name, text)
	}
	if _, err := Format(dir); err != nil && files == nil {
		t.Fatal(err)
	}
	return dir
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestShippedIsFormatted(t *testing.T) {
	if would, err := FormatCheck(os.DirFS("../data")); err != nil || len(would) > 0 {
		t.Errorf("FormatCheck of the shipped data = %v, %v, want nothing", would, err)
	}
}

const (
	bmLine = `"model":"alpha-8b","model_raw":"Alpha","hardware":"nvidia-card","hardware_raw":"Card","hardware_count":1,"tool":"runner","source":"community","source_url":"https://example.com/1"`
	tLine  = `"name":"N","category":"runner","description":"d"`
)

// TestFormat formats what people write and checks form, order, what stays, and that a second
// run changes nothing.
func TestFormat(t *testing.T) {
	dir := onDisk(t, nil)
	messy := map[string]string{
		"tools/runner.json":      "\ufeff{ \"description\" :\"d\\u00e9 <x>\",\r\n \"category\":\"runner\", \"name\":\"N\",\"slug\":\"runner\"}",
		"tools/many.json":        `[{"slug":"zeta",` + strings.Replace(tLine, "N", "Z", 1) + `},{"slug":"beta",` + strings.Replace(tLine, "N", "B", 1) + `}]`,
		"benchmarks/2026.ndjson": `{"id":"bm-3","generation_tps":1e1,"run_date":"2026-03-01","date_basis":"run",` + bmLine + "}\r\n\n" + `{"id":"bm-2","generation_tps":4.50,"run_date":"2026-01-01","date_basis":"run",` + bmLine + "}\n" + `{"id":"bm-1","generation_tps":2.0,` + bmLine + `}`,
		"benchmarks/0001.ndjson": `{"id":"bm-9","colour":1}`,
		"benchmarks/README.md":   "not  touched",
	}
	for name, text := range messy {
		writeFile(t, dir, name, text)
	}
	wantChanged := []string{"benchmarks/2026.ndjson", "tools/many.json", "tools/runner.json"}
	would, err := FormatCheck(os.DirFS(dir))
	var found Findings
	if diff := cmp.Diff(wantChanged, would); diff != "" || !errors.As(err, &found) || !strings.HasPrefix(found[0].String(), "benchmarks/0001.ndjson:1:") {
		t.Errorf("FormatCheck = %v, (-want +got):\n%s", err, diff)
	}
	for name, text := range messy {
		if read(t, dir, name) != text {
			t.Errorf("FormatCheck changed %s", name)
		}
	}
	changed, err := Format(dir)
	if diff := cmp.Diff(wantChanged, changed); diff != "" || !errors.As(err, &found) {
		t.Errorf("Format = %v, (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"benchmarks/0001.ndjson", "benchmarks/README.md"} {
		if read(t, dir, name) != messy[name] {
			t.Errorf("Format changed %s", name)
		}
	}
	if got := read(t, dir, "tools/runner.json"); !strings.HasPrefix(got, "{\n  \"$schema\": \"../schemas/tool.schema.json\",\n  \"slug\": \"runner\",\n  \"name\": \"N\",\n") || !strings.Contains(got, "\n  \"description\": \"dé <x>\",\n") || !strings.HasSuffix(got, "\n}\n") {
		t.Errorf("a tool is formatted as\n%s", got)
	}
	if got := read(t, dir, "tools/many.json"); strings.Index(got, `"beta"`) > strings.Index(got, `"zeta"`) {
		t.Errorf("a list is not in order of slug:\n%s", got)
	}
	lines := strings.Split(read(t, dir, "benchmarks/2026.ndjson"), "\n")
	for i, part := range []string{`"generation_tps":2,`, `"generation_tps":4.5,`, `"generation_tps":10,`} {
		if !strings.HasPrefix(lines[i], `{"id":"bm-`+string('1'+rune(i))+`","model":`) || !strings.Contains(lines[i], part) || !strings.Contains(lines[i], `"withdrawn":null`) {
			t.Errorf("line %d is\n%s", i+1, lines[i])
		}
	}
	if again, _ := Format(dir); len(again) != 0 {
		t.Errorf("a second run changed %v", again)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", ".fmt-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestOneFieldIsOneLine: an edit of one field changes one line of the formatted file.
func TestOneFieldIsOneLine(t *testing.T) {
	dir := onDisk(t, nil)
	before := strings.Split(read(t, dir, "models/alpha-8b.json"), "\n")
	writeFile(t, dir, "models/alpha-8b.json", strings.Replace(strings.Join(before, "\n"), `"params_b": 8,`, `"params_b":    8.030,`, 1))
	if _, err := Format(dir); err != nil {
		t.Fatal(err)
	}
	after := strings.Split(read(t, dir, "models/alpha-8b.json"), "\n")
	differ := 0
	for i := range before {
		if len(after) != len(before) || before[i] != after[i] {
			differ++
		}
	}
	if differ != 1 {
		t.Errorf("%d lines differ, want 1", differ)
	}
}

// TestFormatKeepsTheFile: mode and links survive.
func TestFormatKeepsTheFile(t *testing.T) {
	dir := onDisk(t, nil)
	real := filepath.Join(dir, "elsewhere.json")
	link := filepath.Join(dir, "tools", "runner.json")
	if err := os.Rename(link, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere.json", link); err != nil {
		t.Skip("no links here")
	}
	writeFile(t, dir, "tools/runner.json", `{"slug":"runner",`+tLine+`}`)
	if err := os.Chmod(real, 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := Format(dir); err != nil || len(changed) != 1 {
		t.Fatalf("Format = %v, %v", changed, err)
	}
	st, err := os.Lstat(link)
	if err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link has become %v, %v", st.Mode(), err)
	}
	if st, err := os.Stat(real); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", st.Mode(), err)
	}
}

// TestFormatCannotWrite: a file that could not be written was not changed.
func TestFormatCannotWrite(t *testing.T) {
	fsys, _ := fixtureFS(&txtar.Archive{})
	full := errors.New("no space left on device")
	changed, err := format(fsys, func(string, []byte) error { return full })
	if !errors.Is(err, full) || len(changed) > 0 {
		t.Errorf("format to a full disk = %q, %v, want no file and %v", changed, err, full)
	}
}
