package hooks

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"modeldex/quota"
)

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func recordKey(release uint64, place uint32) []byte {
	return binary.BigEndian.AppendUint32(numberKey(release), place)
}

// release returns a release; one that is not kept any more has Number 0.
func (tx *tx) release(n uint64) (r Release, err error) {
	v, err := tx.releases.Get(numberKey(n))
	if v == nil || err != nil {
		return r, err
	}
	r.Number = n
	return r, read("release", v, &r)
}

// Records returns records of a release by their places; those that are no longer kept are left out.
func (s *Store) Records(ctx context.Context, release uint64, places []uint32) ([][]byte, error) {
	return view(ctx, s, func(tx *tx) (out [][]byte, err error) {
		for _, place := range places {
			v, err := tx.records.Get(recordKey(release, place))
			if err != nil {
				return nil, err
			}
			if v != nil {
				out = append(out, slices.Clone(v))
			}
		}
		return out, nil
	})
}

var baselineKey = []byte("baseline")

// baseline returns what was announced last; its Digest is empty when nothing was.
func (tx *tx) baseline() (b Baseline, err error) {
	v, err := tx.announced.Get(baselineKey)
	if v == nil || err != nil {
		return b, err
	}
	return b, read("baseline", v, &b)
}

// Announced returns the dataset that was announced last and its benchmarks by id. Digest is empty when there is none.
func (s *Store) Announced(ctx context.Context) (b Baseline, marks map[string]Mark, err error) {
	marks = map[string]Mark{}
	b, err = view(ctx, s, func(tx *tx) (Baseline, error) {
		b, err := tx.baseline()
		return b, errors.Join(err, tx.announced.Each(marksKey, func(_, v []byte) (bool, error) { return true, readMarks(v, marks) }))
	})
	return b, marks, err
}

// marksKey is the row of all marks. Earlier versions had a row for each of 256 parts, whose keys begin with it.
var marksKey = []byte{'p'}

// readMarks reads a row: of each mark the length of the id and the id, the hash (8 bytes), withdrawn (1 byte).
func readMarks(v []byte, out map[string]Mark) error {
	for len(v) > 0 {
		n, used := binary.Uvarint(v)
		if used <= 0 || n > uint64(len(v)) || len(v) < used+int(n)+9 {
			return fmt.Errorf("%w: announced benchmarks cannot be read", quota.ErrCorrupt)
		}
		id, rest := v[used:used+int(n)], v[used+int(n):]
		out[string(id)] = Mark{Hash: binary.BigEndian.Uint64(rest), Withdrawn: rest[8] != 0}
		v = rest[9:]
	}
	return nil
}

func (tx *tx) putMarks(marks map[string]Mark) error {
	var row []byte
	for _, id := range slices.Sorted(maps.Keys(marks)) {
		row = append(binary.AppendUvarint(row, uint64(len(id))), id...)
		row = append(binary.BigEndian.AppendUint64(row, marks[id].Hash), 0)
		if marks[id].Withdrawn {
			row[len(row)-1] = 1
		}
	}
	return errors.Join(tx.announced.DeletePrefix(marksKey), tx.announced.Put(marksKey, row))
}

// Announce stores an announcement and returns the webhooks that have messages waiting now. Webhooks that are gone or
// not active get none; one with a full queue is disabled.
func (s *Store) Announce(ctx context.Context, a *Announcement) (waiting []Hook, err error) {
	err = s.update(ctx, func(tx *tx) error {
		last, err := tx.baseline()
		if err != nil {
			return err
		}
		base := a.Baseline
		base.Next = max(last.Next, 1)
		if a.Release != nil {
			r := *a.Release
			r.Number = base.Next
			base.Next++
			if waiting, err = tx.putRelease(&r, a); err != nil {
				return err
			}
		}
		return errors.Join(put(&tx.announced, baselineKey, base), tx.putMarks(a.Marks))
	})
	return waiting, err
}

func (tx *tx) putRelease(r *Release, a *Announcement) (waiting []Hook, err error) {
	if err := tx.records.DeletePrefix(numberKey(r.Number)); err != nil { // of an earlier version, see Open
		return nil, err
	}
	for i, row := range a.Rows {
		r.Bytes += len(row)
		if err := tx.records.Put(recordKey(r.Number, uint32(i)), row); err != nil {
			return nil, err
		}
	}
	if err := put(&tx.releases, numberKey(r.Number), r); err != nil {
		return nil, err
	}
	for _, list := range a.Messages {
		h, taken, err := tx.queue(r, list)
		if err != nil {
			return nil, err
		}
		if taken {
			waiting = append(waiting, h)
		}
	}
	return waiting, tx.dropReleases(func(old Release, newer int) bool { return newer+old.Bytes > maxReleaseBytes })
}

// queue adds the messages of a release to one webhook, and reports whether it takes them.
func (tx *tx) queue(r *Release, list []Delivery) (h Hook, taken bool, err error) {
	h, err = tx.hook(list[0].Key)
	switch {
	case errors.Is(err, ErrNoHook):
		return h, false, nil // deleted meanwhile
	case err != nil || h.State != Active:
		return h, false, err
	case h.Queued+len(list) > MaxQueued:
		h.State, h.Changed = Disabled, r.At
		h.Reason = fmt.Sprintf("%d messages were waiting when another release came", h.Queued)
		return h, false, tx.putHook(&h)
	}
	for _, d := range list {
		d.Release, d.Created, d.NextAt = r.Number, r.At, r.At
		if err := tx.enqueue(&h, &d); err != nil {
			return h, false, err
		}
	}
	return h, true, tx.putHook(&h)
}

// dropReleases removes releases and their records. drop gets each, newest first, and the bytes of those that are
// newer.
func (tx *tx) dropReleases(drop func(r Release, newer int) bool) error {
	var all []Release
	err := each(&tx.releases, nil, "release", func(k []byte, r Release) error {
		r.Number = binary.BigEndian.Uint64(k)
		all = append(all, r)
		return nil
	})
	newer := 0
	for _, r := range slices.Backward(all) {
		if err == nil && drop(r, newer) {
			err = errors.Join(tx.records.DeletePrefix(numberKey(r.Number)), tx.releases.Delete(numberKey(r.Number)))
		}
		newer += r.Bytes
	}
	return err
}
