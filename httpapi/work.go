package httpapi

// Work that is more than that of a page costs more of an allowance: of the key's burst, or of the pages
// that an address may ask for without a key. Never more of the month. A call of the burst is about ten
// milliseconds of processor time on the shipped dataset; see the most expensive requests in bench/README.md.
const (
	// searchCalls is what a list with a least speed costs: sizes of every model are estimated until one
	// is fast enough.
	searchCalls = 5
	// searchPages is what a page with a least speed costs, in pages.
	searchPages = 5
	// pairsPerCall is how many pairs of model and hardware in one body cost one call.
	pairsPerCall = 50
	// namesPerCall is how many names in one body cost one call.
	namesPerCall = 100
)
