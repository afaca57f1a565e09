package browsertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// page is a kind of page and the sign that it is complete.
type page struct {
	name, path, complete string
	// fails says that the page is an error, which browsers note.
	fails bool
}

const heading = `document.querySelector('h1')`

// pages are the kinds of page.
var pages = []page{
	{name: "front", path: "/", complete: heading},
	{name: "docs", path: "/docs", complete: `document.querySelector('.guide .copy')`},
	{name: "docs-tools", path: "/docs/tools", complete: `document.querySelector('.opener')`},
	{name: "docs-webhooks", path: "/docs/webhooks", complete: `document.querySelector('.opener')`},
	{name: "docs-objects", path: "/docs/objects", complete: heading},
	{name: "docs-errors", path: "/docs/errors", complete: heading},
	{name: "explore-models", path: "/explore/models", complete: heading},
	{name: "explore-hardware", path: "/explore/hardware?vendor=nvidia&min_vram_gb=16&sort=street_price_usd", complete: heading},
	{name: "explore-tools", path: "/explore/tools", complete: heading},
	{name: "explore-benchmarks", path: "/explore/benchmarks?hardware=nvidia-rtx-4090&settings=single_stream", complete: heading},
	{name: "model", path: "/models/gpt-oss-20b", complete: heading},
	{name: "hardware", path: "/hardware/nvidia-rtx-4090", complete: heading},
	{name: "hardware-64k", path: "/hardware/amd-ryzen-ai-max-395?context=32768", complete: heading},
	{name: "status", path: "/status", complete: heading},
	{name: "tool", path: "/tools/llama.cpp", complete: heading},
	{name: "benchmark", path: "/benchmarks/bm-d20987d408c6", complete: heading},
	{name: "fit", path: "/fit?hardware=nvidia-rtx-4090", complete: heading},
	{name: "fit-pair", path: "/fit?hardware=apple-m3-max&model=gpt-oss-20b", complete: heading},
	{name: "fit-rests", path: "/fit?hardware=nvidia-rtx-4090&model=qwen3-14b&quantization=Q8_0&context=32768", complete: heading},
	{name: "compare", path: "/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090,amd-rx-7900-xtx", complete: heading},
	{name: "compare-four", path: "/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090,amd-rx-7900-xtx,nvidia-rtx-pro-6000-blackwell-max-q", complete: heading},
	{name: "compare-models", path: "/compare?models=gpt-oss-20b,llama-3.1-8b-instruct", complete: heading},
	{name: "snapshots", path: "/snapshots", complete: heading},
	{name: "about", path: "/about", complete: heading},
	{name: "changes", path: "/changes", complete: heading},
	{name: "changes-narrowed", path: "/changes?table=hardware", complete: heading},
	{name: "credits", path: "/credits", complete: heading},
	{name: "contribute", path: "/contribute?model=gpt-oss-20b", complete: heading},
	{name: "missing", path: "/models/gpt-os-20b", complete: heading, fails: true},
}

// looks are the forms a kind of page is seen in: all for the first page, which has most of its own, and
// for others the two that differ in both width and scheme.
func (p *page) looks() []look {
	if p.name == "front" {
		return looks
	}
	return []look{looks[0], looks[3]}
}

func TestPages(t *testing.T) {
	for _, page := range pages {
		for _, l := range page.looks() {
			t.Run(page.name+"-"+l.name, func(t *testing.T) {
				p := open(t, page.path, l)
				p.wait(t, page.complete)
				p.wait(t, `document.readyState === 'complete'`)
				p.keep(t, page.name+"-"+l.name)
				if page.fails {
					p.checkQuiet(t, "status of 404")
				} else {
					p.checkQuiet(t)
				}
				if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("the page is %d pixels wider than its window", over)
				}
				if over := eval[[]string](t, p, wideTables); l.width > 1200 && len(over) > 0 {
					t.Errorf("tables that are wider than a wide window: %q", over)
				}
				if bare := eval[[]string](t, p, bareElements); len(bare) > 0 {
					t.Errorf("without a name for screen readers: %q", bare)
				}
				if cut := eval[[]string](t, p, cutLabels); len(cut) > 0 {
					t.Errorf("labels that leave their plot: %q", cut)
				}
				if broken := eval[[]string](t, p, brokenFigures); len(broken) > 0 {
					t.Errorf("figures and dates that are broken at the end of a line: %q", broken)
				}
				checkContrast(t, p)
				if l == looks[0] && !page.fails {
					checkWeight(t, p)
				}
				if axeSource() != "" && (l == looks[0] || l == looks[3]) { // wide and light, narrow and dark
					checkAccessible(t, p)
				}
			})
		}
	}
}

