package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var phone = look{width: 390, height: 844, scheme: "light"}

// mostPhone is how high a page of data may be on a phone, in pixels: about twenty screens.
const mostPhone = 17_000

// TestPhones holds that pages of data are not endless on a phone, and that those that answer what runs, how fast or
// how much memory do so on the first screen.
func TestPhones(t *testing.T) {
	for path, answers := range map[string]bool{
		"/hardware/nvidia-rtx-4090": true, "/hardware/nvidia-rtx-3060": true, "/hardware/apple-m3-max": true, "/models/gpt-oss-20b": true, "/models/deepseek-r1": true,
		"/fit?hardware=nvidia-rtx-4090": true, "/fit?memory_gb=24": false, "/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b": false, "/tools/llama.cpp": false,
		"/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090,amd-rx-7900-xtx": false, "/explore/benchmarks": false, "/explore/models": false,
		"/credits": false, "/snapshots": false, "/changes": false,
	} {
		p := open(t, path, phone)
		p.wait(t, `document.readyState === 'complete'`)
		p.keep(t, "phone")
		if high := eval[int](t, p, `document.documentElement.scrollHeight`); high > mostPhone {
			t.Errorf("%s is %d pixels high, want at most %d", path, high, mostPhone)
		}
		if broken := eval[[]string](t, p, brokenWords); len(broken) > 0 {
			t.Errorf("%s: short words are broken: %q", path, broken)
		}
		if answers {
			if end := eval[float64](t, p, `document.querySelector('.picks li, .switches, .fit .lead, .lead')?.getBoundingClientRect().bottom ?? 1e6`); end > float64(phone.height) {
				t.Errorf("%s: the answer ends %v pixels from the top, below the first screen", path, end)
			}
		}
	}
}

// TestFirstScreens: the pages of machines and models are at most 3,000 pixels high in a usual window, and begin with their
// answer.
func TestFirstScreens(t *testing.T) {
	for _, path := range []string{"/hardware/nvidia-rtx-4090", "/hardware/amd-ryzen-ai-max-395", "/hardware/apple-m3-max?memory_gb=64", "/models/gpt-oss-20b", "/models/llama-3.3-70b-instruct", "/models/qwen3-8b"} {
		p := open(t, path, look{width: 1280, height: 800, scheme: "light"})
		p.wait(t, `document.readyState === 'complete'`)
		if high := eval[int](t, p, `document.documentElement.scrollHeight`); high > 3000 {
			t.Errorf("%s is %d pixels high, want at most 3,000", path, high)
		}
		if end := eval[float64](t, p, `document.querySelector('.picks').getBoundingClientRect().bottom`); end > 800 {
			t.Errorf("%s: the answer ends %v pixels from the top, below the first screen", path, end)
		}
		if n := eval[int](t, p, `[...document.querySelectorAll('.panel')].filter((e) => e.checkVisibility()).length`); n != 1 {
			t.Errorf("%s shows %d tabs at once, want one", path, n)
		}
		p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('[for=tab-facts]').click()`))
		if !eval[bool](t, p, `document.getElementById('facts').checkVisibility() && !document.getElementById('speed').checkVisibility()`) {
			t.Errorf("%s: the tab of facts does not open", path)
		}
	}
}

// TestFoldedRows holds that the rows of a long table that are not shown at first are one key away, and that paper has
// all of them.
func TestFoldedRows(t *testing.T) {
	const shown = `[...document.querySelectorAll('#speed tbody tr')].filter((e) => e.checkVisibility()).length`
	for l, want := range map[look]int{phone: 6, looks[0]: 10} {
		p := open(t, "/hardware/nvidia-rtx-4090", l)
		p.wait(t, `document.readyState === 'complete'`)
		all := eval[int](t, p, `document.querySelectorAll('#speed tbody tr').length`)
		if got := eval[int](t, p, shown); got != want || all <= want {
			t.Errorf("at %d pixels %d of %d rows are shown, want %d", l.width, got, all, want)
		}
		p.do(t, chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('#speed .scroll, #speed td a')].filter((e) => e.checkVisibility()).at(-1).focus()`))
		p.tabTo(t, `document.activeElement.matches('#speed .fold input')`)
		p.do(t, chromedp.KeyEvent(" "))
		if got := eval[int](t, p, shown); got != all {
			t.Errorf("at %d pixels %d of %d rows are shown after they were asked for", l.width, got, all)
		}
		p.do(t, chromedp.KeyEvent(" "))
		if _, err := chromedp.Call(p.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
			t.Fatal(err)
		}
		if got := eval[int](t, p, shown); got != all {
			t.Errorf("%d of %d rows are printed", got, all)
		}
	}
}

// TestFoldedForms holds that a form above results takes little room on a phone, and opens.
func TestFoldedForms(t *testing.T) {
	for _, path := range []string{"/fit?hardware=nvidia-rtx-4090", "/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090"} {
		p := open(t, path, phone)
		p.wait(t, `document.readyState === 'complete'`)
		if high := eval[int](t, p, `document.querySelector('form.ask').offsetHeight`); high > 120 {
			t.Errorf("%s: the form above the results is %d pixels high", path, high)
		}
		p.do(t, chromedp.Click(chromedp.CSS("form.ask .switch")))
		p.wait(t, `document.querySelector('form.ask button').checkVisibility()`)
		if p = open(t, path, looks[0]); !eval[bool](t, p, `document.querySelector('form.ask button').checkVisibility()`) {
			t.Errorf("%s: the form is closed in a wide window", path)
		}
	}
}

// TestOrdersOnPhones holds that the orders of a list, which a phone has no row for, are seen where a keyboard reaches them.
func TestOrdersOnPhones(t *testing.T) {
	const high = `document.querySelector('thead').getBoundingClientRect().height`
	p := open(t, "/explore/models", phone)
	p.wait(t, `document.readyState === 'complete'`)
	if got := eval[float64](t, p, high); got > 1 {
		t.Errorf("the heads of columns take %v pixels of a phone", got)
	}
	p.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('thead a').focus()`))
	if got := eval[float64](t, p, `document.activeElement.getBoundingClientRect().height`); got < 12 || eval[float64](t, p, high) < 12 {
		t.Errorf("a link of %v pixels has the focus in a row of %v", got, eval[float64](t, p, high))
	}
	if wide := eval[bool](t, p, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the orders are wider than the phone")
	}
}
