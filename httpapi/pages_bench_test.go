package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkColdPages asks for pages that no cache has, of the dataset of this repository: every request
// names another host, which is part of a page. Run with -cpuprofile to see where the time goes:
//
//	go test ./httpapi -run '^$' -bench ColdPages -count 10
func BenchmarkColdPages(b *testing.B) {
	s := newService(b, mustShipped(b).live)
	for _, path := range []string{
		"/hardware/nvidia-rtx-4090", "/hardware/apple-m2-ultra", "/models/gpt-oss-20b", "/tools/llama.cpp", "/benchmarks/bm-adfbf9a134d4",
		"/explore/models", "/explore/hardware?runs=gpt-oss-20b", "/explore/benchmarks", "/fit?hardware=nvidia-rtx-4090", "/fit?memory_gb=12&bandwidth_gbps=410", "/fit?hardware=nvidia-rtx-4090&context=32768",
		"/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b", "/compare?hardware=nvidia-rtx-4090,nvidia-rtx-3090",
	} {
		b.Run("page="+strings.ReplaceAll(path, "/", "_"), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				if a := s.ask(b, http.MethodGet, path, "Authorization", "", "Host", fmt.Sprintf("host%d.example", n)); a.status != http.StatusOK {
					b.Fatalf("%s: status %d", path, a.status)
				}
			}
		})
	}
}
