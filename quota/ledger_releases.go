package quota

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

func releaseKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func rowKey(release uint64, row uint32) []byte {
	return binary.BigEndian.AppendUint32(releaseKey(release), row)
}

// release returns a release; one that is not kept any more has Number 0.
func (tx *hookTx) release(n uint64) (r Release, err error) {
	k := releaseKey(n)
	v := tx.releases.Get(k)
	if v == nil {
		return r, nil
	}
	r.Number = n
	return r, readJSON(fmt.Sprintf("release %d", n), k, v, &r)
}

// Records implements HookStore.
func (l *Ledger) Records(ctx context.Context, release uint64, places []uint32) (out [][]byte, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		out, err = tx.rows(release, places)
		return err
	})
	return out, err
}

// rows are records of a release; those that are no longer kept are left out.
func (tx *hookTx) rows(release uint64, places []uint32) (out [][]byte, err error) {
	for _, row := range places {
		k := rowKey(release, row)
		v := tx.records.Get(k)
		if v == nil {
			continue
		}
		payload, err := unseal(k, v)
		if err != nil {
			return nil, fmt.Errorf("record of release %d: %w", release, err)
		}
		out = append(out, bytes.Clone(payload))
	}
	return out, nil
}

func (tx *hookTx) baseline() (b Baseline, ok bool, err error) {
	if !tx.made() {
		return b, false, nil
	}
	v := tx.announced.Get(baselineKey)
	if v == nil {
		return b, false, nil
	}
	return b, true, readJSON("baseline", baselineKey, v, &b)
}

// Baseline implements HookStore.
func (l *Ledger) Baseline(ctx context.Context) (b Baseline, ok bool, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) (err error) {
		b, ok, err = tx.baseline()
		return err
	})
	return b, ok, err
}

func partKey(part int) []byte { return []byte{'p', byte(part)} }

// Marks implements HookStore.
func (l *Ledger) Marks(ctx context.Context, part int) (out []Mark, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		if !tx.made() {
			return nil
		}
		k := partKey(part)
		v := tx.announced.Get(k)
		if v == nil {
			return nil
		}
		out, err = readMarks(k, v)
		return err
	})
	return out, err
}

func readMarks(k, v []byte) (out []Mark, err error) {
	payload, err := unseal(k, v)
	if err != nil {
		return nil, fmt.Errorf("announced benchmarks: %w", err)
	}
	for in := (reader{b: payload}); len(in.b) > 0; {
		m := Mark{ID: in.string()}
		if h := in.take(8); h != nil {
			m.Hash = binary.BigEndian.Uint64(h)
		}
		m.Withdrawn = in.byte() != 0
		if in.bad || m.ID == "" || len(out) > 0 && out[len(out)-1].ID >= m.ID {
			return nil, fmt.Errorf("%w: announced benchmarks cannot be read", ErrCorrupt)
		}
		out = append(out, m)
	}
	return out, nil
}

// putMarks stores one part, whose marks are sorted here.
func putMarks(b *bolt.Bucket, part int, marks []Mark) error {
	k := partKey(part)
	if len(marks) == 0 {
		return remove(b, k)
	}
	marks = slices.Clone(marks)
	slices.SortFunc(marks, func(a, b Mark) int { return strings.Compare(a.ID, b.ID) })
	var payload []byte
	for _, m := range marks {
		payload = appendString(payload, m.ID)
		payload = binary.BigEndian.AppendUint64(payload, m.Hash)
		withdrawn := byte(0)
		if m.Withdrawn {
			withdrawn = 1
		}
		payload = append(payload, withdrawn)
	}
	return insert(b, k, seal(k, payload))
}

// announceHooks and announceRows are how much of a release one transaction writes: while it runs, the
// leases of calls wait. After each, others have as long as it took.
const (
	announceHooks = 50
	announceRows  = 200
)

