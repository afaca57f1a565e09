package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// scriptVerb carries out a line that begins with it. A modifying verb adds to the request that
// is being described, all others have it sent first.
type scriptVerb struct {
	modifies bool
	run      func(r *runner, rest string, block []string) error
}

// scriptVerbs is every verb; testdata/scripts/README.md explains them in this order.
var scriptVerbs map[string]scriptVerb

func init() { // a verb may use others, which as an initial value would be a cycle
	scriptVerbs = map[string]scriptVerb{
		"as":   {true, (*runner).verbAs},
		"with": {true, (*runner).verbWith},
		"send": {true, (*runner).verbSend},

		"status":  {false, (*runner).verbStatus},
		"header":  {false, (*runner).verbHeader},
		"no":      {false, (*runner).verbNo},
		"json":    {false, (*runner).verbJSON},
		"body":    {false, (*runner).verbBody},
		"save":    {false, (*runner).verbSave},
		"equal":   {false, (*runner).verbEqual},
		"again":   {false, (*runner).verbAgain},
		"until":   {false, (*runner).verbUntil},
		"wait":    {false, (*runner).verbWait},
		"head":    {false, (*runner).verbHead},
		"decoded": {false, (*runner).verbDecoded},
		"walk":    {false, (*runner).verbWalk},
		"walked":  {false, (*runner).verbWalked},

		"raw":     {false, (*runner).verbRaw},
		"open":    {false, (*runner).verbOpen},
		"hears":   {false, (*runner).verbHears},
		"finish":  {false, (*runner).verbFinish},
		"answers": {false, (*runner).verbAnswers},
		"wire":    {false, (*runner).verbWire},

		"server":  {false, (*runner).verbServer},
		"dataset": {false, (*runner).verbDataset},
		"tiers":   {false, (*runner).verbTiers},
		"file":    {false, (*runner).verbFile},
		"replace": {false, (*runner).verbReplace},
		"remove":  {false, (*runner).verbRemove},
		"start":   {false, func(r *runner, _ string, _ []string) error { return r.start() }},
		"stop":    {false, (*runner).verbStop},
		"restart": {false, (*runner).verbRestart},
		"kill":    {false, (*runner).verbKill},
		"signal":  {false, (*runner).verbSignal},
		"ends":    {false, (*runner).verbEnds},
		"await":   {false, (*runner).verbAwait},
		"log":     {false, func(r *runner, rest string, _ []string) error { return judge("the log", r.log(), rest) }},
		"secret":  {false, func(r *runner, rest string, _ []string) error { r.watch.secret(rest); return nil }},

		"run":    {false, (*runner).verbRun},
		"exit":   {false, (*runner).verbExit},
		"stdout": {false, func(r *runner, rest string, _ []string) error { return judge("stdout", r.program.stdout, rest) }},
		"stderr": {false, func(r *runner, rest string, _ []string) error { return judge("stderr", r.program.stderr, rest) }},
	}
}

var errNoRequest = errors.New("no request has been described")

func (r *runner) verbAs(name string, _ []string) error {
	if r.pending == nil {
		return errNoRequest
	}
	q := r.pending
	secret, err := r.key(name)
	if err != nil {
		return err
	}
	q.header.Set("Authorization", "Bearer "+secret)
	return nil
}

func (r *runner) verbWith(rest string, _ []string) error {
	name, value, ok := strings.Cut(rest, ":")
	if r.pending == nil || !ok {
		return errNoRequest
	}
	r.pending.header.Add(name, strings.TrimSpace(value))
	return nil
}

func (r *runner) verbSend(rest string, block []string) error {
	if r.pending == nil {
		return errNoRequest
	}
	if r.pending.body = []byte(rest); rest == "" {
		r.pending.body = []byte(strings.Join(block, "\n"))
	}
	if r.pending.header.Get("Content-Type") == "" {
		r.pending.header.Set("Content-Type", "application/json")
	}
	return nil
}

func (r *runner) answered() error {
	if r.last == nil {
		return errNoRequest
	}
	return nil
}

