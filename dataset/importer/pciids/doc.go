// Package pciids reads the list of PCI devices that pciutils and Debian's package pci.ids have, and
// proposes ids for hardware records that have none.
//
// A line names a chip and, in brackets, its products:
//
//	10de  NVIDIA Corporation
//		102d  GK210GL [Tesla K80]
//		1002 73ab  Navi 21 Pro-XLA [Radeon Pro W6800X/Radeon Pro W6800X Duo]
//
// A device is proposed where the products lead to a record by the rules of package resolve. It is the record's
// own id if it names one product alone. It is a shared id if it names several products, or if the list has the
// product under other ids as well. Nothing is guessed and nothing written: a person reviews what is printed and
// puts it in the record with its source.
package pciids
