// Package cache keeps responses by content, coding and address.
//
// A Cache keeps what a server has made: each response under the canonical address it was made for (Render), and under the
// spellings of the address that callers sent (Alias, Find). A new dataset changes the content part of every key, so
// nothing is ever invalidated: what is out of date is not asked for again and ages out. It is a hint: on a miss the
// response is made again, by one of the callers who ask at the same time.
//
// The package knows of a response only its size. Everything in it is safe for concurrent use.
package cache

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

// response is what a Cache keeps.
type response interface {
	comparable
	Size() int // of the body, in bytes
}

// entry is a response under the whole key it is kept under: ristretto keeps hashes only, so
// the key is compared when it is found.
type entry[R response] struct {
	key  string
	resp R
}

// A Cache keeps responses with status 200.
type Cache[R response] struct {
	kept   *ristretto.Cache[string, entry[R]]
	flight singleflight.Group
	making chan struct{} // has a place for each response that may be made at once
	asked  [askedLately]atomic.Uint64
}

// askedLately is about how many addresses the cache remembers having been asked for.
const askedLately = 1 << 15

// makersPerCore is how many responses may be made at once for each core. Making one waits for nothing
// but a core, and takes some megabytes until it is done: the body, and what compresses it. With a
// maker for each of many callers that would be far beyond the cache.
const makersPerCore = 4

// typicalBody is about what a page of 100 rows takes, compressed and not, for sizing the counters of the cache.
const typicalBody = 16 << 10

// New is a cache of so many bytes.
func New[R response](bytes int64) (*Cache[R], error) {
	c, err := ristretto.NewCache(&ristretto.Config[string, entry[R]]{
		NumCounters: max(1000, 10*bytes/typicalBody), MaxCost: bytes, BufferItems: 64, IgnoreInternalCost: true, Metrics: true,
	})
	return &Cache[R]{kept: c, making: make(chan struct{}, makersPerCore*runtime.GOMAXPROCS(0))}, err
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

// Find returns the response of an address as it was sent, by a caller who likes a coding and a
// format best; the zero value if there is none.
func (b *Cache[R]) Find(content []byte, c encoding.Coding, f export.Format, address []byte) R {
	key := scratch.Get().(*[]byte)
	*key = appendSpelling((*key)[:0], content, c, f, address)
	resp := b.Get(*key)
	scratch.Put(key)
	return resp
}

// Get looks a key up without keeping or copying it; the zero value if there is no response.
func (b *Cache[R]) Get(key []byte) (none R) {
	// ristretto hashes the key and does not keep it, so it may be in the caller's buffer.
	e, ok := b.kept.Get(unsafe.String(unsafe.SliceData(key), len(key)))
	if !ok || e.key != string(key) {
		return none
	}
	return e.resp
}

// Put keeps a response under another key.
func (b *Cache[R]) Put(key string, resp R) {
	const overhead = 2500 // the response, its headers and its place in the maps
	b.kept.Set(key, entry[R]{key, resp}, int64(resp.Size()+len(key)+overhead))
}

// Render returns the response for a canonical URL and an encoding. Concurrent misses wait for one render.
func (b *Cache[R]) Render(content []byte, c encoding.Coding, address string, render func() R) R {
	var none R
	key := string(AppendKey(nil, content, c, address))
	if resp := b.Get([]byte(key)); resp != none {
		return resp
	}
	made, _, _ := b.flight.Do(key, func() (any, error) {
		b.making <- struct{}{}
		defer func() { <-b.making }()
		resp := render()
		b.Put(key, resp)
		return resp, nil
	})
	return made.(R)
}

// FirstRequest says whether an address has no response and, as far as the cache remembers, was not asked for
// before. Its response need not be kept then if it is made quickly. What is remembered is a hash, whose place
// another address may take: then the second request seems to be the first again.
func (b *Cache[R]) FirstRequest(content []byte, c encoding.Coding, address string) bool {
	key := scratch.Get().(*[]byte)
	defer scratch.Put(key)
	*key = AppendKey((*key)[:0], content, c, address)
	var none R
	hash := xxhash.Sum64(*key)
	return b.Get(*key) == none && b.asked[hash%askedLately].Swap(hash) != hash
}

// Alias keeps a response under another spelling of its address, or its address and another Accept
// header, so that the next caller who sends them skips the parser.
func (b *Cache[R]) Alias(resp R, content []byte, c encoding.Coding, f export.Format, canonical string, spelling []byte) {
	const longest = 1 << 10 // all fields of a list by name are 700 bytes; longer spellings are rare and would fill the cache with keys
	if (string(spelling) != canonical || f != export.JSON) && len(spelling) <= longest {
		b.Put(string(appendSpelling(nil, content, c, f, spelling)), resp)
	}
}

// Close ends the cache. It must come after the HTTP server has stopped: ristretto panics on a Set during Close.
func (b *Cache[R]) Close() { b.kept.Close() }

// Metrics say what a Cache has done so far.
func (b *Cache[R]) Metrics() *ristretto.Metrics { return b.kept.Metrics }

// Wait returns when all responses that were put before are kept or dropped, for tests.
func (b *Cache[R]) Wait() { b.kept.Wait() }

// Clear drops all responses, for tests.
func (b *Cache[R]) Clear() { b.kept.Clear() }

// AppendKey appends a key of the cache: the digest of the content, the coding, the address.
func AppendKey[T string | []byte](dst []byte, content []byte, c encoding.Coding, address T) []byte {
	dst = append(append(dst, content...), '0'+byte(c))
	return append(dst, address...)
}