func (r *runner) verbStatus(rest string, _ []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	return judge("status", strconv.Itoa(r.last.status), rest)
}

// judge compares a text with what a line says of it: "is x", "contains x", "lacks x",
// "matches regexp", "starts x", "empty", "present", or the text itself. Quotes around the
// value are optional.
func judge(what, got, rule string) error {
	verb, literal, _ := strings.Cut(rule, " ")
	value := unquoted(literal)
	ok := false
	switch verb {
	case "is":
		ok = got == value || got == literal
	case "contains":
		ok = strings.Contains(got, value)
	case "lacks":
		ok = !strings.Contains(got, value)
	case "starts":
		ok = strings.HasPrefix(got, value)
	case "matches":
		re, err := regexp.Compile(value)
		if err != nil {
			return err
		}
		ok = re.MatchString(got)
	case "empty":
		ok = got == ""
	case "present":
		ok = got != ""
	default:
		rule, ok = "is "+rule, got == unquoted(rule) || got == rule
	}
	if !ok {
		return fmt.Errorf("%s is %.1500q, want: %s", what, got, rule)
	}
	return nil
}

func unquoted(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

func (r *runner) verbHeader(rest string, _ []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	name, rule, _ := strings.Cut(rest, " ")
	return judge("header "+name, r.last.header.Get(name), rule)
}

// verbNo is "no header NAME".
func (r *runner) verbNo(rest string, _ []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	kind, name, _ := strings.Cut(rest, " ")
	if _, have := r.last.header[http.CanonicalHeaderKey(name)]; kind != "header" || have {
		return fmt.Errorf("header %s is %q, want none", name, r.last.header.Get(name))
	}
	return nil
}

func (r *runner) verbJSON(rest string, _ []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	path, rule, _ := strings.Cut(rest, " ")
	v, err := lookJSON(r.last.body, path)
	if nothing := (errNothing{}); rule == "absent" && errors.As(err, &nothing) {
		return nil
	}
	if err != nil {
		return err
	}
	verb, value, _ := strings.Cut(rule, " ")
	list, isList := v.([]any)
	switch verb {
	case "absent":
		return fmt.Errorf("%s is %s, want it absent", path, show(v))
	case "type":
		return judge("the type of "+path, typeOf(v), value)
	case "count":
		return judge("the count of "+path, strconv.Itoa(len(list)), value)
	case "all":
		return judgeAll(path, list, value)
	case "rising", "falling":
		if isList && ordered(list, verb == "falling") {
			return nil
		}
		return fmt.Errorf("%s is %s, want it %s", path, show(v), verb)
	case "holds":
		if slices.ContainsFunc(list, func(e any) bool { return show(e) == unquoted(value) }) {
			return nil
		}
		return fmt.Errorf("%s is %s, want it to hold %s", path, show(v), value)
	}
	return judge(path, show(v), rule)
}

func judgeAll(path string, list []any, rule string) error {
	if len(list) == 0 {
		return fmt.Errorf("%s is empty", path)
	}
	for i, v := range list {
		if err := judge(fmt.Sprintf("%s [%d]", path, i), show(v), rule); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) verbBody(rest string, _ []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	return judge("the body", string(r.last.body), rest)
}

// verbSave is "save NAME json PATH", "save NAME header NAME", "save NAME body" or "save NAME
// text TEXT".
func (r *runner) verbSave(rest string, _ []string) error {
	parts := append(strings.SplitN(rest, " ", 3), "", "")
	name, kind, what := parts[0], parts[1], parts[2]
	if kind == "text" {
		r.vars[name] = what
		return nil
	}
	if kind == "stdout" {
		r.vars[name] = strings.TrimSpace(r.program.stdout)
		return nil
	}
	if err := r.answered(); err != nil {
		return err
	}
	switch kind {
	case "json":
		v, err := lookJSON(r.last.body, what)
		if err != nil {
			return err
		}
		r.vars[name] = show(v)
	case "header":
		r.vars[name] = r.last.header.Get(what)
	case "body":
		r.vars[name] = string(r.last.body)
	default:
		return fmt.Errorf("cannot save %q", kind)
	}
	if r.vars[name] == "" {
		return fmt.Errorf("%s is empty", name)
	}
	return nil
}

// verbEqual is "equal A B" or "equal A not B", of saved values.
func (r *runner) verbEqual(rest string, _ []string) error {
	f := strings.Fields(rest)
	if len(f) == 2 && f[0] == f[1] || len(f) == 3 && f[1] == "not" && f[0] != f[2] {
		return nil
	}
	return fmt.Errorf("compared %q", f)
}

func (r *runner) verbAgain(string, []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	return r.send(r.last.asked)
}

// verbUntil is "until STATUS at most N": the request is repeated until it is answered so.
func (r *runner) verbUntil(rest string, block []string) error {
	var status, most int
	if _, err := fmt.Sscanf(rest, "%d at most %d", &status, &most); err != nil {
		return err
	}
	for range most {
		if r.last.status == status {
			return nil
		}
		if err := r.verbAgain("", block); err != nil {
			return err
		}
	}
	return r.verbStatus(strconv.Itoa(status), nil)
}

// verbWait is "wait retry-after": the time the last answer told to wait.
func (r *runner) verbWait(string, []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	seconds, err := strconv.Atoi(r.last.header.Get("Retry-After"))
	if err != nil || seconds > 10 {
		return fmt.Errorf("cannot wait Retry-After %q", r.last.header.Get("Retry-After"))
	}
	time.Sleep(time.Duration(seconds) * time.Second)
	return nil
}

// perAnswer are the headers that differ between two answers to the same request.
var perAnswer = []string{"Date", "X-Request-Id", "X-Ratelimit-Remaining", "Ratelimit", "Content-Length"}

// verbHead is "head agrees": HEAD of the same address has the same status and headers.
func (r *runner) verbHead(string, []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	get, q := r.last, r.last.asked
	q.method = http.MethodHead
	if err := r.send(q); err != nil {
		return err
	}
	if r.last.status != get.status {
		return fmt.Errorf("HEAD is answered %d, GET %d", r.last.status, get.status)
	}
	for name := range get.header {
		if a, b := get.header.Get(name), r.last.header.Get(name); a != b && !slices.Contains(perAnswer, name) {
			return fmt.Errorf("%s is %q for HEAD, %q for GET", name, b, a)
		}
	}
	// The body of an error holds the request's id, so that its length is its own.
	if a, b := get.header.Get("Content-Length"), r.last.header.Get("Content-Length"); a != b {
		return fmt.Errorf("Content-Length is %q for HEAD, %q for GET", b, a)
	}
	return nil
}

// verbDecoded is "decoded like identity": the body is the one sent to a client that names no
// coding, under another tag.
func (r *runner) verbDecoded(string, []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	coded, q := r.last, r.last.asked
	q.header = q.header.Clone()
	q.header.Del("Accept-Encoding")
	if err := r.send(q); err != nil {
		return err
	}
	if !bytes.Equal(coded.body, r.last.body) || r.last.header.Get("Content-Encoding") != "" {
		return fmt.Errorf("the decoded body is not that of identity: %d and %d bytes", len(coded.body), len(r.last.body))
	}
	if a, b := coded.header.Get("ETag"), r.last.header.Get("ETag"); (a == b) != (coded.header.Get("Content-Encoding") == "") {
		return fmt.Errorf("ETag is %s coded and %s plain", a, b)
	}
	return nil
}

// listWalk is a list read page by page to its end.
type listWalk struct {
	records []json.RawMessage
	names   []string
	seen    map[string]bool
	pages   int
}

// nameOf is the slug of a record, the id of a benchmark. It is the first field of a row, so a row
// is rarely decoded for it.
func nameOf(row []byte) string {
	for _, field := range []string{`{"slug":"`, `{"id":"`} {
		if rest, ok := bytes.CutPrefix(row, []byte(field)); ok {
			if name, _, ok := bytes.Cut(rest, []byte{'"'}); ok && bytes.IndexByte(name, '\\') < 0 {
				return string(name)
			}
		}
	}
	var rec struct{ Slug, ID string }
	if json.Unmarshal(row, &rec) != nil {
		return ""
	}
	return rec.Slug + rec.ID
}

func (w *listWalk) add(l *listEnvelope) error {
	if w.pages++; w.seen == nil {
		w.seen = map[string]bool{}
	}
	for _, row := range l.Data {
		name := nameOf(row)
		if w.seen[name] {
			return fmt.Errorf("%s comes twice", name)
		}
		w.seen[name] = true
		w.records, w.names = append(w.records, row), append(w.names, name)
	}
	return nil
}

// verbWalk follows links.next to the end.
func (r *runner) verbWalk(string, []string) error {
	if err := r.answered(); err != nil {
		return err
	}
	r.walked = &listWalk{}
	for {
		var l listEnvelope
		if err := json.Unmarshal(r.last.body, &l); err != nil || r.last.status != http.StatusOK {
			return fmt.Errorf("a page is answered %d: %s", r.last.status, r.last.body)
		}
		if err := r.walked.add(&l); err != nil {
			return err
		}
		if l.Links.Next == nil {
			if len(r.walked.names) != *l.Meta.Total {
				return fmt.Errorf("walked %d records, total is %d", len(r.walked.names), *l.Meta.Total)
			}
			return nil
		}
		q := r.last.asked
		q.path = *l.Links.Next
		if err := r.send(q); err != nil {
			return err
		}
	}
}

// verbWalked is "walked N records", "walked N pages" or "walked the same as NAME" after "save
// NAME" of an earlier walk's names with "walked save NAME".
func (r *runner) verbWalked(rest string, _ []string) error {
	if r.walked == nil {
		return errors.New("no list was walked")
	}
	names := strings.Join(r.walked.names, " ")
	if name, ok := strings.CutPrefix(rest, "save "); ok {
		r.vars[name] = names
		return nil
	}
	if list, ok := strings.CutPrefix(rest, "names "); ok {
		return judge("the walk", names, list)
	}
	var n int
	var what string
	if _, err := fmt.Sscanf(rest, "%d %s", &n, &what); err != nil {
		return err
	}
	if got := map[string]int{"records": len(r.walked.names), "pages": r.walked.pages}[what]; got != n {
		return fmt.Errorf("walked %d %s, want %d", got, what, n)
	}
	return nil
}

func (r *runner) verbServer(rest string, _ []string) error {
	if r.server != nil && !r.expected {
		return errors.New("the server runs already")
	}
	r.flags = strings.Fields(rest)
	return nil
}

// verbDataset is "dataset shipped", "dataset records" (the shipped one without its snapshots, which
// take longer to check than all else to load), "dataset copy" (of the small one, as $DATA) or
// "dataset embedded".
func (r *runner) verbDataset(rest string, _ []string) error {
	switch rest {
	case "shipped":
		r.data = filepath.Join(r.vars["HERE"], "..", "..", "data")
	case "records":
		dir, err := recordsOnly()
		if err != nil {
			return err
		}
		r.data = dir
	case "copy":
		r.vars["DATA"] = filepath.Join(r.dir, "data")
		if err := os.CopyFS(r.vars["DATA"], os.DirFS(r.data)); err != nil {
			return err
		}
		r.data = r.vars["DATA"]
	case "embedded":
		r.data = ""
	default:
		return fmt.Errorf("no such dataset: %q", rest)
	}
	return nil
}

// verbTiers is "tiers built in", or the tiers of the block.
func (r *runner) verbTiers(rest string, block []string) error {
	if r.tiers = ""; rest == "built in" {
		return nil
	}
	r.tiers = filepath.Join(r.dir, "tiers.json")
	return os.WriteFile(r.tiers, []byte(strings.Join(block, "\n")), 0o600)
}

func (r *runner) verbFile(name string, block []string) error {
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(strings.Join(block, "\n")+"\n"), 0o600)
}

// verbReplace is "replace FILE", then the old text and the new in the block.
func (r *runner) verbReplace(name string, block []string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if len(block) != 2 || !bytes.Contains(text, []byte(block[0])) {
		return fmt.Errorf("%s does not hold %q", name, block)
	}
	return os.WriteFile(name, bytes.Replace(text, []byte(block[0]), []byte(block[1]), 1), 0o600)
}

func (r *runner) verbRemove(name string, _ []string) error { return os.RemoveAll(name) }

// verbStop ends the server as an operator does; it must end with 0.
func (r *runner) verbStop(string, []string) error {
	r.expected = true
	if code, err := r.server.stop(); err != nil || code != 0 {
		return fmt.Errorf("the server ended with %d: %w", code, err)
	}
	return nil
}

func (r *runner) verbRestart(string, []string) error {
	if err := r.verbStop("", nil); err != nil {
		return err
	}
	return r.start()
}

// verbKill ends the server as a crash does. Counts may be higher afterwards, never lower.
func (r *runner) verbKill(string, []string) error {
	r.expected = true
	r.server.kill()
	r.watch.forget()
	return nil
}

var signals = map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}