// wideTables lists tables that have to be scrolled sideways.
const wideTables = `[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => (e.scrollWidth - e.clientWidth) + ' pixels: ' + e.textContent.trim().slice(0, 60))`

// cutLabels lists texts of plots that are not whole inside them.
const cutLabels = `[...document.querySelectorAll('main svg[role=img]')].filter((e) => e.checkVisibility()).flatMap((svg) => {
	const all = svg.getBoundingClientRect();
	return [...svg.querySelectorAll('text')].filter((e) => { const r = e.getBoundingClientRect(); return r.left < all.left - 1 || r.right > all.right + 1 }).map((e) => e.textContent);
})`

// brokenFigures lists counts, figures and dates of the head of a page that have a line break inside.
const brokenFigures = `[...document.querySelectorAll('.picks dd, .figures dd, .lead')].flatMap((e) => {
	const broken = [], walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
	for (let n; (n = walker.nextNode());) for (const m of n.textContent.matchAll(/\$?\d[\d.,-]*( GB\/s)?/g)) {
		const r = document.createRange();
		r.setStart(n, m.index); r.setEnd(n, m.index + m[0].length);
		if (new Set([...r.getClientRects()].map((q) => Math.round(q.top))).size > 1) broken.push(m[0]);
	}
	return broken;
})`

// bareElements lists links, buttons, fields and images without a name for screen readers.
const bareElements = `[...document.querySelectorAll('.top a, main a, main button, form input:not([type=hidden]), form textarea, body > main img')]
	.filter((e) => !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-label') || e.title || e.alt))
	.map((e) => e.outerHTML.slice(0, 120))`

// faintTexts lists texts with less contrast to what is behind them than WCAG 2 asks at level
// AA: 4.5:1, or 3:1 from 24 pixels on.
const faintTexts = `(() => {
	const channels = (c) => c.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const c = channels(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] === 1) return c;
		}
		return [255, 255, 255];
	};
	const faint = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; (n = walker.nextNode());) {
		const e = n.parentElement;
		if (!n.textContent.trim() || !e.checkVisibility() || ['SCRIPT', 'NOSCRIPT'].includes(e.tagName)) continue;
		const style = getComputedStyle(e);
		const [a, b] = [light(channels(style.color)), light(behind(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) faint.push(ratio.toFixed(2) + ' ' + n.textContent.trim().slice(0, 60));
	}
	return faint;
})()`

func checkContrast(t *testing.T, p *tab) {
	t.Helper()
	for _, text := range eval[[]string](t, p, faintTexts) {
		t.Errorf("too little contrast: %s", text)
	}
}

// TestWatching holds that the other tests would see what they look for.
func TestWatching(t *testing.T) {
	p := open(t, "/", looks[0])
	p.wait(t, `document.readyState === 'complete'`)
	p.do(t, chromedp.Evaluate[chromedp.Void](`fetch('https://elsewhere.invalid/').catch(() => { window.refused = true }); console.error('planted')`))
	p.wait(t, `window.refused`)
	p.mu.Lock()
	defer p.mu.Unlock()
	all := strings.Join(p.faults, "\n")
	for _, want := range []string{"planted", "Content Security Policy"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing was noted of %q: %s", want, all)
		}
	}
}

