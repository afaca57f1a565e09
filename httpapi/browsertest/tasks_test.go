package browsertest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Five tasks of a newcomer, from the front page on, by what is written on the pages; and what lists
// promise: filters, pages, links to share, with scripts or without, by keyboard alone.

// until waits until an expression is true, in this page or the one that follows. It works without
// scripts of the page, and while a page is being left.
func (p *tab) until(t *testing.T, expression string) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		var is bool
		if is, err = chromedp.Run(p.Context, chromedp.Evaluate[bool]("!!("+expression+")")); is && err == nil {
			return
		}
		if p.Context.Err() != nil {
			break
		}
	}
	t.Fatalf("waiting for %s: %v\nfaults: %q", expression, err, p.faults)
}

// named finds what a person sees by its text or accessible name.
const named = `((text) => [...document.querySelectorAll('a, button, summary')].find((e) => e.checkVisibility()
	&& [e.textContent.trim().replace(/\s+/g, ' '), e.getAttribute('aria-label')].includes(text)))`

// follow clicks the link, button or fold with a text.
func (p *tab) follow(t *testing.T, text string) {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	p.until(t, named+"("+string(quoted)+")")
	p.do(t, chromedp.Evaluate[chromedp.Void](named+"("+string(quoted)+").click()"))
}

