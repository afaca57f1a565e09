package here

import (
	"encoding/csv"
	"strconv"
	"strings"
)

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
	if out, err := i.powershell(windowsMemory); err == nil {
		bytes, _ := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		i.report.MemoryGB = tenths(bytes / (1 << 30))
	}
	i.nvidia()
	i.windowsCards()
	if i.processor != "" {
		i.add(Device{Source: "processor", Text: i.processor})
	}
}

func (i *inspection) powershell(question string) ([]byte, error) {
	return i.Run("powershell", "-NoProfile", "-NonInteractive", "-Command", question)
}

func (i *inspection) windowsCards() {
	out, err := i.powershell(windowsAdapters)
	if err != nil {
		return
	}
	in := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(out), "\ufeff")))
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
}

// windowsSizes are the memory sizes drivers wrote to the registry, in GB, by vendor and device.
func (i *inspection) windowsSizes() map[string]float64 {
	ids, sizes := i.registry(displayClass, "MatchingDeviceId"), map[string]float64{}
	for key, value := range i.registry(displayClass, "HardwareInformation.qwMemorySize") {
		bytes, err := strconv.ParseUint(value, 0, 64)
		if id := ids[key]; err == nil && id != "" {
			sizes[vendorAndDevice(strings.TrimPrefix(strings.ToLower(id), `pci\`))] = tenths(float64(bytes) / (1 << 30))
		}
	}
	return sizes
}

// vendorAndDevice is "ven_10de&dev_2684" of a longer id.
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
