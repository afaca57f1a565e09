package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"modeldex/dataset/record"
)

// backendsOfTools are the backends that any tool has.
func (l *loader) backendsOfTools() map[string]bool {
	out := map[string]bool{}
	for _, t := range l.tools.recs {
		if t.Backends != nil {
			for _, backend := range *t.Backends {
				out[backend] = true
			}
		}
	}
	return out
}

// contradictTool compares a measurement with the tool of this number, -1 for an unknown one. A list of several backends may
// lack one, for a backend that was not seen is not listed; a tool made for one has no other.
func (l *loader) contradictTool(b *Benchmark, p place, tool int32) {
	if !l.warn || b.Withdrawn != nil {
		return
	}
	mlx := b.Quantization != nil && strings.HasPrefix(*b.Quantization, "MLX")
	if mlx && (b.Backend == nil || *b.Backend != "mlx") {
		l.warning(p, "backend", fmt.Sprintf("must be \"mlx\" where quantization is %q", *b.Quantization), "quantization")
	}
	if b.Backend != nil && len(l.backends) > 0 && !l.backends[*b.Backend] {
		if near := record.Suggestion(*b.Backend, slices.Sorted(maps.Keys(l.backends))); near != "" {
			l.warning(p, "backend", fmt.Sprintf("is of no tool, got %q%s", *b.Backend, near))
		}
	}
	if tool < 0 || len(l.faulty) > 0 && l.anyFaulty(p, l.tools.places[tool]) {
		return
	}
	t := l.tools.recs[tool]
	if t.Backends != nil && len(*t.Backends) == 1 && b.Backend != nil && (*t.Backends)[0] != *b.Backend && !mlx {
		l.warning(p, "backend", fmt.Sprintf("is not %q, the one backend of %s, got %q", (*t.Backends)[0], t.Slug, *b.Backend), "tool")
	}
	if v := b.ToolVersion; v != nil && (strings.EqualFold(*v, t.Name) || strings.EqualFold(*v, string(t.Slug))) {
		l.warning(p, "tool_version", fmt.Sprintf("is the name of the tool, got %q", *v), "tool")
	}
}

// buildSlack is how much younger than a build a model may be that it runs: makers keep an architecture for some months.
const buildSlack = 183 * 24 * time.Hour

// llamaBuild is the number of a build of llama.cpp, "b8460 (b1c70e2e5)". Builds are numbered in order.
var llamaBuild = regexp.MustCompile(`^b([0-9]{3,6})\b`)

// A buildCheck finds builds of llama.cpp that are older than the model they ran. No table of builds is needed: a build was
// there on the day of the first run of it or of a later one.
type buildCheck struct {
	*loader
	mu   sync.Mutex
	runs []buildRun
}

type buildRun struct {
	at            place
	build         int
	day, released Date
	model         Slug
}

// add notes a measurement of the model of this number, -1 for an unknown one. It may be called from all workers.
func (c *buildCheck) add(b *Benchmark, p place, model int32) {
	if !c.warn || b.Withdrawn != nil || b.Tool != "llama.cpp" || b.ToolVersion == nil || b.RunDate == nil || model < 0 {
		return
	}
	found := llamaBuild.FindStringSubmatch(*b.ToolVersion)
	m := c.models.recs[model]
	if found == nil || m.ReleaseDate == nil || len(c.faulty) > 0 && c.anyFaulty(p, c.models.places[model]) {
		return
	}
	n, _ := strconv.Atoi(found[1]) // at most six digits
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs = append(c.runs, buildRun{p, n, *b.RunDate, *m.ReleaseDate, m.Slug})
}

// judge reports the builds of all noted measurements.
func (c *buildCheck) judge() {
	slices.SortFunc(c.runs, func(a, b buildRun) int {
		return cmp.Or(cmp.Compare(b.build, a.build), cmp.Compare(a.day, b.day), comparePlaces(a.at, b.at))
	})
	var first *buildRun // of this build and later ones
	for i := range c.runs {
		r := &c.runs[i]
		if first == nil || before(r.day, first.day) {
			first = r
		}
		if longBefore(&first.day, &r.released, buildSlack) {
			c.warning(r.at, "tool_version", fmt.Sprintf("is more than half a year older than %s, released %q: b%d ran on %q", r.model, r.released, first.build, first.day), "model")
		}
	}
}
