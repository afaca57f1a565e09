package importer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/resolve"
)

type device struct {
	backend string // see deviceBackend
	index   int
	value
}

// deviceBackend is the key for the devices of a backend, from its printed name or the start of a device name.
func deviceBackend(name string) string {
	switch name = strings.ToLower(strings.TrimRight(name, "0123456789")); name {
	case "rocm", "hip", "musa":
		return "cuda" // the same source, and never two of them in one program
	case "mtl":
		return "metal"
	case "gpuopencl":
		return "opencl"
	}
	return name
}

var backends = map[string]string{
	"MTL": "metal", "Metal": "metal", "HIP": "rocm", "BLAS": "cpu", "OpenBLAS": "cpu", "CPU": "cpu",
}

func backendWord(printed string) string {
	first, _, _ := strings.Cut(printed, ",")
	if word := backends[first]; word != "" {
		return word
	}
	return strings.ToLower(first)
}

var libraries = []string{"", "CPU", "Accelerate", "BLAS", "OpenBLAS", "BLIS", "MKL"}

func split(text string) (out []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(libraries, name) {
			out = append(out, name)
		}
	}
	return out
}

func (r *row) accelerators() []string {
	return slices.DeleteFunc(split(r.text("backends")), func(name string) bool { return name == "RPC" })
}

func (r *row) remote() bool { return slices.Contains(split(r.text("backends")), "RPC") }

// worked finds the backend and the devices that did the work, by split mode, chosen devices and tensor split.
func (r *row) worked() (backend string, listed []device, err error) {
	names := r.accelerators()
	if len(names) == 0 {
		for _, name := range split(r.text("cpu_info")) {
			listed = append(listed, device{"cpu", 0, value{name, r.values["cpu_info"].from}})
		}
		return r.text("backends"), listed, nil
	}
	if n := r.count("n_gpu_layers"); n != nil && *n == 0 {
		return "", nil, fmt.Errorf("no layer was on a device of %s, but it may still have processed the prompts: "+
			"the hardware that did the work is unknown", names[0])
	}
	chosen := strings.FieldsFunc(r.text("devices"), func(c rune) bool { return strings.ContainsRune("/,; ", c) })
	if slices.Equal(chosen, []string{"auto"}) || slices.Equal(chosen, []string{"none"}) {
		chosen = nil
	}
	if len(names) > 1 && len(chosen) == 0 {
		return "", nil, fmt.Errorf("any of the backends %s may have been used: the output does not say which devices ran",
			strings.Join(names, ", "))
	}
	backend = names[0]
	if len(chosen) > 0 {
		i := slices.IndexFunc(names, func(name string) bool { return deviceBackend(name) == deviceBackend(chosen[0]) })
		backend = names[max(0, i)]
	}
	listed = slices.DeleteFunc(slices.Clone(r.devices), func(d device) bool { return d.backend != deviceBackend(backend) })
	if len(chosen) > 1 || len(chosen) == 1 && len(r.devices) > 0 { // one that is not listed may be named by the caller
		if listed, err = among(chosen, listed); err != nil {
			return "", nil, err
		}
	}
	if r.text("split_mode") == "none" && len(listed) > 1 {
		main := 0
		if n := r.count("main_gpu"); n != nil {
			main = int(*n)
		}
		if main >= len(listed) {
			return "", nil, fmt.Errorf("main device %d is not one of the %d listed", main, len(listed))
		}
		listed = listed[main : main+1]
	}
	listed, err = sharing(listed, r.text("tensor_split"))
	return backend, listed, err
}

func among(chosen []string, listed []device) (out []device, err error) {
	for _, name := range chosen {
		i := slices.IndexFunc(listed, func(d device) bool {
			return name == strings.TrimRight(name, "0123456789")+strconv.Itoa(d.index) && deviceBackend(name) == d.backend
		})
		if i < 0 {
			return nil, fmt.Errorf("device %q is not one of the %d listed for a backend", name, len(listed))
		}
		out = append(out, listed[i])
	}
	return out, nil
}

// sharing leaves out devices without a share, as in "1.00/0.00". Zeros alone mean that the program chose.
func sharing(listed []device, shares string) (out []device, err error) {
	for i, text := range strings.FieldsFunc(shares, func(c rune) bool { return c == '/' || c == ';' }) {
		share, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		switch {
		case err != nil:
			return nil, fmt.Errorf("tensor split %q cannot be read", shares)
		case !(share > 0):
		case i >= len(listed):
			return nil, fmt.Errorf("tensor split %q has more shares than the %d listed devices", shares, len(listed))
		default:
			out = append(out, listed[i])
		}
	}
	if out == nil {
		return listed, nil
	}
	return out, nil
}

