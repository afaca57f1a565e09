package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"modeldex/httpapi/fairuse"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

type args = map[string]any

// agentCalls asks every tool something.
var agentCalls = []sdk.CallToolParams{
	{Name: "ask", Arguments: args{"q": "can an RTX 3090 run gpt-oss-20b at 32k?"}},
	{Name: "ask", Arguments: args{"q": "what runs in 24 GB?"}},
	{Name: "ask", Arguments: args{"q": "which GPU for gpt-oss-120b?"}},
	{Name: "ask", Arguments: args{"q": "what is the meaning of life?"}},
	{Name: "resolve", Arguments: args{"q": "unsloth/Qwen3-8B-GGUF:Q4_K_M"}},
	{Name: "what_runs", Arguments: args{"fits": "RTX 3060", "family": "qwen"}},
	{Name: "what_runs", Arguments: args{"runs": "llama-3.3-70b-instruct", "quantization": "Q4_K_M"}},
	{Name: "fit", Arguments: args{"model": "llama-2-7b", "hardware": "nvidia-rtx-4090"}},
	{Name: "compare", Arguments: args{"model": "qwen3-8b", "hardware": "nvidia-rtx-3090,nvidia-rtx-3060", "context": 16384}},
	{Name: "benchmarks", Arguments: args{"model": "llama-2-7b", "hardware": []string{"nvidia-rtx-4090"}}},
	{Name: "statistics", Arguments: args{"model": "llama-2-7b"}},
	{Name: "changes", Arguments: args{"slug": "llama-2-7b"}},
	{Name: "dataset"},
}

// keyTransport sends a key, where it has one.
type keyTransport struct {
	http.RoundTripper
	key string
}

func (t keyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if t.key != "" {
		r.Header.Set("Authorization", "Bearer "+t.key)
	}
	return t.RoundTripper.RoundTrip(r)
}

// agent connects the Go SDK with a service; without a key the trial is used.
func (s *service) agent(t *testing.T, key string) *sdk.ClientSession {
	return connect(t, &sdk.StreamableClientTransport{
		Endpoint: "http://service/mcp", HTTPClient: &http.Client{Transport: keyTransport{s.transport, key}}, DisableStandaloneSSE: true,
	})
}

// programAgent connects it with a run of the program, which has the dataset of this repository inside.
func programAgent(t *testing.T) *sdk.ClientSession {
	t.Helper()
	cmd := exec.Command(mustProgram(t), "mcp")
	cmd.Dir, cmd.Env = t.TempDir(), environment()
	return connect(t, &sdk.CommandTransport{Command: cmd})
}

func connect(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// toolAnswer is what a tool answered: the text, the same as JSON, and the addresses of links.
type toolAnswer struct {
	text  string
	json  map[string]any
	links []string
	error bool
}

func callTool(t *testing.T, session *sdk.ClientSession, name string, arguments args) toolAnswer {
	t.Helper()
	result, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", name, arguments, err)
	}
	whole, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole) >= 4<<10 {
		t.Errorf("%s %v: the answer has %d bytes, want fewer than 4096", name, arguments, len(whole))
	}
	out := toolAnswer{text: result.Content[0].(*sdk.TextContent).Text, error: result.IsError}
	for _, c := range result.Content[1:] {
		out.links = append(out.links, c.(*sdk.ResourceLink).URI)
	}
	if out.error {
		return out
	}
	out.json = result.StructuredContent.(map[string]any)
	var same map[string]any
	if err := json.Unmarshal([]byte(out.text), &same); err != nil || fmt.Sprint(same) != fmt.Sprint(out.json) {
		t.Errorf("%s %v: the text is not the structured answer: %s", name, arguments, out.text)
	}
	return out
}

