package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"hash/maphash"
	"sync/atomic"
	"unsafe"

	"github.com/dgraph-io/ristretto/v2"
	"golang.org/x/sync/singleflight"
)

// entry is one finished 200 answer. Nothing in it changes after it is made; its bytes are
// sent to many callers at once.
type entry struct {
	key    string // the whole cache key, compared on a hit: ristretto keeps hashes only
	body   []byte
	etag   string
	coding coding
	// link is the Link header, empty where there is no next page.
	link    string
	version string // of the dataset the answer was made of; empty: of none

	// Of answers that go without asking the router; nil of others. rt is the route of the
	// address, heads are the first lines as they are sent, with 200 and with 304.
	rt    *route
	heads [2][]byte

	// Of pages and documents: empty and false for data.
	contentType string // empty: JSON
	policy      string // Content-Security-Policy
	forever     bool   // the address holds a hash of the content
}

// bodyCache keeps finished answers by content, coding and address. A swap of the dataset
// changes the content part of every key, so nothing is ever invalidated: what is out of date
// is not asked for again and ages out. It is a hint; whoever misses makes the answer anew.
type bodyCache struct {
	cache  *ristretto.Cache[string, *entry]
	flight singleflight.Group
	// asked are hashes of what was asked lately, each in the one slot it can have, and in the
	// lowest digits how often.
	asked [1 << 14]atomic.Uint64
	seed  maphash.Seed
}

// typicalBody is about what a page of 100 rows takes, compressed and not, for sizing the
// counters of the cache.
const typicalBody = 16 << 10

func newBodyCache(bytes int64) (*bodyCache, error) {
	c, err := ristretto.NewCache(&ristretto.Config[string, *entry]{
		NumCounters: max(1000, 10*bytes/typicalBody), MaxCost: bytes, BufferItems: 64, IgnoreInternalCost: true, Metrics: true,
	})
	return &bodyCache{cache: c, seed: maphash.MakeSeed()}, err
}

// again is how often an address is asked for until its body is offered to the cache once more:
// the cache may have refused it, or have dropped it for others.
const again = 16

// worthKeeping notes that the identity form of an address was asked for and is not in the cache,
// and says whether to make a body of it: the second time, and every sixteenth from there. Others
// that are asked for push the count out.
func (b *bodyCache) worthKeeping(content []byte, address string) bool {
	var h maphash.Hash
	h.SetSeed(b.seed)
	_, _ = h.Write(content) // never fails, says its documentation
	_, _ = h.WriteString(address)
	sum, times := h.Sum64(), uint64(0)
	slot := &b.asked[sum/again%uint64(len(b.asked))]
	if was := slot.Load(); was/again == sum/again {
		times = (was + 1) % again
	}
	slot.Store(sum - sum%again + times) // two at once may count as one
	return times == 1
}

// appendKey appends a cache key: the digest of the content, the coding, the address.
func appendKey[T string | []byte](dst []byte, content []byte, c coding, address T) []byte {
	dst = append(append(dst, content...), '0'+byte(c))
	return append(dst, address...)
}

// get looks a key up without keeping or copying it.
func (b *bodyCache) get(key []byte) *entry {
	// ristretto hashes the key and lets go of it, so it may live in the caller's buffer.
	e, ok := b.cache.Get(unsafe.String(unsafe.SliceData(key), len(key)))
	if !ok || e.key != string(key) {
		return nil
	}
	return e
}

// put offers an entry under its own key.
func (b *bodyCache) put(e *entry) {
	const overhead = 300 // the entry, its strings and its place in the maps
	b.cache.Set(e.key, e, int64(len(e.body)+len(e.key)+len(e.heads[0])+len(e.heads[1])+overhead))
}

// make returns the entry of a canonical address in a coding. Callers who miss at the same time
// wait for one of them to render body, link and version into it. A body too small to compress
// is kept, and tagged, as identity. rt is the route of the address, nil where its answers are
// not all sent with the same headers.
func (b *bodyCache) make(content []byte, c coding, address string, rt *route, render func(*entry)) *entry {
	key := string(appendKey(nil, content, c, address))
	if e := b.get([]byte(key)); e != nil {
		return e
	}
	made, _, _ := b.flight.Do(key, func() (any, error) {
		e := &entry{key: key, coding: c, rt: rt}
		render(e)
		if len(e.body) <= compressFrom {
			e.coding = identity
		}
		e.body = compress(e.body, e.coding)
		e.etag = etag(content, e.coding, address)
		if rt != nil {
			e.finish()
		}
		b.put(e)
		return e, nil
	})
	return made.(*entry)
}

// alias offers an entry under another spelling of its address, so that the next caller who
// spells it so skips the parser.
func (b *bodyCache) alias(e *entry, content []byte, c coding, spelling []byte) {
	const longest = 512 // longer spellings are rare and would fill the cache with keys
	if key := string(appendKey(nil, content, c, spelling)); key != e.key && len(spelling) <= longest {
		other := *e
		other.key = key
		b.put(&other)
	}
}

// etag is strong and made of what the body is a function of, never of the body.
func etag(content []byte, c coding, address string) string {
	sum := sha256.Sum256(appendKey(nil, content, c, address))
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}

// close ends the cache. It must come after the HTTP server has stopped: ristretto panics on a
// Set during Close.
func (b *bodyCache) close() { b.cache.Close() }
