package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"modeldex/dataset/datasettest"
	"modeldex/quota"
)

// TestScripts runs the scripts of testdata/scripts with testscript, each against a server of
// its own: the real program, started on a free port with an empty ledger.
// testdata/scripts/README.md describes the commands that are added to those of testscript.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/scripts", Setup: setUpScript, Cmds: scriptCommands(),
		Condition: scriptCondition, RequireUniqueNames: true,
	})
}

func scriptCondition(name string) (bool, error) {
	if name != "long" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return datasettest.Long(), nil
}

// script is the state of one running script: its server, the last response and what was learnt from all of them.
type script struct {
	*testscript.TestScript // of the command that runs
	tb                     testing.TB
	transport              *http.Transport

	flags    []string // of the server
	data     string   // directory of the dataset, "" for the embedded one
	server   *process
	expected bool   // the server has ended because the script asked for it
	earlier  string // the log of its earlier runs

	last   *answer
	wire   wire
	walked *listWalk
	watch  *watch
}

// scriptKey is the key of the *script among the values of a TestScript.
type scriptKey struct{}

// setUpScript prepares the environment of a script: the program is in PATH as modeldex, and
// finds the ledger and the tiers of the script's server.
func setUpScript(env *testscript.Env) error {
	tb := env.T().(testing.TB) // testscript.Run promises it
	here, err := filepath.Abs("testdata")
	if err != nil {
		return err
	}
	s := &script{tb: tb, transport: newTransport(tb), data: mustSmallData(tb), watch: newWatch()}
	env.Values[scriptKey{}] = s
	waitForNewMonth()
	for name, value := range map[string]string{
		"PATH":            filepath.Dir(mustProgram(tb)) + string(os.PathListSeparator) + env.Getenv("PATH"),
		"HERE":            here,
		"SMALL":           s.data,
		"MODELDEX_LEDGER": filepath.Join(env.WorkDir, "modeldex.db"),
		"MODELDEX_TIERS":  filepath.Join(here, "tiers.json"),
	} {
		env.Setenv(name, value)
	}
	env.Defer(s.end)
	return nil
}

// waitForNewMonth waits for the end of a month that has less than a minute left: counts begin again then, in the middle of
// a script.
func waitForNewMonth() {
	if end := quota.MonthOf(time.Now()).End(); time.Until(end) < time.Minute {
		time.Sleep(time.Until(end))
	}
}

// scriptCommands are the commands of scripts by name, in the order of the page that describes them.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	type (
		command = func(s *script, args []string) error
		claim   = func(s *script, neg bool, args []string) error
	)
	request := func(method string) command {
		return func(s *script, args []string) error { return s.ask(append([]string{method}, args...)) }
	}
	out := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range map[string]command{
		"GET": request("GET"), "HEAD": request("HEAD"), "POST": request("POST"), "PUT": request("PUT"),
		"PATCH": request("PATCH"), "DELETE": request("DELETE"), "OPTIONS": request("OPTIONS"),
		"ask":   (*script).ask,
		"again": (*script).again,
		"until": (*script).until,
		"sleep": (*script).sleep,
		"walk":  (*script).walk,

		"status":  (*script).status,
		"body":    (*script).body,
		"json":    (*script).json,
		"await":   (*script).await,
		"head":    (*script).head,
		"decoded": (*script).decoded,
		"walked":  (*script).checkWalk,
		"save":    (*script).save,
		"repeat":  (*script).repeat,

		"raw":     (*script).raw,
		"open":    (*script).open,
		"hears":   (*script).hears,
		"finish":  (*script).finish,
		"answers": (*script).answers,
		"wire":    (*script).checkWire,

		"server":   (*script).setFlags,
		"dataset":  (*script).setData,
		"tiers":    (*script).setTiers,
		"expand":   (*script).expand,
		"replace":  (*script).replace,
		"start":    func(s *script, _ []string) error { return s.start() },
		"shutdown": (*script).shutdown,
		"restart":  (*script).restart,
		"crash":    (*script).crash,
		"signal":   (*script).signal,
		"ends":     (*script).ends,
		"log":      (*script).checkLog,
		"secret":   (*script).secret,
		"exits":    (*script).exits,
	} {
		out[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s cannot be negated", name)
			}
			s := ts.Value(scriptKey{}).(*script)
			s.TestScript = ts
			s.check(run(s, args))
		}
	}
	for name, run := range map[string]claim{"header": (*script).header, "equal": (*script).equal} {
		out[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			s := ts.Value(scriptKey{}).(*script)
			s.TestScript = ts
			s.check(run(s, neg, args))
		}
	}
	return out
}

