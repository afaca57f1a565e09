package httpapi

import (
	"modeldex/index"
	"modeldex/snapshot"
)

// contentOf names what answers of data are made of: the dataset and the newest snapshot. It
// goes into cache keys and entity tags, so a change of either outdates them at once.
func contentOf(gen *index.Generation, catalog *snapshot.Catalog) (content [16]byte) {
	if gen != nil {
		copy(content[:], gen.Digest[:])
	}
	if published, ok := catalog.Latest(); ok {
		for i := range 8 {
			content[i] ^= published.Hash[i] // hex digits, 32 bits of hash
		}
	}
	return content
}
