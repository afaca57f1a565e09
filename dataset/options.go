package dataset

import (
	"io/fs"
	"time"
)

// Options says how to load. The zero value loads with every core and no progress.
type Options struct {
	// Workers is how many goroutines decode; zero means one per core.
	Workers int
	// Progress, if set, is called after each piece read, in bytes, by one goroutine at a time.
	Progress func(read, total int64)
	// Now is the clock that dates in the future are judged by; nil means time.Now.
	Now func() time.Time
	// Previous, if set, is the dataset as it was published before: a benchmark of it that is gone
	// is a fault.
	Previous fs.FS
	// Review, if set, returns a rule for one benchmark that needs more than this package has. Check and Propose
	// warn of the field with the text it returns; an empty text is no warning. See resolve.Review.
	Review func([]*Model, []*Hardware) func(*Benchmark) (field, text string)
	// Last, if set, is what an earlier Load returned: files whose bytes are the same are not
	// decoded again. Everything is checked again all the same.
	Last *Set

	chunk int // bytes of a chunk; zero means chunkSize
}

// chunkSize is how much of an .ndjson file one worker takes at a time. It is large enough that handing it over
// costs nothing, and small enough that a few at once need little memory. A longer line makes a longer chunk.
const chunkSize = 1 << 20
