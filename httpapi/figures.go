package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/resolve"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/encoding"
	"modeldex/httpapi/query"
	"modeldex/httpapi/suggest"
	"modeldex/index"
)

// Pictures for other pages: charts and badges. They need no key and have no script, and nothing in
// them is loaded from elsewhere.

const (
	svgType = "image/svg+xml"
	// figurePolicy is for a picture that is opened by itself: its own style, and nothing else.
	figurePolicy = "default-src 'none'; style-src 'unsafe-inline'"
)

// chartParams are the parameters of all charts. Each chart takes one of the first three.
type chartParams struct {
	// Model, by slug or alias: of charts of one model.
	Model string `query:"model,name=model"`
	// Models, by slug or alias, separated by commas: of charts that compare them.
	Models string `query:"models,name=model"`
	// Hardware, by slug or alias; of charts that compare several, separated by commas.
	Hardware string `query:"hardware,name=hardware"`
	// Colour scheme; auto follows the reader's.
	Theme charts.Scheme `query:"theme"`
	// Width in pixels.
	Width int `query:"width"`
}

// badgeParams are the parameters of a badge.
type badgeParams struct {
	// Only runs with this quantization, such as Q4_K_M; without it the one with the most runs. Letter case does not count.
	Quantization string `query:"quantization,bytes=100"`
}

var (
	chartList = newChartList()
	badgeList = &resource{name: "badge", singular: "badge", params: query.Of[badgeParams]()}
)

func newChartList() *resource {
	r := &resource{name: "charts", singular: "chart", params: query.Of[chartParams]()}
	query.Find(r.params, "theme").Default = string(charts.Auto)
	width := query.Find(r.params, "width")
	width.Min, width.Max, width.Default = charts.MinWidth, charts.MaxWidth, strconv.Itoa(charts.DefaultWidth)
	return r
}

// figureRoutes are the addresses of pictures.
func figureRoutes() []route {
	return []route{
		{method: "GET", path: "/charts/:preset.svg", doc: "/charts/{preset}.svg", id: "chart", tag: "charts", summary: "A chart as a picture, for other pages", list: chartList, answer: ofData(showChart)},
		{method: "GET", path: "/badge/*", doc: "/badge/{model}/{hardware}.svg", id: "badge", tag: "charts", summary: "A measured speed as a small picture, for other pages", list: badgeList, answer: ofData(showBadge)},
	}
}

// showChart answers a chart.
func showChart(s *Server, req *request) (*response, *failure) {
	preset := charts.FindPreset(req.param("preset"))
	if preset == nil {
		return nil, unknownPreset(req.param("preset"))
	}
	r := reader{Values: query.Read(chartList.params, req.ctx.QueryArgs().All()), gen: req.gen}
	slugs, asGiven := r.records(preset)
	for _, other := range []string{"model", "models", "hardware"} {
		if other != preset.Param && r.Given(other) {
			r.Add(query.UnknownParameter, Fault{In: "query", Name: other, Value: clip(r.Text(other)), Detail: "is not a parameter of this chart, which takes " + preset.Param})
		}
	}
	if f := failureOf(&r.Faults); f != nil {
		return nil, f
	}
	theme, width := charts.Scheme(r.Text("theme")), int(r.Number("width"))
	canonical := r.Address("/charts/" + preset.Name + ".svg")
	if !asGiven {
		return req.moved(canonical), nil
	}
	return s.figure(req, canonical, func() []byte { return preset.Figure(req.gen, slugs).SVG(theme, width) }), nil
}

func unknownPreset(name string) *failure {
	names := make([]string, len(charts.Presets))
	for i := range charts.Presets {
		names[i] = charts.Presets[i].Name
	}
	fault := Fault{In: "path", Name: "preset", Value: clip(name), Detail: "must be one of " + strings.Join(names, ", "), Allowed: names}
	fault.Suggestion = new(suggest.Suggester).Nearest(name, names)
	return &failure{code: notFound, detail: "No chart has this name.", faults: []Fault{fault}}
}

// records reads the records a chart is of. asGiven reports whether they were named by their slugs;
// an alias has the address of its slug.
func (r *reader) records(preset *charts.Preset) (slugs []string, asGiven bool) {
	v := r.Text(preset.Param)
	if v == "" {
		if !r.Sent(preset.Param) {
			r.Missing(preset.Param, "is required")
		}
		return nil, true
	}
	names := strings.Split(v, ",")
	if len(names) < preset.Least || len(names) > preset.Most {
		r.Fault(preset.Param, v, fmt.Sprintf("must be %s, got %d", numberOfNames(preset.Least, preset.Most), len(names)))
		return nil, true
	}
	asGiven = true
	for _, name := range names {
		slug := r.record(preset.Param, resolve.Kind(preset.Kind), strings.TrimSpace(name))
		asGiven = asGiven && slug == name
		if slug != "" && !slices.Contains(slugs, slug) {
			slugs = append(slugs, slug)
		}
	}
	if len(slugs) < preset.Least && r.Code == "" {
		r.Fault(preset.Param, v, fmt.Sprintf("must be %s that differ", numberOfNames(preset.Least, preset.Most)))
	}
	r.Set(preset.Param, slugs...)
	return slugs, asGiven && len(slugs) == len(names)
}