func (im *Importer) findHardware(r *row, backend string, worked []device) (slug dataset.Slug, err error) {
	for _, d := range worked {
		if d.text != worked[0].text {
			return "", fmt.Errorf("different devices worked together: %s, %s", worked[0].text, d.text)
		}
	}
	switch {
	case im.hardware.Slug == "" && len(worked) == 0:
		return "", errors.New("the output names no device; name the hardware (on the command line: --hardware)")
	case im.hardware.Slug == "":
		slug, err = im.record(worked[0].text, r.text("cpu_info"))
	default:
		slug = im.hardware.Slug
		if len(worked) > 0 && !im.mayBe(slug, worked[0].text, r.text("cpu_info")) {
			err = fmt.Errorf("the output names %q, which is not %s", worked[0].text, slug)
		}
	}
	if err != nil {
		return "", err
	}
	word, h := backendWord(backend), im.parts[slug]
	vendor := map[string]dataset.Vendor{"metal": "apple", "cuda": "nvidia", "rocm": "amd"}[word]
	if vendor != "" && vendor != h.Vendor || word == "cpu" && h.Type == "gpu" {
		return "", fmt.Errorf("the output has backend %s, which does not run on %s", r.text("backends"), slug)
	}
	return slug, nil
}

// record finds the record of a device. The name of the processor decides where graphics are inside it.
func (im *Importer) record(device, processor string) (dataset.Slug, error) {
	const say = "name the hardware (on the command line: --hardware)"
	if boards := im.boards(device); boards != nil {
		return "", fmt.Errorf("%q is a chip used on several boards; %s: %s", device, say, strings.Join(boards, ", "))
	}
	a := im.names.Strict(resolve.Hardware, device)
	around := im.around(a.Slug)
	if a.Slug != "" && around == nil && !im.unsure(a) {
		return a.Slug, nil
	}
	if host := strings.Join(split(processor), ", "); host != "" && host != device {
		whole := im.names.Strict(resolve.Hardware, device+" ("+host+")")
		if whole.Slug != "" && !im.unsure(whole) {
			return whole.Slug, nil
		}
	}
	switch {
	case around != nil:
		return "", fmt.Errorf("%q is inside a processor that the output does not name; %s: %s",
			device, say, strings.Join(around, ", or "))
	case a.Ambiguous:
		return "", fmt.Errorf("%q matches several records: %s; %s%s", device, a.Reason, say, near(a))
	}
	return "", fmt.Errorf("no hardware is named %q%s", device, near(a))
}

// chipName is a chip family, which CUDA prints in place of a board: "Orin", "Orin (nvgpu)", "NVIDIA Thor".
var chipName = regexp.MustCompile(`^(?:NVIDIA )?([A-Z][a-z]+)(?: \(.*\))?$`)

func (im *Importer) boards(device string) (out []string) {
	m := chipName.FindStringSubmatch(device)
	apart := func(c rune) bool { return strings.ContainsRune(" ()", c) }
	for slug, h := range im.parts {
		if m != nil && slices.Contains(strings.FieldsFunc(h.Name, apart), m[1]) {
			out = append(out, string(slug))
		}
	}
	slices.Sort(out)
	return out
}

func (im *Importer) unsure(a resolve.Answer) bool {
	h := im.parts[a.Slug]
	return a.Ambiguous && (h == nil || h.Variants == nil && a.Confidence != resolve.Exact)
}

func (im *Importer) around(graphics dataset.Slug) (out []string) {
	for slug, h := range im.parts {
		if h.IntegratedGPU != nil && *h.IntegratedGPU == graphics {
			out = append(out, string(slug))
		}
	}
	slices.Sort(out)
	h := im.parts[graphics]
	if h == nil || h.Type != "apu" || out == nil && !strings.Contains(h.Name, "(integrated)") {
		return nil
	}
	return append(out, string(graphics))
}

// mayBe reports whether a printed name can be of a record. A name that is not known contradicts nothing.
func (im *Importer) mayBe(slug dataset.Slug, device, processor string) bool {
	if boards := im.boards(device); boards != nil {
		return slices.Contains(boards, string(slug))
	}
	for _, name := range []string{device, device + " (" + processor + ")"} {
		a := im.names.Strict(resolve.Hardware, name)
		if a.Slug == "" && len(a.Candidates) == 0 || a.Slug == "" && !a.Ambiguous {
			return a.Confidence != resolve.Near || !a.Explained()
		}
		related := func(c resolve.Candidate) bool { return im.names.Related(slug, c.Slug) }
		if im.names.Related(slug, a.Slug) || slices.ContainsFunc(a.Candidates, related) {
			return true
		}
	}
	return false
}
