package etcd

import (
	"context"

	"modeldex/quota"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
)

// Days implements quota.Store.
func (s *Store) Days(ctx context.Context, id quota.ID) ([]quota.DayUsage, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	days, _, err := s.readDays(ctx, id)
	return days, s.explain("reading", err)
}

// readDays also returns the revision of the value, 0 if there is none.
func (s *Store) readDays(ctx context.Context, id quota.ID) (days []quota.DayUsage, rev int64, err error) {
	key := s.key("d", hexID(id))
	resp, err := s.client.Get(ctx, key)
	if err != nil || len(resp.Kvs) == 0 {
		return nil, 0, err
	}
	err = parse(key, resp.Kvs[0].Value, &days)
	return days, resp.Kvs[0].ModRevision, err
}

// AddDays implements quota.Store: a read and a transaction per key, some keys at a time.
func (s *Store) AddDays(ctx context.Context, list []quota.AccountDay) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4 * parallelBatches)
	for _, one := range list {
		group.Go(func() error {
			return s.retry(ctx, func() (bool, error) {
				days, rev, err := s.readDays(ctx, one.ID)
				if err != nil {
					return false, err
				}
				key := s.key("d", hexID(one.ID))
				resp, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).
					Then(clientv3.OpPut(key, encode(one.AddTo(days)))).Commit()
				return err == nil && resp.Succeeded, err
			})
		})
	}
	return s.explain("writing", group.Wait())
}