// check fails the script if err is not nil, with the last response beside it.
func (s *script) check(err error) {
	if err == nil {
		return
	}
	if s.last != nil {
		s.Logf("the last response was to %s %.300s: %d %v\n%.2000s", s.last.method, s.last.path, s.last.status, s.last.header, s.last.body)
	}
	s.Fatalf("%v", err)
}

// end stops the server and reads what it has logged.
func (s *script) end() {
	if s.wire.conn != nil {
		_ = s.wire.conn.Close()
	}
	if s.server == nil {
		return
	}
	if !s.expected {
		if code, err := s.server.stop(); err != nil || code != 0 {
			s.tb.Errorf("the server ended with %d: %v\n%s", code, err, s.server.stderr)
		}
	}
	for _, fault := range s.watch.checkLog(s.log()) {
		s.tb.Errorf("log: %s", fault)
	}
}

// log is what the server has logged, in all its runs.
func (s *script) log() string { return s.earlier + s.server.stderr.String() }

// start starts the server unless it runs.
func (s *script) start() error {
	if s.server != nil && !s.expected {
		return nil
	}
	args := []string{
		"serve", "--addr=127.0.0.1:0", "--ledger=" + s.Getenv("MODELDEX_LEDGER"),
		"--log-level=debug", "--log-format=json",
		"--dumps=off", // they take more than all else a script asks for
	}
	if s.data != "" {
		args = append(args, "--data="+s.data)
	}
	if tiers := s.Getenv("MODELDEX_TIERS"); tiers != "" {
		args = append(args, "--tiers="+tiers)
	}
	if s.server != nil {
		s.earlier += s.server.stderr.String()
	}
	s.server, s.expected = launch(s.tb, s.Getenv("WORK"), nil, append(args, s.flags...)...), false
	err := s.server.awaitServing()
	s.Setenv("ADDR", s.server.addr)
	return err
}

func (s *script) setFlags(args []string) error {
	if s.server != nil && !s.expected {
		return errors.New("the server runs already")
	}
	s.flags = args
	return nil
}

// setData is "dataset shipped", "dataset records" (the shipped one without its snapshots, which take longer to check
// than all else to load), "dataset copy" (of the small one, as $DATA) or "dataset embedded".
func (s *script) setData(args []string) error {
	switch strings.Join(args, " ") {
	case "shipped":
		s.data = filepath.Join(s.Getenv("HERE"), "..", "..", "data")
	case "records":
		dir, err := recordsOnly()
		if err != nil {
			return err
		}
		s.data = dir
	case "copy":
		dir := s.MkAbs("data")
		s.Setenv("DATA", dir)
		if err := os.CopyFS(dir, os.DirFS(s.data)); err != nil {
			return err
		}
		s.data = dir
	case "embedded":
		s.data = ""
	default:
		return fmt.Errorf("unknown dataset %q", args)
	}
	return nil
}

// setTiers is "tiers built-in" or "tiers FILE".
func (s *script) setTiers(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: tiers built-in | FILE")
	}
	file := ""
	if args[0] != "built-in" {
		file = s.MkAbs(args[0])
	}
	s.Setenv("MODELDEX_TIERS", file)
	return nil
}