func (r *runner) verbSignal(name string, _ []string) error {
	sig, ok := signals[name]
	if !ok {
		return fmt.Errorf("no such signal: %q", name)
	}
	if err := r.start(); err != nil {
		return err
	}
	r.expected = name != "HUP"
	return r.server.signal(sig)
}

// verbEnds is "ends CODE": the server ends by itself.
func (r *runner) verbEnds(rest string, _ []string) error {
	code, err := r.server.wait()
	if err == nil {
		err = judge("the exit code", strconv.Itoa(code), rest)
	}
	return err
}

// verbAwait is "await log TEXT", or "await json PATH RULE": the last request is repeated.
func (r *runner) verbAwait(rest string, _ []string) error {
	if text, ok := strings.CutPrefix(rest, "log "); ok {
		if err := r.server.stderr.await(r.server.ended, func(log string) bool { return strings.Contains(log, unquoted(text)) }); err != nil {
			return fmt.Errorf("%w\n%s", err, r.server.stderr)
		}
		return nil
	}
	rule, ok := strings.CutPrefix(rest, "json ")
	if !ok {
		return fmt.Errorf("cannot await %q", rest)
	}
	for limit := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := r.verbJSON(rule, nil)
		if err == nil || time.Now().After(limit) {
			return err
		}
		if err := r.verbAgain("", nil); err != nil {
			return err
		}
	}
}

