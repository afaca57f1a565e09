package verbs

import (
	"fmt"

	"modeldex/dataset/importer/pciids"
)

// ImportPCIIDs proposes PCI ids for hardware that has none.
type ImportPCIIDs struct {
	Dataset
	File string `arg:"" optional:"" help:"List of PCI devices, as pciutils and Debian's package pci.ids have it; default /usr/share/misc/pci.ids." default:"/usr/share/misc/pci.ids"`
}

// Run prints the proposals for review and writes nothing.
func (c *ImportPCIIDs) Run(env *Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	f, err := OpenFile(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	proposals, err := pciids.Propose(f, set)
	if err != nil {
		return FileError(c.File, err)
	}
	for _, p := range proposals {
		fmt.Fprintln(env.Stdout, p)
	}
	if len(proposals) == 0 {
		fmt.Fprintln(env.Stderr, "0 proposals")
	}
	return nil
}
