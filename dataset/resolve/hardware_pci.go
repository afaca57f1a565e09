package resolve

import (
	"slices"
	"strings"
)

// pciID is a vendor and a device as PCI numbers them, and the revision where one was printed:
// "10de:2684", "1002:744c:c8". Lower case.
type pciID struct{ id, revision string }

// boundary reports whether a number ends at i, so that "10de:26841" holds no id.
func boundary(s string, i int) bool { return i < 0 || i >= len(s) || !isHex(s[i]) && !isLetter(s[i]) }

// findPCI looks for the id of a device: "10de:2684", "0x10de:0x2684", "10de-2684" where it is the
// whole name, Windows' "ven_10de&dev_2684", and "device 2d05" behind the name of a vendor.
// The vendor is empty where only "device 2d05" was printed.
func findPCI(text string) (id pciID, ok bool) {
	id.revision = findRevision(text)
	if v := strings.Index(text, "ven_"); v >= 0 && hex4(text[v+4:]) {
		if d := strings.Index(text[v:], "dev_"); d >= 0 && hex4(text[v+d+4:]) {
			id.id = text[v+4:v+8] + ":" + text[v+d+4:v+d+8]
			return id, true
		}
	}
	plain := strings.ReplaceAll(text, "0x", "")
	for i := 4; i+5 <= len(plain); i++ {
		separator := plain[i] == ':' || plain[i] == '-' && len(plain) == 9
		if separator && hex4(plain[i-4:i]) && hex4(plain[i+1:]) && boundary(plain, i-5) && boundary(plain, i+5) {
			id.id = plain[i-4 : i+5]
			if plain[i] == '-' {
				id.id = plain[:4] + ":" + plain[5:]
			}
			if rest := plain[i+5:]; id.revision == "" && len(rest) >= 3 && rest[0] == ':' && isHex(rest[1]) && isHex(rest[2]) && boundary(rest, 3) {
				id.revision = rest[1:3]
			}
			return id, true
		}
	}
	if d := strings.Index(plain, "device "); d >= 0 && hex4(plain[d+7:]) && boundary(plain, d+11) {
		for _, v := range pciVendors {
			if strings.Contains(plain[:d], v.word) {
				id.id = v.id + ":" + plain[d+7:d+11]
				return id, true
			}
		}
		if d == 0 && len(plain) == 11 {
			id.id = ":" + plain[7:11]
			return id, true
		}
	}
	return pciID{}, false
}

// findRevision reads "(rev c8)" of lspci and "rev_c8" of Windows.
func findRevision(text string) string {
	for _, before := range []string{"(rev ", "rev_"} {
		if i := strings.Index(text, before); i >= 0 {
			rest := text[i+len(before):]
			if len(rest) >= 2 && isHex(rest[0]) && isHex(rest[1]) && boundary(rest, 2) {
				return rest[:2]
			}
		}
	}
	return ""
}

// byPCI answers a PCI id. ok is false for an id the directory does not know.
func (r *Resolver) byPCI(id pciID, text string) (a Answer, ok bool) {
	n := r.hardware
	if strings.HasPrefix(id.id, ":") {
		return r.byDevice(id.id)
	}
	_, memory := significantWords(split(text))
	if found := n.pci[id.id+":"+id.revision]; id.revision != "" && len(found) > 0 {
		return r.choose(found, memory, "PCI id "+id.id+" revision "+id.revision), true
	}
	if found := n.pci[id.id]; len(found) > 0 {
		return r.choose(found, memory, "PCI id "+id.id), true
	}
	shared := n.shared[id.id+":"+id.revision]
	if id.revision == "" || len(shared) == 0 {
		shared = n.shared[id.id]
	}
	if len(shared) == 0 {
		return Answer{}, false
	}
	a = r.choose(shared, memory, "several products have the PCI id "+id.id)
	if a.Slug != "" && !a.Ambiguous { // others have the id
		a.Ambiguous, a.Candidates = true, []Candidate{{Hardware, a.Slug, a.Name, "has this PCI id"}}
		a.Slug, a.Name, a.Confidence = "", "", ""
	}
	return a, true
}

// byDevice answers "Device 2d05", which leaves out the vendor: device numbers are counted by each
// vendor, so this is a guess.
func (r *Resolver) byDevice(device string) (Answer, bool) {
	var found []int32
	for _, v := range []string{"10de", "1002", "8086"} {
		for _, rec := range slices.Concat(r.hardware.pci[v+device], r.hardware.shared[v+device]) {
			found = appendOnce(found, rec)
		}
	}
	if len(found) == 0 {
		return Answer{Reason: "the directory knows no device with this number"}, true
	}
	return Answer{
		Confidence: Near, Reason: "the number of a device means nothing without its vendor",
		Candidates: r.list(found, "has this device number at its vendor"),
	}, true
}