// TestWidths holds that no page is wider than a window of 320 pixels, which is one of 1280 at four times the size,
// and that lists can be read whole in the windows of tablets on their side and of notebooks.
func TestWidths(t *testing.T) {
	p := open(t, "about:blank", looks[0])
	for _, page := range pages {
		p.do(t, chromedp.EmulateViewport(320, 780), chromedp.Navigate(origin+page.path))
		p.until(t, `document.querySelector('h1') && document.readyState === 'complete'`)
		if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("%s is %d pixels wider than a window of 320", page.path, over)
		}
		if broken := eval[[]string](t, p, brokenFigures); len(broken) > 0 {
			t.Errorf("%s: figures and dates that are broken in a window of 320: %q", page.path, broken)
		}
		if !strings.HasPrefix(page.path, "/explore/") {
			continue
		}
		for _, width := range []int64{768, 1024, 1280, 1366, 1440} {
			p.do(t, chromedp.EmulateViewport(width, 780))
			if over := eval[int](t, p, `(() => { const e = document.querySelector('.scroll'); return e.scrollWidth - e.clientWidth })()`); over > 0 {
				t.Errorf("%s: %d pixels of the list are out of sight in a window of %d", page.path, over, width)
			}
		}
	}
}

// TestTablets holds that tables fit a window of 1000 pixels, and that what does not fit a smaller one can be seen to go on,
// is moved with the keyboard and keeps the names of its rows in sight.
func TestTablets(t *testing.T) {
	p := open(t, "about:blank", looks[0])
	const outOfSight = `[...document.querySelectorAll('.scroll')].map((e) => e.scrollWidth - e.clientWidth).reduce((a, b) => Math.max(a, b), 0)`
	four := page{name: "compare-four", path: "/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090,amd-rx-7900-xtx,amd-ryzen-ai-max-395"}
	moved := 0
	for _, page := range append(slices.Clone(pages), four) {
		p.do(t, chromedp.EmulateViewport(1280, 780), chromedp.Navigate(origin+page.path))
		p.until(t, `document.querySelector('h1') && document.readyState === 'complete'`)
		for _, width := range []int64{1280, 1024, 1000} {
			p.do(t, chromedp.EmulateViewport(width, 780))
			if over := eval[int](t, p, outOfSight); over > 0 {
				t.Errorf("%s: %d pixels of a table are out of sight in a window of %d", page.path, over, width)
			}
		}
		p.do(t, chromedp.EmulateViewport(800, 780))
		if eval[int](t, p, outOfSight) == 0 {
			continue
		}
		p.do(t, chromedp.Evaluate[chromedp.Void](`(() => { const e = [...document.querySelectorAll('.scroll')].find((e) => e.scrollWidth > e.clientWidth); e.id = 'wide'; e.focus(); })()`))
		if got := eval[string](t, p, `document.activeElement.id + ' ' + (getComputedStyle(document.activeElement).backgroundImage.match(/gradient/g) ?? []).length`); got != "wide 4" {
			t.Errorf("%s: the focus and the shades of a table that goes on are %q, want wide 4", page.path, got)
		}
		p.do(t, chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
		p.wait(t, `document.activeElement.scrollLeft > 0`)
		if left := eval[float64](t, p, `(() => { const e = document.activeElement; return e.querySelector('tbody th').getBoundingClientRect().left - e.getBoundingClientRect().left })()`); left < 0 {
			t.Errorf("%s: the name of a row is %v pixels out of sight", page.path, -left)
		}
		moved++
	}
	if moved == 0 {
		t.Error("no table goes on at 800 pixels: nothing was tested")
	}
}

// brokenWords lists words of tables that are broken though they are short.
const brokenWords = `[...document.querySelectorAll('tbody th, tbody td')].flatMap((e) => {
	const broken = [], walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
	for (let n; (n = walker.nextNode());) for (const m of n.textContent.matchAll(/[\w.]+/g)) {
		const r = document.createRange();
		r.setStart(n, m.index); r.setEnd(n, m.index + m[0].length);
		if (m[0].length <= 12 && new Set([...r.getClientRects()].map((q) => Math.round(q.top))).size > 1) broken.push(m[0]);
	}
	return broken;
})`

// paleLabels lists labels of plots that cannot be read on white paper.
const paleLabels = `[...document.querySelectorAll('main svg[role=img] text')].filter((e) => e.checkVisibility() && getComputedStyle(e).fill.match(/\d+/g).every((c) => c > 150)).map((e) => e.textContent).slice(0, 5)`

// TestPrint holds that tables are whole on a sheet of A4, as tables, without what is there to be clicked.
func TestPrint(t *testing.T) {
	p := open(t, "about:blank", looks[0])
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	if _, err := chromedp.Call(p.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: dark}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/hardware/nvidia-rtx-4090", "/explore/benchmarks?hardware=nvidia-rtx-4090&settings=single_stream", "/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090,amd-rx-7900-xtx", "/explore/benchmarks", "/credits", "/changes"} {
		p.do(t, chromedp.EmulateViewport(718, 1000), chromedp.Navigate(origin+path))
		p.until(t, `document.querySelector('h1') && document.readyState === 'complete'`)
		p.keep(t, "print"+strings.NewReplacer("/", "-", "?", "-").Replace(path[:min(9, len(path))]))
		if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("%s: %d pixels are off the sheet", path, over)
		}
		if broken := eval[[]string](t, p, brokenWords); len(broken) > 0 {
			t.Errorf("%s: short words are broken: %q", path, broken)
		}
		checkContrast(t, p) // the screen is dark, the paper white
		if pale := eval[[]string](t, p, paleLabels); len(pale) > 0 {
			t.Errorf("%s: labels of plots are too pale for paper: %q", path, pale)
		}
		if got := eval[string](t, p, `getComputedStyle(document.querySelector('tbody tr')).display`); got != "table-row" {
			t.Errorf("%s: rows are shown as %s", path, got)
		}
		if n := eval[int](t, p, `[...document.querySelectorAll('nav:not(.crumbs), form, .button')].filter((e) => e.checkVisibility()).length`); n > 0 {
			t.Errorf("%s: %d navigations, forms and buttons are printed", path, n)
		}
	}
}

