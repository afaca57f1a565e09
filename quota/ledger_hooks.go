package quota

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	jsonv2 "github.com/goccy/go-json/v2"
)

// The buckets of webhooks; doc.go draws them. They are made with the first webhook: a ledger
// without webhooks has none, and a program that does not know them leaves them alone.
var (
	hooksBucket     = []byte("hooks")
	outboxBucket    = []byte("outbox")
	sentBucket      = []byte("sent")
	releasesBucket  = []byte("releases")
	recordsBucket   = []byte("records")
	announcedBucket = []byte("announced")

	hookBuckets = [][]byte{hooksBucket, outboxBucket, sentBucket, releasesBucket, recordsBucket, announcedBucket}

	baselineKey = []byte("baseline")
)

var _ HookStore = (*Ledger)(nil)

// hookTx gives the buckets of webhooks in one transaction; all are nil before the first webhook.
type hookTx struct {
	*bolt.Tx
	hooks, outbox, sent, releases, records, announced *bolt.Bucket

	next uint64 // number of the next release; 0 until it is asked for, see unannounced
}

func hookTxOf(tx *bolt.Tx) *hookTx {
	return &hookTx{
		Tx: tx, hooks: tx.Bucket(hooksBucket), outbox: tx.Bucket(outboxBucket), sent: tx.Bucket(sentBucket), releases: tx.Bucket(releasesBucket),
		records: tx.Bucket(recordsBucket), announced: tx.Bucket(announcedBucket),
	}
}

// made reports whether there are buckets: the last one is made with all others.
func (tx *hookTx) made() bool { return tx.announced != nil }

func (l *Ledger) viewHooks(ctx context.Context, fn func(*hookTx) error) error {
	return l.view(ctx, "reading", func(tx *bolt.Tx) error { return fn(hookTxOf(tx)) })
}

func (l *Ledger) updateHooks(ctx context.Context, fn func(*hookTx) error) error {
	return l.update(ctx, "writing", func(tx *bolt.Tx) error { return fn(hookTxOf(tx)) })
}

// putJSON stores a sealed JSON value.
func putJSON(b *bolt.Bucket, k []byte, v any) error {
	payload, err := encodeStored(v)
	if err != nil {
		return err
	}
	return insert(b, k, seal(k, payload))
}

// readJSON reads a sealed JSON value.
func readJSON(what string, k, sealed []byte, v any) error {
	payload, err := unseal(k, sealed)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if jsonv2.Unmarshal(payload, v) != nil {
		return fmt.Errorf("%w: %s cannot be read", ErrCorrupt, what) // the decoder's words could quote a secret
	}
	return nil
}

func readHook(k, v []byte) (Hook, error) {
	if len(k) != 16 {
		return Hook{}, fmt.Errorf("%w: webhook key has %d bytes", ErrCorrupt, len(k))
	}
	h := Hook{Key: hookFromKey(k)}
	if err := readJSON("webhook "+h.Key.Hook.String(), k, v, &h); err != nil {
		return h, err
	}
	if err := h.Check(); err != nil {
		return h, fmt.Errorf("%w: webhook %s: %w", ErrCorrupt, h.Key.Hook, err)
	}
	return h, nil
}

// hook returns one webhook, or an answer of ErrNoHook.
func (tx *hookTx) hook(k HookKey) (Hook, error) {
	h, ok, err := tx.findHook(k)
	if !ok && err == nil {
		err = &answer{ErrNoHook}
	}
	return h, err
}

// findHook returns one webhook, false when there is none.
func (tx *hookTx) findHook(k HookKey) (h Hook, ok bool, err error) {
	if !tx.made() {
		return h, false, nil
	}
	v := tx.hooks.Get(k.key())
	if v == nil {
		return h, false, nil
	}
	h, err = readHook(k.key(), v)
	return h, true, err
}

func (tx *hookTx) putHook(h *Hook) error { return putJSON(tx.hooks, h.Key.key(), h) }

func readDelivery(k, v []byte) (Delivery, error) {
	if len(k) != 24 {
		return Delivery{}, fmt.Errorf("%w: delivery key has %d bytes", ErrCorrupt, len(k))
	}
	d := Delivery{Key: hookFromKey(k), Seq: seqFromKey(k)}
	err := readJSON(fmt.Sprintf("delivery %d of %s", d.Seq, d.Key.Hook), k, v, &d)
	return d, err
}

