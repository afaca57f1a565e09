// Package httpapi speaks HTTP: routes, parameters, row shapes, envelopes, errors, the response
// cache and the documents that describe them.
//
// A request takes the steps of pipeline.go, in this order:
//
//  1. The generation is taken from index.Live, once. A GET whose response the cache has, by content,
//     coding, format and the address as it was sent, needs no router.
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
// The files use one another in one direction, lowest first:
//
//   - without the server: errors.go, faults.go, response.go, documents.go
//   - parameters: resources.go (what there is), params.go (the steps of reading a query), the other params files (one for each
//     kind of parameter; params_page.go for the page and its address), names.go
//   - the server and one request: server.go (with Config), request.go, problem.go, auth.go, costs.go
//   - endpoints: list.go (with cached.go), record.go, stats.go, facets.go, fit.go, resolve.go, files.go, keys.go,
//     changes.go, snapshots.go, status.go and others, one noun each; the page files answer people
//   - the path of a request: respond.go, protocol.go, pipeline.go, routes.go, serve.go
//
// One filter from its URL to bytes, as an example: min_bandwidth_gbps of GET /api/v1/hardware, in a
// spelling that is not cached. The files that see the parameter in any form (address, value, query,
// rows, body), in the order of the calls:
//
//	pipeline.go       handle, hit: the address as it was sent ...
//	cache             Find: ... is not in the cache
//	serve.go          addRoute: the router found the route
//	pipeline.go       routed, serve, respond, find
//	auth.go           admit: no value is a key
//	asof.go           pin: no other generation is asked for
//	request.go        dropLinkMarks: nothing was added by a link
//	list.go           resource.page
//	params.go         parse
//	params_parser.go  collect: the values by name
//	params_sets.go    joinOwnerOnly: no other spelling of a source
//	params_parser.go  inOrder
//	params.go         read: one parameter after the other
//	params_ranges.go  readNumber, bound, checkRanges
//	params_page.go    finish: a query and its canonical address
//	cached.go         cachedWhenRepeated
//	cache             FirstRequest: the canonical address is not in the cache either, and was not asked for lately
//	list.go           render
//	index             page.go, conditions.go, filter.go, column.go, order.go: the ordinals
//	notices.go        excludedNotices: how many records have no bandwidth
//	list.go           envelope
//	params_page.go    next: the address of the next page ...
//	cursor            Encode: ... and its cursor
//	index             table.go, rows.go: the rows
//	cached.go         dataResponse
//	response.go       newEntity, encodedEntity, contentTag
//	cached.go         withUsage, pagingOf
//	request.go        refuses, has: If-Match, If-None-Match
//	respond.go        write
//	connections       body.go, connection.go: the bytes
//
// The response to the second caller is made by cached, cachedResponse and Render instead, and Put and Alias
// keep it: the third caller of this address gets it at the second line of the list.
//
// No file is in the list more than three times. It is what a program shows whose functions note their calls, without
// those that do not see the parameter: headers, ids, deadlines. The field itself is one line of index/hardware.go, from
// which resources.go makes the parameter.
//
// Where files must use each other the group is small: TestFileCircles counts, in every package of
// httpapi and dataset, the files that depend on each other by the identifiers they use.
//
// The rooms: service (runs a server: load, watch, listen, stop), operator (administration), verbs; pages,
// charts, reference, preview and contribute (what people see); export, dumps, feeds and static (files); webhook;
// proxies and fairuse (client addresses); connections (callers, and how bytes leave); headers and encoding (heads of
// requests and responses, compressed bodies) and cache (of responses); rows (what a row and a group have), rowjson (finds
// and chooses values in finished rows) and cursor (where a page ends); suggest (what a caller may have meant); changes
// (what happened to records from edition to edition); usage (what a key has used); metrics; wiretest and browsertest
// (tests from outside).
//
// A 200 body is a pure function of the dataset and the canonical query: it is cached, shared
// between keys and never written to once it is made. fiber reuses its buffers when a handler
// returns, so every string kept longer than that is cloned at the edge.
package httpapi
