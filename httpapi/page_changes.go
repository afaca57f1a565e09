package httpapi

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"modeldex/httpapi/changes"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/query"
	"modeldex/index"
)

const changesPath = "/changes"

// changesView is the parameters of the page of changes: those of the list that narrow it, and one
// release.
var changesView = newChangesList(200, query.Of[releaseParams](), query.Of[sinceParams](), query.Of[changedParams](), query.Of[fieldParams](), query.Of[changesPaging]())

// releaseParams choose one release.
type releaseParams struct {
	// One release, by its version, digest (the first 12 digits are enough) or commit (the first 7).
	Release string `query:"release"`
}

// changesPage answers the page of releases and of what happened to records, newest first. Its data
// forms have the rows of its first page; the list of the API has all of them, oldest first.
func changesPage(s *Server, req *request) (*response, *failure) {
	ending := strings.TrimPrefix(string(req.ctx.Path()), changesPath)
	args, dropped := withoutEmpty(req.ctx.QueryArgs())
	tidy, changed := tidiedChanges(req.gen, args)
	if (dropped || changed) && ending == "" {
		return req.seeOther(changesPath, tidy), nil
	}
	q, f := parseChanges(args, req.gen, changesView, nil)
	if f != nil {
		return nil, f
	}
	if q.After != nil && ending != "" {
		return nil, fail(unknownParameter, Fault{In: "query", Name: "cursor", Detail: "is not a parameter of this form, which gives the first rows only; all of them are at /api/v1/changes"})
	}
	t, f := s.trailOf(req, q)
	if f != nil {
		return nil, f
	}
	if release := q.Text("release"); release != "" {
		t.Steps = slices.DeleteFunc(slices.Clone(t.Steps), func(st *changes.Step) bool { return !st.Named(release) })
		if len(t.Steps) == 0 {
			return nil, badParameter("release", release, "must be a release whose changes are known")
		}
	}
	t.Steps = slices.Clone(t.Steps)
	slices.Reverse(t.Steps)
	if q.Limit = q.limitOr(defaultLimit); ending == "" {
		q.Limit = q.limitOr(pages.PageRows)
	}
	_, query, _ := strings.Cut(q.canonical, "?")
	at := s.place(req, changesPath, query)
	variant := t.State()
	return s.formOfPage(req, at, ending, variant,
		func() []byte { return changesData(t, q) },
		func() []byte { return changesFile(t, req.gen, q) },
		func() pages.View { return s.pages.Changes(req.gen, changesQuery(t, q, at), at) }), nil
}

// tidiedChanges are the parameters of the form of changes as lists take them: fields by the names that pages give them,
// records by any of theirs. It reports whether one was changed.
func tidiedChanges(gen *index.Generation, args *fasthttp.Args) (out *fasthttp.Args, changed bool) {
	out = &fasthttp.Args{}
	for key, value := range args.All() {
		name, v := string(key), string(value)
		switch name {
		case "field":
			parts := strings.Split(v, ",")
			for i, part := range parts {
				part = strings.TrimSpace(part)
				parts[i] = cmp.Or(pages.FieldCalled(part), strings.ReplaceAll(part, " ", "_"))
			}
			v = strings.Join(parts, ",")
		case "slug":
			v = recordCalled(gen, v)
		}
		changed = changed || v != string(value)
		out.Add(name, v)
	}
	return out, changed
}

// recordCalled is the slug of the record that has a name; the name itself where none or several have.
func recordCalled(gen *index.Generation, name string) string {
	found := ""
	for _, r := range []*resource{models, hardware, tools} {
		if t := r.table(gen); exactly(gen, t, name) == name {
			return name
		} else if slug := only(gen, t, name); slug != "" {
			if found != "" {
				return name
			}
			found = slug
		}
	}
	return cmp.Or(found, name)
}