func putDelivery(b *bolt.Bucket, d *Delivery) error { return putJSON(b, d.Key.item(d.Seq), d) }

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

// job puts a delivery together with what its message is made of.
func (tx *hookTx) job(h Hook, d Delivery) (Job, error) {
	j := Job{Delivery: d, Hook: h}
	if d.Release == 0 {
		return j, nil
	}
	r, err := tx.release(d.Release)
	if err != nil {
		return j, err
	}
	j.Release = r
	return j, nil
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

// eachHook visits the webhooks of one account, or of all for zero.
func (tx *hookTx) eachHook(account ID, fn func(Hook) error) error {
	if !tx.made() {
		return nil
	}
	var prefix []byte
	if account != 0 {
		prefix = account.key()
	}
	c := tx.hooks.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix) && k != nil; k, v = c.Next() {
		h, err := readHook(k, v)
		if err != nil {
			return err
		}
		if err := fn(h); err != nil {
			return err
		}
	}
	return nil
}

// CreateHook implements HookStore.
func (l *Ledger) CreateHook(ctx context.Context, h Hook, most int) error {
	if err := h.Check(); err != nil {
		return fmt.Errorf("creating webhook: %w", err)
	}
	return l.updateHooks(ctx, func(tx *hookTx) error {
		r, err := getRecord(tx.Tx, h.Key.Account)
		switch {
		case err != nil:
			return err
		case r.Status == StatusRevoked:
			return &answer{ErrFinal}
		case !tx.made() || tx.announced.Get(baselineKey) == nil:
			return &answer{ErrNoBaseline}
		case tx.hooks.Get(h.Key.key()) != nil:
			return &answer{ErrTaken}
		}
		n := 0
		if err := tx.eachHook(h.Key.Account, func(Hook) error { n++; return nil }); err != nil {
			return err
		}
		if n >= most {
			return &answer{ErrTooManyHooks}
		}
		return tx.putHook(&h)
	})
}

// GetHook implements HookStore.
func (l *Ledger) GetHook(ctx context.Context, k HookKey) (h Hook, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) (err error) {
		h, err = tx.hook(k)
		return err
	})
	return h, err
}

// UpdateHook implements HookStore.
func (l *Ledger) UpdateHook(ctx context.Context, k HookKey, fn func(*Hook) error) (h Hook, err error) {
	err = l.updateHooks(ctx, func(tx *hookTx) (err error) {
		if h, err = tx.hook(k); err != nil {
			return err
		}
		if err := fn(&h); err != nil {
			return &answer{err}
		}
		h.Rev++
		if err := h.Check(); err != nil {
			return &answer{fmt.Errorf("changing webhook %s: %w", k.Hook, err)}
		}
		return tx.putHook(&h)
	})
	return h, err
}

// DeleteHook implements HookStore.
func (l *Ledger) DeleteHook(ctx context.Context, k HookKey) error {
	return l.updateHooks(ctx, func(tx *hookTx) error {
		if _, err := tx.hook(k); err != nil {
			return err
		}
		return tx.removeHook(k)
	})
}

func (tx *hookTx) removeHook(k HookKey) error {
	return errors.Join(
		removePrefix(tx.outbox, k.key(), nil),
		removePrefix(tx.sent, k.key(), nil),
		remove(tx.hooks, k.key()),
	)
}

// removeHooksOf removes everything webhooks have of an account whose key was revoked.
func removeHooksOf(tx *bolt.Tx, id ID) error {
	hooks := hookTxOf(tx)
	if !hooks.made() {
		return nil
	}
	return errors.Join(
		removePrefix(hooks.outbox, id.key(), nil),
		removePrefix(hooks.sent, id.key(), nil),
		removePrefix(hooks.hooks, id.key(), nil),
	)
}

// removePrefix removes the rows whose keys have a prefix, and, where end is not nil, are below it.
func removePrefix(b *bolt.Bucket, prefix, end []byte) error {
	var keys [][]byte // a cursor must not be moved over rows that are being removed
	c := b.Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && (end == nil || bytes.Compare(k, end) < 0); k, _ = c.Next() {
		keys = append(keys, bytes.Clone(k))
	}
	for _, k := range keys {
		if err := remove(b, k); err != nil {
			return err
		}
	}
	return nil
}

