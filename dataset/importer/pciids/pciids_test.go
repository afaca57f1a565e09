package pciids

import (
	"errors"
	"strings"
	"testing"

	"modeldex/dataset"

	"github.com/google/go-cmp/cmp"
)

// TestNoDevice: what is no list is an error, and a list without parts of the directory is not.
func TestNoDevice(t *testing.T) {
	for text, want := range map[string]error{
		"": ErrNoDevice, "# Title\n\n\ta line\n": ErrNoDevice, "\x1f\x8b\x08" + strings.Repeat("\x00", 100_000): ErrNoDevice,
		"\t102d  GK210GL [Tesla K80]\n": ErrNoDevice, "dead  Somebody\n\t102d  GK210GL [Tesla K80]\n": nil,
	} {
		if got, err := Propose(strings.NewReader(text), &dataset.Set{}); !errors.Is(err, want) || len(got) > 0 {
			t.Errorf("Propose of %.40q = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestPropose(t *testing.T) {
	card := func(slug dataset.Slug, name string, ids ...string) dataset.Hardware {
		return dataset.Hardware{Slug: slug, Name: name, Type: "gpu", PCIIDs: ids}
	}
	set := &dataset.Set{Hardware: []dataset.Hardware{
		card("nvidia-tesla-k80", "NVIDIA Tesla K80"), card("amd-radeon-pro-w6800x", "AMD Radeon Pro W6800X"),
		card("nvidia-h800-nvl", "NVIDIA H800 NVL"), card("amd-rx-580x", "AMD Radeon RX 580X"),
		card("nvidia-rtx-4090", "NVIDIA GeForce RTX 4090", "10de:2684"),
	}}
	const list = "# a comment\n1002  Advanced Micro Devices, Inc. [AMD/ATI]\n" +
		"\t67df  Ellesmere [Radeon RX 470/480/570/570X/580/580X/590]\n\t\t1028 1722  Radeon RX 570X\n" +
		"\t73ab  Navi 21 Pro-XLA [Radeon Pro W6800X/Radeon Pro W6800X Duo]\n" +
		"10de  NVIDIA Corporation\n\t102d  GK210GL [Tesla K80]\n\t2324  GH100 [H800]\n\t2684  AD102 [GeForce RTX 4090]\n" +
		"dead  Somebody\n\t102d  GK210GL [Tesla K80]\n"
	got, err := Propose(strings.NewReader(list), set)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range got {
		lines = append(lines, p.String())
	}
	want := []string{
		"amd-radeon-pro-w6800x: pci_ids_shared: 1002:73ab (Navi 21 Pro-XLA [Radeon Pro W6800X/Radeon Pro W6800X Duo])",
		"amd-rx-580x: pci_ids_shared: 1002:67df (Ellesmere [Radeon RX 470/480/570/570X/580/580X/590])",
		"nvidia-tesla-k80: pci_ids: 10de:102d (GK210GL [Tesla K80])",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("Propose (-want +got):\n%s", diff)
	}
}
