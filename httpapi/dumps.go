package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"modeldex/httpapi/export"
	"modeldex/index"
	"modeldex/quota"
	"modeldex/snapshot"

	jsonv2 "github.com/goccy/go-json/v2"
)

// DumpMode says who may have the dumps.
type DumpMode string

// The modes. The zero value is that of a server without dumps.
const (
	DumpsOff   DumpMode = "off"
	DumpsKeyed DumpMode = "keyed" // keys of a tier above the free one
	DumpsOpen  DumpMode = "open"  // anyone
)

// DumpView is the files of one edition of the dataset.
type DumpView struct {
	// SHA-256 over the files of the dataset, in hex.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Version of the dataset.
	Version string `json:"version" jsonschema:"example=2026.11.22"`
	// Hash of the files of the dump, in hex: what its addresses hold. It differs from that of another dump of the same dataset where a snapshot was published in between, or another version of the program wrote it.
	Edition string `json:"edition" jsonschema:"pattern=^[0-9a-f]{32}$"`
	// Licence of the collection of facts.
	License string `json:"licence" jsonschema:"example=CC-BY-SA-4.0"`
	// The files, by name.
	Files []DumpFile `json:"files"`
	// Editions that are kept beside this one, newest first.
	Others []string `json:"other_editions" jsonschema:"example=0123456789abcdef0123456789abcdef"`
}