// changesQuery is what the page shows of a trail, whose steps are newest first.
func changesQuery(t changes.Trail, q *listQuery, at pages.Place) *pages.ChangesQuery {
	rows, total, last := t.Page(q.ofChanges())
	params, _ := url.ParseQuery(at.Query) // made by this program
	params.Del("cursor")
	out := &pages.ChangesQuery{Steps: t.Steps, Rows: rows, Total: total, Later: q.After != nil, Params: params, Tables: changeTables}
	if last != nil {
		_, out.Next, _ = strings.Cut(q.next(last), "?")
	}
	for _, n := range trailNotices(t) {
		out.Notes = append(out.Notes, pages.Sentence(n.Detail)+".")
	}
	return out
}

// changesData is the first rows as JSON, each as the list of the API has it.
func changesData(t changes.Trail, q *listQuery) []byte {
	found, total, _ := t.Page(q.ofChanges())
	rows := t.Rows(found, false)
	own := *q
	_, query, _ := strings.Cut(q.canonical, "?")
	if own.canonical = changesPath + ".json"; query != "" {
		own.canonical += "?" + query
	}
	end, _ := own.envelope(total, len(rows), trailNotices(t), nil)
	return slices.Concat(pageStart, bytes.Join(rows, []byte{','}), end)
}

// changeLine is a change as a row of a file: one for each field.
type changeLine struct {
	DatasetVersion string `json:"dataset_version"`
	Released       string `json:"released"`
	Table          string `json:"table"`
	Slug           string `json:"slug"`
	Change         string `json:"change"`
	// Field is null where the record was added or removed. Old and New are JSON.
	Field *string `json:"field"`
	Old   *string `json:"old"`
	New   *string `json:"new"`
}

var changeColumns = schemaOf[changeLine]("changes", "")

// changesFile is the first rows as a file.
func changesFile(t changes.Trail, gen *index.Generation, q *listQuery) []byte {
	found, _, _ := t.Page(q.ofChanges())
	var rows []changeLine
	for _, f := range found {
		s := t.Steps[f.Step]
		line := changeLine{DatasetVersion: s.Version, Released: string(s.Released), Table: string(f.Table), Slug: f.Slug, Change: string(f.Act)}
		if len(f.Fields) == 0 {
			rows = append(rows, line)
		}
		for _, c := range f.Fields {
			before, after := string(c.Old), string(c.New)
			line.Field, line.Old, line.New = &c.Field, &before, &after
			rows = append(rows, line)
		}
	}
	return rowsFile(gen, changeColumns(), rows)
}

// creditLine is a source as the data forms of the page of credits have it.
type creditLine struct {
	Key          string  `json:"key"`
	URL          string  `json:"url"`
	Owner        string  `json:"owner"`
	Licence      *string `json:"licence"`
	Read         string  `json:"read"`
	Measurements int64   `json:"measurements"`
	Models       int64   `json:"models"`
	Hardware     int64   `json:"hardware"`
	Tools        int64   `json:"tools"`
}

var creditColumns = schemaOf[creditLine]("credits", "")

func creditLines(gen *index.Generation) []creditLine {
	out := make([]creditLine, len(gen.Credits))
	for i := range gen.Credits {
		c := &gen.Credits[i]
		out[i] = creditLine{c.Key, string(c.URL), c.Owner, c.License, string(c.Read), int64(c.Measurements), int64(c.Models), int64(c.Hardware), int64(c.Tools)}
	}
	return out
}

// creditsPage answers the page of who published what the directory holds. Its data forms are complete,
// for a licence may ask to name everybody.
func creditsPage(s *Server, req *request, at pages.Place, ending string) (*response, *failure) {
	return s.formOfPage(req, at, ending, "",
		func() []byte { return withMeta(req.gen, creditLines(req.gen)) },
		func() []byte { return rowsFile(req.gen, creditColumns(), creditLines(req.gen)) },
		func() pages.View { return s.pages.Credits(req.gen, at) }), nil
}
