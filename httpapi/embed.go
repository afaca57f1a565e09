package httpapi

import (
	"html"
	"net/http"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Frames for other pages: /embed before the address of a page shows its heading and answer, before that of a chart the
// chart. Only here may a page of another origin show one of ours in a frame; links lead out of the frame.

// embedPolicy is that of pages, but for the frame.
var embedPolicy = strings.Replace(pagePolicy, "frame-ancestors 'none'", "frame-ancestors *", 1)

var (
	pageTitle  = regexp.MustCompile(`(?s)<title>(.*?)</title>`)
	pageStyle  = regexp.MustCompile(`<link rel="stylesheet"[^>]*>`)
	pageAnswer = regexp.MustCompile(`(?s)(<header class="title">.*?</header>(?:\s*<ul class="picks">.*?</ul>)?)`)
	pageWays   = regexp.MustCompile(`(?s)<nav .*?</nav>|<p class="actions">.*?</p>`) // to other pages
	framed     = regexp.MustCompile(`^/(charts|models|hardware|tools|benchmarks)/[^/]|^/(fit|compare)$`)
	movedTo    = regexp.MustCompile(`(?m)^Location: (.*?)\r?$`)
)

func showEmbed(s *Server, req *request) (*response, *failure) {
	address, chart := "/"+req.param("*"), ""
	if !framed.MatchString(address) {
		return nil, fail(unknownRoute)
	}
	if strings.HasPrefix(address, "/charts/") {
		chart = strings.TrimSuffix(address, ".svg")
		address = chart + ".svg"
	}
	if query := string(req.ctx.URI().QueryString()); query != "" {
		address += "?" + query
	}
	inner := s.onBehalf(&req.ctx.Request.Header, req.ctx.RemoteAddr())(fiber.MethodGet, address, nil)
	body := string(inner.Body())
	switch status := inner.StatusCode(); {
	case status/100 == 3:
		resp := newResponse(status, "", nil)
		if m := movedTo.FindStringSubmatch(inner.Header.String()); m != nil {
			resp.set(fiber.HeaderLocation, "/embed"+m[1])
		}
		resp.public()
		return resp, nil
	case status != http.StatusOK:
		resp := uncached(status, []byte(body))
		resp.set(fiber.HeaderContentType, string(inner.Header.ContentType()))
		return resp, nil
	}
	title, content := pageTitle.FindStringSubmatch(body), pageAnswer.FindStringSubmatch(body)
	if chart != "" {
		picture := html.EscapeString(address)
		content = []string{"", `<img width="100%" src="` + picture + `" alt="` + title[1] + `">`}
		address = pageOfChart(req)
	}
	if title == nil || content == nil {
		return nil, fail(unknownRoute)
	}
	frame := `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><base target="_blank"><title>` + title[1] + `</title>` +
		strings.Join(pageStyle.FindAllString(body, -1), "") + `</head><body><main class="sheet">` + pageWays.ReplaceAllString(content[1], "") +
		`<p class="source">Source: <a href="` + html.EscapeString(address) + `">modeldex ` + html.EscapeString(req.gen.Info.Version+", "+req.gen.Info.License) + `</a></p></main></body></html>`
	resp := newDocument([]byte(frame), htmlType, req.coding)
	resp.set("Content-Security-Policy", embedPolicy)
	resp.set("Referrer-Policy", "strict-origin-when-cross-origin")
	return resp, nil
}

func pageOfChart(req *request) string {
	args := req.ctx.QueryArgs()
	model, models, hardware := string(args.Peek("model")), string(args.Peek("models")), string(args.Peek("hardware"))
	switch {
	case model != "":
		return "/models/" + model
	case models != "":
		return "/compare?models=" + models
	case strings.Contains(hardware, ","):
		return "/compare?hardware=" + hardware
	default:
		return "/hardware/" + hardware
	}
}