// TestKeyboard holds that the first stop leads past the navigation, and that stops show.
func TestKeyboard(t *testing.T) {
	p := open(t, "/", looks[0])
	p.do(t, chromedp.KeyEvent("\t"))
	if got := eval[string](t, p, `document.activeElement.getAttribute('href')`); got != "#main" {
		t.Errorf("the first stop leads to %q, want #main", got)
	}
	p.do(t, chromedp.KeyEvent("\t"))
	if got := eval[string](t, p, `getComputedStyle(document.activeElement).outlineStyle`); got == "none" {
		t.Error("the focused link has no outline")
	}
}

// TestRightToLeft holds that a name in a script from right to left is read as one: its number stays beside its letter.
func TestRightToLeft(t *testing.T) {
	p := open(t, "/explore/models", looks[0])
	for _, place := range []string{"h1", "tbody th a"} {
		apart := eval[float64](t, p, `(() => {
			const e = document.querySelector('`+place+`');
			e.textContent = 'نموذج 20B (تجريبي)';
			const at = (i) => { const r = document.createRange(); r.setStart(e.firstChild, i); r.setEnd(e.firstChild, i + 1); return r.getBoundingClientRect() };
			return Math.abs(at(e.textContent.indexOf('B')).left - at(e.textContent.indexOf('0')).right);
		})()`)
		if apart > 4 {
			t.Errorf("%s: 20B has %v pixels between its 0 and its B", place, apart)
		}
		if left := eval[float64](t, p, `document.querySelector('`+place+`').getBoundingClientRect().left - document.querySelector('`+place+`').parentElement.getBoundingClientRect().left`); left > 20 {
			t.Errorf("%s begins %v pixels from the left", place, left)
		}
	}
}

// TestCurlLines runs the first calls of the reference as a reader would.
func TestCurlLines(t *testing.T) {
	p := open(t, "/docs", looks[0])
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl found")
	}
	lines := eval[[]string](t, p, `[...document.querySelectorAll('.steps code')].map((c) => c.textContent)`)
	if len(lines) != 3 {
		t.Fatalf("the reference has %d calls, want 3", len(lines))
	}
	for i, want := range []string{`"data":[{`, `"slug":"llama-3.1-8b-instruct"`} {
		out, err := exec.Command("sh", "-c", lines[0]+"\n"+lines[i+1]).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s\nanswers %.300s, %v, want it to have %s", lines[i+1], out, err, want)
		}
	}
}

