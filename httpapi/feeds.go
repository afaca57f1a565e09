package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/feeds"
	"modeldex/httpapi/suggest"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Feeds of new benchmarks and of changes: of all records, of a model, of hardware, of a family. They
// are made of the recorded releases alone, so that they are the same after a restart and on every
// machine, and have the times of releases.

const (
	atomType     = "application/atom+xml"
	jsonFeedType = "application/feed+json"
	// maxEntries bounds a feed. What is older is in the list of changes.
	maxEntries = 100
)

// feedFiles are the forms of feeds, by the name in the address.
var feedFiles = []string{"benchmarks.atom", "benchmarks.json", "changes.atom", "changes.json"}

func feedRoutes() (out []route) {
	out = append(out, route{method: "GET", path: "/feeds/:file", doc: "/feeds/{file}", id: "feed", tag: "feeds", summary: "New benchmarks, or releases, as a feed", answer: showFeed})
	for _, of := range []string{"models", "hardware", "families"} {
		out = append(out, route{
			method: "GET", path: "/feeds/" + of + "/+/:file", doc: "/feeds/" + of + "/{slug}/{file}", id: "feedOf" + titleCase(of), tag: "feeds",
			summary: "News of one of the " + of + " as a feed", answer: func(s *Server, req *request) (*response, *failure) { return s.feedOf(req, of) },
		})
	}
	return out
}

// feedScope is what a feed is about.
type feedScope struct {
	path, title, page string // below the base
	// keys are the records it is about, by table and slug, except for benchmarks; nil: all records of all tables.
	keys map[string]bool
	// benchmark reports whether it is about a benchmark, of which there may be a million; nil: about none.
	benchmark func(id string) bool
}

func showFeed(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	if req.gen == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	return s.feed(req, "", func() *feedScope { return &feedScope{page: "/", title: "modeldex"} })
}

func (s *Server) feedOf(req *request, of string) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	if req.gen == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	slug := req.param("+") // of several segments, as "openai/gpt-oss-20b"
	if of == "families" {
		if !slices.Contains(req.gen.Models.Values(index.Family), slug) {
			return nil, fail(notFound, Fault{In: "path", Name: "slug", Value: clip(slug), Detail: "no such family", Suggestion: new(suggest.Suggester).Nearest(slug, req.gen.Models.Values(index.Family))})
		}
		return s.feed(req, of+"/"+slug, func() *feedScope { return familyScope(req.gen, slug) })
	}
	r := models
	if of == "hardware" {
		r = hardware
	}
	t := r.table(req.gen)
	if _, ok := t.Find(slug); !ok {
		if known, ok := t.Resolve(slug); ok {
			resp := req.moved("/feeds/" + of + "/" + url.PathEscape(known) + "/" + req.param("file"))
			resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
			return resp, nil
		}
		return nil, r.noRecord(t, slug)
	}
	return s.feed(req, of+"/"+slug, func() *feedScope { return recordScope(req.gen, r, slug) })
}

// recordScope is a model or hardware with its own benchmarks.
func recordScope(gen *index.Generation, r *resource, slug string) *feedScope {
	field := index.Model
	if r == hardware {
		field = index.Hardware
	}
	sc := &feedScope{page: "/" + r.name + "/" + url.PathEscape(slug), title: slug, keys: map[string]bool{r.name + "/" + slug: true}}
	sc.addBenchmarks(gen, field, []string{slug})
	return sc
}

// familyScope is the models of a family and their benchmarks.
func familyScope(gen *index.Generation, family string) *feedScope {
	sc := &feedScope{page: "/explore/models?family=" + url.QueryEscape(family), title: family, keys: map[string]bool{}}
	found := gen.Models.Select(index.Query{Sets: []index.Set{{Field: index.Family, Values: []string{family}}}, Limit: gen.Models.Len()})
	slugs := make([]string, len(found.Ords))
	for i, ord := range found.Ords {
		slugs[i] = gen.Models.Slug(ord)
		sc.keys["models/"+slugs[i]] = true
	}
	sc.addBenchmarks(gen, index.Model, slugs)
	return sc
}

