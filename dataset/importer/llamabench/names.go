package llamabench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/resolve"
)

// knowledge is what the records say that an output is compared with.
type knowledge struct {
	names    *resolve.Resolver
	models   map[dataset.Slug]*dataset.Model
	hardware resolve.Parts
}

func newKnowledge(set *dataset.Set) knowledge {
	k := knowledge{resolve.New(set), map[dataset.Slug]*dataset.Model{}, resolve.Parts{}}
	for i := range set.Models {
		k.models[set.Models[i].Slug] = &set.Models[i]
	}
	for i := range set.Hardware {
		k.hardware[set.Hardware[i].Slug] = &set.Hardware[i]
	}
	return k
}

// near ends a sentence with up to three records a reader may mean, or with the one that a name is of.
func near(a resolve.Answer) string {
	switch {
	case len(a.Candidates) == 0 && a.Found():
		return fmt.Sprintf("; that is a name of %s", a.Slug)
	case len(a.Candidates) == 0:
		return ""
	}
	var slugs []string
	for _, c := range a.Candidates[:min(3, len(a.Candidates))] {
		slugs = append(slugs, string(c.Slug))
	}
	return "; near it are " + strings.Join(slugs, ", ")
}

// model finds what was measured. The error says why it is not known.
func (im *Importer) model(r *run) (slug dataset.Slug, raw string, err error) {
	raw = r.file
	if r.file == "" {
		raw = r.kind
	}
	if im.opt.Model != "" {
		return im.opt.Model, raw, im.contradiction(im.opt.Model, r, "the output")
	}
	if r.file == "" {
		a := im.known.names.Resolve(resolve.Model, r.kind)
		if a.Slug == "" || a.Ambiguous {
			return "", "", fmt.Errorf("the type %q names no release; say which model it was (on the command line: --model)%s", r.kind, near(a))
		}
		return a.Slug, raw, im.contradiction(a.Slug, r, "the output")
	}
	name, _ := stem(r.file)
	a := im.known.names.Resolve(resolve.Model, r.file)
	switch {
	case a.Ambiguous:
		return "", "", fmt.Errorf("%q may be several models: %s%s", name, a.Reason, near(a))
	case a.Slug == "":
		return "", "", fmt.Errorf("no model is known as %q%s", name, near(a))
	}
	return a.Slug, raw, im.contradiction(a.Slug, r, "the file has the name of this model, but the output")
}

// contradiction compares the number of parameters an output prints with that of a model.
func (im *Importer) contradiction(slug dataset.Slug, r *run, what string) error {
	m := im.known.models[slug]
	if r.params == 0 || m == nil || m.ParamsB == nil || paramsFit(r.params, m) {
		return nil
	}
	return fmt.Errorf("%s is not %s: %s prints %.2f B parameters, the directory has %.2f B", what, slug, r.kind, r.params, *m.ParamsB)
}

// paramsFit reports whether a printed number of parameters, in billions, can be that of a model. llama.cpp
// counts the tensors of a file. It leaves out a vision tower and embeddings that are looked up. It counts the
// output matrix twice if a file has it beside an equal embedding.
func paramsFit(printed float64, m *dataset.Model) bool {
	own := *m.ParamsB
	slack := 0.025
	if own*10 == math.Trunc(own*10) {
		slack = 0.06 // the maker's rounded figure
	}
	near := func(want float64) bool { return math.Abs(printed/want-1) <= slack }
	if near(own) {
		return true
	}
	if a := m.Architecture; a.VocabSize != nil && a.HiddenSize != nil {
		matrix := float64(*a.VocabSize) * float64(*a.HiddenSize) / 1e9
		if near(own+matrix) || own > matrix && near(own-matrix) {
			return true
		}
	}
	ratio := printed / own
	switch {
	case m.EffectiveParamsB != nil:
		return ratio >= *m.EffectiveParamsB/own*0.9 && ratio <= 1.025
	case len(m.Modalities) > 1:
		return ratio >= 0.75 && ratio <= 1.025
	}
	return false
}

