//go:build linux

package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// A question is what one case asks again and again. In a path, # becomes a number that no request had before, so
// that no response comes from a cache.
type question struct {
	name, title  string
	path         string
	header       string // "Name: value"
	sqlite, duck string // the same question to SQLite or DuckDB; empty: not asked
	status       int    // 0: 200
	body         []byte // our response to the first request
}

const (
	firstPage  = "/api/v1/benchmarks"
	twoFilters = "/benchmarks?backend=cuda&quantization=Q4_K_M"
	// No row is below this threshold: the rows stay the same, and no response made before fits.
	threshold = "&min_tps=0.00#"
)

// questions are all cases, each with our response.
func (s *server) questions() ([]*question, error) {
	first, err := get(s.addr, firstPage, s.key, "")
	if err != nil {
		return nil, err
	}
	all := []*question{
		{name: "first-page", title: "list, first page of 100 rows", path: firstPage},
		{name: "two-filters", title: "list, two filters", path: "/api/v1" + twoFilters, sqlite: twoFilters},
		{name: "model", title: "model with many benchmarks", path: "/api/v1/models/llama-3.1-8b-instruct"},
		{name: "zstd", title: "first page, zstd", path: firstPage, header: "Accept-Encoding: zstd"},
		{
			name: "not-modified", title: "304 for an ETag", path: firstPage,
			header: "If-None-Match: " + first.etag, status: http.StatusNotModified,
		},
		{
			name: "new-two-filters", title: "list, two filters, every page new", path: "/api/v1" + twoFilters + threshold,
			sqlite: twoFilters + threshold,
		},
		{name: "new-fastest", title: "list, fastest of a filter, every page new", path: firstPage + "?backend=cuda&sort=-generation_tps" + threshold},
		{
			name: "new-stats", title: "statistics by hardware, every response new",
			path: firstPage + "/stats?group_by=hardware&settings=all&limit=500" + threshold, duck: "/stats?by=hardware" + threshold,
		},
		{
			name: "new-fits", title: "models that run fast on a card, every question new",
			path: "/api/v1/models?fits=nvidia-rtx-4090&min_tps=10.0#",
		},
		{name: "resolve", title: "resolve a name", path: "/api/v1/resolve?q=unsloth%2FQwen3-8B-GGUF"},
	}
	for _, q := range all {
		resp, err := get(s.addr, withNumber(q.path, 0), s.key, q.header)
		if err != nil {
			return nil, err
		}
		if q.status == 0 {
			q.status = http.StatusOK
		}
		if resp.status != q.status {
			return nil, fmt.Errorf("%s: status %d, want %d", q.path, resp.status, q.status)
		}
		q.body = resp.body
	}
	return all, nil
}

// withNumber puts a number into a path that has a place for one, as wrk.lua does.
func withNumber(path string, n int) string {
	return strings.ReplaceAll(path, "#", strconv.Itoa(firstNumber+n))
}

// firstNumber gives all numbers the same length.
const firstNumber = 100_000_000