func (sc *feedScope) addBenchmarks(gen *index.Generation, field index.Field, slugs []string) {
	if len(slugs) == 0 {
		return
	}
	asked := gen.Benchmarks.Conditions(index.Query{Sets: []index.Set{{Field: field, Values: slugs, OnlySelf: true}}})
	sc.benchmark = func(id string) bool {
		ord, ok := gen.Benchmarks.Find(id)
		return ok && asked.Has(ord)
	}
}

// has reports whether the feed is about a record.
func (sc *feedScope) has(table, slug string) bool {
	switch {
	case sc.keys == nil:
		return true
	case table == "benchmarks":
		return sc.benchmark != nil && sc.benchmark(slug)
	}
	return sc.keys[table+"/"+slug]
}

// feed answers a feed from the cache, or makes it.
func (s *Server) feed(req *request, below string, scope func() *feedScope) (*response, *failure) {
	file := req.param("file")
	if !slices.Contains(feedFiles, file) {
		return nil, fail(notFound, Fault{In: "path", Name: "file", Value: clip(file), Detail: "must be one of " + strings.Join(feedFiles, ", "), Allowed: feedFiles, Suggestion: new(suggest.Suggester).Nearest(file, feedFiles)})
	}
	what, form, _ := strings.Cut(file, ".")
	past, base := s.cfg.History.Now(), s.base(req.ctx)
	if below != "" {
		below += "/"
	}
	path := "/feeds/" + below + what
	name := path + "." + form + "\x00" + base + "\x00" + strconv.FormatUint(past.Number, 10)
	return s.open.Render(req.content[:], req.coding, name, func() *response {
		sc := scope()
		sc.path = path
		f := newsOf(past.Recorded(req.gen), req.gen, sc, what == "benchmarks", base)
		f.Self = base + escapePath(path) + "." + form
		write, contentType := f.Atom, atomType
		if form == "json" {
			write, contentType = f.JSON, jsonFeedType
		}
		body, err := write()
		if err != nil {
			panic(err) // made of texts and times
		}
		resp := newDocument(body, contentType, req.coding)
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
		if s.cfg.BaseURL == "" {
			resp.keep(privateCache, openVary) // it names the host of the request
		}
		resp.route = req.route
		return resp
	}), nil
}

func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// newsOf makes a feed of the recorded releases, its newest first.
func newsOf(recorded []*changes.Step, gen *index.Generation, sc *feedScope, benchmarksOnly bool, base string) *feeds.Feed {
	f := &feeds.Feed{ID: feeds.ID(sc.path), Title: sc.title + ": changes", Page: base + sc.page, Author: gen.Info.Title}
	if benchmarksOnly {
		f.Title = sc.title + ": new benchmarks"
	}
	begin := history.Step{Release: record.Release{Released: gen.Info.Released}}
	f.Updated = begin.Time()
	if len(recorded) > 0 {
		f.Updated = recorded[0].Time()
	}
	for i := len(recorded) - 1; i >= 0; i-- {
		before := len(f.Entries)
		switch s := recorded[i]; {
		case benchmarksOnly:
			f.Entries = append(f.Entries, newBenchmarks(gen, s, sc, base, maxEntries-before)...)
		case sc.keys == nil:
			f.Entries = append(f.Entries, releaseEntry(s, base))
		default:
			f.Entries = append(f.Entries, recordEntries(s, sc, base, maxEntries-before)...)
		}
		if before == 0 && len(f.Entries) > 0 {
			f.Updated = recorded[i].Time()
		}
		if len(f.Entries) >= maxEntries {
			break
		}
	}
	return f
}

