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

var (
	baselineKey = []byte("baseline")
	// marksKey is the row of all marks. Earlier versions had a row for each of 256 parts, whose keys begin with it.
	marksKey = []byte{'p'}
)

// baseline returns what was announced last; its Digest is empty when nothing was.
func (tx *tx) baseline() (b Baseline, err error) {
	err = get(&tx.announced, baselineKey, "baseline", &b)
	return b, err
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

// Announce stores an announcement and returns the webhooks that got messages. Webhooks that are gone or not active get
// none; one with a full queue is disabled.
func (s *Store) Announce(ctx context.Context, a *Announcement) (waiting []Hook, err error) {
	err = s.update(ctx, func(tx *tx) error {
		last, err := tx.baseline()
		if err != nil {
			return err
		}
		base := Baseline{a.Version, a.Digest, max(last.Next, 1)}
		if a.Messages != nil {
			if waiting, err = tx.putRelease(base.Next, a); err != nil {
				return err
			}
			base.Next++
		}
		var row []byte
		for _, id := range slices.Sorted(maps.Keys(a.Marks)) {
			row = append(binary.AppendUvarint(row, uint64(len(id))), id...)
			row = append(binary.BigEndian.AppendUint64(row, a.Marks[id].Hash), 0)
			if a.Marks[id].Withdrawn {
				row[len(row)-1] = 1
			}
		}
		return errors.Join(put(&tx.announced, baselineKey, base), tx.announced.DeletePrefix(marksKey), tx.announced.Put(marksKey, row))
	})
	return waiting, err
}

func (tx *tx) putRelease(number uint64, a *Announcement) (waiting []Hook, err error) {
	for i, row := range a.Rows {
		err = errors.Join(err, tx.records.Put(recordKey(number, uint32(i)), row))
	}
	all, errList := tx.list(nil)
	err = errors.Join(err, errList, put(&tx.releases, numberKey(number), a.Release))
	needed := map[uint64]bool{}
	for i := range all {
		h := &all[i]
		switch list := a.Messages[h.Key]; {
		case len(list) == 0 || h.State != Active:
		case len(h.Queue)+len(list) > MaxQueued:
			h.Disable(fmt.Sprintf("%d messages were waiting when another release came", len(h.Queue)), a.At)
			err = errors.Join(err, tx.save(h))
		default:
			for _, d := range list {
				d.Seq, d.Release, d.Created = h.Next, number, a.At
				h.Queue, h.Next = append(h.Queue, d), h.Next+1
			}
			waiting, err = append(waiting, *h), errors.Join(err, tx.save(h))
		}
		for _, d := range h.Queue {
			needed[d.Release] = true
		}
	}
	return waiting, errors.Join(err, tx.dropReleases(needed))
}

// dropReleases removes releases that are not needed any more, and the records of the oldest ones beyond the bound.
func (tx *tx) dropReleases(needed map[uint64]bool) error {
	var all []uint64
	bytes := map[uint64]int{}
	err := each(&tx.releases, nil, "release", func(k []byte, r Release) error {
		number := binary.BigEndian.Uint64(k)
		all, bytes[number] = append(all, number), r.Bytes
		return nil
	})
	newer := 0
	for _, number := range slices.Backward(all) {
		if newer += bytes[number]; !needed[number] || newer > maxReleaseBytes {
			err = errors.Join(err, tx.records.DeletePrefix(numberKey(number)))
		}
		if !needed[number] {
			err = errors.Join(err, tx.releases.Delete(numberKey(number)))
		}
	}
	return err
}