// updatePart is updateHooks for one part of a release, and a pause as long as that took.
func (l *Ledger) updatePart(ctx context.Context, fn func(*hookTx) error) error {
	began := time.Now()
	if err := l.updateHooks(ctx, fn); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Since(began)):
		return nil
	}
}

// Announce implements HookStore. Records and deliveries are written by many small transactions, under the
// number of the next release. The last one stores the release and the new baseline. Only then are the
// deliveries due. What a killed process has written of a release that was not stored is removed before the
// next.
func (l *Ledger) Announce(ctx context.Context, a *Announcement) (waiting []Waiting, err error) {
	if a.First {
		return nil, l.storeRelease(ctx, a, 0)
	}
	last, known, err := l.Baseline(ctx)
	if err != nil {
		return nil, err
	}
	if !known || last.Digest != a.Release.PreviousDigest {
		return nil, ErrSuperseded
	}
	if err := l.removeUnannounced(ctx, last.Next); err != nil {
		return nil, err
	}
	for first := 0; first < len(a.Rows); first += announceRows {
		part := a.Rows[first:min(len(a.Rows), first+announceRows)]
		if err := l.updatePart(ctx, func(tx *hookTx) error { return tx.putRows(last.Next, first, part) }); err != nil {
			return nil, err
		}
	}
	for rest := a.Deliveries; len(rest) > 0; {
		n, hooks := 0, 0
		for n < len(rest) && (n == 0 || hooks < announceHooks || rest[n].Key == rest[n-1].Key) { // those of one webhook are next to each other
			if n == 0 || rest[n].Key != rest[n-1].Key {
				hooks++
			}
			n++
		}
		var queued []Waiting
		err := l.updatePart(ctx, func(tx *hookTx) (err error) {
			queued, err = tx.putParts(last.Next, a.Release.At, rest[:n])
			return err
		})
		if err != nil {
			return nil, err
		}
		waiting, rest = append(waiting, queued...), rest[n:]
	}
	return waiting, l.storeRelease(ctx, a, last.Next)
}

// storeRelease stores the baseline, and release n unless it is 0.
func (l *Ledger) storeRelease(ctx context.Context, a *Announcement, n uint64) error {
	return l.update(ctx, "writing", func(plain *bolt.Tx) error {
		tx, err := makeHookBuckets(plain)
		if err != nil {
			return err
		}
		last, _, err := tx.baseline()
		if err != nil {
			return err
		}
		next := a.Baseline
		next.Next = max(last.Next, 1)
		if n != 0 {
			if last.Next != n || last.Digest != a.Release.PreviousDigest {
				return &answer{ErrSuperseded}
			}
			if err := tx.putRelease(n, a); err != nil {
				return err
			}
			next.Next++
		} else if err := removePrefix(tx.announced, []byte{'p'}, nil); err != nil {
			return err
		}
		for part, marks := range a.Parts {
			if err := putMarks(tx.announced, part, marks); err != nil {
				return err
			}
		}
		return putJSON(tx.announced, baselineKey, next)
	})
}

