// Package httpapi speaks HTTP: routes, parameters, row shapes, envelopes, errors, the response
// cache and the documents that describe them.
//
// A request takes the steps of pipeline.go, in this order:
//
//  1. The generation is taken from index.Live, once. A GET with a cached response (by content, encoding,
//     format and original URL) skips the router.
//  2. The key is read from the Authorization header, and the keeper admits the call (which counts
//     towards the burst limit and reserves one call of the month) or rejects it.
//  3. Without a cached response the route is asked: parameters become a query with a canonical
//     address, under which the cache is asked again; on a miss the rows are selected and rendered,
//     once for all callers who wait for them.
//  4. If-Match and If-None-Match are compared.
//  5. The call is charged (200 and 404) or given back (all other statuses), and the response is written
//     with what is left of the quota after that.
//
// One table of routes (routes.go) and one of the parameters of each list (resources.go, made from the
// fields that index declares) feed the router, the parser, its error texts and the OpenAPI document.
//
// To follow a request, start at routes.go and pipeline.go. An endpoint is a file named after its noun:
// list.go, record.go, stats.go, facets.go, fit.go, resolve.go, files.go, keys.go, changes.go and others;
// the page files answer people. Subpackages say in their own pages what they do.
//
// A 200 body is a pure function of the dataset and the canonical query: it is cached, shared
// between keys and never written to once it is made. fiber reuses its buffers when a handler
// returns, so every string kept longer than that is cloned at the edge.
package httpapi
