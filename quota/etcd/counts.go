package etcd

import (
	"context"
	"fmt"
	"slices"

	"modeldex/quota"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
)

const (
	// batchSize is the number of counts changed in one transaction. etcd allows 128 operations by default (--max-txn-ops).
	batchSize = 100
	// parallelBatches is how many transactions of one call are under way at a time.
	parallelBatches = 4
)

// value is what a counting key has.
type value struct {
	rev    int64 // etcd's revision of the last change; 0: the key does not exist
	counts counts
}

// errFenced is returned when this server's number was folded by others, because it was cut off from etcd for more than
// a day. The process must not go on counting; it wraps quota.ErrRemoved, which ends it.
var errFenced = fmt.Errorf("%w: this server was disconnected for so long that the others count without it", quota.ErrRemoved)

func (s *Store) countKey(m quota.Month, id quota.ID) string {
	return s.key("u", m.String(), hexID(id))
}

// inBatches reads the values of parts of the batch, some at a time, calls fn with them, and returns the first error.
func (s *Store) inBatches(ctx context.Context, act string, batch []quota.Count, fn func(context.Context, []quota.Count, []value) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelBatches)
	for part := range slices.Chunk(batch, batchSize) {
		group.Go(func() error {
			var gets []clientv3.Op
			for _, c := range part {
				gets = append(gets, clientv3.OpGet(s.countKey(c.Month, c.ID)))
			}
			resp, err := s.commit(s.client.Txn(ctx).Then(gets...))
			if err != nil {
				return err
			}
			values, err := s.valuesOf(part, resp)
			if err != nil {
				return err
			}
			return fn(ctx, part, values)
		})
	}
	return s.explain(act, group.Wait())
}

// valuesOf returns what a transaction read of a batch, in its order.
func (s *Store) valuesOf(batch []quota.Count, resp *clientv3.TxnResponse) (out []value, err error) {
	out = make([]value, len(batch))
	for i, c := range batch {
		out[i].counts = counts{}
		for _, kv := range resp.Responses[i].GetResponseRange().Kvs {
			out[i].rev = kv.ModRevision
			if out[i].counts, err = parseCounts(s.countKey(c.Month, c.ID), kv.Value); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Counts implements quota.Store.
func (s *Store) Counts(ctx context.Context, batch []quota.Count) error {
	return s.inBatches(ctx, "reading", batch, func(_ context.Context, part []quota.Count, values []value) error {
		for i, v := range values {
			part[i].Own, part[i].Total = v.counts[s.server].Calls, v.counts.total()
		}
		return nil
	})
}

// Reserve implements quota.Store. Every hundred counts are one transaction; when one fails, those
// of the others may have been written, which the contract of an error allows. A count whose Before
// is above what etcd has for this server was folded by the others: errFenced.
func (s *Store) Reserve(ctx context.Context, batch []quota.Count) error {
	return s.inBatches(ctx, "writing", batch, s.reserve)
}

// reserve makes one transaction of a batch. When others changed some of the values meanwhile, it goes on with the
// two halves, so that in the end each key is changed by itself. A server with a slow connection would never find a
// hundred values unchanged that others change all the time. It does not wait between attempts: the values of a
// failed one are the newest, and would be old then.
func (s *Store) reserve(ctx context.Context, batch []quota.Count, values []value) error {
	for {
		resp, err := s.tryReserve(ctx, batch, values)
		if err != nil || resp.Succeeded {
			return err
		}
		if values, err = s.valuesOf(batch, resp); err != nil {
			return err
		}
		if len(batch) > 1 {
			break
		}
	}
	half := len(batch) / 2
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.reserve(ctx, batch[:half], values[:half]) })
	group.Go(func() error { return s.reserve(ctx, batch[half:], values[half:]) })
	return group.Wait()
}

// tryReserve changes this server's numbers and fills in batch if nothing else has changed since values, which it
// changes, were read. When the transaction fails, its response has the newest values instead.
func (s *Store) tryReserve(ctx context.Context, batch []quota.Count, values []value) (*clientv3.TxnResponse, error) {
	var compare []clientv3.Cmp
	var puts, gets []clientv3.Op
	stored := slices.Clone(batch)
	today := s.today()
	var alive map[string]bool // nil until it is read
	for i := range stored {
		one, c := &stored[i], values[i].counts
		mine := c[s.server].Calls
		if mine < one.Before {
			return nil, fmt.Errorf("account %s: %w", one.ID, errFenced)
		}
		if old := c.old(s.server, today); len(old) > 0 {
			if alive == nil {
				var err error
				if alive, err = s.alive(ctx); err != nil {
					return nil, err
				}
			}
			c.fold(old, alive, today)
		}
		others := c.total() - mine
		one.Own = min(one.Own, max(mine, one.Limit-min(others, one.Limit)))
		one.Total = others + one.Own
		c[s.server] = entry{Calls: one.Own, Day: today}
		key := s.countKey(one.Month, one.ID)
		compare = append(compare, clientv3.Compare(clientv3.ModRevision(key), "=", values[i].rev))
		puts = append(puts, clientv3.OpPut(key, encode(c)))
		gets = append(gets, clientv3.OpGet(key))
	}
	resp, err := s.commit(s.client.Txn(ctx).If(compare...).Then(puts...).Else(gets...))
	if err == nil && resp.Succeeded {
		copy(batch, stored)
	}
	return resp, err
}

// alive returns the servers that are registered. A server registers before it counts, so one whose number was read
// before is alive or gone by this test, however new it is and whatever its clock says.
func (s *Store) alive(ctx context.Context) (map[string]bool, error) {
	alive := map[string]bool{}
	_, err := s.each(ctx, s.key("n")+"/", "", 0, func(name string, _ []byte) error { alive[name] = true; return nil })
	return alive, err
}
