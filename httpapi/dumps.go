package httpapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"modeldex/httpapi/connections"
	"modeldex/httpapi/export"
	"modeldex/httpapi/headers"
	"modeldex/index"
	"modeldex/quota"
)

func listDumps(s *Server, req *request) (*response, *failure) {
	dump, f := s.dumpFor(req)
	if f != nil {
		return nil, f
	}
	resp := newData(req, dump)
	s.keepDump(resp, "max-age=60")
	return resp, nil
}

const dumpRetry = 30 * time.Second

type dumper struct {
	sources func(*index.Generation) *export.Sources
	log     *slog.Logger
	ctx     context.Context // ends when the server shuts down
	end     context.CancelFunc

	mu      sync.Mutex // held while a dump is made, so others wait
	content [16]byte   // what the newest was made of, see contentOf
	dump    *export.Dump
	err     error // why it could not be made
	at      time.Time
}

// dumpFor is the dump of the dataset being served, if the caller may have it. It is made when somebody asks for it,
// once for all who wait.
func (s *Server) dumpFor(req *request) (*export.Dump, *failure) {
	if f := s.admitDumps(req); f != nil {
		return nil, f
	}
	if req.gen == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	dump, err := s.dumps.get(req.gen, req.content)
	if err != nil {
		return nil, &failure{code: notReady, retryAfter: int64(dumpRetry / time.Second), detail: "The dump is not available at the moment. Try again after Retry-After seconds."}
	}
	return dump, nil
}

func (d *dumper) get(gen *index.Generation, content [16]byte) (*export.Dump, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.content == content && (d.dump != nil || time.Since(d.at) < dumpRetry) {
		return d.dump, d.err
	}
	d.content, d.at = content, time.Now()
	about := []any{"version", gen.Info.Version, "digest", gen.Digest.String()}
	if d.dump, d.err = export.Build(d.ctx, d.sources(gen)); d.err != nil {
		d.log.Warn("dump not made", append(about, "cause", d.err)...)
	} else {
		d.log.Info("dump made", append(about, "edition", d.dump.Edition, "took", time.Since(d.at).String())...)
	}
	return d.dump, d.err
}

// getDump answers a file of an edition; latest and the digest of the dataset being served lead to it.
func getDump(s *Server, req *request) (*response, *failure) {
	dump, f := s.dumpFor(req)
	if f != nil {
		return nil, f
	}
	which, name := req.param("edition"), req.param("file")
	if which != "latest" && which != dump.Digest && which != dump.Edition {
		return nil, &failure{code: notFound, detail: "This edition is not being served. GET /api/v1/dumps has the current one.", faults: []Fault{{In: "path", Name: "edition", Value: clip(which), Detail: "is not an edition of this server, or no longer one", Suggestion: dump.Edition}}}
	}
	file := dump.Find(name)
	if file == nil {
		names := make([]string, len(dump.Files))
		for i := range dump.Files {
			names[i] = dump.Files[i].Name
		}
		return nil, noSuch("", "file", name, "no such file", names)
	}
	if which != dump.Edition {
		resp := newResponse(http.StatusTemporaryRedirect, "", nil)
		resp.set("Location", file.URL)
		s.keepDump(resp, "max-age=60")
		return resp, nil
	}
	return s.dumpResponse(req, dump, file), nil
}

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
	if status == http.StatusPartialContent {
		resp.set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", span.From, span.From+span.Size-1, file.Size))
	}
	resp.stream = &connections.Stream{
		Size: int(span.Size), Done: func() {},
		Open: func() (io.Reader, error) { return file.Section(span.From, span.Size), nil },
	}
	return resp
}

// Who can get bulk data.

// admitDumps lets those have bulk data for whom the dumps are.
func (s *Server) admitDumps(req *request) *failure {
	switch s.cfg.Dumps {
	case DumpsOpen:
		return nil
	case DumpsKeyed:
		return s.admitPaid(req)
	default:
		return &failure{code: unknownRoute, detail: "This server does not offer dumps. The lists have the same rows."}
	}
}

func (s *Server) admitPaid(req *request) *failure {
	f := s.identify(req)
	if f != nil && f.code == missingKey && f.detail == "" { // its own text offers a free key, which would be the next 403
		f.detail = fmt.Sprintf("Dumps need a key in the tier %s. Send it as \"Authorization: Bearer <key>\".", paidTiers(s.cfg.Keeper.Tiers()))
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
		return &failure{code: tierRequired, detail: fmt.Sprintf("Dumps need a key in the tier %s; this key is in the tier %s.", paidTiers(s.cfg.Keeper.Tiers()), tier)}
	}
	return nil
}

func (s *Server) keepDump(resp *response, age string) {
	if s.cfg.Dumps == DumpsKeyed {
		resp.keep("private, "+age, keyedVary)
	} else {
		resp.keep("public, "+age, openVary)
	}
}
