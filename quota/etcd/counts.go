package etcd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"modeldex/quota"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
)

const (
	// batchSize is how many counts one transaction changes. etcd allows 128 operations in a
	// transaction unless it is told otherwise (--max-txn-ops).
	batchSize = 100
	// parallelBatches is how many transactions of one call are under way at a time.
	parallelBatches = 4
	// maxKnown bounds the remembered values: about 200 bytes each. Above it all are forgotten,
	// which costs one read per key.
	maxKnown = 200_000
)

// known is the value of a counting key as this process last saw it.
type known struct {
	rev    int64 // etcd's revision of the last change; 0: the key does not exist
	counts counts
}

// errFenced is returned when this server's number was folded by others, because it was cut off from
// etcd for more than a day. The process must not go on counting; it wraps quota.ErrRemoved, which
// ends it.
var errFenced = fmt.Errorf("%w: this server was cut off for so long that the others count without it", quota.ErrRemoved)

// Counts implements quota.Store.
func (s *Store) Counts(ctx context.Context, batch []quota.Count) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return s.explain("reading", s.inBatches(ctx, batch, s.readCounts))
}

// inBatches calls fn for parts of the batch, some at a time, and returns the first error.
func (s *Store) inBatches(ctx context.Context, batch []quota.Count, fn func(context.Context, []quota.Count) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelBatches)
	for part := range slices.Chunk(batch, batchSize) {
		group.Go(func() error { return fn(ctx, part) })
	}
	return group.Wait()
}

func (s *Store) countKey(c quota.Count) string { return s.key("u", c.Month.String(), hexID(c.ID)) }

func (s *Store) readCounts(ctx context.Context, batch []quota.Count) error {
	var gets []clientv3.Op
	for _, c := range batch {
		gets = append(gets, clientv3.OpGet(s.countKey(c)))
	}
	resp, err := s.client.Txn(ctx).Then(gets...).Commit()
	if err != nil {
		return err
	}
	values, err := s.remember(batch, resp)
	if err != nil {
		return err
	}
	for i := range batch {
		batch[i].Own, batch[i].Total = values[i].counts[s.server].Calls, values[i].counts.total()
	}
	return nil
}

// remember notes the values a transaction read, in the order of the batch, and returns them.
func (s *Store) remember(batch []quota.Count, resp *clientv3.TxnResponse) ([]known, error) {
	out := make([]known, len(batch))
	for i, c := range batch {
		key := s.countKey(c)
		out[i] = known{counts: counts{}}
		for _, kv := range resp.Responses[i].GetResponseRange().Kvs {
			parsed, err := parseCounts(key, kv.Value)
			if err != nil {
				return nil, err
			}
			out[i] = known{kv.ModRevision, parsed}
		}
		s.note(key, out[i])
	}
	return out, nil
}

func (s *Store) note(key string, k known) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	s.known[key] = k
}

// recall returns the remembered values of a batch; false when one is missing.
func (s *Store) recall(batch []quota.Count) ([]known, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]known, len(batch))
	for i, c := range batch {
		k, ok := s.known[s.countKey(c)]
		if !ok {
			return nil, false
		}
		out[i] = k
	}
	return out, true
}

// Reserve implements quota.Store. Every hundred counts are one transaction; when one fails, those
// of the others may have been written, which the contract of an error allows. A count whose Before
// is above what etcd has for this server was folded by the others: errFenced.
func (s *Store) Reserve(ctx context.Context, batch []quota.Count) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return s.explain("writing", s.inBatches(ctx, batch, s.reserve))
}

func (s *Store) reserve(ctx context.Context, batch []quota.Count) error {
	asked := slices.Clone(batch)
	values, ok := s.recall(batch)
	if !ok {
		if err := s.readCounts(ctx, slices.Clone(batch)); err != nil {
			return err
		}
		if values, ok = s.recall(batch); !ok {
			return fmt.Errorf("too many keys change at once")
		}
	}
	return s.reserveKnown(ctx, asked, batch, values)
}

// reserveKnown makes one transaction of asked. When others changed some of the values meanwhile, it goes on with the
// two halves, so that in the end each key is changed by itself. A server with a slow connection would never find a
// hundred values unchanged that others change all the time. It does not wait between attempts: the values of a
// failed one are the newest, and would be old then.
func (s *Store) reserveKnown(ctx context.Context, asked, batch []quota.Count, values []known) error {
	for {
		resp, changed, err := s.tryReserve(ctx, asked, batch, values)
		if err != nil {
			return err
		}
		if resp.Succeeded {
			for i, c := range asked {
				s.note(s.countKey(c), known{resp.Header.Revision, changed[i]})
			}
			return nil
		}
		if values, err = s.remember(asked, resp); err != nil {
			return err
		}
		if len(asked) > 1 {
			break
		}
	}
	half := len(asked) / 2
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.reserveKnown(ctx, asked[:half], batch[:half], values[:half]) })
	group.Go(func() error { return s.reserveKnown(ctx, asked[half:], batch[half:], values[half:]) })
	return group.Wait()
}

// tryReserve changes this server's numbers if nothing else has changed since values were read. It
// fills in batch; when the transaction fails, its response has the newest values instead.
func (s *Store) tryReserve(ctx context.Context, asked, batch []quota.Count, values []known) (*clientv3.TxnResponse, []counts, error) {
	var compare []clientv3.Cmp
	var puts, gets []clientv3.Op
	changed := make([]counts, len(asked))
	today := s.today()
	var alive func(server string) bool // nil until it is read
	for i, ask := range asked {
		key := s.countKey(ask)
		mine := values[i].counts[s.server].Calls
		if mine < ask.Before {
			return nil, nil, fmt.Errorf("account %s: %w", ask.ID, errFenced)
		}
		c := maps.Clone(values[i].counts)
		if c.hasOld(s.server, today) {
			if alive == nil {
				var err error
				if alive, err = s.aliveNow(ctx); err != nil {
					return nil, nil, err
				}
			}
			c.fold(s.server, today, alive)
		}
		others := c.total() - mine
		own := min(ask.Own, max(mine, ask.Limit-min(others, ask.Limit)))
		c[s.server] = entry{Calls: own, Day: today}
		changed[i] = c
		batch[i].Own, batch[i].Total = own, others+own
		compare = append(compare, clientv3.Compare(clientv3.ModRevision(key), "=", values[i].rev))
		puts = append(puts, clientv3.OpPut(key, encode(c)))
		gets = append(gets, clientv3.OpGet(key))
	}
	resp, err := s.commit(s.client.Txn(ctx).If(compare...).Then(puts...).Else(gets...))
	return resp, changed, err
}

// aliveNow returns a test for registered servers. A server registers before it counts, so one whose number was read
// before is alive or gone by this test, however new it is and whatever its clock says.
func (s *Store) aliveNow(ctx context.Context) (func(server string) bool, error) {
	alive := map[string]struct{}{}
	dir := s.key("n") + "/"
	resp, err := s.client.Get(ctx, dir, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	for _, kv := range resp.Kvs {
		alive[strings.TrimPrefix(string(kv.Key), dir)] = struct{}{}
	}
	return func(server string) bool { _, ok := alive[server]; return ok }, nil
}