// EachHook implements HookStore. fn runs inside a read transaction.
func (l *Ledger) EachHook(ctx context.Context, account ID, fn func(Hook) error) error {
	return l.viewHooks(ctx, func(tx *hookTx) error {
		return tx.eachHook(account, func(h Hook) error {
			if err := fn(h); err != nil {
				return &answer{err}
			}
			return nil
		})
	})
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
	slices.SortFunc(marks, func(a, b Mark) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) })
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

// makeHookBuckets makes the buckets of webhooks that are missing.
func makeHookBuckets(tx *bolt.Tx) (*hookTx, error) {
	for _, name := range hookBuckets {
		if _, err := makeBucket(tx, name); err != nil {
			return nil, err
		}
	}
	return hookTxOf(tx), nil
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

// Announce implements HookStore. Records and deliveries are written by many small transactions, under
// the number of the release to come; the last one stores the release and the new baseline, and only
// then are the deliveries due. What a killed process has written of a release that was not stored is
// removed before the next.
func (l *Ledger) Announce(ctx context.Context, a *Announcement) (waiting []Waiting, err error) {
	if a.First {
		return nil, l.announced(ctx, a, 0)
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
	return waiting, l.announced(ctx, a, last.Next)
}

// announced stores the baseline, and release n unless it is 0.
func (l *Ledger) announced(ctx context.Context, a *Announcement, n uint64) error {
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

// Enqueue implements HookStore.
func (l *Ledger) Enqueue(ctx context.Context, d Delivery) (Delivery, error) {
	d.Once, d.State = true, DeliveryPending
	err := l.updateHooks(ctx, func(tx *hookTx) error {
		h, err := tx.hook(d.Key)
		if err != nil {
			return err
		}
		if h.Queued >= MaxQueued {
			return &answer{ErrQueueFull}
		}
		d.Seq = h.Next
		h.Next++
		h.Queued++
		return errors.Join(putDelivery(tx.outbox, &d), tx.putHook(&h))
	})
	return d, err
}

// Waiting implements HookStore.
func (l *Ledger) Waiting(ctx context.Context, now int64) (out []Waiting, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		out = nil
		return tx.eachHook(0, func(h Hook) error {
			if h.Queued == 0 {
				return nil
			}
			_, at, err := tx.due(&h, now)
			if err == nil && at > 0 {
				out = append(out, Waiting{h.Key, at})
			}
			return err
		})
	})
	return out, err
}

// CountHooks implements HookStore.
func (l *Ledger) CountHooks(ctx context.Context) (out HookCounts, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		out = HookCounts{}
		return tx.eachHook(0, func(h Hook) error {
			switch h.State {
			case HookPaused:
				out.Paused++
				return nil
			case HookDisabled:
				out.Disabled++
				return nil
			}
			out.Active++
			if h.Queued == 0 {
				return nil
			}
			out.Pending += h.Queued
			k, v := tx.outbox.Cursor().Seek(h.Key.key()) // its oldest
			if !bytes.HasPrefix(k, h.Key.key()) {
				return nil
			}
			d, err := readDelivery(k, v)
			if err == nil && (out.Oldest == 0 || d.Created < out.Oldest) {
				out.Oldest = d.Created
			}
			return err
		})
	})
	return out, err
}

// due finds the delivery of a webhook to attempt next at now, and when it is or another one will be due: one
// that its owner asked for, or the oldest of the others while the webhook is active. At 0 none will be.
func (tx *hookTx) due(h *Hook, now int64) (d Delivery, at int64, err error) {
	prefix, ordered := h.Key.key(), false
	c := tx.outbox.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if d, err = readDelivery(k, v); err != nil {
			return Delivery{}, 0, err
		}
		if !d.Once && (ordered || h.State != HookActive) {
			continue
		}
		if early, err := tx.unannounced(&d); early || err != nil {
			if err != nil {
				return Delivery{}, 0, err
			}
			continue
		}
		ordered = ordered || !d.Once
		next := d.due(now)
		if next <= now {
			return d, next, nil
		}
		if at == 0 || next < at {
			at = next
		}
	}
	return Delivery{}, at, nil
}