// TestAgentTools: the Go SDK lists and calls every tool over HTTP and over standard input and output. Answers have the
// form of their schemas, and links.
func TestAgentTools(t *testing.T) {
	s := newService(t, mustShipped(t).live)
	for name, session := range map[string]*sdk.ClientSession{"http": s.agent(t, s.secret), "stdio": programAgent(t)} {
		if got := session.InitializeResult().ProtocolVersion; got != "2026-07-28" {
			t.Errorf("%s: the newest protocol version is not spoken, but %s", name, got)
		}
		listed, err := session.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := json.Marshal(listed.Tools); err != nil || len(list) > 20<<10 {
			t.Errorf("%s: an agent reads %d bytes before it asks anything, want 20 KiB at most (%v)", name, len(list), err)
		}
		called := map[string]bool{}
		for _, call := range agentCalls {
			called[call.Name] = true
			i := slices.IndexFunc(listed.Tools, func(tool *sdk.Tool) bool { return tool.Name == call.Name })
			if i < 0 {
				t.Fatalf("%s: no tool %s", name, call.Name)
			}
			arguments, _ := call.Arguments.(args)
			answer := callTool(t, session, call.Name, arguments)
			if answer.error || len(answer.links) == 0 {
				t.Errorf("%s: %s %v: %s, links %v", name, call.Name, arguments, answer.text, answer.links)
				continue
			}
			if link := answer.links[0]; name == "stdio" && !strings.HasSuffix(link, "/about") && !strings.Contains(link, "/ask?") {
				page, err := session.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: link})
				if err != nil || !strings.HasPrefix(page.Contents[0].Text, "# ") {
					t.Errorf("%s: the link %s cannot be read: %v", call.Name, link, err)
				}
			}
			compiler := jsonschema.NewCompiler()
			if err := compiler.AddResource("mem:///output.json", listed.Tools[i].OutputSchema); err != nil {
				t.Fatal(err)
			}
			schema, err := compiler.Compile("mem:///output.json")
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(answer.json); err != nil {
				t.Errorf("%s: %s %v: %v", name, call.Name, arguments, err)
			}
		}
		for _, tool := range listed.Tools {
			if !called[tool.Name] {
				t.Errorf("%s: nothing calls %s", name, tool.Name)
			}
			for argument, schema := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
				if schema.(map[string]any)["description"] == "" {
					t.Errorf("%s: argument %s has no description", tool.Name, argument)
				}
			}
		}
	}
}

// TestNodeAgent: the SDK for JavaScript does the same.
func TestNodeAgent(t *testing.T) {
	modules := os.Getenv("MODELDEX_CLIENTS")
	if modules == "" {
		needClients(t, "MODELDEX_CLIENTS names no folder with @modelcontextprotocol/sdk")
	}
	dir := clientDir(t, "mcp.mjs")
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	p := launch(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--ledger", "modeldex.db")
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	issue := exec.Command(mustProgram(t), "keys", "issue", "--name", "agent", "--email", "ada@example.com", "--use-case", "test", "--tier", "pro")
	issue.Dir, issue.Env = dir, environment()
	key, err := issue.Output()
	if err != nil {
		t.Fatal(err)
	}
	calls, err := json.Marshal(agentCalls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "mcp.mjs", "http://"+p.addr, strings.TrimSpace(string(key)), mustProgram(t), string(calls))
	cmd.Dir, cmd.Env = dir, environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), " answered with links\n"); n != 2*len(agentCalls) {
		t.Errorf("%d of %d calls were answered:\n%s", n, 2*len(agentCalls), out)
	}
}

// find is a value inside an answer by its dotted path; rows have numbers. What all rows share is found in each.
func (a *toolAnswer) find(path string) any {
	at := func(v any, names []string) any {
		for _, name := range names {
			switch from := v.(type) {
			case map[string]any:
				v = from[name]
			case []any:
				var i int
				if fmt.Sscan(name, &i); i >= len(from) {
					return nil
				}
				v = from[i]
			default:
				return nil
			}
		}
		return v
	}
	names := strings.Split(path, ".")
	if v := at(a.json, names); v != nil {
		return v
	}
	last := slices.IndexFunc(names, func(name string) bool { return name == "0" })
	return at(a.json["same_in_all"], names[last+1:])
}

