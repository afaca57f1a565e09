package httpapi

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"modeldex/httpapi/encoding"
	"modeldex/httpapi/export"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/ristretto/v2"
	"golang.org/x/sync/singleflight"
)

// cacheEntry is a response under the whole key it is kept under: ristretto keeps hashes only, so
// the key is compared when it is found.
type cacheEntry struct {
	key  string
	resp *response
}

// responseCache keeps responses with status 200 by content, coding and address. A new dataset
// changes the content part of every key, so nothing is ever invalidated: what is out of date is
// not asked for again and ages out. It is a hint: on a miss the response is made again.
type responseCache struct {
	cache  *ristretto.Cache[string, cacheEntry]
	flight singleflight.Group
	making chan struct{} // has a place for each response that may be made at once
	asked  [askedLately]atomic.Uint64
}

// makersPerCore is how many responses may be made at once for each core. Making one waits for nothing
// but a core, and takes some megabytes until it is done: the body, and what compresses it. With a
// maker for each of many callers that would be far beyond the cache.
const makersPerCore = 4

// askedLately is about how many addresses the cache remembers having been asked for.
const askedLately = 1 << 15

// typicalBody is about what a page of 100 rows takes, compressed and not, for sizing the
// counters of the cache.
const typicalBody = 16 << 10

func newResponseCache(bytes int64) (*responseCache, error) {
	c, err := ristretto.NewCache(&ristretto.Config[string, cacheEntry]{
		NumCounters: max(1000, 10*bytes/typicalBody), MaxCost: bytes, BufferItems: 64, IgnoreInternalCost: true, Metrics: true,
	})
	return &responseCache{cache: c, making: make(chan struct{}, makersPerCore*runtime.GOMAXPROCS(0))}, err
}

// appendSpelling appends the cache key of an address as it was sent, by a caller who likes a format
// best. An address begins with a slash, so no such key is another's.
func appendSpelling[T string | []byte](dst []byte, content []byte, c encoding.Coding, f export.Format, address T) []byte {
	dst = append(append(dst, content...), '0'+byte(c))
	if f != export.JSON {
		dst = append(dst, 'a'+byte(f))
	}
	return append(dst, address...)
}

// scratch is memory for cache keys, reused between requests.
var scratch = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

// find returns the response of an address as it was sent, by a caller who likes a coding and a
// format best; nil if there is none.
func (b *responseCache) find(content []byte, c encoding.Coding, f export.Format, address []byte) *response {
	key := scratch.Get().(*[]byte)
	*key = appendSpelling((*key)[:0], content, c, f, address)
	resp := b.get(*key)
	scratch.Put(key)
	return resp
}

// get looks a key up without keeping or copying it.
func (b *responseCache) get(key []byte) *response {
	// ristretto hashes the key and lets go of it, so it may live in the caller's buffer.
	e, ok := b.cache.Get(unsafe.String(unsafe.SliceData(key), len(key)))
	if !ok || e.key != string(key) {
		return nil
	}
	return e.resp
}

func (b *responseCache) put(key string, resp *response) {
	const overhead = 2500 // the response, its headers and its place in the maps
	b.cache.Set(key, cacheEntry{key, resp}, int64(len(resp.body)+len(key)+overhead))
}

// getOrRender returns the response of a canonical address in a coding. Callers who miss at the
// same time wait for one of them to render it.
func (b *responseCache) getOrRender(content []byte, c encoding.Coding, address string, render func() *response) *response {
	key := string(appendKey(nil, content, c, address))
	if resp := b.get([]byte(key)); resp != nil {
		return resp
	}
	made, _, _ := b.flight.Do(key, func() (any, error) {
		b.making <- struct{}{}
		defer func() { <-b.making }()
		resp := render()
		resp.shared = true
		b.put(key, resp)
		return resp, nil
	})
	return made.(*response)
}

// firstRequest says whether an address has no response and, as far as the cache remembers, was not asked for
// before. Its response need not be kept then if it is made quickly. What is remembered is a hash, whose place
// another address may take: then the second request seems to be the first again.
func (b *responseCache) firstRequest(content []byte, c encoding.Coding, address string) bool {
	key := scratch.Get().(*[]byte)
	defer scratch.Put(key)
	*key = appendKey((*key)[:0], content, c, address)
	if b.get(*key) != nil {
		return false
	}
	hash := xxhash.Sum64(*key)
	return b.asked[hash%askedLately].Swap(hash) != hash
}

// alias keeps a response under another spelling of its address, or its address and another Accept
// header, so that the next caller who sends them skips the parser.
func (b *responseCache) alias(resp *response, content []byte, c encoding.Coding, f export.Format, canonical string, spelling []byte) {
	const longest = 1 << 10 // all fields of a list by name are 700 bytes; longer spellings are rare and would fill the cache with keys
	if (string(spelling) != canonical || f != export.JSON) && len(spelling) <= longest {
		b.put(string(appendSpelling(nil, content, c, f, spelling)), resp)
	}
}

// close ends the cache. It must come after the HTTP server has stopped: ristretto panics on a
// Set during Close.
func (b *responseCache) close() { b.cache.Close() }
