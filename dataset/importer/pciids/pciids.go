package pciids

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/resolve"
)

// A Proposal is an id for a record that has none.
type Proposal struct {
	Slug   dataset.Slug
	ID     string // vendor and device: "10de:102d"
	Name   string // as the list has it
	Shared bool   // other products have the id as well
}

// String gives the proposal as a line for review.
func (p Proposal) String() string {
	field := "pci_ids"
	if p.Shared {
		field = "pci_ids_shared"
	}
	return fmt.Sprintf("%s: %s: %s (%s)", p.Slug, field, p.ID, p.Name)
}

var (
	vendorLine = regexp.MustCompile(`^([0-9a-f]{4})  (.+)$`)
	deviceLine = regexp.MustCompile(`^\t([0-9a-f]{4})  (.+)$`)
	brackets   = regexp.MustCompile(`\[([^\]]+)\]$`)
)

// ErrNoDevice is returned by Propose for a text that is no list of PCI devices.
var ErrNoDevice = errors.New("holds no device; it must be the unpacked pci.ids of pciutils")

// Propose reads a list and gives the ids of records of set without any, by slug and id. A vendor the
// directory has no hardware of is passed over. A list without any device is ErrNoDevice.
func Propose(list io.Reader, set *dataset.Set) ([]Proposal, error) {
	names := resolve.New(set)
	without := map[dataset.Slug]bool{}
	for i := range set.Hardware {
		h := &set.Hardware[i]
		without[h.Slug] = len(h.PCIIDs) == 0 && len(h.PCIIDsShared) == 0
	}
	var out []Proposal
	vendor, maker, devices := "", "", 0
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		line := lines.Text()
		if m := vendorLine.FindStringSubmatch(line); m != nil {
			vendor, maker = m[1], makers[m[1]]
			continue
		}
		m := deviceLine.FindStringSubmatch(line)
		if m == nil || vendor == "" {
			continue
		}
		if devices++; maker == "" {
			continue
		}
		products := productsOf(m[2])
		for _, product := range products {
			a := names.Resolve(resolve.Hardware, maker+" "+product)
			if a.Found() && !a.Ambiguous && without[a.Slug] {
				out = append(out, Proposal{a.Slug, vendor + ":" + m[1], m[2], len(products) > 1})
			}
		}
	}
	if devices == 0 {
		return nil, ErrNoDevice // also of what is no text, such as a packed list
	}
	slices.SortFunc(out, func(a, b Proposal) int { return strings.Compare(string(a.Slug)+a.ID, string(b.Slug)+b.ID) })
	return slices.Compact(out), lines.Err()
}

// makers are the vendors whose parts the directory has, by their id, as names of parts begin.
var makers = map[string]string{"10de": "NVIDIA", "1002": "AMD", "8086": "Intel", "1da3": "Intel"}

// productsOf reads the products in the brackets at the end, or the name itself. A product that leaves
// out the words before its number is completed with those of the first.
func productsOf(name string) []string {
	in := brackets.FindStringSubmatch(name)
	if in == nil {
		return []string{name}
	}
	parts := strings.Split(in[1], "/")
	stem := parts[0][:strings.LastIndexByte(parts[0], ' ')+1]
	out := parts[:1:1]
	for _, p := range parts[1:] {
		if p = strings.TrimSpace(p); p != "" && p[0] >= '0' && p[0] <= '9' {
			p = stem + p
		}
		out = append(out, p)
	}
	return out
}