// vendors are the makers whose hardware a backend runs on; a backend that is not here runs on all.
var vendors = map[string]dataset.Vendor{"metal": "apple", "cuda": "nvidia", "rocm": "amd"}

// fits reports why hardware cannot have run an output, nil where it can.
func (im *Importer) fits(slug dataset.Slug, r *run) error {
	h := im.known.hardware[slug]
	backend := backendOf(r)
	if h == nil || backend == nil {
		return nil
	}
	if vendor, ok := vendors[*backend]; ok && vendor != h.Vendor {
		return fmt.Errorf("the output says backend %s, which does not run on %s", r.backend, slug)
	}
	if cpuBackend(r) && h.Type == "gpu" {
		return fmt.Errorf("the output says backend %s, which does not use %s", r.backend, slug)
	}
	return nil
}

// device finds what it ran on, and how many of it. The error says why it is not known.
func (im *Importer) device(r *run) (slug dataset.Slug, raw string, count int64, err error) {
	listed, err := worked(r)
	if err != nil {
		return "", "", 0, err
	}
	count = int64(max(1, len(listed)))
	if distinct := slices.Compact(slices.Clone(listed)); len(distinct) > 1 {
		return "", "", 0, fmt.Errorf("different devices worked together: %s", strings.Join(listed, ", "))
	}
	switch {
	case im.opt.Hardware != "":
		raw = string(im.opt.Hardware)
		if len(listed) > 0 {
			if raw = listed[0]; !im.mayBe(im.opt.Hardware, listed[0], r.processor) {
				return "", "", 0, fmt.Errorf("the output names %q, which is not %s", listed[0], im.opt.Hardware)
			}
		}
		return im.opt.Hardware, raw, count, im.fits(im.opt.Hardware, r)
	case len(listed) == 0:
		return "", "", 0, errors.New("no device is named; say which hardware it was")
	case r.layers == known{0, true} && !cpuBackend(r) && r.devices != "" && !slices.Equal(listed, split(r.devices)):
		return "", "", 0, fmt.Errorf("no layer was put on %s, which may have read the prompts all the same; say which hardware it was", r.devices)
	}
	slug, err = im.named(listed[0], r.processor)
	if err != nil {
		return "", "", 0, err
	}
	return slug, listed[0], count, im.fits(slug, r)
}

// named finds the record of a device. Graphics inside a processor and the processor are one
// machine, so that the processor's name decides where the device is not a card.
func (im *Importer) named(device, processor string) (dataset.Slug, error) {
	a := im.known.names.Resolve(resolve.Hardware, device)
	if a.Slug != "" && !im.inside(a.Slug) && !im.unsure(a) {
		return a.Slug, nil
	}
	host := strings.Join(split(processor), ", ")
	if host != "" && host != device {
		whole := im.known.names.Resolve(resolve.Hardware, device+" ("+host+")")
		if whole.Slug != "" && !im.unsure(whole) {
			return whole.Slug, nil
		}
	}
	switch {
	case a.Slug != "" && im.inside(a.Slug):
		return "", fmt.Errorf("%q is inside a processor that the output does not name; say which hardware it was (on the command line: --hardware)%s", device, im.around(a.Slug))
	case a.Ambiguous:
		return "", fmt.Errorf("%q may be different hardware: %s; say which it was (on the command line: --hardware)%s", device, a.Reason, near(a))
	}
	return "", fmt.Errorf("no hardware is known as %q%s", device, near(a))
}

// unsure reports whether an answer leaves a choice for which the directory has no record.
func (im *Importer) unsure(a resolve.Answer) bool {
	if !a.Ambiguous {
		return false
	}
	h := im.known.hardware[a.Slug]
	return h == nil || h.Variants == nil && a.Confidence != resolve.Exact
}

