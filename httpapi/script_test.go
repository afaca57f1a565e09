package httpapi

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"modeldex/dataset/datasettest"
)

// TestScripts runs the plain scripts of testdata/scripts, each against a server of its own:
// the real program, started on a port of its choice with an empty ledger. What the lines
// mean is told in testdata/scripts/README.md.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			if strings.HasPrefix(filepath.Base(file), "long_") {
				datasettest.NeedLong(t, "a script on the shipped snapshots")
			}
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			runScript(t, file, string(text))
		})
	}
}

// statement is one line of a script and the indented lines below it.
type statement struct {
	line  int
	text  string
	block []string // without the indent
}

const scriptIndent = "  "

// parseScript cuts a script into statements. Comments start a line with #; blank lines and
// comments say nothing.
func parseScript(text string) (out []statement) {
	for i, line := range strings.Split(text, "\n") {
		if rest, indented := strings.CutPrefix(line, scriptIndent); indented && len(out) > 0 {
			last := &out[len(out)-1]
			last.block = append(last.block, rest)
			continue
		}
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, statement{line: i + 1, text: line})
		}
	}
	return out
}

func runScript(t *testing.T, file, text string) {
	r := newRunner(t)
	defer r.end(file)
	statements := parseScript(text)
	if len(statements) == 0 {
		t.Fatalf("%s says nothing", file)
	}
	for _, st := range statements {
		before := len(r.faults)
		if err := r.do(st); err != nil {
			r.faults = append(r.faults, err.Error())
		}
		for _, fault := range r.faults[before:] {
			t.Errorf("%s:%d: %s\n\t%s", file, st.line, st.text, fault)
		}
		if len(r.faults) > before {
			if r.last != nil {
				t.Logf("the last answer was to %s %.300s: %d %v\n%.2000s", r.last.method, r.last.path, r.last.status, r.last.header, r.last.body)
			}
			return
		}
	}
}

// ran is how a run of the program ended.
type ran struct {
	stdout, stderr string
	code           int
}

// runner holds the state of one running script.
type runner struct {
	t         *testing.T
	dir       string // of the ledger and the files the script writes
	flags     []string
	data      string
	tiers     string
	transport *http.Transport
	server    *process
	expected  bool   // the server was meant to end
	earlier   string // the log of its earlier runs
	vars      map[string]string
	program   ran // by the verb run

	pending *asked
	last    *answer
	wire    wire
	walked  *listWalk

	watch  *watch
	faults []string
}

func newRunner(t *testing.T) *runner {
	// The socket of administration lies beside the ledger, and the addresses of sockets are
	// short: no t.TempDir, whose name grows with the test's.
	dir, err := os.MkdirTemp(workDir, "")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return &runner{
		t: t, dir: dir, data: mustSmallData(t), tiers: filepath.Join(here, "tiers.json"),
		transport: newTransport(t), watch: newWatch(),
		vars: map[string]string{"DIR": dir, "HERE": here, "SMALL": mustSmallData(t)},
	}
}

// end stops the server and looks at what it has logged.
func (r *runner) end(file string) {
	if r.wire.conn != nil {
		_ = r.wire.conn.Close()
	}
	if r.server == nil {
		return
	}
	if !r.expected {
		if code, err := r.server.stop(); err != nil || code != 0 {
			r.t.Errorf("%s: the server ended with %d: %v\n%s", file, code, err, r.server.stderr)
		}
	}
	for _, fault := range r.watch.checkLog(r.log()) {
		r.t.Errorf("%s: log: %s", file, fault)
	}
}

// log is what the server has logged, in all its runs.
func (r *runner) log() string { return r.earlier + r.server.stderr.String() }

