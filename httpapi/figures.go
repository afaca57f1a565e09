package httpapi

import (
	"slices"
	"strconv"
	"strings"

	"modeldex/httpapi/charts"
	"modeldex/httpapi/query"
)

const (
	svgType = "image/svg+xml"
	// figurePolicy is for a chart that is opened by itself: its own style, and nothing else.
	figurePolicy = "default-src 'none'; style-src 'unsafe-inline'"
)

// chartParams are the parameters of all charts. Each chart takes one of the first three.
type chartParams struct {
	// Model, by slug or alias: of charts of one model.
	Model string `query:"model,name=model"`
	// Models, by slug or alias, separated by commas: of charts that compare them.
	Models []string `query:"models,ordered"`
	// Hardware, by slug or alias; of charts that compare several, separated by commas.
	Hardware []string `query:"hardware,ordered"`
	// Colour scheme; auto follows the reader's.
	Theme charts.Scheme `query:"theme"`
	// Width in pixels.
	Width int `query:"width"`
}

var chartList = newChartList()

func newChartList() *resource {
	r := &resource{name: "charts", singular: "chart", params: query.Of[chartParams]()}
	query.Find(r.params, "theme").Default = string(charts.Auto)
	width := query.Find(r.params, "width")
	width.Min, width.Max, width.Default = charts.MinWidth, charts.MaxWidth, strconv.Itoa(charts.DefaultWidth)
	return r
}

func figureRoutes() []route {
	return []route{
		{method: "GET", path: "/charts/:preset.svg", id: "chart", tag: "charts", list: chartList, answer: ofData(showChart)},
		{method: "GET", path: "/embed/*", id: "embed", tag: "charts", answer: ofData(showEmbed)},
	}
}

func showChart(s *Server, req *request) (*response, *failure) {
	names, asked := []string{}, req.param("preset")
	for _, p := range charts.Presets {
		names = append(names, p.Name)
	}
	i := slices.Index(names, asked)
	if i < 0 {
		return nil, noSuch("No chart has this name.", "preset", asked, "must be one of "+strings.Join(names, ", "), names)
	}
	preset := &charts.Presets[i]
	r := reader{Values: query.Read(chartList.params, req.ctx.QueryArgs().All()), gen: req.gen}
	given := strings.Join(r.Texts(preset.Param), ",")
	slugs := r.names(preset.Param, preset.Most)
	if len(slugs) < preset.Least {
		if given == "" {
			r.Missing(preset.Param, "is required")
		} else if r.Code == "" {
			r.Fault(preset.Param, given, "must be at least "+strconv.Itoa(preset.Least)+" names that differ")
		}
	}
	for _, other := range []string{"model", "models", "hardware"} {
		if other != preset.Param && r.Given(other) {
			r.Add(query.UnknownParameter, Fault{In: "query", Name: other, Value: clip(r.Text(other)), Detail: "is not a parameter of this chart, which takes " + preset.Param})
		}
	}
	if f := failureOf(&r.Faults); f != nil {
		return nil, f
	}
	theme, width := charts.Scheme(r.Text("theme")), int(r.Number("width"))
	r.Set(preset.Param, slugs...)
	canonical := r.Address("/charts/" + preset.Name + ".svg")
	if given != strings.Join(slugs, ",") {
		return req.moved(canonical), nil
	}
	key := canonical + "\x00" + s.cfg.Version // another version may draw another chart
	resp := s.open.Render(req.content[:], req.coding, key, func() *response {
		resp := newEntity(preset.Draw(charts.For(req.gen), slugs).SVG(theme, width), req.coding, svgType, req.content[:], key)
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
		resp.set("Content-Security-Policy", figurePolicy)
		resp.set("Cross-Origin-Resource-Policy", "cross-origin")
		resp.public()
		resp.route = req.route
		return resp
	})
	s.open.Alias(resp, req.content[:], req.coding, req.accepts.Best, key, s.spelling(req))
	return resp, nil
}

// names are the slugs of a parameter that names at most so many records, in the order they were given in, each once.
func (r *reader) names(param string, most int) (slugs []string) {
	given := r.Texts(param)
	if len(given) > most {
		r.Fault(param, strings.Join(given, ","), "must have at most "+strconv.Itoa(most)+" values")
		return nil
	}
	t := map[bool]*resource{true: hardware, false: models}[param == "hardware"].table(r.gen)
	for _, v := range given {
		slug, a := named(r.gen, t, v)
		if slug == "" {
			r.unknownName(param, v, t, &a)
		} else if !slices.Contains(slugs, slug) {
			slugs = append(slugs, slug)
		}
		r.noticeResolved(param, v, slug, &a)
	}
	return slugs
}