var runID = regexp.MustCompile(`bm-[0-9a-f]{12}`)

// TestAgentQuestions: questions that people ask, answered by calls of tools alone, give the right slug, verdict and runs.
// runs are the model, hardware and quantization that every run an answer names was measured with.
func TestAgentQuestions(t *testing.T) {
	shipped := mustShipped(t)
	session := programAgent(t)
	measured := map[string]string{}
	for _, b := range shipped.set.Benchmarks {
		quantization := "unknown"
		if b.Quantization != nil {
			quantization = *b.Quantization
		}
		measured[string(b.ID)] = fmt.Sprintf("%s %s %s", b.Model, b.Hardware, quantization)
	}
	for _, q := range []struct {
		question, tool string
		arguments      args
		want           args
		runs           string
	}{
		{"Can an RTX 3090 run gpt-oss-20b at 32k?", "ask", args{"q": "Can an RTX 3090 run gpt-oss-20b at 32k?"}, args{"reading.intent": "fit", "data.model": "gpt-oss-20b", "data.hardware": "nvidia-rtx-3090", "data.context": 32768.0, "data.verdict": "fits"}, ""},
		{"How fast is Llama 3.1 8B Q4_K_M on an RTX 4090?", "ask", args{"q": "How fast is Llama 3.1 8B Q4_K_M on an RTX 4090?"}, args{"data.model": "llama-3.1-8b-instruct", "data.sizes.0.quantization": "Q4_K_M", "data.sizes.0.speed.use": "measured"}, ""},
		{"What is the meaning of life?", "ask", args{"q": "What is the meaning of life?"}, args{"data": nil, "call": nil}, ""},
		{"What is unsloth/Qwen3-8B-GGUF:Q4_K_M?", "resolve", args{"q": "unsloth/Qwen3-8B-GGUF:Q4_K_M"}, args{"data.slug": "qwen3-8b", "data.quantization": "Q4_K_M"}, ""},
		{"What is the tag llama3.1:8b?", "resolve", args{"q": "llama3.1:8b"}, args{"data.slug": "llama-3.1-8b-instruct"}, ""},
		{"Which card is an RTX 3090?", "resolve", args{"q": "RTX 3090", "kind": "hardware"}, args{"data.slug": "nvidia-rtx-3090"}, ""},
		{"Which chip is an M4 Max with 64 GB?", "resolve", args{"q": "M4 Max 64GB"}, args{"data.slug": "apple-m4-max-40gpu", "data.memory_gb": 64.0}, ""},
		{"Is a 4090 the desktop card?", "resolve", args{"q": "4090"}, args{"data.slug": "nvidia-rtx-4090", "data.confidence": "likely"}, ""},
		{"Which program is vLLM?", "resolve", args{"q": "vLLM", "kind": "tool"}, args{"data.slug": "vllm"}, ""},
		{"Does Llama 3.3 70B at Q4_K_M fit on an RTX 4090?", "fit", args{"model": "Llama 3.3 70B Instruct", "hardware": "RTX 4090", "quantization": "Q4_K_M"}, args{"data.verdict": "offload", "data.model": "llama-3.3-70b-instruct", "data.hardware": "nvidia-rtx-4090"}, ""},
		{"And on two?", "fit", args{"model": "Llama 3.3 70B Instruct", "hardware": "2x RTX 4090", "quantization": "Q4_K_M"}, args{"data.verdict": "fits", "data.count": 2.0}, ""},
		{"Does Qwen3 8B at Q4_K_M fit on an RTX 3060?", "fit", args{"model": "qwen3-8b", "hardware": "RTX 3060 12GB", "quantization": "q4_k_m"}, args{"data.sizes.0.verdict": "fits", "data.sizes.0.quantization": "Q4_K_M"}, ""},
		{"Does gpt-oss-120b fit on an RTX 4090?", "fit", args{"model": "gpt-oss-120b", "hardware": "nvidia-rtx-4090"}, args{"data.verdict": "offload"}, ""},
		{"Does Llama 3.1 8B at Q4_K_M fit into 8 GB?", "fit", args{"model": "llama-3.1-8b-instruct", "memory_gb": 8, "quantization": "Q4_K_M"}, args{"data.verdict": "fits", "data.hardware": nil}, ""},
		{"How fast is Llama 2 7B at Q4_0 on an RTX 4090?", "fit", args{"model": "llama-2-7b", "hardware": "nvidia-rtx-4090", "quantization": "Q4_0"}, args{"data.sizes.0.speed.use": "measured"}, ""},
		{"Which runs of it are there?", "benchmarks", args{"model": "llama-2-7b", "hardware": "nvidia-rtx-4090", "quantization": "Q4_0"}, args{"same_in_all.tool": "llama.cpp"}, "llama-2-7b nvidia-rtx-4090 Q4_0"},
		{"Which runs of Llama 3.1 8B at Q4_K_M are there on an RTX 3090?", "benchmarks", args{"model": "llama3.1:8b", "hardware": "RTX 3090", "quantization": "Q4_K_M"}, args{"data.0.quantization": "Q4_K_M"}, "llama-3.1-8b-instruct nvidia-rtx-3090 Q4_K_M"},
		{"What was measured in run bm-567a228668e7?", "benchmarks", args{"id": "bm-567a228668e7"}, args{"data.0.generation_tps": 189.39, "data.0.tool": "llm-awq"}, "llama-2-7b nvidia-rtx-4090 AWQ-4bit-g128"},
		{"What is the usual speed of Llama 2 7B at Q4_0 on an RTX 4090?", "statistics", args{"group_by": "hardware", "model": "llama-2-7b", "hardware": "nvidia-rtx-4090", "quantization": "Q4_0"}, args{"data.0.group.hardware": "nvidia-rtx-4090", "settings": "single_stream", "unit": "tokens/s"}, ""},
		{"Which Qwen models run on an RTX 3060?", "what_runs", args{"fits": "RTX 3060", "family": "qwen"}, args{"settings.engine": "llama.cpp", "data.0.fit.count": 1.0}, ""},
		{"Which NVIDIA cards run Llama 3.3 70B at Q4_K_M?", "what_runs", args{"runs": "llama-3.3-70b-instruct", "quantization": "Q4_K_M", "vendor": "nvidia"}, args{"settings.quantization": "Q4_K_M", "data.0.fit.quantization": "Q4_K_M"}, ""},
		{"RTX 3090 or RTX 3060 for Qwen3 8B?", "compare", args{"model": "qwen3-8b", "hardware": "RTX 3090, RTX 3060", "quantization": "Q4_K_M"}, args{"data.0.hardware": "nvidia-rtx-3090", "data.1.hardware": "nvidia-rtx-3060", "data.0.verdict": "fits", "same_in_all.model": "qwen3-8b"}, ""},
		{"What changed in Falcon 40B?", "changes", args{"slug": "falcon-40b", "field": "params_b"}, args{"data.0.fields.0.field": "params_b"}, ""},
	} {
		answer := callTool(t, session, q.tool, q.arguments)
		for path, want := range q.want {
			if got := answer.find(path); got != want {
				t.Errorf("%s\n%s is %v, want %v in %s", q.question, path, got, want, answer.text)
			}
		}
		named := runID.FindAllString(answer.text+strings.Join(answer.links, " "), -1)
		if q.runs != "" && len(named) == 0 {
			t.Errorf("%s\nno run is named: %s", q.question, answer.text)
		}
		for _, id := range named {
			if of, known := measured[id]; !known || q.runs != "" && of != q.runs {
				t.Errorf("%s\nrun %s is of %q, want %q", q.question, id, of, q.runs)
			}
		}
	}
}

