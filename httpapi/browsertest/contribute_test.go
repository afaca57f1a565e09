package browsertest

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// pastedTable is what llama-bench prints, with one row that cannot be read.
const pastedTable = `ggml_cuda_init: found 1 CUDA devices:
  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes
| model                  |     size | params | backend | ngl |  test |                t/s |
| ---------------------- | -------: | -----: | ------- | --: | ----: | -----------------: |
| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA    |  99 | pp512 |    9121.33 ± 10.12 |
| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA    |  99 | tg128 |      124.65 ± 0.08 |
| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA    |  99 | tg256 | <img src=x onerror=alert(1)> |

build: 01234567 (7361)`

// set gives a field its value at once, as pasting does.
func (p *tab) set(t *testing.T, id, text string) {
	t.Helper()
	p.until(t, `document.getElementById('`+id+`')?.labels.length`)
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('`+id+`').value = `+quote(text)))
}

// submit sends a form and waits for what came of it.
func (p *tab) submit(t *testing.T) {
	t.Helper()
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#outcome')?.remove()`), chromedp.Evaluate[chromedp.Void](`document.querySelector('#fields form button').click()`))
	p.until(t, `document.getElementById('outcome') && document.readyState === 'complete'`)
}

// checkLook holds a page that a form led to to what all pages must be.
func (p *tab) checkLook(t *testing.T, name string) {
	t.Helper()
	p.keep(t, name)
	if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("%s: the page is %d pixels wider than its window", name, over)
	}
	checkContrast(t, p)
	if axeSource() != "" {
		checkAccessible(t, p)
	}
}

// TestTaskContribute makes a line of a measurement: from the page of a model, first with mistakes, then without.
func TestTaskContribute(t *testing.T) {
	for _, l := range []look{looks[0], looks[3]} {
		t.Run(l.name, func(t *testing.T) {
			p := open(t, "/models/gpt-oss-20b", l)
			p.follow(t, "Contribute a benchmark of this model")
			p.arrived(t, "/contribute")
			if got := eval[string](t, p, `document.getElementById('f-model').value`); got != "gpt-oss-20b" {
				t.Errorf("the form begins with the model %q", got)
			}
			p.set(t, "f-hardware", "RTX 4o90")
			p.set(t, "f-generation_tps", "fast")
			p.set(t, "f-notes", "<script>alert(1)</script>")
			p.submit(t)
			p.checkLook(t, "contribute-faults-"+l.name)
			text := eval[string](t, p, `document.getElementById('outcome').innerText`)
			for _, want := range []string{"4 fields need attention", "Hardware: no hardware has this name", `Generation speed: must be a number, got "fast"`, "Tool: is required"} {
				if !strings.Contains(text, want) {
					t.Errorf("want %q in %s", want, text)
				}
			}
			if !eval[bool](t, p, `document.getElementById('f-hardware').getAttribute('aria-invalid') === 'true' && document.getElementById('f-hardware-fault').innerText.includes('nvidia-rtx-4090')`) {
				t.Error("the field with a fault does not say what may be meant")
			}
			p.set(t, "f-hardware", "RTX 4090")
			p.set(t, "f-generation_tps", "203.41")
			p.set(t, "f-tool", "llama.cpp")
			p.set(t, "f-source_url", "https://example.com/my-runs")
			p.submit(t)
			p.checkLook(t, "contribute-ready-"+l.name)
			var line struct {
				Model, Hardware, Notes string
				TPS                    float64 `json:"generation_tps"`
			}
			if err := json.Unmarshal([]byte(eval[string](t, p, `document.querySelector('#outcome .lines code').textContent`)), &line); err != nil ||
				line.Model != "gpt-oss-20b" || line.Hardware != "nvidia-rtx-4090" || line.TPS != 203.41 || line.Notes != "<script>alert(1)</script>" {
				t.Errorf("%v: the line is %+v", err, line)
			}
			u, err := url.Parse(eval[string](t, p, `document.querySelector('#outcome a.button').href`))
			if err != nil || u.Host != "github.com" || !strings.HasSuffix(u.Path, "/issues/new") {
				t.Fatalf("%v: the link to propose it is %s", err, u)
			}
			for field, want := range map[string]string{"template": "measurement.yml", "hardware": "RTX 4090", "generation_tps": "203.41", "source": "a user (community)", "notes": "<script>alert(1)</script>"} {
				if got := u.Query().Get(field); got != want {
					t.Errorf("the form of the repository is filled with %s %q, want %q", field, got, want)
				}
			}
			p.checkQuiet(t)
		})
	}
}

// TestContributeWithoutScripts pastes an output of llama-bench in a browser that runs no scripts.
func TestContributeWithoutScripts(t *testing.T) {
	p := withoutScripts(t, "/contribute", looks[2])
	p.set(t, "f-output", pastedTable)
	p.set(t, "f-model", "Llama 3.1 8B Instruct")
	p.set(t, "f-source_url", "https://example.com/my-runs")
	p.submit(t)
	p.keep(t, "contribute-output-narrow-light")
	text := eval[string](t, p, `document.getElementById('outcome').innerText`)
	for _, want := range []string{"1 entry is ready", `"model":"llama-3.1-8b-instruct"`, "Skipped rows", "<img src=x onerror=alert(1)>"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in %s", want, text)
		}
	}
	if n := eval[int](t, p, `document.querySelectorAll('main img, main script').length`); n > 0 {
		t.Error("what was pasted is part of the page")
	}
	if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("the page is %d pixels wider than its window", over)
	}
}
