package httpapi

// Addresses that handlers name too.
const (
	apiPath        = "/api/v1" // the list of endpoints, and the start of the addresses it lists
	schemasPath    = apiPath + "/schemas"
	fitPath        = apiPath + "/fit"
	resolvePath    = apiPath + "/resolve"
	contributePath = "/contribute"
)
