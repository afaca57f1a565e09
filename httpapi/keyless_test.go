package httpapi

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// TestKeylessCosts: what needs no key costs something of the allowance of an address, but for routes of which a request
// that finds nothing in the cache takes less than a millisecond of processor time.
func TestKeylessCosts(t *testing.T) {
	s := newService(t, mustShipped(t).live)
	const asked = 20
	for _, rt := range append(slices.Clone(routes), route{method: "GET", path: "/api/v1/model/qwen-3-8b-instruct/benchmark", id: unknownEndpoint.id}) {
		path := strings.NewReplacer(":name", "site.css", ":code", "not_found").Replace(rt.path)
		var ctx fasthttp.RequestCtx
		ctx.Request.SetRequestURI(path)
		ctx.Request.Header.SetMethod(rt.method)
		if rt.access != open || pageCost(&request{ctx: &ctx, route: &rt}) > 0 {
			continue
		}
		least := time.Hour // of a few tries: the runtime works beside it
		for range 5 {
			before := processorTime(t)
			for range asked {
				s.open.Clear()
				s.ask(t, rt.method, path)
			}
			least = min(least, (processorTime(t)-before)/asked)
		}
		if t.Logf("%s %s: %s", rt.method, path, least); least > time.Millisecond {
			t.Errorf("%s %s costs nothing, and takes %s", rt.method, path, least)
		}
	}
}

// processorTime is what this process has taken.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
