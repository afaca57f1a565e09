package resolve

import "slices"

// reading is a name as it was understood.
type reading struct {
	found    []int32 // records it may be
	memory   float64
	count    int
	clash    []int32 // records it would be but for the memory size
	unread   string  // a part that could not be understood and may make another product of it
	note     string  // what was read besides
	chosen   bool    // a memory size or a number of cores chose among variants
	partial  bool    // some of the alternatives in the name are not in the directory
	bare     bool    // the records state a memory size that the name leaves out
	internal bool    // said to be integrated graphics
	main     string  // what names the part
}

// none reports that no record has the name, of whatever memory size.
func (r *reading) none() bool { return len(r.found) == 0 && len(r.clash) == 0 }

// or joins two readings of one name.
func (r reading) or(other reading) reading {
	for _, rec := range other.found {
		r.found = appendOnce(r.found, rec)
	}
	for _, rec := range other.clash {
		r.clash = appendOnce(r.clash, rec)
	}
	r.bare, r.chosen = r.bare || other.bare, r.chosen || other.chosen
	return r
}

// look finds the records with these words, and lets the memory size choose among them.
func (n *hardwareNames) look(words []string, memory float64) reading {
	return n.lookKey(join(words), memory)
}

func (n *hardwareNames) lookKey(key string, memory float64) (r reading) {
	named := n.keys[key]
	if memory == 0 {
		r.found, r.bare = n.withoutMemory(key)
		return r
	}
	for _, s := range named {
		if same(s.memory, memory) {
			r.found = appendOnce(r.found, s.rec)
		}
	}
	if len(r.found) > 0 {
		return r
	}
	for _, s := range named {
		if s.memory != 0 {
			r.clash = appendOnce(r.clash, s.rec)
			continue
		}
		rec := n.refine(s.rec, memory)
		if rec < 0 {
			r.clash = appendOnce(r.clash, s.rec)
			continue
		}
		r.chosen = r.chosen || rec != s.rec
		r.found = appendOnce(r.found, rec)
	}
	return r
}

// outside leaves out processors that share a name with their own graphics: the name of the
// graphics alone does not say which processor they are in.
func (n *hardwareNames) outside(found []int32) []int32 {
	if len(found) < 2 {
		return found
	}
	return slices.DeleteFunc(found, func(rec int32) bool {
		return n.recs[rec].integrated >= 0 && slices.Contains(found, n.recs[rec].integrated)
	})
}

// withoutMemory finds the records a key means where the name states no memory size. bare reports
// that all of them state one, so that the name does not choose.
func (n *hardwareNames) withoutMemory(key string) (found []int32, bare bool) {
	var all []int32
	for _, s := range n.keys[key] {
		all = appendOnce(all, s.rec)
		if s.memory == 0 {
			found = appendOnce(found, s.rec)
		}
	}
	found, all = n.outside(found), n.outside(all)
	switch {
	case len(found) == 0:
		return all, len(all) > 0
	case len(found) == 1 && len(all) > 1 && n.recs[found[0]].memory > 0:
		return all, true // an alias without the memory size of its record, which others have too
	}
	return found, false
}

// refine is the record a memory size leaves of rec: rec itself, the one of its variants that can
// have it, or -1 where none can.
func (n *hardwareNames) refine(rec int32, memory float64) int32 {
	r := &n.recs[rec]
	if len(r.variants) == 0 {
		if !n.mayHave(rec, memory) {
			return -1
		}
		return rec
	}
	var may []int32
	sure := true
	for _, v := range r.variants {
		if n.mayHave(v, memory) {
			may = append(may, v)
		}
		sure = sure && len(n.recs[v].sizes) > 0
	}
	switch {
	case len(may) == 0:
		return -1
	case len(may) == 1 && sure && len(r.variants) > 1:
		return may[0]
	}
	return rec
}

// mayHave reports whether a record can have a memory size. The memory of a processor is whatever
// was fitted.
func (n *hardwareNames) mayHave(rec int32, memory float64) bool {
	r := &n.recs[rec]
	switch {
	case r.kind == "cpu" || r.kind == "apu" && len(r.sizes) == 0:
		return true
	case len(r.sizes) > 0:
		return slices.ContainsFunc(r.sizes, func(s float64) bool { return same(s, memory) })
	case r.most > 0:
		return memory <= r.most*1.01
	}
	return true
}

// same compares memory sizes. Drivers report up to 7 per cent less than the size on the box, because error
// correction and firmware keep a part. No two sizes of one card are that close.
func same(size, reported float64) bool {
	return reported > 0 && reported <= size*1.005 && reported >= size*0.93
}