// Due implements HookStore.
func (l *Ledger) Due(ctx context.Context, k HookKey, now int64) (job Job, at int64, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		h, err := tx.hook(k)
		if err != nil {
			return err
		}
		d, next, err := tx.due(&h, now)
		at = next
		if err != nil || d.Seq == 0 {
			return err
		}
		job, err = tx.job(h, d)
		return err
	})
	return job, at, err
}

// Settle implements HookStore, in one transaction.
func (l *Ledger) Settle(ctx context.Context, outcomes []Outcome, now int64) (next []int64, err error) {
	err = l.updateHooks(ctx, func(tx *hookTx) error {
		next = make([]int64, len(outcomes))
		for i := range outcomes {
			at, err := tx.settle(&outcomes[i], now)
			if err != nil {
				return err
			}
			next[i] = at
		}
		return nil
	})
	return next, err
}

func (tx *hookTx) settle(o *Outcome, now int64) (next int64, err error) {
	d := &o.Delivery
	h, ok, err := tx.findHook(d.Key)
	if err != nil || !ok {
		return 0, err // deleted meanwhile, with its deliveries
	}
	if tx.outbox.Get(d.Key.item(d.Seq)) == nil {
		return 0, nil // settled before: the call is repeated
	}
	h.note(o)
	if d.State == DeliveryPending {
		err = putDelivery(tx.outbox, d)
	} else {
		err = tx.finish(&h, d)
	}
	if err != nil {
		return 0, err
	}
	_, next, err = tx.due(&h, now)
	return next, errors.Join(err, tx.putHook(&h))
}

// note keeps what an attempt says about the webhook.
func (h *Hook) note(o *Outcome) {
	d := &o.Delivery
	if len(d.Attempts) == 0 {
		return
	}
	last := d.Attempts[len(d.Attempts)-1]
	if last.Error == "" {
		h.LastSuccess = last.At
	} else {
		h.LastFailure = &last
	}
	if d.Once {
		return
	}
	switch {
	case d.State != DeliveryPending:
		h.FailingSince = 0
	case h.FailingSince == 0:
		h.FailingSince = last.At
	}
	if o.Disable != "" && h.State == HookActive {
		h.State, h.Reason, h.Changed = HookDisabled, o.Disable, last.At
	}
}

// finish moves a delivery from the outbox to the log.
func (tx *hookTx) finish(h *Hook, d *Delivery) error {
	if err := remove(tx.outbox, d.Key.item(d.Seq)); err != nil {
		return err
	}
	h.Queued--
	h.Logged++
	if err := putDelivery(tx.sent, d); err != nil {
		return err
	}
	for h.Logged > MaxLogged {
		k, _ := tx.sent.Cursor().Seek(d.Key.key())
		if err := remove(tx.sent, bytes.Clone(k)); err != nil {
			return err
		}
		h.Logged--
	}
	return nil
}

// Deliveries implements HookStore.
func (l *Ledger) Deliveries(ctx context.Context, k HookKey, before uint64, limit int) (out []Delivery, err error) {
	if before == 0 {
		before = 1<<64 - 1
	}
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		if _, err := tx.hook(k); err != nil {
			return err
		}
		out = nil
		for _, b := range []*bolt.Bucket{tx.outbox, tx.sent} {
			c := b.Cursor()
			n := 0
			key, v := seekBelow(c, k.item(before))
			for ; bytes.HasPrefix(key, k.key()) && n < limit; key, v = c.Prev() {
				d, err := readDelivery(key, v)
				if err != nil {
					return err
				}
				if early, err := tx.unannounced(&d); err != nil {
					return err
				} else if !early {
					out, n = append(out, d), n+1
				}
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Delivery) int {
		if a.Seq > b.Seq {
			return -1
		}
		return 1
	})
	return out[:min(len(out), limit)], err
}

// seekBelow finds the last row below a key.
func seekBelow(c *bolt.Cursor, key []byte) (k, v []byte) {
	if k, _ := c.Seek(key); k == nil {
		return c.Last()
	}
	return c.Prev()
}

