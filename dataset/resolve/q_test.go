package resolve

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

func TestQ(t *testing.T) {
	_, r := load(t)
	f, _ := os.Open("/tmp/c/q.txt")
	o, _ := os.Create("/tmp/c/q.out")
	s := bufio.NewScanner(f)
	for s.Scan() {
		q := r.Read(s.Text())
		list := func(ns []Named) (out []map[string]any) {
			for _, n := range ns {
				m := map[string]any{"candidates": n.Candidates, "why": n.Reason, "read": n.Input}
				if n.Slug != "" {
					m["slug"] = n.Slug
				}
				out = append(out, m)
			}
			return
		}
		nz := func(f float64) any {
			if f == 0 {
				return nil
			}
			return f
		}
		d := map[string]any{"intent": q.Intent, "models": list(q.Models), "hardware": list(q.Hardware), "count": nz(float64(q.Count)), "memory_gb": nz(q.MemoryGB), "host_memory_gb": nz(q.HostMemoryGB), "quantization": q.Quantization, "context": nz(float64(q.Context)), "max_price_usd": nz(q.MaxPriceUSD), "min_tps": nz(q.MinTPS), "size_b": nz(q.SizeB), "unused": q.Unused}
		if q.Tool != nil {
			d["engine"] = q.Tool.Slug
		}
		if q.Host != nil {
			d["host"] = q.Host.Slug
		}
		b, _ := json.Marshal(map[string]any{"reading": d})
		o.Write(append(b, '\n'))
	}
	o.Close()
}
