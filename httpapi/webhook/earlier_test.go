package webhook

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/hooks"
)

// earlier is what the API of the version before told of a ledger file that it wrote.
type earlier struct {
	Pro, Free  string // keys
	Used       [2]uint64
	Hook       struct{ ID, URL, Description, Secret string }
	Paused     string
	Deliveries []struct {
		Number    uint64
		MessageID string `json:"message_id"`
		Status    string
		Body      json.RawMessage
	}
}

// TestEarlierLedger opens a ledger file of the version before, with keys, a webhook and messages that wait: nothing is
// lost, and the messages are sent as they would have been.
func TestEarlierLedger(t *testing.T) {
	var was earlier
	text, err := os.ReadFile("testdata/earlier.json")
	if err != nil || json.Unmarshal(text, &was) != nil {
		t.Fatal(err)
	}
	k, r := newKit(t), newReceiver(t)
	k.stop()
	unpack(t, "testdata/earlier.db.gz", k.path)
	k.moved = time.Until(time.Date(2026, time.November, 25, 21, 29, 1, 0, time.UTC)) // just after it was written
	k.latest = nil                                                                   // nothing new to announce
	k.open()
	keeper, err := quota.NewKeeper(context.Background(), k.ledger, quota.Config{Now: k.cfg.Now})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{was.Pro, was.Free} {
		digest, _ := quota.ParseKey(key, "mdx")
		account, verdict, err := keeper.Self(context.Background(), digest)
		if verdict != quota.Admitted || err != nil || account.Used != was.Used[i] {
			t.Errorf("key %d: %v, %v, %d calls used, want %d", i, verdict, err, account.Used, was.Used[i])
		}
	}
	if err := keeper.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	k.start()
	all, err := k.Store.List(context.Background(), 0)
	if err != nil || len(all) != 2 || all[0].Key.Hook.String() != was.Hook.ID || all[0].URL != was.Hook.URL || all[0].Description != was.Hook.Description ||
		secretPrefix+base64.StdEncoding.EncodeToString(all[0].Secrets[0].Secret) != was.Hook.Secret || len(all[0].Queue) != 2 || all[1].Key.Hook.String() != was.Paused || all[1].State != hooks.Paused {
		t.Fatalf("the webhooks are %+v, %v", all, err)
	}
	r.secrets = []string{was.Hook.Secret}
	if _, err := k.Update(context.Background(), all[0].Key, func(h *hooks.Hook) { h.URL = r.URL }); err != nil {
		t.Fatal(err)
	}
	k.move(time.Minute)
	waited := map[string]string{} // bodies by id of the message
	for _, d := range was.Deliveries {
		if d.Status == "pending" {
			waited[d.MessageID] = string(d.Body)
		}
	}
	for _, h := range r.wait(len(waited)) {
		if waited[h.id] != string(h.body) {
			t.Errorf("message %s is\n%s\nwant\n%s", h.id, h.body, waited[h.id])
		}
	}
	k.await("storing the outcomes", func() bool { return len(k.hook(all[0].Key).Queue) == 0 })
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}