func numberOfNames(least, most int) string {
	if most == 1 {
		return "one name"
	}
	return fmt.Sprintf("%d to %d names separated by commas", least, most)
}

// record finds a record by slug, alias or a name that can be read by rules.
func (r *reader) record(param string, kind resolve.Kind, name string) string {
	t := r.tableOf(param)
	if slug, ok := slugOf(r.gen, t, kind, name); ok {
		return slug
	}
	if f := r.Fault(param, name, "is not known"); f != nil {
		if near := r.Near(*clip(name), t.Names(), 1); len(near) > 0 {
			f.Suggestion, _ = t.Resolve(near[0])
		}
	}
	return ""
}

// slugOf is the slug of a record by any of its names.
func slugOf(gen *index.Generation, t *index.Table, kind resolve.Kind, name string) (string, bool) {
	if _, found := t.Find(name); found {
		return name, true
	}
	if slug, ok := t.Resolve(name); ok {
		return slug, true
	}
	if a := gen.Names.Resolve(kind, name); a.Found() {
		return string(a.Slug), true
	}
	return "", false
}

// showBadge answers a badge.
func showBadge(s *Server, req *request) (*response, *failure) {
	path, isSVG := strings.CutSuffix(req.param("*"), ".svg")
	slash := strings.LastIndexByte(path, '/') // aliases of models have slashes: meta-llama/Llama-2-7b-hf
	if !isSVG || slash <= 0 {
		return nil, fail(unknownRoute)
	}
	r := reader{Values: query.Read(badgeList.params, req.ctx.QueryArgs().All()), gen: req.gen}
	quantization := r.quantization()
	if f := failureOf(&r.Faults); f != nil {
		return nil, f
	}
	var slugs [2]string
	moved := false
	for i, part := range []struct {
		r    *resource
		name string
	}{{models, path[:slash]}, {hardware, path[slash+1:]}} {
		t := part.r.table(req.gen)
		slug, ok := slugOf(req.gen, t, resolve.Kind(part.r.singular), part.name)
		if !ok {
			f := fail(notFound, Fault{In: "path", Name: part.r.singular, Value: clip(part.name), Detail: "no such " + part.r.singular})
			if near := nearSlugs(t, part.name); len(near) > 0 {
				f.faults[0].Suggestion = near[0]
			}
			return nil, f
		}
		slugs[i], moved = slug, moved || slug != part.name
	}
	canonical := r.Address("/badge/" + url.PathEscape(slugs[0]) + "/" + url.PathEscape(slugs[1]) + ".svg")
	if moved {
		return req.moved(canonical), nil
	}
	return s.figure(req, canonical, func() []byte {
		return charts.Badge(charts.For(req.gen).BadgeOf(slugs[0], slugs[1], quantization))
	}), nil
}

// quantization reads the quantization of a badge, spelled as benchmarks have it.
func (r *reader) quantization() (name string) {
	given := r.Text("quantization")
	if given == "" {
		return ""
	}
	for _, have := range r.gen.Benchmarks.Values(index.Quantization) {
		if strings.EqualFold(have, given) && (name == "" || have == given) {
			name = have
		}
	}
	if name == "" {
		if f := r.Fault("quantization", given, "is not a quantization of any benchmark"); f != nil {
			f.Suggestion = r.Nearest(*clip(given), r.gen.Benchmarks.Values(index.Quantization))
		}
	}
	r.Set("quantization", name)
	return name
}

// figure answers a picture from the cache, or draws it.
func (s *Server) figure(req *request, canonical string, draw func() []byte) *response {
	key := canonical + "\x00" + s.cfg.Version // another version may draw another picture
	resp := s.open.Render(req.content[:], req.coding, key, func() *response {
		resp := newEntity(draw(), req.coding, svgType, func(c encoding.Coding) string { return contentTag(req.content, c, key) })
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
		resp.set("Content-Security-Policy", figurePolicy)
		resp.set("Cross-Origin-Resource-Policy", "cross-origin")
		resp.public()
		resp.route = req.route
		return resp
	})
	s.open.Alias(resp, req.content[:], req.coding, req.accepts.Best, key, req.ctx.RequestURI())
	return resp
}
