package pages

import (
	"math"
	"slices"
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

func (s *Site) model(gen *index.Generation, ord uint32, c Conditions, at Place) *Sheet {
	row := gen.Models.Detail(ord)
	m, slug, n := decode[rows.ModelDetail](row), gen.Models.Slug(ord), newNames(gen)
	v := s.recordSheet(gen, at, "models", m.Name, m.Name+": "+strings.TrimSuffix(modelLead(m), ".")+". Memory requirements, quantizations and measured tokens per second, with sources.")
	v.Lead, v.Title = modelLead(m), m.Name+": memory requirements and speed" // what people search for
	v.Crumbs = append(v.Crumbs, Link{Text: familyName(m), Href: address("/explore/models", "family", string(m.Family))})
	v.Sources, v.Groups = v.groupsOf(n, modelFields, row, m.Sources)
	v.Invite = &Link{Text: "Contribute a benchmark of this model", Href: address("/contribute", "model", slug)}
	v.offer("Hardware for this model", address("/explore/hardware", "runs", slug))
	v.offer("Will it run on my hardware?", address("/fit", "model", slug))
	v.offer("Compare", address("/compare", "models", slug))
	if m.Notes != nil {
		v.Notes = append(v.Notes, plainNote(*m.Notes))
	}
	var machines []machineRow
	if a, fault := gen.Fit.Fit(fit.Query{Model: m.Slug, MemoryGB: 1e6, Context: c.Context}); fault == nil {
		machines = commonMachines(gen, m.Slug, usualSize(a), c)
		v.Picks = modelPicks(gen, machines, a)
	}
	v.Switches = []Switch{contextSwitch(at), mainMemorySwitch(at)}
	v.Tables = []Table{machinesTable(m, machines, c)}
	v.Chart = plot(charts.For(gen).ModelSpeeds(slug), "plot", at.Base)
	v.Tabs = []Table{speedTable(gen, index.Model, slug, index.Hardware), sizesTable(gen, m)}
	return v
}

func familyName(m *rows.ModelDetail) string {
	family := string(m.Family)
	if len(m.Name) >= len(family) && strings.EqualFold(m.Name[:len(family)], family) {
		return m.Name[:len(family)]
	}
	return Sentence(family)
}

func modelLead(m *rows.ModelDetail) string {
	parts := []string{m.Organization}
	if m.ParamsB != nil {
		size := text.Rounded(*m.ParamsB) + "B parameters"
		if m.ActiveParamsB != nil {
			size += ", " + text.Rounded(*m.ActiveParamsB) + "B active"
		}
		parts = append(parts, size)
	}
	if m.Architecture.ContextLength != nil {
		parts = append(parts, text.Tokens(*m.Architecture.ContextLength)+" context")
	}
	if can := capabilityCell(m.Capability); can.Known() {
		parts = append(parts, joined(can.Note, "capability", can.Text, "of 100"))
	}
	if m.ReleaseDate != nil {
		parts = append(parts, "released "+str(m.ReleaseDate))
	}
	return strings.Join(parts, " · ")
}

func billions(v *float64) Cell {
	out := known(v, text.Rounded)
	if v != nil {
		out.Text, out.Title = out.Text+"B", text.Exact(*v)+" billion"
	}
	return out
}

func contextCell(v *int64) Cell {
	out := known(v, text.Tokens)
	if v != nil {
		out.Title = text.Whole(*v) + " tokens"
	}
	return out
}

func sizeNamed(answer *fit.Answer, name string) *fit.Size {
	i := slices.IndexFunc(answer.Sizes, func(z fit.Size) bool { return strings.EqualFold(z.Quantization, name) })
	if i < 0 {
		return nil
	}
	return &answer.Sizes[i]
}

func huggingFace(repository string) string { return "https://huggingface.co/" + repository }

func sizesTable(gen *index.Generation, m *rows.ModelDetail) Table {
	t := Table{
		ID: "sizes", Title: "Quantizations", Empty: "No known quantizations.", Columns: columns("~Quantization", "Format", "#File size", "#Bits per weight"),
		Intro: "File size, and the memory needed in llama.cpp at different context lengths: weights, 16-bit KV cache and compute buffer.",
		More:  &Link{Text: "Other context lengths, cache types and hardware", Href: address("/fit", "model", string(m.Slug))},
	}
	for i := range m.Quantizations {
		q := &m.Quantizations[i]
		size := Cell{Text: text.GiB(q.SizeBytes), Title: text.Whole(q.SizeBytes) + " bytes", Href: webAddress(str(q.Source))}
		if q.Repo != nil {
			size.Href = huggingFace(*q.Repo)
		}
		if string(q.Basis) != string(fit.Published) {
			size.Note = string(q.Basis)
		}
		t.Rows = append(t.Rows, []Cell{{Text: q.Name}, {Text: shown(q.Format)}, size, known(q.BitsPerWeight, func(v float64) string { return text.Exact(math.Round(v*100) / 100) })})
	}
	for _, context := range []int64{8192, 32768, 131072} {
		if limit := m.Architecture.ContextLength; limit != nil && context > *limit {
			break
		}
		answer, fault := gen.Fit.Fit(fit.Query{Model: m.Slug, MemoryGB: 1e6, Context: context})
		if fault != nil {
			break
		}
		t.Columns = append(t.Columns, Column{Text: "Memory at " + text.Tokens(context), Number: true, Title: text.Whole(context) + " tokens of context"})
		for i, row := range t.Rows {
			taken := cell("")
			if size := sizeNamed(answer, row[0].Text); size != nil {
				taken.Text = text.GiB(size.Memory.Total)
				if size.Memory.Compute.Basis == fit.LowerBound {
					taken.Note = "at least"
				}
				if size.Memory.Cache.Basis == fit.UpperBound {
					taken.Note = "at most"
				}
			}
			t.Rows[i] = append(row, taken)
		}
	}
	return t
}
