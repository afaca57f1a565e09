package httpapi

import (
	"encoding/xml"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/suggest"
	"modeldex/index"

	"github.com/google/uuid"
)

// Feeds (Atom, RFC 4287) of new benchmarks and of changes: of all records, of a model, of hardware. They are made of the
// recorded releases alone, so that they are the same after a restart and on every machine, and have the times of releases.

const (
	atomType = "application/atom+xml"
	// maxEntries bounds a feed. What is older is in the list of changes.
	maxEntries = 100
)

var feedFiles = []string{"benchmarks.atom", "changes.atom"}

func feedRoutes() []route {
	out := []route{{method: "GET", path: "/feeds/:file", id: "feed", tag: "feeds", answer: ofData(feedOf(nil))}}
	for _, of := range []*resource{models, hardware} {
		out = append(out, route{
			method: "GET", path: "/feeds/" + of.name + "/+/:file", id: "feedOf" + titleCase(of.name), tag: "feeds",
			summary: "Atom feed of one of the " + of.name, answer: ofData(feedOf(of)),
		})
	}
	return out
}

// feedScope is the scope of a feed: one record, or all records if it is nil.
type feedScope struct {
	of   *resource
	slug string
	gen  *index.Generation
	base string // of the service
	path string // of the feed, without its ending
}

// feedOf answers a feed of the records of a list, or of everything.
func feedOf(of *resource) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
		if f := req.noParameters(); f != nil {
			return nil, f
		}
		sc := &feedScope{of: of, gen: req.gen, base: s.base(req.ctx), path: "/feeds/"}
		file := req.param("file")
		if of != nil {
			sc.slug = req.param("+") // of several segments, as "openai/gpt-oss-20b"
			t := of.table(req.gen)
			if _, ok := t.Find(sc.slug); !ok {
				if known, ok := t.Resolve(sc.slug); ok {
					resp := req.moved("/feeds/" + of.name + "/" + url.PathEscape(known) + "/" + file)
					resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
					return resp, nil
				}
				return nil, of.noRecord(t, sc.slug)
			}
			sc.path += of.name + "/" + sc.slug + "/"
		}
		if !slices.Contains(feedFiles, file) {
			return nil, fail(notFound, Fault{In: "path", Name: "file", Value: clip(file), Detail: "must be one of " + strings.Join(feedFiles, ", "), Allowed: feedFiles, Suggestion: new(suggest.Suggester).Nearest(file, feedFiles)})
		}
		past := s.cfg.History.Past()
		sc.path += strings.TrimSuffix(file, ".atom")
		name := sc.path + "\x00" + sc.base + "\x00" + strconv.FormatUint(past.Number, 10)
		return s.open.Render(req.content[:], req.coding, name, func() *response {
			resp := newDocument(sc.feed(past.UpTo(req.gen), file == feedFiles[0]), atomType, req.coding)
			resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
			if s.cfg.BaseURL == "" {
				resp.keep(privateCache, openVary) // it names the host of the request
			}
			resp.route = req.route
			return resp
		}), nil
	}
}

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Published  string         `xml:"published"`
	Updated    string         `xml:"updated"`
	Link       atomLink       `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Content    atomText       `xml:"content"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// feedSpace is the name space of all ids of feeds and entries. It must never change.
var feedSpace = uuid.MustParse("c6f5d3f4-8a0e-5d0c-9a53-6d0b7c1f2a10")

// feedID is the id of a thing with a name: a version 5 UUID (RFC 9562) as a URN. It depends on no host and no time.
func feedID(name string) string { return uuid.NewSHA1(feedSpace, []byte(name)).URN() }

