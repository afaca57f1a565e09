package here

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"modeldex/dataset"
	"modeldex/dataset/resolve"
)

var names = sync.OnceValues(func() (*resolve.Resolver, error) {
	set, err := dataset.Load(context.Background(), os.DirFS("../../data"), dataset.Options{})
	if err != nil {
		return nil, err
	}
	return resolve.New(set), nil
})

// files makes a file system of "path=content" texts.
func files(texts ...string) fs.FS {
	m := fstest.MapFS{}
	for _, text := range texts {
		name, content, _ := strings.Cut(text, "=")
		m[name] = &fstest.MapFile{Data: []byte(content + "\n")}
	}
	return m
}

func device(slot, class, vendor, id, rev string, more ...string) []string {
	at := "sys/bus/pci/devices/" + slot + "/"
	return append([]string{at + "class=" + class, at + "vendor=0x" + vendor, at + "device=0x" + id, at + "revision=0x" + rev}, more...)
}

// programs prints fixed outputs.
func programs(out map[string]string) func(string, ...string) ([]byte, error) {
	return func(name string, args ...string) ([]byte, error) {
		if text, ok := out[strings.Join(append([]string{name}, args...), " ")]; ok {
			return []byte(text), nil
		}
		if text, ok := out[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("not found")
	}
}

// printed is what a program printed, kept in testdata.
func printed(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// windowsWith prints what Windows does for a display adapter with a name and an id.
func windowsWith(t *testing.T, name, id string) map[string]string {
	t.Helper()
	return map[string]string{
		"powershell -NoProfile -NonInteractive -Command " + windowsAdapters:     "\"Name\",\"PNPDeviceID\"\r\n\"" + name + "\",\"" + id + "\"\r\n",
		"powershell -NoProfile -NonInteractive -Command " + windowsMemory:       "68644655104\r\n",
		"reg query " + displayClass + " /s /v HardwareInformation.qwMemorySize": printed(t, "windows-registry.txt"),
		"reg query " + displayClass + " /s /v MatchingDeviceId":                 printed(t, "windows-ids.txt"),
		"reg query " + firstProcessor + " /s /v ProcessorNameString":            printed(t, "windows-processor.txt"),
	}
}

func TestInspect(t *testing.T) {
	r, err := names()
	if err != nil {
		t.Fatal(err)
	}
	const halo = "proc/cpuinfo=processor : 0\nmodel name\t: AMD RYZEN AI MAX+ 395 w/ Radeon 8060S\n"
	const ryzen = "proc/cpuinfo=model name\t: AMD Ryzen 9 5900X 12-Core Processor\n"
	for _, tt := range []struct {
		name    string
		machine Machine
		main    string
		slugs   []string
		memory  float64
	}{
		{"a card known by its id", Machine{OS: "linux", Root: files(append(device("0000:01:00.0", "0x030000", "10de", "2684", "a1"), ryzen, "proc/meminfo=MemTotal:       65769116 kB")...)}, "nvidia-rtx-4090", []string{"nvidia-rtx-4090", "amd-ryzen-9-5900x"}, 62.7},
		{"a card and its driver", Machine{OS: "linux", Root: files(append(device("0000:01:00.0", "0x030000", "10de", "2684", "a1"), ryzen)...), Run: programs(map[string]string{"nvidia-smi": "NVIDIA GeForce RTX 4090, 24564 MiB\n"})}, "nvidia-rtx-4090", []string{"nvidia-rtx-4090", "amd-ryzen-9-5900x"}, 0},
		{"the memory size tells two cards apart", Machine{OS: "linux", Root: files(ryzen), Run: programs(map[string]string{"nvidia-smi": "NVIDIA GeForce RTX 4060 Ti, 16380 MiB\n"})}, "nvidia-rtx-4060-ti-16gb", []string{"nvidia-rtx-4060-ti-16gb", "amd-ryzen-9-5900x"}, 0},
		{"two equal cards", Machine{OS: "linux", Run: programs(map[string]string{"nvidia-smi": "NVIDIA GeForce RTX 3090, 24576 MiB\nNVIDIA GeForce RTX 3090, 24576 MiB\n"})}, "nvidia-rtx-3090", []string{"nvidia-rtx-3090", "nvidia-rtx-3090"}, 0},
		{"graphics inside the processor", Machine{OS: "linux", Root: files(append(device("0000:c5:00.0", "0x038000", "1002", "1586", "c1"), halo)...)}, "amd-ryzen-ai-max-395", []string{"amd-ryzen-ai-max-395"}, 0},
		{"the revision tells", Machine{OS: "linux", Root: files(device("0000:03:00.0", "0x030000", "1002", "744c", "c8")...)}, "amd-rx-7900-xtx", []string{"amd-rx-7900-xtx"}, 0},
		{"other devices do not count", Machine{OS: "linux", Root: files(append(device("0000:02:00.0", "0x010802", "144d", "a80a", "00"), ryzen)...)}, "amd-ryzen-9-5900x", []string{"amd-ryzen-9-5900x"}, 0},
		{"a Mac", Machine{OS: "darwin", Run: programs(map[string]string{"sysctl -n hw.memsize": "137438953472\n", "system_profiler": "Graphics/Displays:\n\n    Apple M3 Max:\n\n      Chipset Model: Apple M3 Max\n      Type: GPU\n      Total Number of Cores: 40\n"})}, "apple-m3-max-40gpu", []string{"apple-m3-max-40gpu"}, 128},
		{"a Mac with a card", Machine{OS: "darwin", Run: programs(map[string]string{"sysctl -n hw.memsize": "34359738368\n", "sysctl -n machdep.cpu.brand_string": "Intel(R) Xeon(R) W-2140B CPU @ 3.20GHz\n", "system_profiler": printed(t, "mac-imac-pro.txt")})}, "", []string{"", ""}, 32},
		{"a card with one id and several names", Machine{OS: "darwin", Run: programs(map[string]string{"system_profiler": printed(t, "mac-rx-590.txt")})}, "amd-rx-590", []string{"", "amd-rx-590"}, 0},
		{"a Mac that lists no displays", Machine{OS: "darwin", Run: programs(map[string]string{"sysctl -n machdep.cpu.brand_string": "Apple M4 Max\n"})}, "apple-m4-max", []string{"apple-m4-max"}, 0},
		{"Windows", Machine{OS: "windows", Run: programs(map[string]string{"powershell -NoProfile -NonInteractive -Command " + windowsAdapters: printed(t, "windows-adapters.csv")})}, "nvidia-rtx-5090-laptop", []string{"", "nvidia-rtx-5090-laptop"}, 0},
		{"Windows knows the memory of a card", Machine{OS: "windows", Run: programs(windowsWith(t, "NVIDIA GeForce RTX 5060 Ti", `PCI\VEN_10DE&DEV_2D04&SUBSYS_53541462&REV_A1\4&1`))}, "nvidia-rtx-5060-ti-16gb", []string{"nvidia-rtx-5060-ti-16gb", "amd-ryzen-9-5900x"}, 63.9},
		{"a device without an id of PCI", Machine{OS: "windows", Run: programs(windowsWith(t, "Qualcomm(R) Adreno(TM) X2-90 GPU", `ACPI\QCOM0C36\0`))}, "qualcomm-snapdragon-x2-elite", []string{"qualcomm-snapdragon-x2-elite", "amd-ryzen-9-5900x"}, 63.9},
		{"rocm-smi", Machine{OS: "linux", Run: programs(map[string]string{"rocm-smi": "GPU[0]\t\t: Card Series: \t\tAMD Radeon RX 6900 XT\n"})}, "amd-rx-6900-xt", []string{"amd-rx-6900-xt"}, 0},
		{"nothing known", Machine{OS: "linux", Root: files(append(device("0000:01:00.0", "0x030000", "dead", "beef", "01"), "proc/cpuinfo=model name : Strange CPU 1\n")...)}, "", []string{"", ""}, 0},
		{"nothing at all", Machine{OS: "plan9"}, "", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Inspect(tt.machine, r)
			var slugs []string
			for _, d := range got.Devices {
				slugs = append(slugs, d.Slug)
			}
			if got.Main != tt.main || !slices.Equal(slugs, tt.slugs) || got.MemoryGB != tt.memory {
				t.Errorf("Inspect = main %q, %v, %v GB, want %q, %v, %v GB: %+v", got.Main, slugs, got.MemoryGB, tt.main, tt.slugs, tt.memory, got)
			}
		})
	}
	Inspect(This(), r) // whatever this machine is, an inspection ends
}
