package fit

import (
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// backendOf is the backend that people use a tool with on a piece of hardware: the first of those that are usual which
// its record names, if it names any. Empty if nothing is known.
func backendOf(h *dataset.Hardware, tool dataset.Slug) string {
	kind, class, usual := toolKindOf(tool), classOf(h, "gpu"), []string(nil)
	switch {
	case class == CPU, slices.Equal(h.Backends, []string{"cpu"}):
		usual = []string{"cpu"}
	case h.Vendor == dataset.Nvidia:
		usual = []string{"cuda"}
	case class == Apple && kind == "mlx":
		usual = []string{"mlx"}
	case class == Apple:
		usual = []string{"metal"}
	case h.Vendor == record.AMD && (kind != "gguf" || strings.HasPrefix(val(h.Architecture), "CDNA")):
		usual = []string{"rocm"}
	case h.Vendor == record.Intel && kind == "server":
		usual = []string{"xpu"}
	case h.Vendor == record.AMD || h.Vendor == record.Intel:
		usual = []string{"vulkan", "rocm", "sycl"}
	case h.Vendor == "qualcomm":
		usual = []string{"opencl", "cpu"}
	case class == Unified:
		usual = []string{"cpu"}
	default:
		return ""
	}
	if i := slices.IndexFunc(usual, func(name string) bool { return slices.Contains(h.Backends, name) }); i >= 0 {
		return usual[i]
	}
	return usual[0]
}