func (sc *feedScope) feed(steps []history.Step, benchmarksOnly bool) []byte {
	title, page := "modeldex", "/"
	if sc.of != nil {
		title, page = sc.slug, "/"+sc.of.name+"/"+url.PathEscape(sc.slug)
	}
	begin := history.Step{Release: record.Release{Released: sc.gen.Info.Released}}
	if len(steps) > 0 {
		begin = steps[0]
	}
	self := sc.base + (&url.URL{Path: sc.path}).EscapedPath() + ".atom"
	f := atomFeed{
		ID: feedID(sc.path), Title: title + ": changes", Author: sc.gen.Info.Title, Updated: stamp(begin.Time()),
		Links: []atomLink{{"self", atomType, self}, {"alternate", "text/html", sc.base + page}},
	}
	if benchmarksOnly {
		f.Title = title + ": new benchmarks"
	}
	for i := len(steps) - 1; i >= 0 && len(f.Entries) < maxEntries; i-- {
		entries := sc.changes(&steps[i])
		if benchmarksOnly {
			entries = sc.newBenchmarks(&steps[i])
		} else if sc.of == nil {
			entries = []atomEntry{sc.release(&steps[i])}
		}
		if len(f.Entries) == 0 && len(entries) > 0 {
			f.Updated = stamp(steps[i].Time())
		}
		f.Entries = append(f.Entries, entries[:min(len(entries), maxEntries-len(f.Entries))]...)
	}
	b, err := xml.MarshalIndent(f, "", " ")
	if err != nil {
		panic(err) // made of texts
	}
	return append([]byte(xml.Header), append(b, '\n')...)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (sc *feedScope) entry(s *history.Step, id, title, page, text string, tags ...string) atomEntry {
	e := atomEntry{
		ID: feedID(id), Title: title, Published: stamp(s.Time()), Updated: stamp(s.Time()),
		Link: atomLink{"alternate", "text/html", sc.base + page}, Content: atomText{"text", text},
	}
	for _, tag := range tags {
		e.Categories = append(e.Categories, atomCategory{tag})
	}
	return e
}

func (sc *feedScope) has(table, slug string) bool {
	switch {
	case sc.of == nil:
		return true
	case table == benchmarks.name:
		ord, ok := sc.gen.Benchmarks.Find(slug)
		return ok && sc.gen.Benchmarks.Text(index.Field(sc.of.singular), ord) == sc.slug
	}
	return table == sc.of.name && slug == sc.slug
}

func (sc *feedScope) release(s *history.Step) atomEntry {
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
	return sc.entry(s, "release/"+s.Digest, "Release "+s.Version, releasePage(s), strings.Join(lines, "\n"), "release")
}

func releasePage(s *history.Step) string { return "/changes?release=" + s.Digest[:changes.ShortDigest] }

func (sc *feedScope) changes(s *history.Step) (out []atomEntry) {
	const shown = 20 // fields
	for _, e := range s.Entries {
		if !sc.has(string(e.Table), e.Slug) {
			continue
		}
		key, text := string(e.Table)+"/"+e.Slug, string(e.Act)
		for _, f := range e.Fields[:min(len(e.Fields), shown)] {
			text += fmt.Sprintf("\n%s: %s -> %s", f.Field, record.Clip(string(f.Old), 200), record.Clip(string(f.New), 200))
		}
		if more := len(e.Fields) - shown; more > 0 {
			text += fmt.Sprintf("\nand %d more %s", more, record.Noun(more, "field", "fields"))
		}
		page := "/" + string(e.Table) + "/" + url.PathEscape(e.Slug)
		if e.Act == record.Removed { // and has no page any more
			page = releasePage(s) + "&table=" + string(e.Table) + "&slug=" + url.QueryEscape(e.Slug)
		}
		out = append(out, sc.entry(s, "change/"+s.Digest+"/"+key, key+" "+string(e.Act), page, text, string(e.Table), string(e.Act)))
	}
	return out
}

func (sc *feedScope) newBenchmarks(s *history.Step) (out []atomEntry) {
	t, ords := sc.gen.Benchmarks, []uint32(nil)
	for _, e := range s.Entries {
		if ord, ok := t.Find(e.Slug); ok && e.Table == "benchmarks" && e.Act == record.Added && sc.has("benchmarks", e.Slug) {
			ords = append(ords, ord)
		}
	}
	slices.Sort(ords) // the default order of the table: newest run first, unknown last, then by id
	for _, ord := range ords[:min(len(ords), maxEntries)] {
		model, hardware, tool := t.Text(index.Model, ord), t.Text(index.Hardware, ord), t.Text(index.Tool, ord)
		title, text := model+" on "+hardware, "tool: "+tool
		if tps := t.Number(index.GenerationTPS, ord); !math.IsNaN(tps) {
			title += fmt.Sprintf(": %.4g tokens/s", tps)
		}
		if quantization := t.Text(index.Quantization, ord); quantization != "" {
			text += "\nquantization: " + quantization
		}
		if tps := t.Number(index.PromptTPS, ord); !math.IsNaN(tps) {
			text += fmt.Sprintf("\nprompt: %.4g tokens/s", tps)
		}
		if source := rowjson.Text(t.Row(ord), "source_url"); source != "" {
			text += "\nsource: " + source
		}
		id := t.Slug(ord)
		out = append(out, sc.entry(s, "benchmark/"+id, title, "/benchmarks/"+url.PathEscape(id), text, model, hardware, tool))
	}
	return out
}
