package httpapi

import (
	"bufio"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"modeldex/httpapi/pages"
)

// docsPaths are the addresses of the reference.
func docsPaths() []string {
	paths := []string{"/docs"}
	for _, part := range pages.DocsParts(apiReference()) {
		paths = append(paths, "/docs/"+part)
	}
	return paths
}

// docsPage asks for a page of the reference, compressed as browsers want it.
func docsPage(t *testing.T, s *service, path string) string {
	t.Helper()
	a := s.ask(t, "GET", path, "Authorization", "", "Accept-Encoding", "gzip")
	if a.status != http.StatusOK || a.header.Get("Content-Type") != htmlType || a.header.Get("Content-Security-Policy") != pagePolicy {
		t.Fatalf("%s: status %d, headers %v", path, a.status, a.header)
	}
	if most := 30 << 10; len(a.raw) > most {
		t.Errorf("%s: %d bytes compressed, want at most %d: the style sheets come on top", path, len(a.raw), most)
	}
	return string(a.body)
}

var (
	idOf     = regexp.MustCompile(` id="([^"]*)"`)
	hrefOf   = regexp.MustCompile(` href="([^"]*)"`)
	curlLine = regexp.MustCompile(`<section class="endpoint" id="([^"]*)"[\s\S]*?<code>(curl [^<]*)</code>`)
	curlCall = regexp.MustCompile(`^curl(?: -X ([A-Z]+))? '([^']*)'(?: \\\n  -H "(Authorization): Bearer \$KEY")?(?: \\\n  -H '(Content-Type): ([a-z/-]+)' \\\n  -d '([^']*)')?$`)
)

// TestReferencePages holds that every page of the reference is whole: its links lead to places that are
// there, no place is there twice, and nothing is left of a template.
func TestReferencePages(t *testing.T) {
	s := shippedService(t)
	places, links := map[string]map[string]bool{}, map[string][]string{}
	for _, path := range docsPaths() {
		body := docsPage(t, s, path)
		if m := unescaped.FindString(body); m != "" || strings.Count(body, "<h1") != 1 {
			t.Errorf("%s: holds %q, %d headings of the first level", path, m, strings.Count(body, "<h1"))
		}
		places[path] = map[string]bool{}
		for _, m := range idOf.FindAllStringSubmatch(body, -1) {
			if places[path][m[1]] {
				t.Errorf("%s has two places called %s", path, m[1])
			}
			places[path][m[1]] = true
		}
		for _, m := range hrefOf.FindAllStringSubmatch(body, -1) {
			links[path] = append(links[path], html.UnescapeString(m[1]))
		}
	}
	checked := 0
	for path, hrefs := range links {
		for _, href := range hrefs {
			address, place, _ := strings.Cut(href, "#")
			if address == "" {
				address = path
			}
			if there, isDocs := places[address]; isDocs && place != "" {
				checked++
				if !there[place] {
					t.Errorf("%s leads to %s, which is not there", path, href)
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("%d links inside the reference were checked, want thousands", checked)
	}
	for _, path := range []string{"/docs/nothing", "/docs/models/x"} {
		if a := s.ask(t, "GET", path, "Accept", "text/html"); a.status != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, a.status)
		}
	}
}

// placeholder is a part of a call that the reader has to put in, in capital letters.
var placeholder = regexp.MustCompile(`/(HASH|NAME)\b`)

// absent are endpoints whose data a server in memory is without.
var absent = map[string]bool{"listDumps": true, "getDump": true, "listSchemas": true, "getSchema": true, "listSnapshots": true, "latestSnapshot": true, "checkContribution": true}

// TestReferenceCalls makes the call that the reference shows for each endpoint.
func TestReferenceCalls(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("the golden test writes the document")
	}
	s := newService(t, mustShipped(t).live)
	calls := 0
	for _, path := range docsPaths() {
		for _, m := range curlLine.FindAllStringSubmatch(docsPage(t, s, path), -1) {
			id, text := m[1], html.UnescapeString(m[2])
			call := curlCall.FindStringSubmatch(text)
			if call == nil {
				t.Errorf("%s: a call of another form:\n%s", id, text)
				continue
			}
			calls++
			address, ok := strings.CutPrefix(call[2], "http://service")
			if !ok {
				t.Errorf("%s: the call goes to %s, want this service", id, call[2])
			}
			if placeholder.MatchString(address) || id == "revokeKey" || id == "rotateKey" { // the key is still needed
				continue
			}
			header := http.Header{}
			if call[3] != "" {
				header.Set("Authorization", "Bearer "+s.secret)
			}
			if call[6] != "" {
				header.Set("Content-Type", call[5])
			}
			method := call[1]
			if method == "" {
				method = http.MethodGet
			}
			a, err := fetch(s.transport, "service", asked{method: method, path: address, header: header, body: []byte(call[6])})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case path == "/docs/webhooks": // they need another tier
				if a.status != http.StatusForbidden {
					t.Errorf("%s: status %d: %.300s", text, a.status, a.body)
				}
			case a.status >= 400 && !(absent[id] && (a.status == http.StatusNotFound || a.status == http.StatusServiceUnavailable)):
				t.Errorf("%s: status %d: %.300s", text, a.status, a.body)
			case method == http.MethodGet && strings.HasPrefix(string(a.body), `{"data":[]`) && !absent[id] && !strings.Contains(address, "/changes"):
				t.Errorf("%s: nothing to show: %.300s", text, a.body)
			}
		}
	}
	operations := 0
	for i := range routes {
		if strings.HasPrefix(routes[i].path, "/api/") {
			operations++
		}
	}
	if calls != operations {
		t.Errorf("the reference shows %d calls, want one for each of %d operations", calls, operations)
	}
}

// TestTwoSlashes: an address with doubled slashes is 404. Of those that begin with two a parser may take what
// follows for a host; net/http sends no such address.
func TestTwoSlashes(t *testing.T) {
	s := shippedService(t)
	for _, head := range []string{
		"//docs/ HTTP/1.1\r\nHost: x", "//docs HTTP/1.1\r\nHost: x", "// HTTP/1.1\r\nHost: x", "///docs HTTP/1.1\r\nHost: x", "//api/v1/dataset HTTP/1.1\r\nHost: x",
		"//docs/?x=://y HTTP/1.1\r\nHost: x", "//docs/ HTTP/1.0", "//docs HTTP/1.0\r\nHost: ",
		"/api//v1/dataset HTTP/1.1\r\nHost: x", "/docs// HTTP/1.1\r\nHost: x",
	} {
		conn, err := s.listener.Dial()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "GET "+head+"\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "unknown_route") {
			t.Errorf("GET %q: status %d, %v: %.200s", head, resp.StatusCode, err, body)
		}
		if strings.Contains(string(body), "://docs") || strings.Contains(string(body), "://api") {
			t.Errorf("GET %q: a part of the address is taken for a host: %.300s", head, body)
		}
		_ = conn.Close()
	}
}