// signUp fills the form and sends it.
func signUp(t *testing.T, p *tab, name, email, useCase string) {
	t.Helper()
	for id, text := range map[string]string{"name": name, "email": email, "use_case": useCase} {
		if text != "" {
			p.do(t, chromedp.SendKeys(chromedp.CSS("#"+id), text))
		}
	}
	p.do(t, chromedp.Click(chromedp.CSS("#signup button")))
}

// issueKey gets a key as a person does.
func issueKey(t *testing.T) (*tab, string) {
	t.Helper()
	p := open(t, "/docs", looks[0])
	signUp(t, p, "browser test", "browser@example.com", "Testing the form")
	p.wait(t, `!document.getElementById('issued').hidden`)
	return p, eval[string](t, p, `document.getElementById('secret').textContent`)
}

func TestSignUp(t *testing.T) {
	p, key := issueKey(t)
	p.keep(t, "signup-issued")
	p.checkQuiet(t)
	req, err := http.NewRequest(http.MethodGet, origin+"/api/v1/tools?limit=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("a call with the key of the form answers %d: %s", resp.StatusCode, body)
	}
	if got := eval[string](t, p, `document.querySelectorAll('.steps code')[2].textContent`); !strings.Contains(got, key) {
		t.Errorf("the third call does not hold the key: %s", got)
	}
	if got := eval[string](t, p, `document.activeElement.id`); got != "issued" {
		t.Errorf("the focus is on %q, want it on the key", got)
	}
	if got := eval[string](t, p, `document.getElementById('allowance').textContent`); !strings.Contains(got, "1,000 calls a month") {
		t.Errorf("the page says %q of the allowance", got)
	}
}

func TestSignUpFaults(t *testing.T) {
	p := open(t, "/docs", looks[0])
	signUp(t, p, "browser test", "nobody", "")
	p.wait(t, `!document.getElementById('email-fault').hidden`)
	p.keep(t, "signup-faults")
	for id, want := range map[string]string{"name": "", "email": "must be an e-mail address", "use_case": "must not be empty"} {
		got := eval[string](t, p, `document.getElementById('`+id+`-fault').textContent`)
		invalid := eval[bool](t, p, `document.getElementById('`+id+`').getAttribute('aria-invalid') === 'true'`)
		if !strings.Contains(got, want) || invalid != (want != "") || want == "" && got != "" {
			t.Errorf("field %s shows %q, invalid %t, want %q", id, got, invalid, want)
		}
	}
	if got := eval[string](t, p, `document.activeElement.id`); got != "email" {
		t.Errorf("the focus is on %q, want the first field at fault", got)
	}
	p.do(t, chromedp.SendKeys(chromedp.CSS("#email"), "@example.com"), chromedp.SendKeys(chromedp.CSS("#use_case"), "Testing"), chromedp.Click(chromedp.CSS("#signup button")))
	p.wait(t, `!document.getElementById('issued').hidden`)
	p.checkQuiet(t, "the server responded with a status of 400")
}

// TestReference holds that the reference shows every operation of the document.
func TestReference(t *testing.T) {
	p := open(t, "/docs", looks[0])
	p.wait(t, heading)
	shown := map[string]int{}
	for _, text := range eval[[]string](t, p, `[...document.querySelectorAll('.toc a')].map((e) => e.innerText.replace(/\s+/g, ' '))`) {
		shown[text]++
	}
	resp, err := http.Get(origin + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			if name := strings.ToUpper(method) + " " + path; shown[name] != 1 {
				t.Errorf("the reference lists %s %d times, want once", name, shown[name])
			}
		}
	}
}