// TestAgentFailures: mistakes that agents are known to make are made hard by what an answer says.
func TestAgentFailures(t *testing.T) {
	shipped := mustShipped(t)
	s := newService(t, shipped.live)
	session := s.agent(t, s.secret)
	scenarios := map[string]string{}
	for _, b := range shipped.set.Benchmarks {
		if b.Scenario != nil {
			scenarios[string(b.ID)] = string(*b.Scenario)
		}
	}
	rowsOf := func(a *toolAnswer) int { return len(a.json["data"].([]any)) }
	for mistake, check := range map[string]func(t *testing.T){
		"averaging rows of different settings": func(t *testing.T) {
			mixed := callTool(t, session, "statistics", args{"group_by": "hardware", "hardware": "nvidia-rtx-3090", "settings": "all"})
			if mixed.find("data.0.comparable") != false || mixed.find("data.0.differing_settings") == nil {
				t.Errorf("a group of several quantizations does not say so: %s", mixed.text)
			}
			runs := callTool(t, session, "benchmarks", args{"model": "llama-2-7b"})
			for i := range rowsOf(&runs) {
				for _, setting := range []string{"quantization", "tool", "context_depth", "concurrency", "hardware_count"} {
					_, shared := runs.json["same_in_all"].(map[string]any)[setting]
					_, own := runs.json["data"].([]any)[i].(map[string]any)[setting]
					if !shared && !own {
						t.Errorf("row %d does not state %s: %s", i, setting, runs.text)
					}
				}
			}
		},
		"mixing throughput with single stream": func(t *testing.T) {
			plain := callTool(t, session, "benchmarks", args{"sort": "-generation_tps"})
			for _, id := range runID.FindAllString(plain.text, -1) {
				if scenarios[id] != "" {
					t.Errorf("run %s is throughput and was listed without asking for it", id)
				}
			}
			asked := callTool(t, session, "benchmarks", args{"scenario": "server"})
			if rowsOf(&asked) == 0 || asked.find("data.0.scenario") != "server" {
				t.Errorf("rows of throughput do not say so: %s", asked.text)
			}
		},
		"inventing a slug": func(t *testing.T) {
			for _, made := range []args{{"model": "qwen9-8b", "hardware": "nvidia-rtx-3090"}, {"model": "qwen3-8b", "hardware": "nvidia-rtx-9999"}} {
				if a := callTool(t, session, "fit", made); !a.error || !strings.Contains(a.text, "is not known") {
					t.Errorf("%v is answered with %s", made, a.text)
				}
			}
			if a := callTool(t, session, "resolve", args{"q": "unobtainium-9000"}); a.find("data.slug") != nil {
				t.Errorf("a made-up name means a record: %s", a.text)
			}
		},
		"reading null as zero": func(t *testing.T) {
			run := callTool(t, session, "benchmarks", args{"id": "bm-567a228668e7"})
			row := run.json["data"].([]any)[0].(map[string]any)
			if v, there := row["n_prompt"]; !there || v != nil || !strings.Contains(run.json["null"].(string), "never 0") {
				t.Errorf("an unpublished setting is not null with a reason: %s", run.text)
			}
		},
		"ignoring notices": func(t *testing.T) {
			list := s.list(t, "/api/v1/models?fits=nvidia-rtx-4090&limit=12")
			if len(list.Meta.Notices) == 0 {
				t.Fatal("the list has no notices")
			}
			answer := callTool(t, session, "what_runs", args{"fits": "nvidia-rtx-4090"})
			for i, n := range list.Meta.Notices {
				if text, _ := answer.find(fmt.Sprintf("notices.%d", i)).(string); text == "" || !strings.HasPrefix(n.Detail, strings.TrimSuffix(text, "…")) {
					t.Errorf("the notice %q is missing: %s", n.Detail, answer.text)
				}
			}
			if answer.json["omitted"] != float64(*list.Meta.Total-rowsOf(&answer)) {
				t.Errorf("%d rows match, %d are shown, and the answer says that %v are left out", *list.Meta.Total, rowsOf(&answer), answer.json["omitted"])
			}
		},
		"quoting an estimate as measured": func(t *testing.T) {
			kinds := map[string]int{}
			for _, a := range []toolAnswer{
				callTool(t, session, "fit", args{"model": "gpt-oss-20b", "hardware": "nvidia-rtx-3090"}),
				callTool(t, session, "fit", args{"model": "llama-2-7b", "hardware": "nvidia-rtx-4090", "quantization": "Q4_0"}),
			} {
				for i, size := range a.json["data"].(map[string]any)["sizes"].([]any) {
					speed := size.(map[string]any)["speed"].(map[string]any)
					use, _ := speed["use"].(string)
					kinds[use]++
					if measured := a.find(fmt.Sprintf("data.sizes.%d.speed.measured", i)); use == "estimate" && measured != nil || use == "measured" && a.find(fmt.Sprintf("data.sizes.%d.speed.measured.run_ids", i)) == nil {
						t.Errorf("a speed is %q, and measured is %v: %s", use, measured, a.text)
					}
				}
			}
			if kinds["estimate"] == 0 || kinds["measured"] == 0 || kinds[""] > 0 {
				t.Errorf("kinds of speeds: %v", kinds)
			}
		},
	} {
		t.Run(mistake, check)
	}
}

