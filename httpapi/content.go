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
		addEdition(&content, published.Hash)
	}
	return content
}

// contentOfKept is contentOf while a generation was served.
func contentOfKept(gen *index.Generation) (content [16]byte) {
	copy(content[:], gen.Digest[:])
	if gen.Edition != "" {
		addEdition(&content, gen.Edition)
	}
	return content
}

// addEdition mixes the hash of the newest snapshot in.
func addEdition(content *[16]byte, hash string) {
	for i := range 8 {
		content[i] ^= hash[i] // hex digits, 32 bits of hash
	}
}