// TestTryItOut types a key into the reference and makes calls from it, one of them with a body.
func TestTryItOut(t *testing.T) {
	_, key := issueKey(t)
	p := open(t, "/docs/tools#getTool", looks[0])
	p.wait(t, `document.querySelector('#getTool .opener')`)
	p.do(t, chromedp.Click(chromedp.CSS("#getTool .opener")))
	p.do(t, chromedp.SendKeys(chromedp.CSS("#try-getTool-key"), key), chromedp.KeyEvent("\r"))
	p.wait(t, `document.querySelector('#getTool output .code-of')`)
	p.keep(t, "docs-tried")
	if got := eval[string](t, p, `document.querySelector('#getTool output').innerText`); !strings.HasPrefix(got, "200") || !strings.Contains(got, `"slug": "llama.cpp"`) {
		t.Errorf("the call shows %.200q, want 200 and the record", got)
	}
	p.do(t, chromedp.Click(chromedp.CSS("#listTools .opener")))
	if got := eval[string](t, p, `document.activeElement.id`); got != "try-listTools-address" {
		t.Errorf("the focus is on %q, want the address: the key is known", got)
	}
	p.checkQuiet(t)
	if stored := eval[int](t, p, `localStorage.length + sessionStorage.length + document.cookie.length`); stored != 0 {
		t.Error("the page stores something, and it may store no key")
	}
	if axeSource() != "" {
		checkAccessible(t, p)
	}

	p = open(t, "/docs/names", looks[2])
	p.wait(t, `document.querySelector('#resolveNames .opener')`)
	p.do(t, chromedp.Click(chromedp.CSS("#resolveNames .opener")), chromedp.SendKeys(chromedp.CSS("#try-resolveNames-key"), key), chromedp.KeyEvent("\r"))
	p.wait(t, `document.querySelector('#resolveNames output .code-of')`)
	if got := eval[string](t, p, `document.querySelector('#resolveNames output').innerText`); !strings.HasPrefix(got, "200") || !strings.Contains(got, "nvidia-rtx-4090") {
		t.Errorf("the call with a body shows %.200q, want 200 and the slug", got)
	}
	if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("the page is %d pixels wider than its window", over)
	}
	p.checkQuiet(t)
}

// TestScoresNameTheirSources holds that the page of scores names the evaluations, not the letters a document has for them.
func TestScoresNameTheirSources(t *testing.T) {
	p := open(t, "/snapshots", looks[0])
	named := eval[[]string](t, p, `[...new Set([...document.querySelectorAll('#scores td[data-label="Sources"]')].flatMap((e) => e.textContent.split(', ')))].sort()`)
	if want := []string{"EuroEval English leaderboard", "LMArena text leaderboard", "LiveBench"}; !slices.Equal(named, want) {
		t.Errorf("scores are of %q, want %q", named, want)
	}
}

// TestNotes holds that on a narrow screen, where a row of a table is a card, the note of a value is at its side, or below, and both are
// at the right edge, and that the name of the column is at the left one.
func TestNotes(t *testing.T) {
	const misplaced = `(() => {
		const out = [];
		let seen = 0;
		for (const td of document.querySelectorAll('main td')) {
			const note = td.lastElementChild;
			if (!note || note.tagName !== 'SMALL' || !td.dataset.label || getComputedStyle(td).display !== 'flex') continue;
			const value = document.createRange();
			value.setStart(td, 0);
			value.setEndBefore(note);
			const [cell, v, n] = [td.getBoundingClientRect(), value.getBoundingClientRect(), note.getBoundingClientRect()];
			if (!v.width || !n.width) continue;
			seen++;
			const tops = [...value.getClientRects()].map(r => r.top);
			if (value.toString().trim().length < 9 && Math.max(...tops) - Math.min(...tops) > 12) out.push(td.dataset.label + ' is broken: ' + td.textContent);
			if (n.left - v.right > 17 || cell.right - n.right > 2) out.push(td.dataset.label + ': ' + td.textContent);
		}
		return seen ? out.join('; ') : 'no notes';
	})()`
	for _, width := range []int64{360, 400, 700} {
		for _, scheme := range []string{"light", "dark"} {
			for name, path := range map[string]string{"model": "/models/qwen3-8b", "snapshots": "/snapshots", "compare": "/compare?hardware=nvidia-rtx-4090,apple-m4-max-40gpu"} {
				p := open(t, path, look{width: width, height: 800, scheme: scheme})
				p.wait(t, "document.readyState === 'complete'")
				if got := eval[string](t, p, misplaced); got != "" {
					t.Errorf("%s at %d px: %.300s", path, width, got)
				}
				p.keep(t, fmt.Sprintf("notes-%s-%d-%s", name, width, scheme))
			}
		}
	}
}
