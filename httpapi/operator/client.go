package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Client speaks to the admin socket of a running server.
type Client struct{ http http.Client }

// Dial reaches the server behind a Unix socket. It fails at once where none listens.
func Dial(socket string) (*Client, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil, err
	}
	return &Client{http.Client{Transport: &http.Transport{DialContext: dial}}}, conn.Close()
}

// Close closes the connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Metrics returns what Prometheus would scrape.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	resp, err := c.send(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://admin"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", jsonType)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the running server: %w", err)
	}
	return resp, nil
}

// ask sends a verb and reads its answer.
func ask[Out any](ctx context.Context, c *Client, path string, in any) (out Out, err error) {
	body, err := jsonv2.Marshal(in)
	if err != nil {
		return out, err
	}
	resp, err := c.send(ctx, http.MethodPost, path, body)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<12)) // what was read of the reason must do
		if resp.StatusCode == http.StatusUnprocessableEntity {
			return out, &quota.UnknownTierError{Rule: strings.TrimPrefix(strings.TrimSpace(string(text)), "tier: ")}
		}
		return out, errors.New(strings.TrimSpace(string(text)))
	}
	return out, jsonv2.UnmarshalRead(resp.Body, &out)
}

// Issue implements Keys.
func (c *Client) Issue(ctx context.Context, req quota.IssueRequest) (quota.IssuedKey, quota.Refusal, error) {
	out, err := ask[issuedBody](ctx, c, "/keys", req)
	if err != nil || out.Account == nil {
		return quota.IssuedKey{}, quota.Refusal{Reason: out.Reason, Faults: out.Faults}, err
	}
	return quota.IssuedKey{Secret: quota.Secret(out.Secret), Account: *out.Account}, quota.Refusal{}, nil
}

// listPage is how many accounts one response lists: all of a hundred thousand at once took the server 270 MB.
const listPage = 1000

// List implements Keys.
func (c *Client) List(ctx context.Context, f quota.Filter, limit int) ([]quota.Account, error) {
	l := listBody{Filter: f}
	out := []quota.Account{}
	for {
		l.Limit = listPage
		if limit > 0 {
			l.Limit = min(listPage, limit-len(out))
		}
		page, err := ask[[]quota.Account](ctx, c, "/keys/list", l)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		if len(page) < l.Limit || len(out) == limit {
			return out, nil
		}
		l.After = page[len(page)-1].ID
	}
}

// Find implements Keys.
func (c *Client) Find(ctx context.Context, text string) ([]quota.Account, error) {
	return ask[[]quota.Account](ctx, c, "/keys/find", text)
}

// Usage implements Keys.
func (c *Client) Usage(ctx context.Context, id quota.ID) ([]quota.MonthCalls, error) {
	return ask[[]quota.MonthCalls](ctx, c, path(id, "usage"), struct{}{})
}

// SetStatus implements Keys.
func (c *Client) SetStatus(ctx context.Context, id quota.ID, to quota.Status) (quota.Account, error) {
	return ask[quota.Account](ctx, c, path(id, "status"), to)
}

// Erase implements Keys.
func (c *Client) Erase(ctx context.Context, id quota.ID) (quota.Account, error) {
	return ask[quota.Account](ctx, c, path(id, "erase"), struct{}{})
}

// SetTier implements Keys.
func (c *Client) SetTier(ctx context.Context, id quota.ID, tier string, limit uint64) (quota.Account, error) {
	return ask[quota.Account](ctx, c, path(id, "tier"), tierBody{tier, limit})
}

// Address is that of the server's ledger, as Place.Address says it.
func (c *Client) Address(ctx context.Context) (string, error) {
	return ask[string](ctx, c, "/ledger/address", struct{}{})
}

// Check implements Ledger.
func (c *Client) Check(ctx context.Context) (quota.Report, error) {
	return ask[quota.Report](ctx, c, "/ledger/check", struct{}{})
}

// BackupFile implements Ledger. The server writes the file, so its path must be absolute.
func (c *Client) BackupFile(ctx context.Context, file string) (int64, error) {
	return ask[int64](ctx, c, "/ledger/backup", file)
}

func path(id quota.ID, verb string) string { return "/keys/" + id.String() + "/" + verb }