// releaseEntry is a release as a whole.
func releaseEntry(s *changes.Step, base string) feeds.Entry {
	counts := map[string]int{}
	for _, e := range s.Entries {
		counts[string(e.Table)+" "+string(e.Act)]++
	}
	var lines []string
	for _, table := range record.ChangeTables {
		for _, act := range record.Acts {
			if n := counts[string(table)+" "+string(act)]; n > 0 {
				lines = append(lines, fmt.Sprintf("%s: %d %s", table, n, act))
			}
		}
	}
	if lines == nil {
		lines = []string{"The recorded history begins here."}
	}
	return feeds.Entry{ID: feeds.ID("release/" + s.Digest), Title: "Release " + s.Version, Page: releasePage(s, base), Text: strings.Join(lines, "\n"), Updated: s.Time(), Tags: []string{"release"}}
}

// releasePage is the address of the page about a release.
func releasePage(s *changes.Step, base string) string {
	return base + "/changes?release=" + s.Digest[:changes.ShortDigest]
}

// recordEntries are what a release did to the records of a scope, in order of table and slug.
func recordEntries(s *changes.Step, sc *feedScope, base string, most int) (out []feeds.Entry) {
	for _, e := range s.Entries {
		if !sc.has(string(e.Table), e.Slug) {
			continue
		}
		if len(out) == most {
			break
		}
		key, text := string(e.Table)+"/"+e.Slug, string(e.Act)
		for i, f := range e.Fields {
			const shown = 20
			if i == shown {
				more := len(e.Fields) - shown
				text += fmt.Sprintf("\nand %d more %s", more, record.Noun(more, "field", "fields"))
				break
			}
			text += fmt.Sprintf("\n%s: %s -> %s", f.Field, record.Clip(string(f.Old), 200), record.Clip(string(f.New), 200))
		}
		page := base + "/" + string(e.Table) + "/" + url.PathEscape(e.Slug)
		if e.Act == record.Removed { // and has no page any more
			page = releasePage(s, base) + "&table=" + string(e.Table) + "&slug=" + url.QueryEscape(e.Slug)
		}
		out = append(out, feeds.Entry{
			ID: feeds.ID("change/" + s.Digest + "/" + key), Title: key + " " + string(e.Act), Page: page,
			Text: text, Updated: s.Time(), Tags: []string{string(e.Table), string(e.Act)},
		})
	}
	return out
}

// newBenchmarks are the benchmarks that a release added, newest run first.
func newBenchmarks(gen *index.Generation, s *changes.Step, sc *feedScope, base string, most int) (out []feeds.Entry) {
	var ords []uint32
	for _, e := range s.Entries {
		if e.Table != "benchmarks" || e.Act != record.Added || !sc.has("benchmarks", e.Slug) {
			continue
		}
		if ord, ok := gen.Benchmarks.Find(e.Slug); ok { // else it was removed since
			ords = append(ords, ord)
		}
	}
	slices.Sort(ords) // the default order of the table: newest run first, unknown last, then by id
	for _, ord := range ords[:min(len(ords), most)] {
		var b struct {
			ID            string   `json:"id"`
			Model         string   `json:"model"`
			Hardware      string   `json:"hardware"`
			Tool          string   `json:"tool"`
			Quantization  *string  `json:"quantization"`
			GenerationTPS *float64 `json:"generation_tps"`
			PromptTPS     *float64 `json:"prompt_tps"`
			SourceURL     *string  `json:"source_url"`
		}
		if jsonv2.Unmarshal(gen.Benchmarks.Row(ord), &b) != nil {
			continue // rows are ours
		}
		title := b.Model + " on " + b.Hardware
		if b.GenerationTPS != nil {
			title += fmt.Sprintf(": %.4g tokens/s", *b.GenerationTPS)
		}
		text := "tool: " + b.Tool
		if b.Quantization != nil {
			text += "\nquantization: " + *b.Quantization
		}
		if b.PromptTPS != nil {
			text += fmt.Sprintf("\nprompt: %.4g tokens/s", *b.PromptTPS)
		}
		if b.SourceURL != nil {
			text += "\nsource: " + *b.SourceURL
		}
		out = append(out, feeds.Entry{
			ID: feeds.ID("benchmark/" + b.ID), Title: title, Page: base + "/benchmarks/" + url.PathEscape(b.ID), Text: text, Updated: s.Time(),
			Tags: []string{b.Model, b.Hardware, b.Tool},
		})
	}
	return out
}