// fill replaces what is in the field with a label.
func (p *tab) fill(t *testing.T, id, text string) {
	t.Helper()
	p.until(t, `document.getElementById('`+id+`')?.labels.length`)
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('`+id+`').value = ''`), chromedp.SendKeys(chromedp.CSS("#"+id), text))
}

// arrived waits for a page at a path, whole.
func (p *tab) arrived(t *testing.T, path string) {
	t.Helper()
	p.until(t, `location.pathname === '`+path+`' && document.readyState === 'complete'`)
}

// table is the texts of a table: heads, then rows.
func (p *tab) table(t *testing.T, selector string) [][]string {
	t.Helper()
	return eval[[][]string](t, p, `[...document.querySelectorAll('`+selector+` tr')].map((r) => [...r.children].map((c) => c.textContent.trim().replace(/\s+/g, ' ')))`)
}

// apiKey is a key of the running server.
var apiKey = sync.OnceValues(func() (string, error) {
	resp, err := http.Post(origin+"/api/v1/keys", "application/json", strings.NewReader(`{"name":"browser test","email":"tasks@example.com","use_case":"comparing pages with the API"}`))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Data struct {
			Key string `json:"key"`
		} `json:"data"`
	}
	err = json.NewDecoder(resp.Body).Decode(&answer)
	return answer.Data.Key, err
})

// api asks the API, to compare pages with it.
func api[T any](t *testing.T, path string) (v struct{ Data T }) {
	t.Helper()
	key, err := apiKey()
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, origin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", path, resp.Status, err)
	}
	return v
}

type namedRecord struct {
	Slug  string  `json:"slug"`
	Name  string  `json:"name"`
	Price float64 `json:"street_price_usd"`
}

func TestTaskCheapestCard(t *testing.T) {
	p := open(t, "/", looks[0])
	p.follow(t, "The cheapest card for gpt-oss 20b")
	p.arrived(t, "/explore/hardware")
	want := api[[]namedRecord](t, "/api/v1/hardware?runs=gpt-oss-20b&context=32768&sort=street_price_usd&limit=1").Data[0]
	rows := p.table(t, "#results-area table")
	if len(rows) < 2 || !strings.Contains(rows[1][0], want.Name) {
		t.Fatalf("the first row is %q, want %s", rows[:min(2, len(rows))], want.Name)
	}
	if digits := regexp.MustCompile(`[^\d ]`).ReplaceAllString(strings.Join(rows[1], " "), ""); !strings.Contains(digits, strconv.Itoa(int(math.Round(want.Price)))) {
		t.Errorf("the first row %q does not show the price of %v", rows[1], want.Price)
	}
	if href := eval[string](t, p, `document.querySelector('#results-area tbody a').getAttribute('href')`); href != "/hardware/"+want.Slug {
		t.Errorf("the first row leads to %s, want the record %s", href, want.Slug)
	}
	p.checkQuiet(t)
}

func TestTaskM3Max(t *testing.T) {
	p := open(t, "/", looks[0])
	p.fill(t, "q", "Apple M3 Max (GPU cores not stated)")
	p.follow(t, "Ask")
	p.arrived(t, "/hardware/apple-m3-max")
	p.follow(t, "64 GB") // nothing says how much it has
	p.until(t, `new URLSearchParams(location.search).get('memory_gb') === '64' && document.readyState === 'complete'`)
	p.follow(t, "All models that run on it")
	p.arrived(t, "/fit")
	p.follow(t, "64 GB")
	p.until(t, `new URLSearchParams(location.search).get('memory_gb') === '64' && document.readyState === 'complete'`)
	text := eval[string](t, p, `document.querySelector('main').innerText`)
	for _, want := range []string{"M3 Max", "64", "measured", "estimated"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page says nothing of %q:\n%.1500s", want, text)
		}
	}
	models := eval[[]string](t, p, `[...document.querySelectorAll('main tbody a')].map((a) => a.getAttribute('href')).filter((h) => h.startsWith('/models/'))`)
	if len(models) < 20 {
		t.Errorf("%d models run on it, want many: %q", len(models), models)
	}
	// 48 GB of 64 may be used: 80 billion parameters fit at 4 bits, 405 billion do not.
	all := strings.Join(models, " ") + " "
	if !strings.Contains(all, "/models/qwen3-next-80b-a3b-instruct ") || strings.Contains(all, "/models/llama-3.1-405b-instruct ") {
		t.Errorf("of Qwen3 Next 80B and Llama 3.1 405B the first alone should run: %q", models)
	}
	p.checkQuiet(t)
}

func TestTaskCompare(t *testing.T) {
	p := open(t, "/", looks[0])
	p.follow(t, "RTX 3090, 4090 and 5090")
	p.arrived(t, "/compare")
	p.fill(t, "c2", "nvidia-rtx-5090")
	p.do(t, chromedp.Evaluate[chromedp.Void](`window.before = true`)) // the page that is left, whose address may have the card as well
	p.do(t, chromedp.Click(chromedp.CSS("main form button[type=submit]")))
	p.until(t, `!window.before && location.search.includes('5090') && document.readyState === 'complete'`)
	heads := p.table(t, "main table thead")
	if len(heads) == 0 || len(heads[0]) != 4 || !strings.Contains(strings.Join(heads[0], "|"), "5090") {
		t.Errorf("the heads of the table are %q, want three cards, the last of them RTX 5090", heads)
	}
	if n := eval[int](t, p, `[...document.querySelectorAll('main svg[role=img]')].filter((e) => e.checkVisibility()).length`); n == 0 {
		t.Error("the comparison has no picture")
	}
	p.checkQuiet(t)
}

func TestTaskSource(t *testing.T) {
	p := open(t, "/models/gpt-oss-20b", looks[0])
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('#speed td a[href^="/explore/benchmarks"]').click()`))
	p.arrived(t, "/explore/benchmarks")
	href := eval[string](t, p, `[...document.querySelectorAll('main tbody a')].map((a) => a.getAttribute('href')).find((h) => h.startsWith('/benchmarks/bm-'))`)
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('main tbody a[href="`+href+`"]').click()`))
	p.arrived(t, href)
	want := api[struct {
		TPS    *float64 `json:"generation_tps"`
		Source string   `json:"source_url"`
	}](t, "/api/v1"+href).Data
	links := eval[[]string](t, p, `[...document.querySelectorAll('main a')].map((a) => a.getAttribute('href'))`)
	if !strings.Contains(strings.Join(links, " ")+" ", want.Source+" ") {
		t.Errorf("no link of the page leads to the source %s: %q", want.Source, links)
	}
	if text := eval[string](t, p, `document.querySelector('main').innerText`); want.TPS != nil && !strings.Contains(text, strings.TrimSuffix(fmt.Sprintf("%.1f", *want.TPS), ".0")) {
		t.Errorf("the page does not show %v tokens per second:\n%.800s", *want.TPS, text)
	}
	p.checkQuiet(t)
}

func TestTaskMarkdown(t *testing.T) {
	p := open(t, "/models/gpt-oss-20b", looks[0])
	p.follow(t, "About this chart (with embed code)")
	markdown := eval[string](t, p, `[...document.querySelectorAll('.embed[open] pre')].find((e) => e.checkVisibility()).textContent`)
	m := regexp.MustCompile(`^!\[([^\]]+)\]\((\S+)\)$`).FindStringSubmatch(strings.TrimSpace(markdown))
	if m == nil {
		t.Fatalf("the lines to embed are not a picture in Markdown: %s", markdown)
	}
	u, err := url.Parse(m[2])
	if err != nil || u.Scheme+"://"+u.Host != origin {
		t.Errorf("the picture is at %s, want an address of %s", m[2], origin)
	}
	n, kind := sent(t, m[2])
	if kind != "image/svg+xml" || n == 0 {
		t.Errorf("the picture at %s is %d bytes of %s", m[2], n, kind)
	}
	p.follow(t, "Copy")
	p.until(t, `[...document.querySelectorAll('.embed[open] button')].some((b) => /^(Copied|Selected)$/.test(b.textContent))`)
	p.checkQuiet(t)
}

// withoutScripts opens a page in a tab that runs none.
func withoutScripts(t *testing.T, path string, l look) *tab {
	t.Helper()
	p := open(t, "about:blank", l)
	if _, err := chromedp.Call(p.Context, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	p.do(t, chromedp.Navigate(origin+path))
	return p
}

// results is what a list shows: its heading and its rows.
func (p *tab) results(t *testing.T) string {
	t.Helper()
	return eval[string](t, p, `document.getElementById('results-title').textContent + '\n' + [...document.querySelectorAll('#results-area tbody tr')].map((r) => r.innerText.replace(/\s+/g, ' ')).join('\n')`)
}

// TestFilterPageShare filters a list, goes to its second page and opens the address elsewhere, in a
// browser without scripts.
func TestFilterPageShare(t *testing.T) {
	p := open(t, "/explore/benchmarks", looks[0])
	p.until(t, `document.readyState === 'complete'`)
	before := p.results(t)
	p.do(t, chromedp.Evaluate[chromedp.Void](`window.stayed = true`))
	p.fill(t, "q", "rtx 4090")
	p.do(t, chromedp.KeyEvent("\r"))
	p.until(t, `location.search.includes('q=') && !document.querySelector('[aria-busy]')`)
	p.until(t, `document.getElementById('results-title').textContent !== `+quote(strings.SplitN(before, "\n", 2)[0]))
	if !eval[bool](t, p, `window.stayed === true`) {
		t.Error("a filter loaded the whole page again")
	}
	filtered := p.results(t)
	for _, row := range strings.Split(filtered, "\n")[1:] {
		if !strings.Contains(row, "4090") {
			t.Errorf("a row of the filtered list is %q", row)
		}
	}
	p.follow(t, "Next page")
	p.until(t, `location.search.includes('cursor=') && document.readyState === 'complete'`)
	second := p.results(t)
	if second == filtered {
		t.Error("the second page is the first")
	}
	shared := eval[string](t, p, `location.pathname + location.search`)
	other := withoutScripts(t, shared, looks[0])
	other.until(t, `document.readyState === 'complete'`)
	if got := other.results(t); got != second {
		t.Errorf("who opens %s sees\n%.300s\nwant\n%.300s", shared, got, second)
	}
	p.checkQuiet(t)
}

// TestFilterHalfTyped holds that half a name, or half a number, does not take the reader to another page: its
// faults are where the results were, and the results of what follows replace them.
func TestFilterHalfTyped(t *testing.T) {
	p := open(t, "/explore/models", looks[0])
	p.until(t, `document.readyState === 'complete'`)
	p.do(t, chromedp.Evaluate[chromedp.Void](`window.stayed = true`), chromedp.SendKeys(chromedp.CSS("#f-fits"), "rtx 40"))
	p.until(t, `document.querySelector('#results-area .faults') && !document.querySelector('[aria-busy]')`)
	if got := eval[string](t, p, `document.activeElement.id + ' ' + document.getElementById('results-status').textContent`); !strings.HasPrefix(got, "f-fits ") || !strings.Contains(got, "rtx 40") {
		t.Errorf("the focus, and what is said of half a name, are %q", got)
	}
	p.do(t, chromedp.KeyEvent("90"))
	p.until(t, `document.querySelector('#results-area tbody tr') && location.search === '?fits=rtx+4090'`)
	p.do(t, chromedp.SendKeys(chromedp.CSS("[name=min_params_b]"), "70"))
	p.until(t, `location.search.includes('min_params_b=70')`)
	p.do(t, chromedp.SendKeys(chromedp.CSS("[name=max_params_b]"), "8"))
	p.until(t, `document.querySelector('#results-area .faults')`)
	p.do(t, chromedp.KeyEvent("0"))
	p.until(t, `location.search.includes('max_params_b=80') && !document.querySelector('#results-area .faults')`)
	if !eval[bool](t, p, `window.stayed === true`) {
		t.Error("what was typed led to another page")
	}
	p.checkQuiet(t, "status of 400")
}

// TestFilterBack holds that on the way back the fields of a list show the filters of its address, and that the
// focus stays where a link of the results was followed.
func TestFilterBack(t *testing.T) {
	p := open(t, "/explore/benchmarks", looks[0])
	p.until(t, `document.readyState === 'complete'`)
	p.do(t, chromedp.Click(chromedp.CSS("[name=settings][value=single_stream]")))
	p.until(t, `location.search === '?settings=single_stream' && !document.querySelector('[aria-busy]')`)
	p.do(t, chromedp.SendKeys(chromedp.CSS("#q"), "4090"))
	p.until(t, `location.search.includes('q=4090') && !document.querySelector('[aria-busy]')`)
	state := `[document.getElementById('q').value, document.querySelector('[name=settings]:checked').value, location.search].join(' ')`
	for _, want := range []string{" single_stream ?settings=single_stream", "  "} {
		p.do(t, chromedp.Evaluate[chromedp.Void](`history.back()`))
		p.until(t, `location.search === `+quote(want[strings.LastIndex(want, " ")+1:])+` && !document.querySelector('[aria-busy]')`)
		if got := eval[string](t, p, state); got != want {
			t.Errorf("on the way back the fields and the address are %q, want %q", got, want)
		}
	}
	p.do(t, chromedp.Evaluate[chromedp.Void](`(() => { const a = [...document.querySelectorAll('thead a')].find((a) => a.textContent.startsWith('Prompt')); a.focus(); a.click(); })()`))
	p.until(t, `location.search.includes('sort=') && !document.querySelector('[aria-busy]')`)
	if got := eval[string](t, p, `document.activeElement.textContent`); !strings.HasPrefix(got, "Prompt") {
		t.Errorf("after ordering by a column the focus is on %.80q, want its head", got)
	}
	if n := eval[int](t, p, `document.querySelectorAll('[aria-live] table, [role=status] table').length`); n > 0 {
		t.Error("screen readers are told the whole list after each filter")
	}
	p.checkQuiet(t)
}

// TestFilterOverRelease filters a list whose page was loaded before a release: the release that is named is that of the
// results, and a page of another build of the site is loaded whole, and is not bare without its style sheet.
func TestFilterOverRelease(t *testing.T) {
	p := open(t, "/explore/models", looks[0])
	p.until(t, `document.readyState === 'complete'`)
	p.do(t, chromedp.Evaluate[chromedp.Void](`window.stayed = true; document.querySelector('[data-version]').textContent = '2000.01.01'`))
	p.fill(t, "q", "qwen")
	p.until(t, `location.search === '?q=qwen' && !document.querySelector('[aria-busy]')`)
	if got := eval[string](t, p, `document.querySelector('[data-version]').textContent`); got == "2000.01.01" || !eval[bool](t, p, `window.stayed === true`) {
		t.Errorf("the page names release %s beside results of a later one, or was loaded whole", got)
	}
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('link[rel=stylesheet]').href = '/assets/style.0123456789.css'`))
	p.until(t, `getComputedStyle(document.querySelector('.top')).display === 'flex' && document.styleSheets.length > 0`)
	p.fill(t, "q", "llama")
	p.until(t, `location.search === '?q=llama' && document.readyState === 'complete' && window.stayed === undefined`)
	p.checkQuiet(t)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// TestWithoutScripts holds that the forms and the pictures work without scripts.
