package etcd_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/etcd"
	"modeldex/quota/etcd/etcdtest"

	jsonv2 "github.com/goccy/go-json/v2"
)

// TestNewerMembersSurvive stands in for a server of a newer version: every value has members this
// version does not know, as has the number of calls of another server. Changes of this version keep
// them.
func TestNewerMembersSurvive(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.Start(t, 1)
	ctx := context.Background()
	s, err := etcd.Open(ctx, etcd.Options{Endpoints: c.Endpoints, Prefix: "rollout"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	digest, _ := quota.ParseKey(quota.NewSecret("mdx").Reveal(), "mdx")
	record := quota.Record{ID: 1_700_000_000 << 30, Rev: 1, Status: quota.StatusActive, Tier: quota.FreeTier, Digest: digest, Created: 1_700_000_000, Changed: 1_700_000_000}
	if err := s.Create(ctx, record, quota.Person{Name: "Ada", Email: "ada@example.com", UseCase: "Sums"}, 5); err != nil {
		t.Fatal(err)
	}
	client := c.Client()
	id := fmt.Sprintf("%016x", uint64(record.ID))
	month := quota.MonthOf(time.Unix(1_700_000_000, 0))
	account, calls := "rollout/a/"+id, "rollout/u/"+month.String()+"/"+id
	get := func(key string) map[string]any {
		t.Helper()
		resp, err := client.Get(ctx, key)
		if err != nil || len(resp.Kvs) != 1 {
			t.Fatalf("%s: %v, %v", key, resp, err)
		}
		out := map[string]any{}
		if err := jsonv2.Unmarshal(resp.Kvs[0].Value, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	put := func(key string, value map[string]any) {
		t.Helper()
		b, err := jsonv2.Marshal(value)
		if err == nil {
			_, err = client.Put(ctx, key, string(b))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	added := get(account)
	added["region"] = "north"
	put(account, added)
	put(calls, map[string]any{"other": map[string]any{"calls": 5, "day": time.Now().Unix() / 86400, "by_kind": map[string]any{"list": 3}}})

	if _, err := s.Update(ctx, record.ID, func(r *quota.Record, _ *quota.Person) error {
		r.Status = quota.StatusSuspended
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	batch := []quota.Count{{ID: record.ID, Month: month, Limit: 100, Own: 7}}
	if err := s.Reserve(ctx, batch); err != nil {
		t.Fatal(err)
	}
	if batch[0].Total != 12 {
		t.Errorf("%d calls of both servers, want 12", batch[0].Total)
	}
	if got := get(account); got["region"] != "north" || got["status"] != "suspended" {
		t.Errorf("account %v lost a member of a newer version, or the change", got)
	}
	got, _ := get(calls)["other"].(map[string]any)
	if want := map[string]any{"list": 3.0}; got["by_kind"] == nil || !maps.Equal(got["by_kind"].(map[string]any), want) {
		t.Errorf("the other server's number is %v, want its member by_kind kept", got)
	}
}
