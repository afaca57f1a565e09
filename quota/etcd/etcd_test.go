package etcd_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"modeldex/quota"
	"modeldex/quota/etcd"
	"modeldex/quota/etcd/etcdtest"
	"modeldex/quota/quotatest"
)

var prefixes atomic.Int64

// openStores opens n processes of one new ledger.
func openStores(t *testing.T, c *etcdtest.Cluster, n int) []quota.Store {
	t.Helper()
	prefix := fmt.Sprintf("modeldex-%d", prefixes.Add(1))
	out := make([]quota.Store, n)
	for i := range out {
		s, err := etcd.Open(context.Background(), etcd.Options{Endpoints: c.Endpoints, Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		out[i] = s
	}
	return out
}

func TestConformance(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.Start(t, 1)
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("servers=%d", n), func(t *testing.T) {
			t.Parallel()
			quotatest.Conformance(t, func(t *testing.T) []quota.Store { return openStores(t, c, n) })
		})
	}
}
