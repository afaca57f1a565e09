package httpapi

import (
	"modeldex/httpapi/cache"
)

// cacheName is the name of the page in the cache: its canonical address, and the names that were
// read as other values, because the notices quote them.
func (q *listQuery) cacheName() string { return withNames(q.canonical, q.notices) }

func withNames(name string, notices []Notice) string {
	for _, n := range notices {
		if n.Code == nameResolved || n.Code == readAs {
			name += "\x00" + n.Parameter + "=" + *n.Value
		}
	}
	return name
}

// responseCache keeps what was answered. What needs no key has a share of the memory of its own, so that it drives
// out nothing else.
type responseCache struct{ cache, open *cache.Cache[*response] }

// cached returns the response of a canonical address from the cache, or renders it. The cache then knows it under
// the address as it was sent as well. link is the Link header, empty for none.
func (r *responseCache) cached(req *request, canonical string, render func() (body []byte, link string)) *response {
	return r.cachedResponse(req, canonical, func() *response {
		body, link := render()
		return dataResponse(req, canonical, body, link)
	})
}

func dataResponse(req *request, canonical string, body []byte, link string) *response {
	resp := newEntity(body, req.coding, jsonType, req.content[:], canonical)
	resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	if link != "" {
		resp.set("Link", link)
	}
	vary := keyedVary
	if req.route.filed() {
		vary = filedVary
	}
	resp.keep(privateCache, vary)
	return resp
}

func (r *responseCache) cachedResponse(req *request, canonical string, render func() *response) *response {
	resp := r.cache.Render(req.content[:], req.coding, canonical, func() *response {
		resp := render()
		resp.route = req.route
		return resp
	})
	if req.accepts.Any {
		r.cache.Alias(resp, req.content[:], req.coding, req.accepts.Best, canonical, req.ctx.RequestURI())
	}
	return resp
}
