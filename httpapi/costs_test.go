package httpapi

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"modeldex/quota"
)

// TestCostlyWork: calls that are more work than a page take more of the key's burst, and no more of its month.
func TestCostlyWork(t *testing.T) {
	t.Parallel()
	s := newServiceWith(t, mustShipped(t).live, quota.Burst{Rate: 1, PerSeconds: 3600, Depth: 40})
	left := regexp.MustCompile(`"burst";r=(\d+);t=\d+, "month";r=(\d+)`)
	burst, month := 40, -1
	for _, call := range []struct {
		path, body string
		burst      int
	}{
		{"/api/v1/tools/ollama", "", 1},
		{"/api/v1/models?fits=nvidia-rtx-4090&limit=1", "", 1},
		{"/api/v1/models?fits=nvidia-rtx-4090&limit=1&min_tps=20", "", 1 + searchCalls},
		{"/api/v1/hardware?runs=qwen3-8b&min_tps=20&limit=1", "", 1 + searchCalls},
		{"/api/v1/resolve", `{"names":["rtx 4090"` + strings.Repeat(`,"rtx 4090"`, namesPerCall-1) + `]}`, 1},
		{"/api/v1/resolve", `{"names":["rtx 4090"` + strings.Repeat(`,"rtx 4090"`, namesPerCall) + `]}`, 2},
		{"/api/v1/fit", `{"queries":[{"model":"qwen3-8b","hardware":"nvidia-rtx-4090"}` + strings.Repeat(`,{"model":"qwen3-8b","hardware":"nvidia-rtx-4090"}`, pairsPerCall) + `]}`, 2},
		{"/api/v1/tools/llama.cpp", "", 1},
	} {
		q := asked{method: http.MethodGet, path: call.path, header: http.Header{"Authorization": {"Bearer " + s.secret}}}
		if call.body != "" {
			q.method, q.body = http.MethodPost, []byte(call.body)
			q.header.Set("Content-Type", "application/json")
		}
		a, err := fetch(s.transport, "service", q)
		if err != nil {
			t.Fatal(err)
		}
		m := left.FindStringSubmatch(a.header.Get("RateLimit"))
		if a.status != http.StatusOK || m == nil {
			t.Fatalf("%s: status %d, RateLimit %q", call.path, a.status, a.header.Get("RateLimit"))
		}
		nowBurst, _ := strconv.Atoi(m[1]) // matched as digits
		nowMonth, _ := strconv.Atoi(m[2])
		if burst-nowBurst != call.burst {
			t.Errorf("%s %.40s: takes %d of the burst, want %d", call.path, call.body, burst-nowBurst, call.burst)
		}
		if month >= 0 && month-nowMonth != 1 {
			t.Errorf("%s %.40s: takes %d of the month, want 1", call.path, call.body, month-nowMonth)
		}
		burst, month = nowBurst, nowMonth
	}
}
