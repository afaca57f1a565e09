package quota

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// fillHooks adds a webhook to a ledger, with a release of one record, a delivery that waits for it, a benchmark that
// was announced, and a day.
func fillHooks(t *testing.T, l *Ledger, id ID) Hook {
	t.Helper()
	ctx := context.Background()
	h := Hook{Key: HookKey{id, 1}, Rev: 1, URL: "https://example.com", Events: []string{"e"}, Secrets: []HookSecret{{Secret: []byte("s")}}, State: HookActive, Next: 1}
	for _, step := range []func() error{
		func() error {
			_, err := l.Announce(ctx, &Announcement{First: true, Baseline: Baseline{Digest: "old"}})
			return err
		},
		func() error { return l.CreateHook(ctx, h, 1) },
		func() error {
			_, err := l.Announce(ctx, &Announcement{
				Baseline: Baseline{Digest: "new"}, Release: Release{Digest: "new", PreviousDigest: "old"}, Rows: [][]byte{[]byte("row")},
				Parts: map[int][]Mark{MarkPart("bm-1"): {{ID: "bm-1"}}}, Deliveries: []Delivery{{Key: h.Key, Message: NewMessageID(), Event: "e", Rows: []uint32{0}}},
			})
			return err
		},
		func() error { return l.AddDays(ctx, []AccountDay{{ID: id, DayUsage: DayUsage{Day: 1, Calls: 1}}}) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// TestCheckFindingsOfHooks: what is wrong with webhooks, their messages and days, each fault on its own.
func TestCheckFindingsOfHooks(t *testing.T) {
	const month = Month(24_000)
	first := ID(1_700_000_000) << idSecond
	key := HookKey{first, 1}
	put := func(bucket, k, payload []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return insert(tx.Bucket(bucket), k, seal(k, payload)) }
	}
	gone := func(bucket, k []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return remove(tx.Bucket(bucket), k) }
	}
	hook := func(change func(h *Hook)) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			h, err := hookTxOf(tx).hook(key)
			if err != nil {
				return err
			}
			change(&h)
			return hookTxOf(tx).putHook(&h)
		}
	}
	delivery := func(change func(d *Delivery)) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			d, err := readDelivery(key.item(1), tx.Bucket(outboxBucket).Get(key.item(1)))
			if err != nil {
				return err
			}
			change(&d)
			return putDelivery(tx.Bucket(outboxBucket), &d)
		}
	}
	tests := []struct {
		name   string
		damage func(*bolt.Tx) error
		want   string // empty: nothing is wrong
	}{
		{"nothing", func(*bolt.Tx) error { return nil }, ""},
		{"webhook of a short key", put(hooksBucket, []byte("abc"), nil), "webhook key has 3 bytes"},
		{"webhook of nobody", hook(func(h *Hook) { h.Key.Account = 5 }), "account key_00000000005 is not there"},
		{"webhook unreadable", put(hooksBucket, key.key(), []byte("oops")), "cannot be read"},
		{"webhook without a secret", hook(func(h *Hook) { h.Secrets = nil }), "secrets"},
		{"too many waiting", hook(func(h *Hook) { h.Queued = 5 }), "counts 5 waiting and 0 finished deliveries, there are 1 and 0"},
		{"too many finished", hook(func(h *Hook) { h.Logged = 2 }), "counts 1 waiting and 2 finished deliveries, there are 1 and 0"},
		{"webhook gone", gone(hooksBucket, key.key()), "webhook " + key.Hook.String() + " is not there"},
		{"delivery of a short key", put(outboxBucket, []byte("abc"), nil), "delivery key has 3 bytes"},
		{"delivery unreadable", put(outboxBucket, key.item(1), []byte("oops")), "cannot be read"},
		{"delivery of the next number", hook(func(h *Hook) { h.Next = 1 }), "delivery 1 of " + key.Hook.String() + ": the next number is 1"},
		{"delivery that is finished", delivery(func(d *Delivery) { d.State = DeliveryDelivered }), "delivery 1 of " + key.Hook.String() + " is delivered"},
		{"delivery that waits among the finished", func(tx *bolt.Tx) error {
			return insert(tx.Bucket(sentBucket), key.item(1), tx.Bucket(outboxBucket).Get(key.item(1)))
		}, "delivery 1 of " + key.Hook.String() + " is pending"},
		{"record gone", func(tx *bolt.Tx) error { return removePrefix(tx.Bucket(recordsBucket), releaseKey(1), nil) }, "release 1: records 0 of 0 bytes, written 1 of 3"},
		{"record of a short key", put(recordsBucket, []byte("abc"), nil), "key has 3 bytes"},
		{"release gone", gone(releasesBucket, releaseKey(1)), "records: release 1 is not there"},
		{"release of a short key", put(releasesBucket, []byte("abc"), nil), "key has 3 bytes"},
		{"release unreadable", put(releasesBucket, releaseKey(1), []byte("oops")), "cannot be read"},
		{"baseline unreadable", put(announcedBucket, baselineKey, []byte("oops")), "baseline cannot be read"},
		{"announced in another part", func(tx *bolt.Tx) error {
			return putMarks(tx.Bucket(announcedBucket), MarkPart("bm-1")+1, []Mark{{ID: "bm-1"}})
		}, "benchmark bm-1 is in the wrong part"},
		{"announced unreadable", put(announcedBucket, partKey(MarkPart("bm-1")), []byte("oops")), "announced benchmarks cannot be read"},
		{"bucket gone", func(tx *bolt.Tx) error { return tx.DeleteBucket(sentBucket) }, "sent: bucket is missing"},
		{"days of nobody", put(daysBucket, ID(5).key(), []byte{1, 0, 0, 0, 0}), "account key_00000000005 is not there"},
		{"days unreadable", put(daysBucket, first.key(), []byte{1}), "days of " + first.String() + " cannot be read"},
		{"days out of order", put(daysBucket, first.key(), []byte{2, 0, 0, 0, 0, 1, 0, 0, 0, 0}), "days of " + first.String() + " cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "modeldex.db")
			fillLedger(t, path, 1, month)
			l := openLedger(t, path)
			fillHooks(t, l, first)
			if err := l.db.Update(tt.damage); err != nil {
				t.Fatal(err)
			}
			report, err := l.Check(context.Background())
			if found := strings.Join(report.Findings, "\n"); err != nil || (found == "") != (tt.want == "") || !strings.Contains(found, tt.want) {
				t.Errorf("Check() = %q, %v, want a finding with %q", report.Findings, err, tt.want)
			}
		})
	}
}