// Delivery implements HookStore.
func (l *Ledger) Delivery(ctx context.Context, k HookKey, seq uint64) (job Job, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		h, err := tx.hook(k)
		if err != nil {
			return err
		}
		key := k.item(seq)
		v := tx.outbox.Get(key)
		if v == nil {
			v = tx.sent.Get(key)
		}
		if v == nil {
			return &answer{ErrNoDelivery}
		}
		d, err := readDelivery(key, v)
		if err != nil {
			return err
		}
		if early, err := tx.unannounced(&d); err != nil {
			return err
		} else if early {
			return &answer{ErrNoDelivery}
		}
		job, err = tx.job(h, d)
		return err
	})
	return job, err
}

// sweepHooks is how many webhooks one transaction of a sweep looks at.
const sweepHooks = 200

// Sweep implements HookStore, some webhooks per transaction.
func (l *Ledger) Sweep(ctx context.Context, now time.Time) error {
	cut := now.Add(-keepDeliveries).Unix()
	var after *HookKey
	for {
		var part []Hook
		err := l.viewHooks(ctx, func(tx *hookTx) (err error) {
			part, err = tx.hooksAfter(after, sweepHooks)
			return err
		})
		if err != nil || len(part) == 0 {
			if err != nil {
				return err
			}
			return l.sweepReleases(ctx, cut)
		}
		if err := l.sweepPart(ctx, part, cut); err != nil {
			return err
		}
		after = &part[len(part)-1].Key
	}
}

func (tx *hookTx) hooksAfter(after *HookKey, n int) (out []Hook, err error) {
	if !tx.made() {
		return nil, nil
	}
	var from []byte
	if after != nil {
		from = append(after.key(), 0)
	}
	c := tx.hooks.Cursor()
	for k, v := c.Seek(from); k != nil && len(out) < n; k, v = c.Next() {
		h, err := readHook(k, v)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// sweepPart removes old deliveries of some webhooks; it writes nothing where there are none.
func (l *Ledger) sweepPart(ctx context.Context, part []Hook, cut int64) error {
	var old []Delivery
	err := l.viewHooks(ctx, func(tx *hookTx) error {
		for i := range part {
			for _, b := range []*bolt.Bucket{tx.sent, tx.outbox} {
				list, err := oldDeliveries(b, &part[i], cut)
				if err != nil {
					return err
				}
				old = append(old, list...)
			}
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	return l.updateHooks(ctx, func(tx *hookTx) error {
		for i := range old {
			if err := tx.drop(&old[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// oldDeliveries lists the deliveries created before cut: they are the first ones.
func oldDeliveries(b *bolt.Bucket, h *Hook, cut int64) (out []Delivery, err error) {
	if b == nil {
		return nil, nil
	}
	prefix := h.Key.key()
	c := b.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		d, err := readDelivery(k, v)
		if err != nil {
			return nil, err
		}
		if d.Created >= cut {
			break
		}
		out = append(out, d)
	}
	return out, nil
}

// drop removes a delivery from wherever it is.
func (tx *hookTx) drop(d *Delivery) error {
	h, ok, err := tx.findHook(d.Key)
	if err != nil || !ok {
		return err
	}
	k := d.Key.item(d.Seq)
	if tx.outbox.Get(k) != nil {
		h.Queued--
		return errors.Join(remove(tx.outbox, k), tx.putHook(&h))
	}
	if tx.sent.Get(k) != nil {
		h.Logged--
		return errors.Join(remove(tx.sent, k), tx.putHook(&h))
	}
	return nil
}

// sweepReleases removes the releases made before cut.
func (l *Ledger) sweepReleases(ctx context.Context, cut int64) error {
	below := uint64(0)
	err := l.viewHooks(ctx, func(tx *hookTx) error {
		if !tx.made() {
			return nil
		}
		c := tx.releases.Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			var r Release
			if err := readJSON("release", k, v, &r); err != nil {
				return err
			}
			if r.At >= cut {
				return nil
			}
			below = binary.BigEndian.Uint64(k) + 1
		}
		return nil
	})
	if err != nil || below == 0 {
		return err
	}
	return l.updateHooks(ctx, func(tx *hookTx) error { return tx.dropReleasesBelow(below) })
}
