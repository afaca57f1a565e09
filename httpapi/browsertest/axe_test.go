package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// axeSource is the script of axe-core, "" where there is none.
var axeSource = sync.OnceValue(func() string {
	path := os.Getenv("MODELDEX_AXE")
	if path == "" {
		path = filepath.Join("..", "..", ".ci", "cache", "axe.min.js")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
})

// violation is one rule of axe-core a page breaks, and where.
type violation struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Where  []string `json:"where"`
}

func (v violation) String() string {
	return fmt.Sprintf("%s (%s): %s: %s", v.ID, v.Impact, v.Help, strings.Join(v.Where, " | "))
}

// runAxe reports the serious and critical violations of WCAG 2.2 AA and of good practice.
const runAxe = `axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then((r) => r.violations
	.filter((v) => v.impact === 'serious' || v.impact === 'critical')
	.map((v) => ({id: v.id, impact: v.impact, help: v.help, where: v.nodes.slice(0, 4).map((n) => n.target.join(' ') + ' ' + n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? ''))})))`

// axe is what axe-core finds serious on a page. The test is skipped without axe-core.
func axe(t *testing.T, p *tab) []violation {
	t.Helper()
	source := axeSource()
	if source == "" {
		if os.Getenv("MODELDEX_REQUIRE_AXE") == "1" {
			t.Fatal("no axe-core found, and MODELDEX_REQUIRE_AXE=1")
		}
		t.Skip("no axe-core found; .ci/run installs it, or MODELDEX_AXE names its axe.min.js")
	}
	p.do(t, chromedp.Evaluate[chromedp.Void](source))
	found, err := chromedp.Run(p.Context, chromedp.Evaluate[[]violation](runAxe, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestAccessible holds that axe-core finds nothing serious on any kind of page, in either scheme and
// on a narrow screen.
func TestAccessible(t *testing.T) {
	for _, page := range pages {
		for _, l := range looks[:3] {
			t.Run(page.name+"-"+l.name, func(t *testing.T) {
				t.Parallel()
				p := open(t, page.path, l)
				p.wait(t, page.complete)
				// What is folded is judged too.
				p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelectorAll('main details').forEach((d) => { d.open = true })`))
				for _, v := range axe(t, p) {
					if !page.foreign(v) {
						t.Error(v)
					}
				}
			})
		}
	}
}

// TestAxeSees holds that axe-core finds a planted fault.
func TestAxeSees(t *testing.T) {
	p := open(t, "/", looks[0])
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('main').insertAdjacentHTML('beforeend', '<img src="/assets/none.svg"><input>')`))
	found := fmt.Sprint(axe(t, p))
	for _, rule := range []string{"image-alt", "label"} {
		if !strings.Contains(found, rule) {
			t.Errorf("axe-core does not find the planted fault %s: %s", rule, found)
		}
	}
}
