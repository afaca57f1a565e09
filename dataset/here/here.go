// Package here inspects the machine it runs on and finds the records of its hardware.
//
// On Linux it reads PCI devices under /sys, the processor and memory under /proc, and what nvidia-smi and
// rocm-smi print where they are installed. On macOS it reads what sysctl and system_profiler print. On Windows
// it reads what PowerShell prints about display adapters and memory, and the registry for the memory of cards
// and the name of the processor. It only reads: it changes nothing, opens no connection and sends nothing.
package here

import (
	"context"
	"embed"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset/resolve"
)

// Machine is what is inspected. Tests give one of their own.
type Machine struct {
	// OS is the operating system as Go names it: linux, darwin, windows.
	OS string
	// Root is the file system, with paths such as sys/bus/pci/devices. Nil means no files.
	Root fs.FS
	// Run runs a program and returns what it prints. An error means that it is not there or failed.
	Run func(name string, args ...string) ([]byte, error)
}

// This is the machine the program runs on. A program that hangs is given up after ten seconds.
func This() Machine {
	return Machine{OS: runtime.GOOS, Root: os.DirFS("/"), Run: func(name string, args ...string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return exec.CommandContext(ctx, name, args...).Output()
	}}
}

// Device is one piece of hardware that was found.
type Device struct {
	// Source is where it was found: pci, nvidia-smi, rocm-smi, processor, system_profiler, windows.
	Source string `json:"source"`
	// Text is what was printed there.
	Text string `json:"text"`
	// MemoryGB is the memory of the device itself, in GB; 0 if it has none or it is unknown.
	MemoryGB float64 `json:"memory_gb"`
	// Slug is the record, empty if none was found.
	Slug string `json:"slug"`
	// Reason says how the text was read, or why there is not a record.
	Reason string `json:"reason"`
	// Candidates are the records it may be, where the text does not say which.
	Candidates []string `json:"candidates"`
}

// Report is what an inspection found.
type Report struct {
	// Main is the record to look up speeds for: the first card, else the chip, else the processor.
	// Empty where none was found.
	Main string `json:"main"`
	// Devices are the graphics first, then the processor. One that two sources name is listed once.
	Devices []Device `json:"devices"`
	// MemoryGB is the main memory, in GB; 0 if unknown.
	MemoryGB float64 `json:"memory_gb"`
}

// Inspect looks at a machine. A source that is missing is left out.
func Inspect(m Machine, names *resolve.Resolver) Report {
	if m.Root == nil {
		m.Root = embed.FS{}
	}
	if m.Run == nil {
		m.Run = func(string, ...string) ([]byte, error) { return nil, errors.New("no programs") }
	}
	i := &inspection{Machine: m, names: names}
	switch m.OS {
	case "darwin":
		i.mac()
	case "windows":
		i.windows()
	default:
		kib, _, _ := strings.Cut(i.labelled("proc/meminfo", "MemTotal"), " ")
		i.processor, i.report.MemoryGB = i.labelled("proc/cpuinfo", "model name"), gigabytes(kib, 1<<20)
		i.nvidia()
		i.rocm()
		i.pci()
		if i.processor != "" {
			i.add(Device{Source: "processor", Text: i.processor})
		}
	}
	for _, d := range i.report.Devices {
		if d.Slug != "" && i.report.Main == "" {
			i.report.Main = d.Slug
		}
	}
	return i.report
}

type inspection struct {
	Machine
	names     *resolve.Resolver
	processor string // as /proc prints it
	report    Report
}

// add lists a device with its record. Graphics inside a processor are read with the name of the processor.
func (i *inspection) add(d Device) {
	a := i.read(d.Text, d.MemoryGB)
	if i.processor != "" && d.Source != "processor" {
		part := d.Text
		if a.Slug != "" { // the id of a device is not a name
			part = a.Name
		}
		if whole := i.names.Strict(resolve.Hardware, part+" ("+i.processor+")"); whole.Slug != "" && whole.Slug != a.Slug && (a.Slug == "" || strings.HasPrefix(whole.Reason, "graphics inside")) {
			a = whole
		}
	}
	d.Slug, d.Reason, d.Candidates = string(a.Slug), a.Reason, []string{}
	for _, c := range a.Candidates {
		d.Candidates = append(d.Candidates, string(c.Slug))
	}
	if d.Slug != "" && d.Source != "nvidia-smi" && slices.ContainsFunc(i.report.Devices, func(have Device) bool { return have.Slug == d.Slug }) {
		return
	}
	i.report.Devices = append(i.report.Devices, d)
}

