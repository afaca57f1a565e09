package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/history"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/query"
)

const changesPath = "/changes"

// changesView is the parameters of the page of changes: those of the list that narrow it, and one release.
var changesView = newChangesList(0, query.Of[releaseParams](), query.Of[sinceParams](), query.Of[changedParams](), query.Of[fieldParams]())

type releaseParams struct {
	// One release, by its version, digest (the first 12 digits are enough) or commit (the first 7).
	Release string `query:"release"`
}

// changesPage answers the page of releases and of what happened to records, newest first. The list of the API has the
// same changes, oldest first.
func changesPage(s *Server, req *request) (*response, *failure) {
	ending := strings.TrimPrefix(string(req.ctx.Path()), changesPath)
	args, changed := normalizeForm(req.ctx.QueryArgs(), false)
	if changed && ending == "" {
		return req.seeOther(changesPath, args), nil
	}
	q, t, f := s.parseChanges(req, args, changesView)
	if f != nil {
		return nil, f
	}
	t.Steps = slices.Clone(t.Steps)
	if release := q.Text("release"); release != "" {
		if t.Steps = slices.DeleteFunc(t.Steps, func(st history.Step) bool { return !changes.Named(&st, release) }); len(t.Steps) == 0 {
			return nil, badParameter("release", release, "must be a release with known changes")
		}
	}
	slices.Reverse(t.Steps)
	q.Limit = pages.PageRows
	_, query, _ := strings.Cut(q.canonical, "?")
	at := s.place(req, changesPath, query)
	return s.formOfPage(req, at, ending, t.State(), nil, nil, func() pages.View { return s.pages.Changes(req.gen, changesQuery(t, q, at), at) }), nil
}

func changesQuery(t changes.Trail, q *listQuery, at pages.Place) *pages.ChangesQuery {
	out := &pages.ChangesQuery{Steps: t.Steps}
	out.Rows, out.Total, _ = t.Page(q.ofChanges())
	out.Params, _ = url.ParseQuery(at.Query) // made by this program
	for _, n := range trailNotices(t) {
		out.Notes = append(out.Notes, pages.Sentence(n.Detail)+".")
	}
	return out
}

func creditsPage(s *Server, req *request, at pages.Place, ending string) (*response, *failure) {
	return s.formOfPage(req, at, ending, "", nil, nil, func() pages.View { return s.pages.Credits(req.gen, at) }), nil
}
