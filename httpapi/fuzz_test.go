package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/valyala/fasthttp"

	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/index"
	"modeldex/quota"
)

// The doors strangers knock on, each asked over HTTP, so that a panic would be a 500, and each
// answer held to the rules of all answers.

// sendable makes bytes fit for a request line: what would end it is escaped, as a client does.
func sendable(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c <= ' ' || c == 0x7f || c == '#' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// scriptQueries are the query strings of all scripts, as seeds.
func scriptQueries(f *testing.F) (out []string) {
	f.Helper()
	files, err := filepath.Glob("testdata/scripts/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no scripts: %v", err)
	}
	line := regexp.MustCompile(`(?m)^GET '?/api/v1/\w+\?([^$\s']+)'?(?:[ ].*)?$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// FuzzParameters sends any query to any list. An accepted one has a canonical address that
// leads to the very same answer; a rejected one names its faults.
func FuzzParameters(f *testing.F) {
	s := newService(f, mustSmallLive(f))
	for i, q := range scriptQueries(f) {
		for r := range resources {
			if r == i%len(resources) || i < 20 {
				f.Add(uint8(r), q)
			}
		}
	}
	f.Add(uint8(0), "min_params_b=999999999999999999999999")
	f.Add(uint8(0), "max_params_b=0.0000000000000000000001")
	f.Add(uint8(0), "q=%C4%B0%20%E1%BA%9E%20%CE%A3")
	f.Add(uint8(0), "family=a,b&family=c%2Cd&family=%C5%BF")
	f.Add(uint8(3), "since=0000-01-01&until=9999-12-31")
	f.Fuzz(func(t *testing.T, which uint8, query string) {
		r := resources[int(which)%len(resources)]
		path := "/api/v1/" + r.name + "?" + sendable(query)
		a := s.ask(t, "GET", path)
		reportComplaints(t, a)
		if a.status != http.StatusOK {
			if !slices.Contains([]int{400, 401, 414, 431}, a.status) && a.code() != "tier_required" {
				t.Fatalf("GET %s: status %d: %s", path, a.status, a.body)
			}
			return
		}
		if a.header.Get("Content-Type") != jsonType {
			return // a file, which does not name its canonical address
		}
		var l listEnvelope
		if err := json.Unmarshal(a.body, &l); err != nil {
			t.Fatal(err)
		}
		again := s.ask(t, "GET", l.Links.Self)
		if slices.ContainsFunc(l.Meta.Notices, func(n Notice) bool { return n.Code == "name_resolved" }) {
			a.body, _, _ = bytes.Cut(a.body, []byte(`],"meta":{`)) // the canonical address has no name to explain
			if !bytes.HasPrefix(again.body, a.body) {
				t.Fatalf("GET %s has other rows than its canonical address %s", path, l.Links.Self)
			}
			return
		}
		if !bytes.Equal(a.body, again.body) || a.header.Get("ETag") != again.header.Get("ETag") {
			t.Fatalf("GET %s is answered\n%s, its canonical address %s\n%s", path, a.body, l.Links.Self, again.body)
		}
	})
}

// FuzzQueryMeaning parses any query, and its canonical spelling: both mean the same to the
// index, and the canonical one is its own.
func FuzzQueryMeaning(f *testing.F) {
	gen := mustSmallLive(f).Current()
	for _, q := range scriptQueries(f) {
		f.Add(uint8(0), q)
		f.Add(uint8(3), q)
	}
	f.Add(uint8(0), "min_params_b=999999999999999999999999")
	f.Add(uint8(0), "min_params_b=999999999999999999999.9")
	f.Add(uint8(0), "max_params_b=0.0000000000000000000001")
	f.Fuzz(func(t *testing.T, which uint8, query string) {
		r := resources[int(which)%len(resources)]
		first, fault := parseQuery(r, gen, query)
		if fault != nil {
			if len(fault.faults) == 0 || fault.detail == "" || fault.code.status != http.StatusBadRequest {
				t.Fatalf("%q is refused without a fault: %+v", query, fault)
			}
			return
		}
		_, canonical, _ := strings.Cut(first.canonical, "?")
		second, fault := parseQuery(r, gen, canonical)
		if fault != nil {
			t.Fatalf("the canonical form %q of %q is refused: %s", canonical, query, fault.detail)
		}
		if second.canonical != first.canonical || shownQuery(second.Query) != shownQuery(first.Query) {
			t.Fatalf("%q means %s (%s), its canonical form means %s (%s)", query, shownQuery(first.Query), first.canonical, shownQuery(second.Query), second.canonical)
		}
	})
}

func shownQuery(q index.Query) string {
	after := q.After
	q.After, q.Computed = nil, nil
	return fmt.Sprintf("%+v %+v", q, after)
}

func parseQuery(r *resource, gen *index.Generation, text string) (*listQuery, *failure) {
	var args fasthttp.Args
	args.Parse(text)
	return r.parse(query.Read(r.params, args.All()), gen, export.JSON)
}

// FuzzPath asks for any address below the data routes.
func FuzzPath(f *testing.F) {
	s := newService(f, mustSmallLive(f))
	for _, p := range []string{"models/llama-2-7b", "models/llama3.2:1b", "hardware/RTX%204090", "tools/..", "models//", "benchmarks/bm-0b1ed8e0c50c", "models/%00", "%", "models/a?b", "models/?0"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		a := s.ask(t, "GET", "/api/v1/"+sendable(p))
		if a.status == http.StatusInternalServerError || a.code() == "" && a.status >= 400 {
			t.Fatalf("GET /api/v1/%s: status %d: %s", p, a.status, a.body)
		}
		if a.status != http.StatusMovedPermanently {
			return
		}
		// An alias leads to a record at once, with the parameters of the request, which may be wrong.
		_, query, _ := strings.Cut(a.header.Get("Location"), "?")
		if b := s.ask(t, "GET", a.header.Get("Location")); b.status != http.StatusOK && (query == "" || b.status != http.StatusBadRequest) {
			t.Fatalf("GET /api/v1/%s leads to %s, which answers %d", p, a.header.Get("Location"), b.status)
		}
	})
}

// FuzzCursor forges cursors of version 2 that pass the checksum: it keeps out typing and damage, not malice.
func FuzzCursor(f *testing.F) {
	s := newService(f, mustSmallLive(f))
	for _, sort := range []string{"", "&sort=name", "&sort=-params_b"} {
		next := *s.list(f, "/api/v1/models?limit=2"+sort).Links.Next
		_, token, _ := strings.Cut(next, "cursor=")
		b, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:len(b)-8], sort)
	}
	f.Add([]byte{2}, "")
	f.Fuzz(func(t *testing.T, body []byte, sort string) {
		token := base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(slices.Clone(body), xxhash.Sum64(body)))
		for _, path := range []string{"/api/v1/models?cursor=" + token, "/api/v1/models?limit=2" + sendable(sort) + "&cursor=" + token} {
			a := s.ask(t, "GET", path)
			reportComplaints(t, a)
			if a.status != http.StatusOK && a.status != http.StatusBadRequest && a.status != http.StatusRequestURITooLong {
				t.Fatalf("GET %s: status %d: %s", path, a.status, a.body)
			}
		}
	})
}

// FuzzCursorText sends any text as a cursor.
func FuzzCursorText(f *testing.F) {
	s := newService(f, mustSmallLive(f))
	for _, token := range []string{"abc", "", "====", "AQ", strings.Repeat("A", 600), "\xff", "a b", " "} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		a := s.ask(t, "GET", "/api/v1/tools?cursor="+url.QueryEscape(token))
		reportComplaints(t, a)
		if code := a.code(); code != "invalid_cursor" && code != "cursor_mismatch" && code != "uri_too_long" && (strings.TrimSpace(token) != "" || code != "invalid_parameter") {
			t.Fatalf("cursor %q: status %d: %s", token, a.status, a.body)
		}
	})
}

// FuzzAuthorization lets in who brings the key in the documented form, and nobody else.
func FuzzAuthorization(f *testing.F) {
	s := newService(f, mustSmallLive(f))
	for _, h := range []string{"Bearer KEY", "bearer  KEY ", "BEARER KEY", "KEY", "Bearer", "Bearer KEY x", "Basic KEY", "Bearer\tKEY", "Bearer mdx_x", "", "Bearer KEY, Bearer KEY"} {
		f.Add(h)
	}
	right := regexp.MustCompile(`(?i)^ *bearer +` + `(?-i:` + s.secret + `) *$`)
	f.Fuzz(func(t *testing.T, header string) {
		header = strings.ReplaceAll(header, "KEY", s.secret)
		if strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(header) > 8000 {
			t.Skip("no client sends control characters")
		}
		a := s.ask(t, "GET", "/api/v1/tools?limit=1", "Authorization", header)
		reportComplaints(t, a)
		want := http.StatusUnauthorized
		if right.MatchString(header) {
			want = http.StatusOK
		}
		if a.status != want {
			t.Fatalf("Authorization %q: status %d, want %d", header, a.status, want)
		}
		if bytes.Contains(a.body, []byte(s.secret)) {
			t.Fatalf("the answer holds the key: %s", a.body)
		}
	})
}

// FuzzKeyBody sends any body to the sign-up. A key is issued for a JSON object of the three
// texts only, and no answer repeats what was sent.
func FuzzKeyBody(f *testing.F) {
	s := newService(f, mustSmallLive(f))
	for _, body := range []string{
		`{"name":"n","email":"a@example.org","use_case":"x"}`, `{"name":"n","email":"b@example.org","use_case":"x","more":1}`,
		`{}`, `[]`, `null`, `"`, `{"name":"n","name":"n"}`, `{"name":1}`, "\xff", `{"name":"\ud800","email":"c@example.org","use_case":"x"}`,
		`{"NAME":"n","email":"a@example.org","use_case":"x"}`, strings.Repeat("[", 4000), `{"name":"n","email":"a@example.org","use_case":"x"}x`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := fetch(s.transport, "service", asked{method: "POST", path: "/api/v1/keys", header: http.Header{"Content-Type": {"application/json"}}, body: body})
		if err != nil {
			t.Fatal(err)
		}
		reportComplaints(t, a)
		var fields map[string]json.RawMessage
		var person struct {
			Name, Email string
			UseCase     string `json:"use_case"`
		}
		wellFormed := json.Unmarshal(body, &fields) == nil && json.Unmarshal(body, &person) == nil
		if a.status == http.StatusCreated {
			if !wellFormed || len(fields) != 3 || person.Name == "" || person.UseCase == "" || !strings.Contains(person.Email, "@") {
				t.Fatalf("a key was issued for %q", body)
			}
			checkIssued(t, s, a.body)
		} else if !slices.Contains([]int{400, 413}, a.status) {
			t.Fatalf("%q: status %d: %s", body, a.status, a.body)
		}
		if len(person.Email) > 5 && bytes.Contains(a.body, []byte(person.Email)) {
			t.Fatalf("the answer to %q repeats the address: %s", body, a.body)
		}
	})
}

func checkIssued(t *testing.T, s *service, body []byte) {
	t.Helper()
	var issued struct {
		Data struct{ Key string }
	}
	if err := json.Unmarshal(body, &issued); err != nil {
		t.Fatal(err)
	}
	digest, ok := quota.ParseKey(issued.Data.Key, s.keeper.KeyPrefix())
	if _, verdict, err := s.keeper.Self(context.Background(), digest); !ok || err != nil || verdict != quota.Admitted {
		t.Fatalf("the key just issued is %v: %v", verdict, err)
	}
}
