package llamabench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"modeldex/dataset"
)

// names finds the slug of a kind of record by any of its names.
type names struct {
	slugs map[dataset.Slug]bool
	by    map[string]dataset.Slug // folded name -> slug, empty where it stands for two
}

func newNames() *names { return &names{slugs: map[dataset.Slug]bool{}, by: map[string]dataset.Slug{}} }

func modelNames(set *dataset.Set) *names {
	n := newNames()
	for i := range set.Models {
		m := &set.Models[i]
		n.add(m.Slug, append(m.Aliases, m.Name)...)
		if m.HFRepo != nil {
			n.add(m.Slug, *m.HFRepo)
		}
	}
	// The files of a repository carry its name without the owner; a full name always wins.
	for i := range set.Models {
		m := &set.Models[i]
		for _, alias := range m.Aliases {
			n.addTail(m.Slug, alias)
		}
		if m.HFRepo != nil {
			n.addTail(m.Slug, *m.HFRepo)
		}
	}
	return n
}

func hardwareNames(set *dataset.Set) *names {
	n := newNames()
	for i := range set.Hardware {
		n.add(set.Hardware[i].Slug, append(set.Hardware[i].Aliases, set.Hardware[i].Name)...)
	}
	return n
}

func (n *names) add(slug dataset.Slug, texts ...string) {
	if !n.slugs[slug] {
		n.slugs[slug], n.by[string(slug)] = true, slug
	}
	for _, text := range texts {
		n.by[fold(text)] = slug
	}
}

// addTail adds owner/name as name, unless two records would share it.
func (n *names) addTail(slug dataset.Slug, repo string) {
	_, tail, ok := strings.Cut(repo, "/")
	if !ok {
		return
	}
	for _, key := range []string{fold(tail), strings.TrimSuffix(fold(tail), "-gguf")} {
		if other, taken := n.by[key]; taken && other != slug {
			if !n.slugs[dataset.Slug(key)] {
				n.by[key] = ""
			}
			continue
		}
		n.by[key] = slug
	}
}

// fold makes names equal that differ in letter case and in how words are joined.
func fold(text string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(text)))
}

// find returns the slug of the first name that is known.
func (n *names) find(texts ...string) (dataset.Slug, bool) {
	for _, text := range texts {
		if slug := n.by[fold(text)]; slug != "" {
			return slug, true
		}
	}
	return "", false
}

// near ends a sentence with the slugs of up to three names a reader may mean.
func (n *names) near(text string) string {
	known := slices.Sorted(maps.Keys(n.by))
	var slugs []string
	for _, name := range dataset.Near(fold(text), known, 12) {
		if slug := string(n.by[name]); slug != "" && !slices.Contains(slugs, slug) {
			slugs = append(slugs, slug)
		}
	}
	if len(slugs) == 0 {
		return ""
	}
	return "; near it are " + strings.Join(slugs[:min(3, len(slugs))], ", ")
}

// model finds what was measured.
func (im *Importer) model(r *run) (slug dataset.Slug, raw string, err error) {
	name, _ := stem(r.file)
	raw = r.file
	if r.file == "" {
		raw = r.kind
	}
	if im.opt.Model != "" {
		return im.opt.Model, raw, nil
	}
	if r.file == "" {
		return "", "", fmt.Errorf("the type %q names no release; say which model it was", r.kind)
	}
	slug, ok := im.models.find(r.file, name)
	if !ok {
		return "", "", fmt.Errorf("no model is known as %q%s", name, im.models.near(name))
	}
	return slug, raw, nil
}

// device finds what it ran on, and how many of it.
func (im *Importer) device(r *run) (slug dataset.Slug, raw string, count int64, err error) {
	listed := devices(r)
	count = int64(max(1, len(listed)))
	if len(slices.Compact(slices.Clone(listed))) > 1 {
		return "", "", 0, fmt.Errorf("different devices worked together: %s", strings.Join(listed, ", "))
	}
	switch {
	case im.opt.Hardware != "" && len(listed) == 0:
		return im.opt.Hardware, string(im.opt.Hardware), count, nil
	case im.opt.Hardware != "":
		return im.opt.Hardware, listed[0], count, nil
	case len(listed) == 0:
		return "", "", 0, errors.New("no device is named; say which hardware it was")
	case r.layers == known{0, true} && !cpuBackend(r) && r.devices != "" && !slices.Equal(listed, split(r.devices)):
		return "", "", 0, fmt.Errorf("no layer was put on %s, which may have read the prompts all the same; say which hardware it was", r.devices)
	}
	slug, ok := im.hardware.find(spellings(listed[0])...)
	if !ok {
		return "", "", 0, fmt.Errorf("no hardware is known as %q%s", listed[0], im.hardware.near(listed[0]))
	}
	return slug, listed[0], count, nil
}

// devices are the names of what did the work: the graphics, or the processor where nothing was
// put on them.
func devices(r *run) []string {
	if r.devices == "" || cpuBackend(r) || r.layers == (known{0, true}) {
		return split(r.processor)
	}
	return split(r.devices)
}

// libraries stand among the names of processors.
var libraries = []string{"", "Accelerate", "BLAS", "OpenBLAS"}

func split(text string) (out []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(libraries, name) {
			out = append(out, name)
		}
	}
	return out
}

// cpuBackend reports whether the program could use the processor only.
func cpuBackend(r *run) bool {
	first, _, _ := strings.Cut(r.backend, ",")
	return backends[first] == "cpu"
}

// spellings are a device name as printed and without what drivers add behind it.
func spellings(name string) []string {
	out := []string{name}
	for {
		cut := strings.LastIndex(name, " (")
		if cut < 0 || !strings.HasSuffix(name, ")") {
			return out
		}
		name = name[:cut]
		out = append(out, name)
	}
}
