package httpapi

// What a call costs inside this process: router, key, quota, cache and headers, without the
// network and without parsing HTTP, because a request and a response are reused.
//
//	go test ./httpapi -run xxx -bench . -benchmem

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// bench is one request asked again and again of the handler, on the shipped data.
type bench struct {
	s   *service
	ctx fasthttp.RequestCtx
	h   fasthttp.RequestHandler
}

func newBench(b *testing.B, path string, header ...string) *bench {
	b.Helper()
	x := &bench{s: newService(b, mustShipped(b).live)}
	x.h = x.s.app.Server().Handler
	var req fasthttp.Request
	req.Header.SetMethod("GET") // an empty one is GET too, but made again each time it is read
	req.SetRequestURI(path)
	req.Header.SetHost("localhost")
	req.Header.Set("Authorization", "Bearer "+x.s.secret)
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	x.ctx.Init(&req, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, nil)
	return x
}

// ask answers the request again and returns the status.
func (x *bench) ask() int {
	x.ctx.Response.Reset()
	x.h(&x.ctx)
	return x.ctx.Response.StatusCode()
}

// warmUp is how many calls come before a measurement: the cache takes what the first answers put
// into it, and a lease grows to a second of its key's traffic, before which calls wait for it.
const warmUp = 50_000

// BenchmarkExpensive asks for what is expensive to make and in no cache: every request has another number in its address.
//
//	go test ./httpapi -run '^$' -bench Expensive -count 10
func BenchmarkExpensive(b *testing.B) {
	for _, bm := range []struct{ name, path string }{
		{"parquet=list", "/api/v1/benchmarks?limit=500&format=parquet&min_tps=0.000%d"},
		{"parquet=fields", "/api/v1/benchmarks?limit=500&format=parquet&min_tps=0.000%d&fields=%s"},
		{"parquet=model", "/api/v1/models/llama-2-7b?format=parquet&benchmarks_limit=2%d"},
		{"parquet=stats", "/api/v1/benchmarks/stats?group_by=model,quantization&settings=all&limit=500&format=parquet&min_tps=0.000%d"},
		{"csv=list", "/api/v1/benchmarks?limit=500&format=csv&min_tps=0.000%d"},
		{"stats=model,quantization", "/api/v1/benchmarks/stats?group_by=model,quantization&settings=all&limit=1000&min_tps=0.000%d"},
		{"markdown=benchmarks", "/explore/benchmarks.md?limit=500&min_tps=0.0%d"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			x := newBench(b, "/")
			b.ReportAllocs()
			n, selection := 1000, strings.Contains(bm.path, "%s")
			for b.Loop() {
				n = 1000 + (n+1)%9000
				if selection {
					x.ctx.Request.SetRequestURI(fmt.Sprintf(bm.path, n, mostFields(n)))
				} else {
					x.ctx.Request.SetRequestURI(fmt.Sprintf(bm.path, n))
				}
				if got := x.ask(); got != http.StatusOK {
					b.Fatalf("status %d: %s", got, x.ctx.Response.Body())
				}
			}
			b.ReportMetric(float64(len(x.ctx.Response.Body())), "body-bytes")
		})
	}
}

// mostFields are all simple fields of benchmarks but two, others for each of some thousand numbers.
func mostFields(n int) string {
	var all []string
	for name, tree := range benchmarks.row.Fields {
		if len(tree.Fields) == 0 {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	for range 2 {
		i := n % len(all)
		n /= len(all)
		all = slices.Delete(all, i, i+1)
	}
	return strings.Join(all, ",")
}
