package ask_test

import (
	"context"
	"net/url"
	"os"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/ask"
	"modeldex/dataset/fit"
	"modeldex/dataset/resolve"
)

// TestMeant: questions as people put them lead to the call that answers them.
func TestMeant(t *testing.T) {
	set, err := dataset.Load(context.Background(), os.DirFS("../../data"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, engine := resolve.New(set), fit.New(set)
	for question, want := range map[string]string{
		"can an RTX 3090 run gpt-oss-20b at 32k?":                   "fit?context=32768&hardware=nvidia-rtx-3090&model=gpt-oss-20b",
		"RTX 4090 + RTX 3060 for qwen3 32b":                         "fit?hardware=nvidia-rtx-4090,nvidia-rtx-3060&model=qwen3-32b",
		"llama 3.3 70b on 2x3090 and a 4070":                        "fit?hardware=nvidia-rtx-3090,nvidia-rtx-3090,nvidia-rtx-4070&model=llama-3.3-70b-instruct",
		"qwen3 32b Q4_K_M with a 4060 Ti 16GB, 3090 + 64 GB of RAM": "fit?hardware=nvidia-rtx-4060-ti-16gb,nvidia-rtx-3090&model=qwen3-32b&quantization=Q4_K_M&system_memory_gb=64",
		"8xA100 80GB deepseek r1 vllm":                              "fit?count=8&engine=vllm&hardware=nvidia-a100-80gb&model=deepseek-r1",
		"what runs on a 3090 + 4070?":                               "models?count=1&fits=nvidia-rtx-3090&limit=10",
		"3090 or 4090 for qwen3 32b":                                "hardware?runs=qwen3-32b&slug=nvidia-rtx-3090,nvidia-rtx-4090",
		"qwen3 8b or gemma 3 12b on a 3060":                         "models?fits=nvidia-rtx-3060&slug=qwen3-8b,gemma-3-12b-it",
		"cheapest gpu for a 32B model under $800":                   "hardware?limit=10&max_price_usd=800&min_vram_gb=20&type=gpu",
		"which mac for gpt-oss-120b at 20 tok/s?":                   "hardware?limit=10&min_tps=20&runs=gpt-oss-120b&vendor=apple",
		"what runs in 24 GB of VRAM":                                "memory?memory_gb=24",
		"EPYC 9554 with 768 GB, deepseek r1":                        "fit?hardware=amd-epyc-9554&memory_gb=768&model=deepseek-r1",
		"I have 64gb ram and a gtx 1080, what can I run":            "models?fits=nvidia-gtx-1080&limit=10&system_memory_gb=64",
		"is 12gb vram enough for qwen3 14b q4":                      "fit?memory_gb=12&model=qwen3-14b&quantization=Q4_K_M",
		"can a 24gb card run qwen3 14b awq with vllm":               "fit?engine=vllm&memory_gb=24&model=qwen3-14b&quantization=AWQ-4bit-g128",
		"how many t/s does a 4060 ti 16gb get with qwen3 14b":       "fit?hardware=nvidia-rtx-4060-ti-16gb&model=qwen3-14b",
		"qwen3 30b a3b on cpu only ryzen 7600 ddr5 6000":            "fit?hardware=amd-ryzen-5-7600&model=qwen3-30b-a3b",
		"ollama qwen3:8b on 3070":                                   "fit?hardware=nvidia-rtx-3070&model=qwen3-8b&tool=ollama",
		"deepseek v3 on epyc 9654 + 4090 + 768gb":                   "fit?hardware=nvidia-rtx-4090&host=amd-epyc-9654&model=deepseek-v3&system_memory_gb=768",
		"best coding model for a 64gb mac":                          "models?fits=apple-m2-max&limit=10&memory_gb=64",
		"macbook air 8gb llama 3.1 8b":                              "fit?hardware=apple-m2&memory_gb=8&model=llama-3.1-8b-instruct",
		"2017 intel macbook air 8gb":                                "memory?compute_unit=cpu&memory_gb=8",
		"how much ram for llama 70b on mac":                         "hardware?limit=10&runs=llama-3.3-70b-instruct&vendor=apple",
		"laptop with 16gb ram":                                      "memory?compute_unit=cpu&memory_gb=16",
		"llama 3.1 8b on cpu with 16gb ram speed":                   "fit?compute_unit=cpu&memory_gb=16&model=llama-3.1-8b-instruct",
		"32gb ram 8gb vram what can i run":                          "memory?memory_gb=8&system_memory_gb=32",
		"what can i run on my phone with 8gb ram":                   "memory?compute_unit=cpu&memory_gb=8",
		"hello there":                        "",
		"Wizard-Vicuna 30B on a Foobar 9000": "",
	} {
		c := ask.Meant(names.Read(question), engine.HasSize)
		got := ""
		if c.Of != "" {
			got, _ = url.QueryUnescape(string(c.Of) + "?" + c.Params.Encode())
		}
		if got != want || got == "" && c.Left == "" {
			t.Errorf("%q means %q, want %q", question, got, want)
		}
	}
}