// expand is "expand FROM TO": a copy with saved values in the place of ${name}.
func (s *script) expand(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: expand FROM TO")
	}
	return writeFile(s.MkAbs(args[1]), []byte(os.Expand(s.ReadFile(args[0]), s.Getenv)))
}

// replace is "replace FILE OLD NEW", once.
func (s *script) replace(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: replace FILE OLD NEW")
	}
	text := s.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		return fmt.Errorf("%s does not have %q", args[0], args[1])
	}
	return os.WriteFile(s.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600)
}

// shutdown ends the server as an operator does; its exit code must be 0.
func (s *script) shutdown([]string) error {
	s.expected = true
	if code, err := s.server.stop(); err != nil || code != 0 {
		return fmt.Errorf("the server ended with %d: %w", code, err)
	}
	return nil
}

func (s *script) restart([]string) error {
	if err := s.shutdown(nil); err != nil {
		return err
	}
	return s.start()
}

// crash ends the server without warning. Counts may be higher afterwards, never lower.
func (s *script) crash([]string) error {
	s.expected = true
	s.server.kill()
	s.watch.forget()
	return nil
}

var signals = map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}

func (s *script) signal(args []string) error {
	name := strings.Join(args, " ")
	sig, ok := signals[name]
	if !ok {
		return fmt.Errorf("unknown signal %q", name)
	}
	if err := s.start(); err != nil {
		return err
	}
	s.expected = name != "HUP"
	return s.server.signal(sig)
}

// ends is "ends CODE": the server ends by itself.
func (s *script) ends(args []string) error {
	code, err := s.server.wait()
	if err != nil {
		return err
	}
	return judge("the exit code", strconv.Itoa(code), args)
}

func (s *script) checkLog(args []string) error { return judge("the log", s.log(), args) }

func (s *script) secret(args []string) error {
	for _, text := range args {
		s.watch.secret(text)
	}
	return nil
}

// exits is "exits CODE PROGRAM ARGS...": the program ends with that code.
func (s *script) exits(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: exits CODE PROGRAM [ARG]")
	}
	code, failed := 0, (*exec.ExitError)(nil)
	if err := s.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else if err != nil {
		return err
	}
	return judge("the exit code", strconv.Itoa(code), args[:1])
}

// key returns the key of that name; the first use of a name signs up for it.
func (s *script) key(name string) (string, error) {
	if secret := s.Getenv(name); secret != "" {
		return secret, nil
	}
	email := name + "@example.com"
	s.watch.secret(email)
	a, err := s.fetch(asked{
		method: "POST", path: "/api/v1/keys", header: http.Header{"Content-Type": {"application/json"}},
		body: fmt.Appendf(nil, `{"name":%q,"email":%q,"use_case":"script tests"}`, name, email),
	})
	if err != nil {
		return "", err
	}
	if a.status != http.StatusCreated {
		return "", fmt.Errorf("signing up as %s: status %d: %s", name, a.status, a.body)
	}
	secret, err := lookJSON(a.body, "data.key")
	if err != nil {
		return "", err
	}
	s.Setenv(name, fmt.Sprint(secret))
	return s.Getenv(name), nil
}

// fetch sends a request and checks its response against the rules no script repeats.
func (s *script) fetch(q asked) (*answer, error) {
	if err := s.start(); err != nil {
		return nil, err
	}
	a, err := fetch(s.transport, s.server.addr, q)
	if err != nil {
		return nil, err
	}
	return a, s.see(a)
}

// see checks a response against the rules no script repeats.
func (s *script) see(a *answer) error {
	if faults := append(checkAnswer(a), s.watch.see(a)...); len(faults) > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}
	return nil
}

func (s *script) send(q asked) error {
	a, err := s.fetch(q)
	if a != nil {
		s.last = a
	}
	return err
}

