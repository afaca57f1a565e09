package httpapi

// Work that is more than that of a page costs more of an allowance, never more of the month: of the burst of a
// key, or of the pages of an address without a key. A call of the burst is about ten milliseconds of processor
// time on the shipped dataset; see the most expensive requests in bench/README.md.
const (
	// searchCalls is what a list with a least speed costs: sizes of every model are estimated until one
	// is fast enough.
	searchCalls = 5
	// pairsPerCall is how many pairs of model and hardware in one body cost one call.
	pairsPerCall = 50
	// namesPerCall is how many names in one body cost one call.
	namesPerCall = 100
)

// What requests without a key cost of the allowance of their address, in pages.
const (
	// dataCost is what a data form of a page costs: more than the page, so that it is no way around the quota of a key.
	dataCost = 5
	// checkCost is what checking a contribution costs: it is compared with all benchmarks.
	checkCost = 5
	// searchCost is what a page with a least speed costs.
	searchCost = 5
	// documentCost is what a document of megabytes costs: a snapshot, a file of a dump. A range of one costs
	// a page, so that readers which fetch a file in parts are not turned away.
	documentCost = 5
)
