package fit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"modeldex/dataset"
)

// A testVector is one line of data/fit-vectors.ndjson: what a program or its log says that a model takes.
type testVector struct {
	Name         string       `json:"name"`
	Model        dataset.Slug `json:"model"`
	Rules        Rules        `json:"engine"`
	KV           KVType       `json:"kv"`
	Context      int64        `json:"context"`
	MicroBatch   int64        `json:"micro_batch"`
	Quantization string       `json:"quantization"`
	Count        int          `json:"count"`
	Within       float64      `json:"within"` // share that a rounded figure may be off
	Parallel     int          `json:"parallel"`
	KVV          KVType       `json:"kv_v"`
	Flash        *bool        `json:"flash_attention"`
	Hardware     dataset.Slug `json:"hardware"`
	GPULayers    *int64       `json:"gpu_layers"`
	CPUMoE       *int64       `json:"n_cpu_moe"`
	WeightsGB    float64      `json:"weights_gb"`
	Utilization  float64      `json:"gpu_memory_utilization"`
	Weights      int64        `json:"weights_bytes"`
	Cache        int64        `json:"kv_cache_bytes"`
	Global       int64        `json:"global_bytes"`
	Sliding      int64        `json:"sliding_bytes"`
	Recurrent    int64        `json:"recurrent_bytes"`
	Compute      int64        `json:"compute_buffer_bytes"`
	Total        int64        `json:"total_bytes"`
	Process      int64        `json:"process_bytes"` // with what the driver takes
	Device       int64        `json:"device_weights_bytes"`
	Host         int64        `json:"host_weights_bytes"`
	Tokens       int64        `json:"cache_tokens"`
	Range        [2]int64     `json:"cache_tokens_range"` // of several runs with other settings
	Verdict      Verdict      `json:"verdict"`
	MainGB       float64      `json:"system_memory_gb"`
	Projector    bool         `json:"projector"`
	Beside       int64        `json:"projector_bytes"`
	Source       string       `json:"source"`
	Note         string       `json:"note"`
}

func onDevices(p *Placement) (weights int64) {
	for i := range p.Devices {
		weights += p.Devices[i].Weights
	}
	return weights
}

// TestVectors: the parts of the memory are those that logs of llama.cpp, Ollama, vLLM and others print.
func TestVectors(t *testing.T) {
	e := shippedEngine(t)
	file, err := os.ReadFile("../../data/fit-vectors.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); n++ {
		var v testVector
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		if v.Source == "" {
			t.Errorf("%s: no source", v.Name)
		}
		q := Query{Model: v.Model, Quantization: v.Quantization, Count: v.Count, AllowExtended: true, Hardware: v.Hardware, Rules: v.Rules, KV: v.KV, KVV: v.KVV, Context: v.Context, MicroBatch: v.MicroBatch, Parallel: v.Parallel, FlashAttention: v.Flash, GPULayers: v.GPULayers, CPUMoE: v.CPUMoE, WeightsGB: v.WeightsGB, Utilization: v.Utilization, SystemMemoryGB: v.MainGB, Projector: v.Projector}
		if v.Hardware == "" {
			q.MemoryGB, q.BandwidthGBps = 1000, 1000
		}
		a, fault := e.Fit(q)
		if fault != nil {
			t.Errorf("%s: %v", v.Name, fault)
			continue
		}
		m, beside := a.Sizes[0].Memory, int64(0)
		for _, c := range m.Companions {
			beside += c.Bytes.Bytes
		}
		if v.Verdict != "" && a.Verdict != v.Verdict {
			t.Errorf("%s: %s, want %s", v.Name, a.Verdict, v.Verdict)
		}
		if got := a.Sizes[0].CacheTokens; v.Tokens > 0 && (float64(*got) > 1.01*float64(v.Tokens) || float64(*got) < 0.97*float64(v.Tokens)) {
			t.Errorf("%s: %d tokens of cache, want %d", v.Name, *got, v.Tokens)
		}
		if got := a.Sizes[0].CacheTokens; v.Range[1] > 0 && (*got < v.Range[0] || *got > v.Range[1]) {
			t.Errorf("%s: %d tokens of cache, want %d to %d", v.Name, *got, v.Range[0], v.Range[1])
		}
		for _, part := range []struct {
			name      string
			got, want int64
		}{
			{"weights", m.Weights.Bytes, v.Weights},
			{"cache", m.Cache.Bytes.Bytes, v.Cache},
			{"full-attention layers", m.Cache.Global, v.Global},
			{"sliding layers", m.Cache.Sliding, v.Sliding},
			{"recurrent state", m.Cache.Recurrent, v.Recurrent},
			{"compute buffer", m.Compute.Bytes, v.Compute},
			{"total", m.Total, v.Total},
			{"process", m.Total + m.Runtime, v.Process},
			{"weights in main memory", m.Host, v.Host},
			{"projector", beside, v.Beside},
			{"weights on the devices", onDevices(a.Sizes[0].Placement), v.Device},
		} {
			if off := float64(part.got-part.want) / float64(part.want); part.want != 0 && (math.Abs(off) > min(v.Within, 0.03) || off < -0.01) {
				t.Errorf("%s: %s of %d bytes, want %d (%s)", v.Name, part.name, part.got, part.want, v.Note)
			}
		}
	}
	if n < 73 {
		t.Errorf("%d vectors, want 73 or more", n)
	}
}
