package httpapi

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"

	"modeldex/dataset/fit"
	fitverbs "modeldex/dataset/fit/verbs"
	"modeldex/dataset/verbs"

	"github.com/alecthomas/kong"
	jsonv2 "github.com/goccy/go-json/v2"
)

// TestOneAnswerOnAllDoors: the figures of a question are the same over GET, POST, the page and the terminal.
func TestOneAnswerOnAllDoors(t *testing.T) {
	s := shippedService(t)
	for _, query := range []string{
		"model=qwen3-30b-a3b&hardware=nvidia-rtx-3060&quantization=Q4_K_M&host=amd-ryzen-7-5800x&system_memory_gb=64&context=32768&kv=q8_0",
		"model=llama-3.3-70b-instruct&hardware=RTX 4090,2x RTX 3060 12GB&quantization=Q4_K_M&parallel=4&batch_tokens=1024",
		"model=llama-3.1-8b-instruct&hardware=nvidia-rtx-3090&engine=vllm&kv=fp8&quantization=AWQ&gpu_memory_utilization=0.8&context=20000",
		"model=gemma-3-27b-it&hardware=nvidia-rtx-4090&kv=q8_0&kv_v=q4_0&weights_gb=16&gpu_layers=40",
		"model=gpt-oss-120b&hardware=nvidia-rtx-4090&n_cpu_moe=30&system_memory_gb=128",
		"model=qwen3-32b&hardware=nvidia-rtx-4090&flash_attention=false&draft=qwen3-0.6b&mtp=true&projector_gb=0.5&quantization=Q4_K_M",
		"model=gemma-3-27b-it&hardware=nvidia-rtx-4090&projector=true&quantization=Q4_K_M",
		"model=deepseek-v3&hardware=2x3090&split=tensor&count=4",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		read := func(door string, body []byte, into any) {
			if err := jsonv2.Unmarshal(body, into); err != nil {
				t.Errorf("%s of %s: %v: %.300s", door, query, err, body)
			}
		}
		var get, page struct {
			Data fit.Answer `json:"data"`
		}
		read("GET", s.ask(t, "GET", "/api/v1/fit?"+values.Encode()).body, &get)
		read("the page", s.ask(t, "GET", "/fit.json?"+values.Encode()).body, &page)
		if len(get.Data.Sizes) == 0 || !reflect.DeepEqual(page.Data, get.Data) {
			t.Errorf("%s: the page and GET differ: %.400s", query, s.ask(t, "GET", "/fit.json?"+values.Encode()).body)
			continue
		}
		members, flags := map[string]string{}, []string{"--data=../data", "--format=json"}
		for name, value := range values {
			members[name] = value[0]
			if name != "model" && name != "hardware" {
				flags = append(flags, "--"+strings.ReplaceAll(name, "_", "-")+"="+value[0])
			}
		}
		body, err := jsonv2.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		var post struct {
			Data []fit.Answer `json:"data"`
		}
		a, err := fetch(s.transport, "service", asked{
			method: "POST", path: "/api/v1/fit", body: body,
			header: http.Header{"Authorization": {"Bearer " + s.secret}, "Content-Type": {"application/json"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		read("POST", a.body, &post)
		if len(post.Data) != 1 {
			t.Errorf("POST of %s: %s", query, a.body)
			continue
		}
		var verb fitverbs.Fit
		parser, err := kong.New(&verb)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(append(flags, members["model"], members["hardware"])); err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		var out bytes.Buffer
		if err := verb.Run(&verbs.Env{Stdout: &out, Stderr: os.Stderr}); err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		var terminal fit.Answer
		read("the terminal", out.Bytes(), &terminal)
		best := get.Data.Sizes[0]
		for door, answer := range map[string]fit.Answer{"POST": post.Data[0], "the terminal": terminal} {
			if len(answer.Sizes) == 0 || !reflect.DeepEqual(answer.Sizes[0].Memory, best.Memory) || !reflect.DeepEqual(answer.Sizes[0].Placement, best.Placement) ||
				answer.Verdict != get.Data.Verdict || !reflect.DeepEqual(answer.Remedies, get.Data.Remedies) || !reflect.DeepEqual(answer.Sizes[0].MaxContext, best.MaxContext) {
				t.Errorf("%s of %s: %.900v, want %.900v", door, query, answer, get.Data)
			}
		}
	}
}