// removeUnannounced removes what was written of release n, which was not stored.
func (l *Ledger) removeUnannounced(ctx context.Context, n uint64) error {
	var left []Delivery
	rows := false
	err := l.viewHooks(ctx, func(tx *hookTx) error {
		k, _ := tx.records.Cursor().Seek(releaseKey(n))
		rows = k != nil
		return tx.outbox.ForEach(func(k, v []byte) error {
			d, err := readDelivery(k, v)
			if err == nil && d.Release >= n {
				left = append(left, d)
			}
			return err
		})
	})
	if err != nil || !rows && len(left) == 0 {
		return err
	}
	for part := range slices.Chunk(left, announceHooks) {
		err := l.updateHooks(ctx, func(tx *hookTx) error {
			for i := range part {
				if err := tx.drop(&part[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return l.updateHooks(ctx, func(tx *hookTx) error { return removePrefix(tx.records, releaseKey(n), nil) })
}

// unannounced reports whether a delivery belongs to a release that is not stored yet, or was not
// stored because the process was killed.
func (tx *hookTx) unannounced(d *Delivery) (bool, error) {
	if d.Release == 0 {
		return false, nil
	}
	if tx.next == 0 {
		b, _, err := tx.baseline()
		if err != nil {
			return false, err
		}
		tx.next = b.Next
	}
	return d.Release >= tx.next, nil
}

// putRows stores records of release n, from place first on.
func (tx *hookTx) putRows(n uint64, first int, rows [][]byte) error {
	tx.records.FillPercent = 0.9 // keys rise
	for i, row := range rows {
		k := rowKey(n, uint32(first+i))
		if err := insert(tx.records, k, seal(k, row)); err != nil {
			return err
		}
	}
	return nil
}

// putRelease stores a release whose records are stored.
func (tx *hookTx) putRelease(n uint64, a *Announcement) error {
	r := a.Release
	r.Number, r.Rows, r.Bytes = n, len(a.Rows), 0
	for _, row := range a.Rows {
		r.Bytes += len(row)
	}
	return errors.Join(putJSON(tx.releases, releaseKey(n), r), tx.dropReleases())
}

// putParts queues deliveries of some webhooks, and lists those for which it did.
func (tx *hookTx) putParts(n uint64, at int64, list []Delivery) (waiting []Waiting, err error) {
	for i := 0; i < len(list); {
		first := i
		for i < len(list) && list[i].Key == list[first].Key {
			i++
		}
		queued, err := tx.putDeliveries(n, at, list[first:i])
		if err != nil {
			return nil, err
		}
		if queued {
			waiting = append(waiting, Waiting{list[first].Key, at})
		}
	}
	return waiting, nil
}

// putDeliveries queues the deliveries of one webhook, and reports whether it did.
func (tx *hookTx) putDeliveries(release uint64, at int64, list []Delivery) (bool, error) {
	h, ok, err := tx.findHook(list[0].Key)
	if err != nil || !ok || h.State != HookActive {
		return false, err // deleted meanwhile, or not active
	}
	if h.Queued+len(list) > MaxQueued {
		h.State, h.Changed = HookDisabled, at
		h.Reason = fmt.Sprintf("%d messages were waiting when another release came", h.Queued)
		return false, tx.putHook(&h)
	}
	for _, d := range list {
		d.Seq, d.Release, d.Created, d.NextAt, d.State = h.Next, release, at, at, DeliveryPending
		h.Next++
		h.Queued++
		if err := putDelivery(tx.outbox, &d); err != nil {
			return false, err
		}
	}
	return true, tx.putHook(&h)
}

// dropReleases removes the oldest releases beyond the bounds.
func (tx *hookTx) dropReleases() error {
	kept, size := 0, 0
	c := tx.releases.Cursor()
	for k, v := c.Last(); k != nil; k, v = c.Prev() {
		var r Release
		if err := readJSON("release", k, v, &r); err != nil {
			return err
		}
		kept, size = kept+1, size+r.Bytes
		if kept > 1 && (kept > maxReleases || size > maxReleaseBytes) {
			return tx.dropReleasesBelow(binary.BigEndian.Uint64(k) + 1)
		}
	}
	return nil
}

// dropReleasesBelow removes the releases with lower numbers and their records.
func (tx *hookTx) dropReleasesBelow(n uint64) error {
	return errors.Join(removePrefix(tx.records, nil, releaseKey(n)), removePrefix(tx.releases, nil, releaseKey(n)))
}

// Forget implements HookStore.
func (l *Ledger) Forget(ctx context.Context) error {
	return l.updateHooks(ctx, func(tx *hookTx) error {
		if !tx.made() {
			return nil
		}
		if k, _ := tx.hooks.Cursor().First(); k != nil {
			return nil
		}
		next, known, err := tx.baseline()
		if err != nil || !known {
			return err
		}
		return errors.Join(removePrefix(tx.announced, nil, nil), tx.dropReleasesBelow(next.Next))
	})
}
