// Package httpapi speaks HTTP: routes, parameters, row shapes, envelopes, errors, the response
// cache and the documents that describe them.
//
// A request to a data route takes these steps, in this order (see Server.answer):
//
//  1. The generation is taken from index.Live, once. A GET whose finished answer the response
//     cache holds by content, encoding and the address as it was sent asks no router (see
//     Server.hit).
//  2. The key is read from the Authorization header, admitted by the keeper (which counts the
//     burst and holds one call of the month) or refused.
//  3. Without a finished answer the parameters are parsed into a query, whose canonical address
//     the cache is asked for; on a miss of that the page is selected, and its rows are sent from
//     where the index holds them, or made one body that is kept (see bodyCache.worthKeeping).
//  4. If-None-Match is compared.
//  5. The call is charged (200 and 404) or given back (all else), and the answer is sent
//     with the standing that this very step returned: by the socket, head and all, where the
//     request came alone, else by fasthttp (see takesWhole).
//
// One table of routes (routes.go) and one of parameters a resource (params.go) feed the
// router, the parser, its error texts and the OpenAPI document.
//
// A 200 body is a pure function of the dataset and the canonical query: it is cached, shared
// between keys and never written to once it is made. fiber reuses its buffers when a handler
// returns, so every string kept longer than that is cloned at the edge.
package httpapi
