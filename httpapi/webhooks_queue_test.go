package httpapi

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"modeldex/quota/hooks"
)

// TestWebhookQueueFull: a webhook whose receiver does not answer takes as many messages as may wait, and no more.
func TestWebhookQueueFull(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connects, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	work := t.TempDir()
	tiers := filepath.Join(work, "tiers.json") // with a burst that is not met here
	if err := os.WriteFile(tiers, []byte(`{"tiers":[{"name":"free","calls_per_month":1},{"name":"pro","calls_per_month":1000,"burst":{"rate":1000,"per_seconds":1,"depth":1000}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"MODELDEX_TIERS=" + tiers}
	secret, _, code := runProgram(t, work, env, "keys", "issue", "--name", "hooks", "--email", "h@example.com", "--use-case", "hooks", "--tier", "pro")
	if code != 0 {
		t.Fatal("no key")
	}
	secret = strings.TrimSpace(secret)
	p := launch(t, work, env, "serve", "--addr", "127.0.0.1:0", "--data", mustSmallData(t), "--dumps", "off", "--webhooks-to-loopback")
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	var made struct{ Data struct{ ID string } }
	askJSON(t, "POST", p.addr, "/api/v1/webhooks", secret, `{"url":"http://`+silent.Addr().String()+`/"}`, &made)
	transport := newTransport(t)
	for n := 0; ; n++ { // on a slow machine the first ones have failed before the last one comes, and wait no longer
		a, err := fetch(transport, p.addr, asked{method: "POST", path: "/api/v1/webhooks/" + made.Data.ID + "/test", header: http.Header{"Authorization": {"Bearer " + secret}}})
		switch {
		case err != nil:
			t.Fatal(err)
		case a.status == http.StatusAccepted && n < 4*hooks.MaxQueued:
		case a.status != http.StatusConflict || !strings.Contains(string(a.body), `"code":"webhook_queue_full"`) || n < hooks.MaxQueued:
			t.Fatalf("message %d: status %d, %s; want 409 after %d", n+1, a.status, a.body, hooks.MaxQueued)
		default:
			return
		}
	}
}
