package etcd

import (
	"context"
	"fmt"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
)

func parseDays(key string, value []byte) (days []quota.DayUsage, err error) {
	if err := jsonv2.Unmarshal(value, &days); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", quota.ErrCorrupt, key, err)
	}
	return days, nil
}

func encodeDays(days []quota.DayUsage) string {
	b, err := jsonv2.Marshal(days)
	if err != nil {
		panic(err) // a list of numbers
	}
	return string(b)
}

// Days implements quota.Store.
func (s *Store) Days(ctx context.Context, id quota.ID) ([]quota.DayUsage, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	days, _, err := s.readDays(ctx, id)
	return days, s.explain("reading", err)
}

// readDays also returns the revision of the value, 0 if there is none.
func (s *Store) readDays(ctx context.Context, id quota.ID) ([]quota.DayUsage, int64, error) {
	key := s.key("d", hexID(id))
	resp, err := s.client.Get(ctx, key)
	if err != nil || len(resp.Kvs) == 0 {
		return nil, 0, err
	}
	days, err := parseDays(key, resp.Kvs[0].Value)
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
					Then(clientv3.OpPut(key, encodeDays(one.AddTo(days)))).Commit()
				return err == nil && resp.Succeeded, err
			})
		})
	}
	return s.explain("writing", group.Wait())
}

// allDays reads the days of all accounts.
func (s *Store) allDays(ctx context.Context, rev int64) (map[quota.ID][]quota.DayUsage, error) {
	out := map[quota.ID][]quota.DayUsage{}
	dir := s.key("d") + "/"
	_, err := s.each(ctx, dir, "", rev, func(rest string, value []byte) error {
		id, err := parseHexID(dir+rest, rest)
		if err != nil {
			return err
		}
		out[id], err = parseDays(dir+rest, value)
		return err
	})
	return out, err
}