// ask is "METHOD PATH [as NAME] [with HEADER]... [send BODY]".
func (s *script) ask(args []string) error {
	if len(args) < 2 || len(args)%2 != 0 {
		return errors.New("usage: METHOD PATH [as NAME] [with 'HEADER: VALUE']... [send BODY]")
	}
	q := asked{method: args[0], path: args[1], header: http.Header{}}
	for i := 2; i < len(args); i += 2 {
		switch word, value := args[i], args[i+1]; word {
		case "as":
			secret, err := s.key(value)
			if err != nil {
				return err
			}
			q.header.Set("Authorization", "Bearer "+secret)
		case "with":
			name, text, ok := strings.Cut(value, ":")
			if !ok {
				return fmt.Errorf("header %q has no colon", value)
			}
			q.header.Add(name, strings.TrimSpace(text))
		case "send":
			q.body = []byte(value)
		default:
			return fmt.Errorf("unknown word %q", word)
		}
	}
	if q.body != nil && q.header.Get("Content-Type") == "" {
		q.header.Set("Content-Type", "application/json")
	}
	return s.send(q)
}

var errNoRequest = errors.New("no request was sent")

func (s *script) answered() error {
	if s.last == nil {
		return errNoRequest
	}
	return nil
}

func (s *script) again([]string) error {
	if err := s.answered(); err != nil {
		return err
	}
	return s.send(s.last.asked)
}

// until is "until STATUS at most N": the request is repeated until it gets that status.
func (s *script) until(args []string) error {
	var status, most int
	if _, err := fmt.Sscanf(strings.Join(args, " "), "%d at most %d", &status, &most); err != nil {
		return err
	}
	for range most {
		if s.last.status == status {
			return nil
		}
		if err := s.again(nil); err != nil {
			return err
		}
	}
	return s.status([]string{strconv.Itoa(status)})
}

// sleep is "sleep retry-after": the time the last response told to wait.
func (s *script) sleep([]string) error {
	if err := s.answered(); err != nil {
		return err
	}
	seconds, err := strconv.Atoi(s.last.header.Get("Retry-After"))
	if err != nil || seconds > 10 {
		return fmt.Errorf("cannot wait Retry-After %q", s.last.header.Get("Retry-After"))
	}
	time.Sleep(time.Duration(seconds) * time.Second)
	return nil
}

// await is "await log TEXT", or "await json PATH RULE": the last request is repeated.
func (s *script) await(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "log":
		err := s.server.stderr.await(s.server.ended, func(log string) bool { return strings.Contains(log, args[1]) })
		if err != nil {
			return fmt.Errorf("%w\n%s", err, s.server.stderr)
		}
		return nil
	case len(args) < 3 || args[0] != "json":
		return errors.New("usage: await log TEXT | await json PATH RULE")
	}
	for limit := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := s.json(args[1:])
		if err == nil || time.Now().After(limit) {
			return err
		}
		if err := s.again(nil); err != nil {
			return err
		}
	}
}

// repeat is "repeat NAME TEXT N": $NAME is the text N times.
func (s *script) repeat(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: repeat NAME TEXT N")
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	s.Setenv(args[0], strings.Repeat(args[1], n))
	return nil
}

// save is "save NAME json PATH", "save NAME header HEADER", "save NAME stdout": the value is
// $NAME; or "save NAME body": the file NAME.
func (s *script) save(args []string) error {
	args = append(args, "", "")
	name, kind, what := args[0], args[1], args[2]
	if kind == "stdout" {
		s.Setenv(name, strings.TrimSpace(s.ReadFile("stdout")))
		return nil
	}
	if err := s.answered(); err != nil {
		return err
	}
	value := ""
	switch kind {
	case "json":
		v, err := lookJSON(s.last.body, what)
		if err != nil {
			return err
		}
		value = show(v)
	case "header":
		value = s.last.header.Get(what)
	case "body":
		return os.WriteFile(s.MkAbs(name), bytes.Clone(s.last.body), 0o600)
	default:
		return fmt.Errorf("cannot save %q", kind)
	}
	if value == "" {
		return fmt.Errorf("%s is empty", name)
	}
	s.Setenv(name, value)
	return nil
}