// addNamed adds a device by its name where that leads to one record, else by its id, which several products may share.
func (i *inspection) addNamed(d Device, id string) {
	if id != "" && i.read(d.Text, d.MemoryGB).Slug == "" {
		if a := i.read(id, d.MemoryGB); a.Slug != "" || a.Ambiguous {
			d.Text = id
		}
	}
	i.add(d)
}

func (i *inspection) read(text string, memoryGB float64) resolve.Answer {
	if memoryGB >= 1 {
		if a := i.names.Strict(resolve.Hardware, fmt.Sprintf("%s, %.0f MiB", text, memoryGB*1024)); a.Slug != "" {
			return a
		}
	}
	return i.names.Strict(resolve.Hardware, text) // graphics with main memory set aside: no size of the part
}

func (i *inspection) file(name string) string {
	b, err := fs.ReadFile(i.Root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// labelled is the first value of a label in a file of labels and values.
func (i *inspection) labelled(name, label string) string {
	for line := range strings.Lines(i.file(name)) {
		if found, value, _ := strings.Cut(line, ":"); strings.TrimSpace(found) == label {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// output is what a program prints, empty if it failed.
func (i *inspection) output(name string, args ...string) string {
	out, err := i.Run(name, args...)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// gigabytes reads a number in units that are the given fraction of a gigabyte.
func gigabytes(text string, units float64) float64 {
	n, _ := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return math.Round(n/units*10) / 10
}

// nvidia asks nvidia-smi, which prints "NVIDIA GeForce RTX 4090, 24564 MiB".
func (i *inspection) nvidia() {
	for line := range strings.Lines(i.output("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader")) {
		name, memory, _ := strings.Cut(strings.TrimSpace(line), ",")
		if name != "" {
			i.add(Device{Source: "nvidia-smi", Text: name, MemoryGB: gigabytes(strings.TrimSuffix(memory, "MiB"), 1024)})
		}
	}
}

// rocm asks rocm-smi, which prints "GPU[0] : Card Series: AMD Radeon RX 7900 XTX".
func (i *inspection) rocm() {
	for line := range strings.Lines(i.output("rocm-smi", "--showproductname")) {
		low := strings.ToLower(line)
		if at := strings.Index(low, "card series:"); at >= 0 {
			if name := strings.TrimSpace(line[at+len("card series:"):]); name != "" {
				i.add(Device{Source: "rocm-smi", Text: name})
			}
		}
	}
}

func (i *inspection) pci() {
	devices, _ := fs.ReadDir(i.Root, "sys/bus/pci/devices")
	for _, d := range devices {
		at := path.Join("sys/bus/pci/devices", d.Name())
		class := i.file(at + "/class")
		if !strings.HasPrefix(class, "0x03") && !strings.HasPrefix(class, "0x12") {
			continue
		}
		number := func(name string) string { return strings.TrimPrefix(i.file(at+"/"+name), "0x") }
		text := number("vendor") + ":" + number("device")
		if len(text) != 9 {
			continue
		}
		if rev := number("revision"); rev != "" {
			if _, err := hex.DecodeString(rev); err == nil {
				text += " (rev " + rev + ")"
			}
		}
		i.add(Device{Source: "pci", Text: text, MemoryGB: gigabytes(i.file(at+"/mem_info_vram_total"), 1<<30)}) // of amdgpu
	}
}

func (i *inspection) mac() {
	i.report.MemoryGB = gigabytes(i.output("sysctl", "-n", "hw.memsize"), 1<<30)
	brand := i.output("sysctl", "-n", "machdep.cpu.brand_string")
	apple := strings.HasPrefix(brand, "Apple")
	if out, err := i.Run("system_profiler", "SPDisplaysDataType"); err == nil {
		if !apple {
			i.processor = brand // of a Mac with Intel's, whose graphics may be inside it
		}
		for _, card := range macCards(string(out)) {
			i.macCard(card)
			apple = apple || strings.HasPrefix(card["Chipset Model"], "Apple")
		}
	} else if apple {
		i.add(Device{Source: "processor", Text: brand, MemoryGB: i.report.MemoryGB})
	}
	if brand != "" && !apple {
		i.add(Device{Source: "processor", Text: brand})
	}
}

// macCards reads the cards system_profiler lists. A card begins with its model; screens are below it.
func macCards(out string) (cards []map[string]string) {
	for line := range strings.Lines(out) {
		label, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); {
		case !ok || value == "":
		case label == "Chipset Model":
			cards = append(cards, map[string]string{label: value})
		case len(cards) > 0 && cards[len(cards)-1][label] == "":
			cards[len(cards)-1][label] = value
		}
	}
	return cards
}

func (i *inspection) macCard(card map[string]string) {
	d := Device{Source: "system_profiler", Text: card["Chipset Model"]}
	switch cores := card["Total Number of Cores"]; {
	case strings.HasPrefix(d.Text, "Apple"):
		if cores != "" {
			d.Text += " (" + cores + "-core GPU)"
		}
		d.MemoryGB = i.report.MemoryGB
	default: // "8 GB" or "4096 MB"
		number, unit, _ := strings.Cut(card["VRAM (Total)"], " ")
		d.MemoryGB = gigabytes(number, map[bool]float64{true: 1024, false: 1}[unit == "MB"])
	}
	i.addNamed(d, macID(card))
}

// macID is the PCI id of a card: "AMD (0x1002)", "0x67df" and "0x00e1" are "1002:67df (rev e1)".
func macID(card map[string]string) string {
	_, vendor, ok := strings.Cut(card["Vendor"], "(0x")
	device := strings.TrimPrefix(card["Device ID"], "0x")
	if !ok || len(device) != 4 {
		return ""
	}
	id := strings.TrimSuffix(vendor, ")") + ":" + device
	if rev := strings.TrimPrefix(card["Revision ID"], "0x00"); len(rev) == 2 {
		id += " (rev " + rev + ")"
	}
	return id
}

// The questions Windows is asked. Adapters without a driver, remote and virtual ones are listed too
// and left out later. PowerShell cuts no line of CSV, as it does those of lists and tables.
const (
	windowsAdapters = "Get-CimInstance Win32_VideoController | Select-Object Name,PNPDeviceID | ConvertTo-Csv -NoTypeInformation"
	windowsMemory   = "(Get-CimInstance Win32_ComputerSystem).TotalPhysicalMemory"
	// displayClass is where drivers write what they know of a card. Windows' own field for its
	// memory, AdapterRAM, ends at 4 GiB.
	displayClass   = `HKLM\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}`
	firstProcessor = `HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0`
)

func (i *inspection) windows() {
	for _, value := range i.registry(firstProcessor, "ProcessorNameString") {
		i.processor = value
	}
	i.report.MemoryGB = gigabytes(i.powershell(windowsMemory), 1<<30)
	i.nvidia()
	in := csv.NewReader(strings.NewReader(strings.TrimPrefix(i.powershell(windowsAdapters), "\ufeff")))
	in.FieldsPerRecord = -1
	lines, _ := in.ReadAll()
	sizes := i.windowsSizes()
	for _, line := range lines {
		if len(line) < 2 {
			continue
		}
		name, id := strings.TrimSpace(line[0]), strings.ToLower(line[1])
		if !strings.HasPrefix(id, `pci\`) && !strings.HasPrefix(id, `acpi\`) { // the heading; screens of other machines
			continue
		}
		device, _, _ := strings.Cut(strings.TrimPrefix(id, `pci\`), `\`)
		i.addNamed(Device{Source: "windows", Text: name, MemoryGB: sizes[vendorAndDevice(device)]}, device)
	}
	if i.processor != "" {
		i.add(Device{Source: "processor", Text: i.processor})
	}
}

func (i *inspection) powershell(question string) string {
	return i.output("powershell", "-NoProfile", "-NonInteractive", "-Command", question)
}

// windowsSizes are the memory sizes drivers wrote to the registry, in GB, by vendor and device.
func (i *inspection) windowsSizes() map[string]float64 {
	ids, sizes := i.registry(displayClass, "MatchingDeviceId"), map[string]float64{}
	for key, value := range i.registry(displayClass, "HardwareInformation.qwMemorySize") {
		bytes, err := strconv.ParseUint(value, 0, 64)
		if id := ids[key]; err == nil && id != "" {
			sizes[vendorAndDevice(strings.TrimPrefix(strings.ToLower(id), `pci\`))] = math.Round(float64(bytes)/(1<<30)*10) / 10
		}
	}
	return sizes
}

func vendorAndDevice(id string) string {
	parts := strings.SplitN(id, "&", 3)
	return strings.Join(parts[:min(2, len(parts))], "&")
}

// registry reads one value of a key and of all keys below it, by the name of the key:
//
//	HKEY_LOCAL_MACHINE\...\0001
//	    DriverDesc    REG_SZ    AMD Radeon RX 7900 XTX
func (i *inspection) registry(key, value string) map[string]string {
	out, err := i.Run("reg", "query", key, "/s", "/v", value)
	if err != nil && len(out) == 0 {
		return nil
	}
	values, at := map[string]string{}, ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "HKEY_") {
			at = line
			continue
		}
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), value)
		if _, data, found := strings.Cut(strings.TrimSpace(rest), "    "); ok && found && at != "" {
			values[at] = strings.TrimSpace(data)
		}
	}
	return values
}