// inside reports whether a record is graphics alone, without the processor they are in.
func (im *Importer) inside(slug dataset.Slug) bool {
	h := im.known.hardware[slug]
	return h != nil && h.Type == "apu" && (strings.Contains(h.Name, "(integrated)") || len(im.processors(slug)) > 0)
}

// processors are the records with these graphics inside.
func (im *Importer) processors(graphics dataset.Slug) (out []string) {
	for slug, h := range im.known.hardware {
		if h.IntegratedGPU != nil && *h.IntegratedGPU == graphics {
			out = append(out, string(slug))
		}
	}
	slices.Sort(out)
	return out
}

func (im *Importer) around(graphics dataset.Slug) string {
	list := im.processors(graphics)
	if len(list) == 0 {
		return ", or " + string(graphics)
	}
	return ": " + strings.Join(list, ", ") + ", or " + string(graphics)
}

// mayBe reports whether a printed name can be that of the hardware the caller named. A name the
// directory does not know contradicts nothing.
func (im *Importer) mayBe(slug dataset.Slug, device, processor string) bool {
	for _, name := range []string{device, device + " (" + processor + ")"} {
		a := im.known.names.Resolve(resolve.Hardware, name)
		if a.Slug == "" && !a.Ambiguous || a.Slug == "" && len(a.Candidates) == 0 {
			return a.Confidence != resolve.Near || im.onlySimilar(a)
		}
		if a.Slug != "" && im.known.hardware.Related(slug, a.Slug) {
			return true
		}
		if slices.ContainsFunc(a.Candidates, func(c resolve.Candidate) bool { return im.known.hardware.Related(slug, c.Slug) }) {
			return true
		}
	}
	return false
}

// onlySimilar reports whether an answer is a guess by likeness, not a known name with a part that
// contradicts it.
func (im *Importer) onlySimilar(a resolve.Answer) bool {
	return strings.HasPrefix(a.Reason, "no record")
}

// worked are the names of the devices that did the work: the graphics, or the processor where
// nothing was put on them. With split mode none that is one device, and where some were chosen,
// those.
func worked(r *run) ([]string, error) {
	if r.devices == "" || cpuBackend(r) || r.layers == (known{0, true}) {
		return split(r.processor), nil
	}
	listed := split(r.devices)
	if r.chosen != "" {
		var out []string
		for _, name := range chosen(r) {
			digits := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 || n >= len(listed) {
				return nil, fmt.Errorf("device %q is not among the %d listed", name, len(listed))
			}
			out = append(out, listed[n])
		}
		listed = out
	}
	if r.split == "none" && len(listed) > 1 {
		if r.main < 0 || r.main >= int64(len(listed)) {
			return nil, fmt.Errorf("main device %d is not among the %d listed", r.main, len(listed))
		}
		listed = listed[r.main : r.main+1]
	}
	return sharing(listed, r.shares)
}

// chosen are the names of the devices an output says were to work: "CUDA0/CUDA1".
func chosen(r *run) (out []string) {
	for name := range strings.FieldsFuncSeq(r.chosen, func(c rune) bool { return c == '/' || c == ',' || c == ';' }) {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}

// sharing leaves out the devices without a share of the weights. "1.00/0.00" puts everything on the
// first of two; llama-bench leaves out zeros at the end; zeros alone mean that the program chose.
func sharing(listed []string, shares string) ([]string, error) {
	var out []string
	for i, text := range strings.FieldsFunc(shares, func(c rune) bool { return c == '/' || c == ';' }) {
		share, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		switch {
		case err != nil:
			return nil, fmt.Errorf("tensor split %q cannot be read", shares)
		case !(share > 0):
		case i >= len(listed):
			return nil, fmt.Errorf("tensor split %q gives a share to more devices than the %d listed", shares, len(listed))
		default:
			out = append(out, listed[i])
		}
	}
	if out == nil {
		return listed, nil
	}
	return out, nil
}

// libraries are listed among the names of processors.
var libraries = []string{"", "Accelerate", "BLAS", "OpenBLAS", "BLIS", "MKL"}

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