// do carries out one statement. Faults of answers are added to r.faults, what makes going on
// senseless is the error.
func (r *runner) do(st statement) error {
	text, err := r.expand(st.text)
	if err != nil {
		return err
	}
	block := make([]string, len(st.block))
	for i, line := range st.block {
		if block[i], err = r.expand(line); err != nil {
			return err
		}
	}
	if method, path, ok := requestLine(text); ok {
		if err := r.flush(); err != nil {
			return err
		}
		r.pending = &asked{method: method, path: path, header: http.Header{}}
		return nil
	}
	verb, rest, _ := strings.Cut(text, " ")
	v, ok := scriptVerbs[verb]
	if !ok {
		return fmt.Errorf("no such verb: %q", verb)
	}
	if !v.modifies {
		if err := r.flush(); err != nil {
			return err
		}
	}
	return v.run(r, strings.TrimSpace(rest), block)
}

var requestForm = regexp.MustCompile(`^([A-Z]+) ([/*]\S*)$`)

func requestLine(text string) (method, path string, ok bool) {
	if m := requestForm.FindStringSubmatch(text); m != nil {
		return m[1], m[2], true
	}
	return "", "", false
}

var (
	variableForm = regexp.MustCompile(`\$\{?([A-Za-z][A-Za-z0-9_-]*)\}?`)
	repeatForm   = regexp.MustCompile(`\{repeat (\S+) (\d+)\}`)
)

// expand puts saved values in the place of $name and ${name}, and writes {repeat x 3} out.
func (r *runner) expand(text string) (string, error) {
	var unknown string
	text = variableForm.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.Trim(m, "${}")
		v, ok := r.vars[name]
		if !ok {
			unknown = name
		}
		return v
	})
	if unknown != "" {
		return "", fmt.Errorf("nothing was saved as %s", unknown)
	}
	return repeatForm.ReplaceAllStringFunc(text, func(m string) string {
		parts := repeatForm.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2]) // digits
		return strings.Repeat(parts[1], n)
	}), nil
}

// flush sends the request that was being described, if there is one.
func (r *runner) flush() error {
	if r.pending == nil {
		return nil
	}
	q := *r.pending
	r.pending = nil
	return r.send(q)
}

func (r *runner) send(q asked) error {
	if err := r.start(); err != nil {
		return err
	}
	a, err := fetch(r.transport, r.server.addr, q)
	if err != nil {
		return err
	}
	r.take(a)
	return nil
}

// take makes an answer the one the next checks are about.
func (r *runner) take(a *answer) {
	r.last = a
	r.faults = append(r.faults, checkAnswer(a)...)
	r.faults = append(r.faults, r.watch.see(a)...)
}

// start starts the server unless it runs.
func (r *runner) start() error {
	if r.server != nil && !r.expected {
		return nil
	}
	args := []string{
		"serve", "--addr=127.0.0.1:0", "--ledger=" + filepath.Join(r.dir, "modeldex.db"),
		"--log-level=debug", "--log-format=json",
	}
	if r.data != "" {
		args = append(args, "--data="+r.data)
	}
	if r.tiers != "" {
		args = append(args, "--tiers="+r.tiers)
	}
	if r.server != nil {
		r.earlier += r.server.stderr.String()
	}
	r.server, r.expected = launch(r.t, r.dir, nil, append(args, r.flags...)...), false
	err := r.server.awaitServing()
	r.vars["ADDR"] = r.server.addr
	return err
}

// as puts a key on the request being described; the first use of a name signs up for it.
func (r *runner) key(name string) (string, error) {
	if secret, ok := r.vars[name]; ok {
		return secret, nil
	}
	email := name + "@example.com"
	r.watch.secret(email)
	if err := r.start(); err != nil {
		return "", err
	}
	a, err := fetch(r.transport, r.server.addr, asked{
		method: "POST", path: "/api/v1/keys", header: http.Header{"Content-Type": {"application/json"}},
		body: fmt.Appendf(nil, `{"name":%q,"email":%q,"use_case":"script tests"}`, name, email),
	})
	if err != nil {
		return "", err
	}
	if a.status != http.StatusCreated {
		return "", fmt.Errorf("signing up as %s: status %d: %s", name, a.status, a.body)
	}
	r.faults = append(r.faults, checkAnswer(a)...)
	r.faults = append(r.faults, r.watch.see(a)...)
	secret, err := lookJSON(a.body, "data.key")
	if err != nil {
		return "", err
	}
	r.vars[name] = fmt.Sprint(secret)
	return r.vars[name], nil
}
