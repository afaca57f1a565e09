package service

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// memory bounds what the process takes: what it needs at the start, plus the response cache and a
// quarter of it.
//
// Go collects garbage when the heap has doubled. A full cache of 256 MiB would then cost 512.
// A memory limit (see runtime/debug.SetMemoryLimit) has the collector run earlier, but only as the
// heap comes near the limit, so a small heap costs nothing. GOMEMLIMIT and GOGC in the environment
// are the operator's decision: where one is set, its setting is not changed here.
type memory struct {
	mu                sync.Mutex
	afterLook         *time.Timer // ends what the start or reloading began
	cacheBytes        int64
	limitSet, gogcSet bool  // by the operator
	percent           int   // of debug.SetGCPercent before any change
	startBytes        int64 // what the runtime had from the system at the start, without garbage
	startRows, rows   int   // bytes of rows at the start and now
}

// lookTime is after how long memory that was used to look at the files is given back. The watcher reports only
// what is new; if a load takes longer, it goes on under the bound.
const lookTime = 5 * time.Second

// settleTime is after how long what follows a start is given back: the first regular look of the watcher comes
// after ten seconds.
const settleTime = 12 * time.Second

const (
	// minHeadroom is how much garbage may gather beside the cache, in bytes: with less, a burst of
	// large pages would keep the collector running.
	minHeadroom = 32 << 20
	// unseenBytes is how much is resident under traffic that the collector does not count. 15 MiB are of the
	// program's file, which serving maps again (see forgetProgram). 6 MiB are stacks of threads, memory that was
	// counted before it was touched, and garbage above the limit. Measured by bench memory, and rounded up.
	unseenBytes = 24 << 20
)

// answerBytes is how much of a cache of that size responses may fill: all of it from 224 MiB on, a
// quarter of it up to 56. What else grows under traffic has room in the quarter on top.
func answerBytes(cache int64) int64 {
	return max(cache/4, min(cache, cache+cache/4-minHeadroom-unseenBytes))
}

func newMemory(cacheBytes int64) *memory {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return &memory{cacheBytes: cacheBytes, limitSet: debug.SetMemoryLimit(-1) != math.MaxInt64, gogcSet: percent != 100, percent: percent}
}

// startPercent has few collections come while the dataset is loaded for the first time. What a load leaves
// behind is a quarter of what it keeps, so nearly all that each of them looked at, it would keep.
const startPercent = 400

// starting is called before the dataset is loaded for the first time; started or stop ends it.
func (m *memory) starting() {
	if !m.gogcSet {
		debug.SetGCPercent(startPercent)
	}
}

const (
	// manyBytes is how large the files of a dataset are of which no collection looks at the records.
	// Collections took a tenth of the processor time of a start on a million records, and found next to
	// nothing.
	manyBytes = 64 << 20
	// heapPerByte bounds the heap while such files are read, in bytes for each byte that was read, beside manyBytes:
	// records take one and a half. Lines that are not in canonical format leave more behind.
	heapPerByte = 4
)

// reading is called while the dataset is loaded for the first time, after each piece. No collection comes in a
// start on a large dataset, for nearly all that it looked at, it would keep. What the start leaves behind is
// collected by started.
func (m *memory) reading(read, total int64) {
	switch {
	case m.gogcSet || total < manyBytes:
	case heap() > uint64(manyBytes+heapPerByte*read):
		debug.SetGCPercent(startPercent)
	default:
		debug.SetGCPercent(-1)
	}
}

// heap is how many bytes the heap has, garbage included.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// started returns to the system what the start needed, and sets the bound. The first requests may come
// meanwhile. rows is the size of the rows being served, in bytes.
func (m *memory) started(rows int) {
	debug.FreeOSMemory()
	forgetProgram()
	m.mu.Lock()
	m.startBytes, m.startRows = held(), max(1, rows)
	m.afterLook = time.AfterFunc(settleTime, m.worked) // what listening, the first dump and the first look needed
	m.mu.Unlock()
	m.bound(rows)
}

// worked is called after work in the background that took much memory for a while, such as a dump of
// the dataset. The first one may find that the start needs less than was known before.
func (m *memory) worked() {
	giveBack()
	m.mu.Lock()
	rows := m.rows
	if rows == m.startRows {
		m.startBytes = min(m.startBytes, held())
	}
	m.mu.Unlock()
	m.bound(rows)
}

// giveBack returns to the system all memory that is not in use. Pools (see sync.Pool) are emptied by the
// second collection, which FreeOSMemory makes: the encoders a dump was compressed with are 30 MB.
func giveBack() {
	runtime.GC()
	debug.FreeOSMemory()
	forgetProgram()
}

// reloading lifts the bound while two generations may be in memory. A look reads every file, to
// compare it: what that needed goes back to the system after lookTime.
func (m *memory) reloading() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.limitSet {
		debug.SetMemoryLimit(math.MaxInt64)
	}
	if m.afterLook != nil {
		m.afterLook.Stop()
	}
	m.afterLook = time.AfterFunc(lookTime, m.worked)
}

// reloaded collects the generation that is no longer served, and sets the bound again. Without it, the next
// collection would come when the heap has doubled, counted from when it had two generations. This one runs
// beside the readers, and its pages go back to the system little by little. debug.FreeOSMemory would return
// them at once, and readers would wait for pages they need a moment later.
func (m *memory) reloaded(rows int) {
	m.mu.Lock()
	if m.afterLook != nil {
		m.afterLook.Stop()
	}
	m.mu.Unlock()
	runtime.GC()
	m.bound(rows)
	// How many pages are returned follows from what was in use when a collection began: only a
	// collection that begins without the old generation returns its pages.
	runtime.GC()
}

// bound sets the limit for a dataset whose rows have a size. What the process needs beside the
// cache grows with the rows.
func (m *memory) bound(rows int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows = rows
	if !m.limitSet && m.startBytes > 0 {
		debug.SetMemoryLimit(m.limit(rows))
	}
	if !m.gogcSet {
		debug.SetGCPercent(percentFor(live()))
	}
}

// limit is the bound in bytes.
func (m *memory) limit(rows int) int64 {
	base := float64(m.startBytes) * max(1, float64(rows)/float64(m.startRows))
	return int64(base) + max(m.cacheBytes+m.cacheBytes/4-unseenBytes, answerBytes(m.cacheBytes)+minHeadroom)
}

// minSpare is how much garbage may gather on any heap before it is collected, in bytes.
const minSpare = 128 << 20

// percentFor makes the next collection run when the heap has grown by an eighth or minSpare. Go's default lets
// the heap double, so a million benchmarks would need twice their memory. A collection of them takes some 0.3
// seconds of processor.
func percentFor(live uint64) int {
	live = max(1, live)
	return int(min(100, 100*max(minSpare, live/8)/live))
}

// live is what the last collection found in use, in bytes.
func live() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// held is what the runtime has from the system and has not returned, in bytes. It is what
// SetMemoryLimit limits.
func held() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// stop ends what is scheduled, and the bound.
func (m *memory) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.afterLook != nil {
		m.afterLook.Stop()
	}
	if !m.limitSet {
		debug.SetMemoryLimit(math.MaxInt64)
	}
	if !m.gogcSet {
		debug.SetGCPercent(m.percent)
	}
}
