//go:build linux

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"
)

// A question is what is asked again and again in one case.
type question struct {
	name   string
	title  string // for readers
	status int
	header string // lines besides Host and Authorization
	path   string // of what is asked every time
	// paths gives the n-th of different questions, nil where all are path.
	paths  func(dst []byte, n int) []byte
	keys   int  // how many keys take turns; 0 is one
	filter bool // rivals that hold the rows can be asked the same
}

// first is the address of the first page of 100 rows.
const first = "/api/v1/benchmarks"

// The filters most benchmarks of the real data pass, so that pages are full at every size.
const (
	twoFilters = "/api/v1/benchmarks?backend=cuda&quantization=Q4_K_M"
	fastest    = "/api/v1/benchmarks?backend=cuda&sort=-generation_tps"
)

// below appends a threshold that no speed is below and that differs from call to call: the
// rows of the answer stay the same while no answer made before fits.
func below(path string) func(dst []byte, n int) []byte {
	return func(dst []byte, n int) []byte {
		dst = append(append(dst, path...), "&min_tps=0.00"...)
		return strconv.AppendInt(dst, 100_000_000+int64(n), 10)
	}
}

// questions are the cases on a dataset a server serves.
func questions(s *server, shipped bool) ([]question, error) {
	deep, err := s.deepCursor(first, 0.5)
	if err != nil {
		return nil, err
	}
	resp, err := s.get(first)
	if err != nil {
		return nil, err
	}
	if resp.status != http.StatusOK {
		return nil, fmt.Errorf("%s: answered %d", first, resp.status)
	}
	warm := []question{
		{name: "first-page", title: "list, first page of 100 rows", path: first},
		{name: "two-filters", title: "list, two filters", path: twoFilters, filter: true},
		{name: "deep-cursor", title: "list, page in the middle by cursor", path: deep},
		{name: "fastest", title: "list, 100 fastest with a filter", path: fastest},
	}
	cold := []question{
		{name: "cold-two-filters", title: "list, two filters and a threshold, every query new", path: twoFilters, paths: below(twoFilters), filter: true},
		{name: "cold-fastest", title: "list, 100 fastest with a filter and a threshold, every query new", path: fastest, paths: below(fastest)},
	}
	if !shipped {
		return append(warm, cold...), nil
	}
	model, err := s.mostMeasured()
	if err != nil {
		return nil, err
	}
	lists := strings.Replace(twoFilters, "/api/v1/", "/explore/", 1)
	cold = append(cold, question{name: "cold-page-list", title: "page of a list with two filters and a threshold, every page new", path: lists, paths: below(lists)})
	more := []question{
		{name: "model-detail", title: "model with the most benchmarks", path: "/api/v1/models/" + model},
		{name: "page-model", title: "page of that model, for people", path: "/models/" + model},
		{name: "page-list", title: "page of a list with two filters, for people", path: lists},
		{name: "not-modified", title: "304 for an ETag", path: first, header: "If-None-Match: " + resp.header.Get("ETag") + "\r\n", status: http.StatusNotModified},
		{name: "tools", title: "list of 10 tools", path: "/api/v1/tools?category=runner&limit=10"},
		{name: "zstd", title: "first page, zstd", path: first, header: "Accept-Encoding: zstd\r\n"},
		{name: "gzip", title: "first page, gzip", path: first, header: "Accept-Encoding: gzip\r\n"},
		{name: "10000-keys", title: "first page, 10,000 keys in turn", path: first, keys: 10_000},
	}
	return append(append(warm, more...), cold...), nil
}

// envelope is what of a list answer is looked at.
type envelope struct {
	Data []struct {
		Slug  string `json:"slug"`
		Count int    `json:"benchmark_count"`
	} `json:"data"`
	Meta struct {
		Total int `json:"total"`
	} `json:"meta"`
	Links struct {
		Next *string `json:"next"`
	} `json:"links"`
}

func (s *server) list(path string) (*envelope, error) {
	resp, err := s.get(path)
	if err != nil {
		return nil, err
	}
	var e envelope
	if err := jsonv2.Unmarshal(resp.body, &e); err != nil || resp.status != http.StatusOK {
		return nil, fmt.Errorf("%s: answered %d: %.200s", path, resp.status, resp.body)
	}
	return &e, nil
}

// deepCursor walks a list up to a share of it and returns the address of the page there.
func (s *server) deepCursor(path string, share float64) (string, error) {
	start := path + "?"
	if strings.Contains(path, "?") {
		start = path + "&"
	}
	e, err := s.list(start + "limit=1")
	if err != nil {
		return "", err
	}
	step := max(1, min(500, int(share*float64(e.Meta.Total)))) // 500 is the largest page
	e, err = s.list(start + "limit=" + strconv.Itoa(step))
	for i := step; err == nil && e.Links.Next != nil && float64(i+step) <= share*float64(e.Meta.Total); i += step {
		e, err = s.list(*e.Links.Next)
	}
	if err != nil {
		return "", err
	}
	if e.Links.Next == nil {
		return "", fmt.Errorf("%s: ends before %.0f%% of it", path, share*100)
	}
	u, err := url.Parse(*e.Links.Next)
	if err != nil {
		return "", err
	}
	return start + "cursor=" + url.QueryEscape(u.Query().Get("cursor")), nil
}

// mostMeasured is the model with the most benchmarks.
func (s *server) mostMeasured() (slug string, err error) {
	most := -1
	for next := "/api/v1/models?limit=200"; ; {
		e, err := s.list(next)
		if err != nil {
			return "", err
		}
		for _, m := range e.Data {
			if m.Count > most {
				slug, most = m.Slug, m.Count
			}
		}
		if e.Links.Next == nil {
			return slug, nil
		}
		next = *e.Links.Next
	}
}

// wants is the status every answer must have.
func (q question) wants() int {
	if q.status == 0 {
		return http.StatusOK
	}
	return q.status
}

// An asker makes the n-th request; see load.Config.
type asker func(dst []byte, n int) []byte

// asking makes the requests of a question to a server that knows it under a path, or under
// paths that differ. Requests that do not differ are made once a key.
func asking(addr string, keys []string, header, path string, paths func(dst []byte, n int) []byte) asker {
	if paths != nil {
		end := fmt.Sprintf(" HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n", addr, keys[0], header)
		return func(dst []byte, n int) []byte { return append(paths(append(dst, "GET "...), n), end...) }
	}
	requests := make([][]byte, len(keys))
	for i, key := range keys {
		requests[i] = requestBytes(nil, addr, path, key, header)
	}
	return func(_ []byte, n int) []byte { return requests[n%len(requests)] }
}

// ask makes the requests of a question to our server.
func (s *server) ask(q question) asker {
	return asking(s.addr, s.keys[:max(1, q.keys)], q.header, q.path, q.paths)
}
