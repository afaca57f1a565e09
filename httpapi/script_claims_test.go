package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// judge compares a text with a rule: one word is the text itself, "empty" or "present"; two are
// "is", "contains", "lacks", "starts" or "matches" (a regular expression) and a value.
func judge(what, got string, rule []string) error {
	ok := false
	switch {
	case len(rule) == 1 && rule[0] == "empty":
		ok = got == ""
	case len(rule) == 1 && rule[0] == "present":
		ok = got != ""
	case len(rule) == 1:
		ok = got == rule[0]
	case len(rule) == 2:
		value := rule[1]
		switch rule[0] {
		case "is":
			ok = got == value
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
		default:
			return fmt.Errorf("unknown rule %q", rule)
		}
	default:
		return fmt.Errorf("unknown rule %q", rule)
	}
	if !ok {
		return fmt.Errorf("%s is %.1500q, want: %s", what, got, strings.Join(rule, " "))
	}
	return nil
}

func (s *script) status(rule []string) error {
	if err := s.answered(); err != nil {
		return err
	}
	return judge("status", strconv.Itoa(s.last.status), rule)
}

// header is "header NAME RULE", or "! header NAME": it was not sent.
func (s *script) header(neg bool, args []string) error {
	if err := s.answered(); err != nil {
		return err
	}
	if len(args) == 0 || neg != (len(args) == 1) {
		return errors.New("usage: header NAME RULE | ! header NAME")
	}
	name := http.CanonicalHeaderKey(args[0])
	if values, sent := s.last.header[name]; neg && sent {
		return fmt.Errorf("header %s is %q, want none", name, values)
	}
	if neg {
		return nil
	}
	return judge("header "+name, s.last.header.Get(name), args[1:])
}

// json is "json PATH RULE"; beside the rules of texts there are absent, "type T", "count N",
// "all RULE", "holds VALUE", rising and falling.
func (s *script) json(args []string) error {
	if err := s.answered(); err != nil {
		return err
	}
	if len(args) < 2 {
		return errors.New("usage: json PATH RULE")
	}
	path, rule := args[0], args[1:]
	v, err := lookJSON(s.last.body, path)
	if nothing := (errNothing{}); rule[0] == "absent" && errors.As(err, &nothing) {
		return nil
	}
	if err != nil {
		return err
	}
	list, isList := v.([]any)
	switch rule[0] {
	case "absent":
		return fmt.Errorf("%s is %s, want it absent", path, show(v))
	case "type":
		return judge("the type of "+path, typeOf(v), rule[1:])
	case "count":
		return judge("the count of "+path, strconv.Itoa(len(list)), rule[1:])
	case "all":
		return judgeAll(path, list, rule[1:])
	case "rising", "falling":
		if isList && ordered(list, rule[0] == "falling") {
			return nil
		}
		return fmt.Errorf("%s is %s, want it %s", path, show(v), rule[0])
	case "holds":
		if len(rule) == 2 && slices.ContainsFunc(list, func(e any) bool { return show(e) == rule[1] }) {
			return nil
		}
		return fmt.Errorf("%s is %s, want it to hold %s", path, show(v), rule[1:])
	}
	return judge(path, show(v), rule)
}

func judgeAll(path string, list []any, rule []string) error {
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

func (s *script) body(rule []string) error {
	if err := s.answered(); err != nil {
		return err
	}
	return judge("the body", string(s.last.body), rule)
}

// equal is "equal A B".
func (s *script) equal(neg bool, args []string) error {
	if len(args) == 2 && (args[0] == args[1]) != neg {
		return nil
	}
	return fmt.Errorf("compared %q", args)
}

// perAnswer are the headers that differ between two responses to the same request.
var perAnswer = []string{"Date", "X-Request-Id", "X-Ratelimit-Remaining", "Ratelimit", "Content-Length"}

// head is "head agrees": HEAD of the same address has the same status and headers, also with a range,
// which no method but GET has.
func (s *script) head([]string) error {
	if err := s.answered(); err != nil {
		return err
	}
	get, q := s.last, s.last.asked
	q.method, q.header = http.MethodHead, q.header.Clone()
	q.header.Set("Range", "bytes=0-0")
	if err := s.send(q); err != nil {
		return err
	}
	if s.last.status != get.status {
		return fmt.Errorf("HEAD has status %d, GET %d", s.last.status, get.status)
	}
	for name := range get.header {
		if a, b := get.header.Get(name), s.last.header.Get(name); a != b && !slices.Contains(perAnswer, name) {
			return fmt.Errorf("%s is %q for HEAD, %q for GET", name, b, a)
		}
	}
	// The body of an error holds the request's id, so that its length is its own.
	if a, b := get.header.Get("Content-Length"), s.last.header.Get("Content-Length"); a != b {
		return fmt.Errorf("Content-Length is %q for HEAD, %q for GET", b, a)
	}
	return nil
}

// decoded is "decoded like identity": the body is the one sent to a client that names no coding, under another tag.
func (s *script) decoded([]string) error {
	if err := s.answered(); err != nil {
		return err
	}
	coded, q := s.last, s.last.asked
	q.header = q.header.Clone()
	q.header.Del("Accept-Encoding")
	if err := s.send(q); err != nil {
		return err
	}
	if !bytes.Equal(coded.body, s.last.body) || s.last.header.Get("Content-Encoding") != "" {
		return fmt.Errorf("the decoded body is not that of identity: %d and %d bytes", len(coded.body), len(s.last.body))
	}
	if a, b := coded.header.Get("ETag"), s.last.header.Get("ETag"); (a == b) != (coded.header.Get("Content-Encoding") == "") {
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

// walk follows links.next to the end.
func (s *script) walk([]string) error {
	if err := s.answered(); err != nil {
		return err
	}
	s.walked = &listWalk{}
	for {
		var l listEnvelope
		if err := json.Unmarshal(s.last.body, &l); err != nil || s.last.status != http.StatusOK {
			return fmt.Errorf("a page has status %d: %s", s.last.status, s.last.body)
		}
		if err := s.walked.add(&l); err != nil {
			return err
		}
		if l.Links.Next == nil {
			if len(s.walked.names) != *l.Meta.Total {
				return fmt.Errorf("walked %d records, total is %d", len(s.walked.names), *l.Meta.Total)
			}
			return nil
		}
		q := s.last.asked
		q.path = *l.Links.Next
		if err := s.send(q); err != nil {
			return err
		}
	}
}

// checkWalk is "walked N records", "walked N pages" or "walked names RULE".
func (s *script) checkWalk(args []string) error {
	if s.walked == nil {
		return errors.New("no list was walked")
	}
	if len(args) > 1 && args[0] == "names" {
		return judge("the walk", strings.Join(s.walked.names, " "), args[1:])
	}
	var n int
	var what string
	if _, err := fmt.Sscanf(strings.Join(args, " "), "%d %s", &n, &what); err != nil {
		return err
	}
	if got := map[string]int{"records": len(s.walked.names), "pages": s.walked.pages}[what]; got != n {
		return fmt.Errorf("walked %d %s, want %d", got, what, n)
	}
	return nil
}