func TestWithoutScripts(t *testing.T) {
	p := withoutScripts(t, "/", looks[0])
	p.fill(t, "q", "RTX 4090")
	p.do(t, chromedp.KeyEvent("\r"))
	p.arrived(t, "/hardware/nvidia-rtx-4090")
	if n := eval[int](t, p, `document.querySelectorAll('.picks li').length`); n != 3 {
		t.Errorf("an RTX 4090 has %d choices, want three", n)
	}
	p = withoutScripts(t, "/explore/hardware", looks[0])
	p.fill(t, "q", "arc")
	p.do(t, chromedp.Click(chromedp.CSS("form.filters button[type=submit]")))
	p.until(t, `location.search.includes('q=arc') && document.readyState === 'complete'`)
	if got := p.results(t); !strings.Contains(got, "Arc") || strings.Contains(got, "GeForce") {
		t.Errorf("the list of what is called arc is\n%.300s", got)
	}
	p = withoutScripts(t, "/models/gpt-oss-20b", looks[0])
	if n := eval[int](t, p, `[...document.querySelectorAll('main svg[role=img]')].filter((e) => e.checkVisibility()).length`); n == 0 {
		t.Error("the page of a model has no picture")
	}
}

// TestLateScript holds that a filter chosen before the script came is applied when it comes.
func TestLateScript(t *testing.T) {
	p := withoutScripts(t, "/explore/hardware", looks[0])
	p.until(t, `document.readyState === 'complete'`)
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('[name=vendor][value=intel]').click()`))
	if _, err := chromedp.Call(p.Context, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false}); err != nil {
		t.Fatal(err)
	}
	p.do(t, chromedp.Evaluate[chromedp.Void](`(() => { const s = document.createElement('script'); s.src = document.querySelector('script[src*="/app."]').src; document.head.append(s) })()`))
	p.until(t, `location.search === '?vendor=intel' && !document.querySelector('[aria-busy]')`)
	p.checkQuiet(t)
}

// TestKeyboardOnly filters a list and opens a record with the keyboard alone, and holds that every
// stop on the way can be seen.
func TestKeyboardOnly(t *testing.T) {
	p := open(t, "/explore/models", looks[0])
	p.until(t, `document.readyState === 'complete'`)
	p.tabTo(t, `document.activeElement.id === 'q'`)
	p.do(t, chromedp.KeyEvent("gpt-oss"), chromedp.KeyEvent("\r"))
	p.until(t, `location.search.includes('gpt-oss') && !document.querySelector('[aria-busy]')`)
	p.tabTo(t, `document.activeElement.getAttribute('href') === '/models/gpt-oss-20b'`)
	p.do(t, chromedp.KeyEvent("\r"))
	p.arrived(t, "/models/gpt-oss-20b")
	p.checkQuiet(t)
}

// tabTo presses the tab key until a condition is true.
func (p *tab) tabTo(t *testing.T, condition string) {
	t.Helper()
	for range 250 {
		p.do(t, chromedp.KeyEvent("\t"))
		if unseen := eval[string](t, p, unseenStop); unseen != "" {
			t.Errorf("the focus cannot be seen on %s", unseen)
		}
		if eval[bool](t, p, condition) {
			return
		}
	}
	t.Fatalf("250 stops do not lead to %s", condition)
}

// unseenStop is the element with the focus, where nothing shows that it has it. A checkbox that is
// not drawn has its label drawn instead.
const unseenStop = `(() => {
	const e = document.activeElement;
	if (e === document.body) return '';
	for (const seen of [e, ...(e.labels ?? [])]) {
		const style = getComputedStyle(seen);
		if (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== 'none') return '';
	}
	return e.outerHTML.slice(0, 120);
})()`

// TestHostileAddresses holds that a wrong address shows a page that leads on, without a script in it being run.
func TestHostileAddresses(t *testing.T) {
	for _, path := range []string{"/models/gpt-os-20b", "/models/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/explore/models?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "/nowhere"} {
		p := open(t, path, looks[2])
		p.until(t, `document.querySelector('h1') && document.readyState === 'complete'`)
		if n := eval[int](t, p, `document.querySelectorAll('main script, main img[src=x]').length`); n > 0 {
			t.Errorf("%s: markup of the address is part of the page", path)
		}
		if over := eval[int](t, p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("%s: the page is %d pixels wider than its window", path, over)
		}
		p.checkQuiet(t, "status of 404")
	}
	p := open(t, "/models/gpt-os-20b", looks[0])
	p.follow(t, "gpt-oss 20b")
	p.arrived(t, "/models/gpt-oss-20b")
}