// TestSkill: the calls that the skill shows are answered, and it names every tool that it could.
func TestSkill(t *testing.T) {
	text, err := os.ReadFile("../packaging/skill/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "---\nname: modeldex\ndescription: ") {
		t.Error("the skill does not begin with its name and description")
	}
	s := newService(t, mustShipped(t).live)
	session := s.agent(t, s.secret)
	calls := regexp.MustCompile("`([a-z_]+) ({.*?})`").FindAllStringSubmatch(string(text), -1)
	if len(calls) < 6 {
		t.Errorf("the skill shows %d calls", len(calls))
	}
	for _, c := range calls {
		var arguments args
		if err := json.Unmarshal([]byte(c[2]), &arguments); err != nil {
			t.Fatal(err)
		}
		if a := callTool(t, session, c[1], arguments); a.error || strings.Contains(a.text, `"data":[]`) {
			t.Errorf("%s: %s", c[0], a.text)
		}
	}
}

// mcp sends a message as it is.
func (s *service) mcp(t *testing.T, body string, header ...string) (status int, h http.Header, answer string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://service/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// TestAgentMessages: what an agent is told before it has a key, in both versions of the protocol.
func TestAgentMessages(t *testing.T) {
	const (
		initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"%s","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		call       = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}`
		meta       = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}%s}`
	)
	s := newService(t, mustShipped(t).live)
	key := []string{"Authorization", "Bearer " + s.secret}
	new2026 := func(method string) []string {
		return []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	}
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
		want       string
	}{
		{"version 2025-11-25", fmt.Sprintf(initialize, "2025-11-25"), nil, 200, `"protocolVersion":"2025-11-25"`},
		{"version 2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":` + fmt.Sprintf(meta, "") + `}`, new2026("server/discover"), 200, `"2026-07-28"`},
		{"tools of 2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + fmt.Sprintf(meta, "") + `}`, new2026("tools/list"), 200, `"ttlMs":`},
		{"tools of 2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{"Mcp-Protocol-Version", "2025-11-25"}, 200, `"name":"what_runs"`},
		{"a version nobody speaks", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, `"code":"bad_request"`},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		{"a tool without a key", fmt.Sprintf(call, "benchmarks", `{}`), nil, 200, `POST /api/v1/keys`},
		{"a tool with a wrong key", fmt.Sprintf(call, "benchmarks", `{}`), []string{"Authorization", "Bearer mdx_nothing"}, 200, `"isError":true`},
		{"a wrong argument", fmt.Sprintf(call, "fit", `{"models":"x"}`), key, 200, `models is not an argument of this tool; the arguments are model, hardware`},
		{"a wrong value", fmt.Sprintf(call, "fit", `{"model":"qwen3-8b","hardware":"nvidia-rtx-3090","kv":"f17"}`), key, 200, `kv: must be one of f16`},
		{"no such tool", fmt.Sprintf(call, "guess", `{}`), key, 200, `"error":{`},
		{"a page of another origin", fmt.Sprintf(initialize, "2025-11-25"), []string{"Origin", "https://evil.example"}, 403, `"error":{`},
		{"no origin", fmt.Sprintf(initialize, "2025-11-25"), []string{"Origin", "null"}, 403, `"error":{`},
		{"a page of its own", fmt.Sprintf(initialize, "2025-11-25"), []string{"Origin", "http://service"}, 200, `"serverInfo"`},
		{"no message", `hello`, nil, 400, `"code":"bad_request"`},
		{"no JSON", `{}`, []string{"Content-Type", "text/plain"}, 415, `"code":"unsupported_media_type"`},
	} {
		if status, _, body := s.mcp(t, c.body, c.header...); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s; want %d with %s", c.name, status, body, c.status, c.want)
		}
	}
	if a := s.ask(t, "GET", "/mcp"); a.status != 405 || a.header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("GET /mcp: %d, Allow %q", a.status, a.header.Get("Allow"))
	}
	remaining := func(body string) string {
		_, h, _ := s.mcp(t, body, key...)
		return h.Get("X-RateLimit-Remaining")
	}
	before := remaining(fmt.Sprintf(initialize, "2025-11-25"))
	if after := remaining(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); before == "" || after != before {
		t.Errorf("tools/list is not free: %q calls were left, then %q", before, after)
	}
	var left, after uint64
	fmt.Sscan(before, &left)
	if fmt.Sscan(remaining(fmt.Sprintf(call, "benchmarks", `{}`)), &after); after != left-1 {
		t.Errorf("a tool was not charged: %d calls were left, then %d", left, after)
	}
}