// verbRun runs the program beside the server, on the same ledger. "run in DIR ..." does so in
// another directory, where no ledger is named for it.
func (r *runner) verbRun(rest string, _ []string) error {
	dir, env := r.dir, []string{"MODELDEX_LEDGER=" + filepath.Join(r.dir, "modeldex.db")}
	if r.tiers != "" {
		env = append(env, "MODELDEX_TIERS="+r.tiers)
	}
	if in, ok := strings.CutPrefix(rest, "in "); ok {
		dir, rest, _ = strings.Cut(in, " ")
		env = nil
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	args, err := words(rest)
	if err != nil {
		return err
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "MODELDEX_") {
		env, args = append(env, args[0]), args[1:]
	}
	r.program.stdout, r.program.stderr, r.program.code = runProgram(r.t, dir, env, args...)
	return nil
}

// words cuts a line at blanks that are not in double quotes.
func words(line string) (out []string, err error) {
	quoted, word, any := false, "", false
	for _, c := range line {
		switch {
		case c == '"':
			quoted, any = !quoted, true
		case c == ' ' && !quoted:
			if any {
				out = append(out, word)
			}
			word, any = "", false
		default:
			word, any = word+string(c), true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is open: %s", line)
	}
	if any {
		out = append(out, word)
	}
	return out, nil
}

func (r *runner) verbExit(rest string, _ []string) error {
	if err := judge("the exit code", strconv.Itoa(r.program.code), rest); err != nil {
		return fmt.Errorf("%w\nstdout: %s\nstderr: %s", err, r.program.stdout, r.program.stderr)
	}
	return nil
}
