package etcd_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"modeldex/quota"
	"modeldex/quota/etcd/etcdtest"
)

// Servers that count calls of the same keys all the time take turns: none waits until the others are done.
func TestContention(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.Start(t, 1)
	const servers, keys, least = 4, 60, 3
	commits := int64(40)
	if etcdtest.Long() {
		commits = 600
	}
	var total atomic.Int64
	var own [servers]int64
	var all sync.WaitGroup
	stores := openStores(t, c, servers)
	for i, s := range stores {
		all.Go(func() {
			for total.Add(1) <= commits {
				own[i]++
				batch := make([]quota.Count, keys)
				for k := range batch {
					batch[k] = quota.Count{ID: quota.ID(k + 1), Month: 24_000, Own: uint64(own[i]), Limit: 1_000_000}
				}
				if err := s.Reserve(context.Background(), batch); err != nil {
					t.Errorf("server %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	for i, n := range own {
		if n < least {
			t.Errorf("server %d made %d of %d commits, want at least %d", i, n, commits, least)
		}
	}
	batch := []quota.Count{{ID: keys, Month: 24_000}}
	if err := stores[0].Counts(context.Background(), batch); err != nil || batch[0].Total != uint64(commits) {
		t.Errorf("%d calls are counted (%v), want %d", batch[0].Total, err, commits)
	}
}