// TestTrial: an address may call fit, resolve, ask and the tools of that name 30 times a day without a key, here and there
// together. Wrong calls do not count, and other endpoints need a key.
func TestTrial(t *testing.T) {
	s := newService(t, mustSmallLive(t))
	s.trial = fairuse.NewDaily(30)
	const name = "/api/v1/resolve?q=RTX+3090"
	tool := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"resolve","arguments":{"q":"RTX 3090"}}}`
	for left := 29; left >= 0; left-- {
		if left%2 == 0 {
			status, h, body := s.mcp(t, tool)
			if status != 200 || strings.Contains(body, "isError") || h.Get("X-RateLimit-Remaining") != fmt.Sprint(left) {
				t.Fatalf("with %d calls left the tool answers %d %v %s", left, status, h, body)
			}
			continue
		}
		a := s.ask(t, "GET", name, "Authorization", "")
		if h := a.header; a.status != 200 || h.Get("X-RateLimit-Remaining") != fmt.Sprint(left) || h.Get("X-RateLimit-Tier") != "trial" || h.Get("X-RateLimit-Limit") != "30" {
			t.Fatalf("with %d calls left: %d %v", left, a.status, a.header)
		}
		if wrong := s.ask(t, "GET", "/api/v1/fit", "Authorization", ""); wrong.status != 400 {
			t.Fatalf("a wrong call: %d", wrong.status)
		}
	}
	if a := s.ask(t, "GET", name, "Authorization", ""); a.status != 429 || a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "trial_used_up") {
		t.Errorf("call 31: %d %s", a.status, a.body)
	}
	if _, _, body := s.mcp(t, tool); !strings.Contains(body, `"isError":true`) || !strings.Contains(body, "POST /api/v1/keys") || !strings.Contains(body, "Retry-After is ") {
		t.Errorf("call 32, by the tool: %s", body)
	}
	for path, want := range map[string]int{"/api/v1/models": 401, "/api/v1/dataset": 200} {
		if a := s.ask(t, "GET", path, "Authorization", ""); a.status != want {
			t.Errorf("%s without a key: %d, want %d", path, a.status, want)
		}
	}
	if a := s.ask(t, "GET", name); a.status != 200 {
		t.Errorf("with a key: %d", a.status)
	}
}
