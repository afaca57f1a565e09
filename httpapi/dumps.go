package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"slices"

	"modeldex/httpapi/connections"
	"modeldex/httpapi/export"
	"modeldex/httpapi/headers"
	"modeldex/httpapi/suggest"
	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
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
	// Number of rows; null if the file is not a table.
	Rows *int `json:"rows" jsonschema:"nullable,minimum=0,example=5496"`
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
		return nil, &failure{code: internal, cause: err}
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
	list := s.dumps.List()
	if len(list) == 0 {
		s.dumps.Ask()
		return nil, &failure{code: notReady, retryAfter: 2, detail: "The dump of this dataset is being made. Try again after Retry-After seconds."}
	}
	return list, nil
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
		return nil, &failure{code: notFound, detail: "No dump that is kept has this edition. GET /api/v1/dumps lists them.", faults: []Fault{{In: "path", Name: "edition", Value: clip(which), Detail: "is not kept, or never was here", Suggestion: list[0].Edition}}}
	}
	file := list[i].Find(name)
	if file == nil {
		fault := Fault{In: "path", Name: "file", Value: clip(name), Detail: "no such file"}
		for _, have := range list[i].Files {
			fault.Allowed = append(fault.Allowed, have.Name)
		}
		fault.Suggestion = new(suggest.Suggester).Nearest(name, fault.Allowed)
		return nil, fail(notFound, fault)
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
	span, status := headers.Range{From: 0, Size: file.Size}, http.StatusOK
	// Only GET has ranges (RFC 9110, 14.2), and a caller who has the file gets 304 whatever range is asked for (13.2.2).
	if condition := h.Peek("If-Range"); h.IsGet() && !req.has(tag) && (len(condition) == 0 || string(condition) == tag) {
		span, status = headers.RangeOf(string(h.Peek("Range")), file.Size)
	}
	if status == http.StatusRequestedRangeNotSatisfiable {
		resp := s.problem(req, &failure{code: rangeNotSatisfiable})
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
	resp.ages = false // what the address names never changes
	if status == http.StatusPartialContent {
		resp.set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", span.From, span.From+span.Size-1, file.Size))
	}
	resp.stream = &connections.Stream{
		Size: int(span.Size), Done: func() {},
		Open: func() (io.Reader, error) { return file.Section(span.From, span.Size), nil },
	}
	return resp
}

// Who may have records in bulk: the dumps, and whole records of the list of changes.

// admitDumps lets those have bulk data for whom the dumps are.
func (s *Server) admitDumps(req *request) *failure {
	switch s.cfg.Dumps {
	case DumpsOpen:
		return nil
	case DumpsKeyed:
		return s.admitPaid(req)
	default:
		return &failure{code: unknownRoute, detail: "This server offers no dumps. The lists have the same rows."}
	}
}

// admitPaid has a key of a tier above the free one admitted. It counts for the burst only.
func (s *Server) admitPaid(req *request) *failure {
	f := s.identify(req)
	if f != nil && f.code == missingKey && f.detail == "" { // its own text offers a free key, which would be the next 403
		f.detail = fmt.Sprintf("Dumps, and whole records of changes, need a key of the tier %s. Send it as \"Authorization: Bearer <key>\".", paidTiers(s.cfg.Keeper.Tiers()))
	}
	if f != nil {
		return f
	}
	f = s.decide(req, s.cfg.Keeper.AdmitFree(req.digest))
	req.keyed = false // dumps cost nothing, so that responses do not show what is left
	if f != nil {
		return f
	}
	if tier := req.call.Standing().Tier; tier == quota.FreeTier {
		return &failure{code: tierRequired, detail: fmt.Sprintf("Dumps, and whole records of changes, need a key of the tier %s; this key is of the tier %s.", paidTiers(s.cfg.Keeper.Tiers()), tier)}
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