// DumpFile is one file of a dump.
type DumpFile struct {
	// Name of the file.
	Name string `json:"name" jsonschema:"example=benchmarks.parquet"`
	// Address of the file, which never changes its content.
	URL string `json:"url" jsonschema:"format=uri-reference,example=/api/v1/dumps/0123456789abcdef0123456789abcdef/benchmarks.parquet"`
	// Size in bytes.
	Bytes int64 `json:"bytes" jsonschema:"minimum=0,example=423112"`
	// SHA-256 of the file, in hex.
	SHA256 string `json:"sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Media type.
	MediaType string `json:"media_type" jsonschema:"example=application/vnd.apache.parquet"`
	// Number of rows; null where the file is no table.
	Rows *int `json:"rows" jsonschema:"nullable,minimum=0,example=5496"`
}

const (
	// keptDumps is how many editions are kept: the newest, and those a download may have begun with.
	keptDumps = 3
	// dumpSettle is how long a generation must have been served until its dump is made without being
	// asked for: edits that follow each other are one dump, and a short run makes none.
	dumpSettle = 2 * time.Second
	dumpLook   = 500 * time.Millisecond
	dumpRetry  = 30 * time.Second // after a dump could not be made
)

// dumps makes a dump of each generation in the background and keeps the newest.
type dumps struct {
	cfg     *Config
	catalog func() *snapshot.Catalog
	asked   chan struct{} // of size one: somebody waits for a dump

	mu   sync.Mutex
	kept []*export.Dump // newest first
}

func newDumps(s *Server) *dumps {
	return &dumps{cfg: &s.cfg, catalog: s.catalog, asked: make(chan struct{}, 1)}
}

// start makes dumps until the function it returns is called, which waits for the end.
func (d *dumps) start() (stop func()) {
	if d.cfg.Dumps != DumpsOpen && d.cfg.Dumps != DumpsKeyed {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { d.follow(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// follow looks for new generations. One dump is made at a time.
func (d *dumps) follow(ctx context.Context) {
	look := time.NewTicker(dumpLook)
	defer look.Stop()
	var made, seen [16]byte
	var since time.Time
	for ctx.Err() == nil {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-d.asked:
			asked = true
		case <-look.C:
		}
		gen, catalog := d.cfg.Live.Current(), d.catalog()
		content := contentOf(gen, catalog)
		if content != seen {
			seen, since = content, time.Now()
		}
		if gen == nil || content == made || !asked && time.Since(since) < dumpSettle {
			continue
		}
		if err := d.make(ctx, gen); err == nil {
			made = content
		} else if ctx.Err() == nil {
			d.cfg.Log.Warn("dump not made", "version", gen.Info.Version, "digest", gen.Digest.String(), "cause", err)
			since = time.Now().Add(dumpRetry - dumpSettle)
		}
	}
}

func (d *dumps) make(ctx context.Context, gen *index.Generation) error {
	started := time.Now()
	dump, err := export.Build(ctx, dumpSources(d.cfg, gen))
	if err != nil {
		return err
	}
	d.keep(dump)
	var bytes int64
	for _, f := range dump.Files {
		bytes += f.Size
	}
	d.cfg.Log.Info("dump made", "version", dump.Version, "digest", dump.Digest, "edition", dump.Edition, "bytes", bytes, "took", time.Since(started).String())
	return nil
}

func (d *dumps) keep(dump *export.Dump) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = slices.DeleteFunc(d.kept, func(old *export.Dump) bool { return old.Edition == dump.Edition })
	d.kept = slices.Insert(d.kept, 0, dump)
	d.kept = d.kept[:min(len(d.kept), keptDumps)]
}

// list is the dumps that are kept, newest first. The slice is the caller's.
func (d *dumps) list() []*export.Dump {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.kept)
}

// ask has a dump made at once where there is none.
func (d *dumps) ask() {
	select {
	case d.asked <- struct{}{}:
	default: // a request is waiting already
	}
}

// dumpSources is what the dump of a generation is made of.
func dumpSources(cfg *Config, gen *index.Generation) *export.Sources {
	src := &export.Sources{
		About: aboutOf(gen), Released: string(gen.Info.Released), FS: cfg.Files, Dir: cfg.DumpsDir,
		Description: "Open-weight language models, hardware, local-AI tools and measured tokens per second, with their sources.",
		Extras:      []string{"snapshots/" + snapshot.Pattern, "changes/*.ndjson"},
	}
	for _, f := range gen.Files {
		src.Originals = append(src.Originals, export.Original{Name: f.Name, Size: f.Size, Digest: f.Digest})
	}
	table := func(schema *export.Schema, doc string, t *index.Table, row func(uint32) []byte) export.Table {
		return export.Table{Schema: schema, Doc: doc, Count: t.Len(), Rows: func() export.Rows { return allRowsOf(t, row) }}
	}
	src.Tables = []export.Table{
		table(models.detail.columns().Without("benchmarks").Without("fit"), "Models with their architecture and quantized files.", gen.Models, gen.Models.Detail),
		table(hardware.columns().Without("fit"), "Hardware with memory, bandwidth and prices.", gen.Hardware, gen.Hardware.Row),
		table(tools.columns(), "Local-AI tools.", gen.Tools, gen.Tools.Row),
		table(benchmarks.columns(), "Measured speeds, throughput results included.", gen.Benchmarks, gen.Benchmarks.Row),
		wideTable(gen),
	}
	return src
}

// facts are the columns of a table that are no lists, for tables that are joined with it.
type facts struct {
	member  string // of a joined row
	columns []export.Column
	kept    *projection
}

func factsOf(member string, r *resource) *facts {
	f := &facts{member: member}
	var names []string
	for _, c := range r.columns().Without("fit").Columns {
		if c.Type != export.Texts && c.Type != export.Any {
			names = append(names, c.Name)
			c.Name = member + "." + c.Name
			f.columns = append(f.columns, c)
		}
	}
	f.kept = newProjection(names)
	return f
}

// of gives the facts of records by slug, as a member of a row.
func (f *facts) of(t *index.Table) func(dst []byte, slug string) []byte {
	made := map[string][]byte{} // by slug
	return func(dst []byte, slug string) []byte {
		if made[slug] == nil {
			ord, _ := t.Find(slug) // the checks rule out that it is not there
			made[slug] = f.kept.append([]byte(`,"`+f.member+`":`), t.Row(ord))
		}
		return append(dst, made[slug]...)
	}
}

// wideTable is the benchmarks, each with the facts of its model and its hardware.
func wideTable(gen *index.Generation) export.Table {
	ofModel, ofHardware := factsOf("model_facts", models), factsOf("hardware_facts", hardware)
	return export.Table{
		Schema: export.NewSchema("benchmarks_wide", slices.Concat(benchmarks.columns().Columns, ofModel.columns, ofHardware.columns)),
		Doc:    "Benchmarks, each with the facts of its model and its hardware.", Count: gen.Benchmarks.Len(),
		Rows: func() export.Rows {
			model, machine := ofModel.of(gen.Models), ofHardware.of(gen.Hardware)
			var line []byte
			return allRowsOf(gen.Benchmarks, func(ord uint32) []byte {
				row := gen.Benchmarks.Row(ord)
				var refers struct {
					Model    string `json:"model"`
					Hardware string `json:"hardware"`
				}
				if err := jsonv2.Unmarshal(row, &refers); err != nil {
					panic(err) // a row of this program
				}
				line = model(append(line[:0], row[:len(row)-1]...), refers.Model)
				line = append(machine(line, refers.Hardware), '}')
				return line
			})
		},
	}
}

// allRowsOf gives the rows of a table in its order.
func allRowsOf(t *index.Table, row func(ord uint32) []byte) export.Rows {
	next := uint32(0)
	return func() []byte {
		if int(next) == t.Len() {
			return nil
		}
		next++
		return row(next - 1)
	}
}

// listDumps answers the files of the newest dump.
func listDumps(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	list, f := s.dumpsFor(req)
	if f != nil {
		return nil, f
	}
	dump := list[0]
	view := DumpView{Digest: dump.Digest, Version: dump.Version, Edition: dump.Edition, License: dump.Licence, Files: make([]DumpFile, len(dump.Files)), Others: []string{}}
	for i, file := range dump.Files {
		view.Files[i] = DumpFile{Name: file.Name, URL: dumpAddress(dump, file.Name), Bytes: file.Size, SHA256: file.SHA256, MediaType: file.MediaType}
		if file.Rows >= 0 {
			view.Files[i].Rows = &file.Rows
		}
	}
	for _, other := range list[1:] {
		view.Others = append(view.Others, other.Edition)
	}
	b, err := jsonv2.Marshal(map[string]DumpView{"data": view})
	if err != nil {
		return nil, &failure{code: &internal, cause: err}
	}
	resp := newDocument(b, jsonType, req.coding)
	s.keepDump(resp, "max-age=60")
	return resp, nil
}

func dumpAddress(d *export.Dump, name string) string {
	return "/api/v1/dumps/" + d.Edition + "/" + name
}

// dumpsFor is the dumps a caller may have, newest first; there is at least one.
func (s *Server) dumpsFor(req *request) ([]*export.Dump, *failure) {
	if f := s.admitDumps(req); f != nil {
		return nil, f
	}
	list := s.dumps.list()
	if len(list) == 0 {
		s.dumps.ask()
		return nil, &failure{code: &notReady, retryAfter: 2, detail: "The dump of this dataset is being made. Try again after Retry-After seconds."}
	}
	return list, nil
}

// admitDumps lets those have bulk data for whom the dumps are.
func (s *Server) admitDumps(req *request) *failure {
	switch s.cfg.Dumps {
	case DumpsOpen:
		return nil
	case DumpsKeyed:
		return s.admitPaid(req)
	default:
		return &failure{code: &unknownRoute, detail: "This server offers no dumps. The lists have the same rows."}
	}
}

// admitPaid has a key of a tier above the free one admitted. It counts for the burst only.
func (s *Server) admitPaid(req *request) *failure {
	if f := s.identify(req); f != nil {
		return f
	}
	f := req.decide(s.cfg.Keeper.AdmitFree(req.digest))
	req.keyed = false // dumps cost nothing, so that responses do not show what is left
	if f != nil {
		return f
	}
	if tier := req.call.Standing().Tier; tier == quota.FreeTier {
		return &failure{code: &tierRequired, detail: fmt.Sprintf("Dumps, and whole records of changes, need a key of the tier %s; this key is of the tier %s.", paidTiers(s.cfg.Keeper.Tiers()), tier)}
	}
	return nil
}

// keepDump says how long a response about dumps may be kept, and by whom.
func (s *Server) keepDump(resp *response, age string) {
	if s.cfg.Dumps == DumpsKeyed {
		resp.keep("private, "+age, keyedVary)
	} else {
		resp.keep("public, "+age, openVary)
	}
}

// getDump answers a file of an edition; latest and the digest of a dataset lead to its newest one.
func getDump(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	list, f := s.dumpsFor(req)
	if f != nil {
		return nil, f
	}
	which, name := req.param("edition"), req.param("file")
	i := slices.IndexFunc(list, func(d *export.Dump) bool { return which == "latest" || d.Digest == which || d.Edition == which })
	if i < 0 {
		return nil, &failure{code: &notFound, faults: []Fault{{In: "path", Name: "edition", Value: clip(which), Detail: "is not kept, or never was here", Suggestion: list[0].Edition}}}
	}
	file := list[i].Find(name)
	if file == nil {
		fault := Fault{In: "path", Name: "file", Value: clip(name), Detail: "no such file"}
		for _, have := range list[i].Files {
			fault.Allowed = append(fault.Allowed, have.Name)
		}
		return nil, fail(&notFound, fault)
	}
	if list[i].Edition != which {
		resp := newResponse(http.StatusTemporaryRedirect, "", nil)
		resp.set("Location", dumpAddress(list[i], name))
		s.keepDump(resp, "max-age=60")
		return resp, nil
	}
	return s.dumpResponse(req, list[i], file), nil
}

// dumpResponse is a file, or the range of it that was asked for.
func (s *Server) dumpResponse(req *request, dump *export.Dump, file *export.File) *response {
	tag := `"` + file.SHA256 + `"`
	h := &req.ctx.Request.Header
	span, status := byteRange{0, file.Size}, http.StatusOK
	if condition := h.Peek("If-Range"); len(condition) == 0 || string(condition) == tag {
		span, status = rangeOf(string(h.Peek("Range")), file.Size)
	}
	if status == http.StatusRequestedRangeNotSatisfiable {
		resp := s.problem(req, &failure{code: &rangeNotSatisfiable})
		resp.set("Content-Range", fmt.Sprintf("bytes */%d", file.Size))
		return resp
	}
	resp := newResponse(status, file.MediaType, nil)
	resp.etag = tag
	resp.set("ETag", tag)
	resp.set("Accept-Ranges", "bytes")
	resp.set("Content-Disposition", `attachment; filename="`+file.Name+`"`)
	s.keepDump(resp, "max-age=31536000, immutable")
	resp.madeOf(dump.Version, dump.Digest)
	if status == http.StatusPartialContent {
		resp.set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", span.from, span.from+span.size-1, file.Size))
	}
	resp.stream = &stream{
		size: int(span.size), done: func() {},
		open: func() (io.Reader, error) { return file.Section(span.from, span.size), nil },
	}
	return resp
}
