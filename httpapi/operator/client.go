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

// Client speaks to the admin socket of a running server. It is a Keys and a Ledger.
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

func (v verb[In, Out]) ask(ctx context.Context, c *Client, in In) (out Out, err error) {
	body, err := jsonv2.Marshal(in)
	if err != nil {
		return out, err
	}
	resp, err := c.send(ctx, http.MethodPost, string(v), body)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return out, jsonv2.UnmarshalRead(resp.Body, &out)
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<12)) // what was read of the reason must do
	text := strings.TrimSpace(string(b))
	if resp.StatusCode == http.StatusUnprocessableEntity {
		return out, &quota.UnknownTierError{Rule: strings.TrimPrefix(text, "tier: ")}
	}
	return out, errors.New(text)
}

// Issue implements Keys.
func (c *Client) Issue(ctx context.Context, req quota.IssueRequest) (quota.IssuedKey, quota.Refusal, error) {
	out, err := issueKey.ask(ctx, c, req)
	if err != nil || out.Account == nil {
		return quota.IssuedKey{}, quota.Refusal{Reason: out.Reason, Faults: out.Faults}, err
	}
	return quota.IssuedKey{Secret: quota.Secret(out.Secret), Account: *out.Account}, quota.Refusal{}, nil
}

// listPage is how many accounts one response lists: all of a hundred thousand at once took the server 270 MB.
const listPage = 1000

// List implements Keys.
func (c *Client) List(ctx context.Context, f quota.Filter, limit int) ([]quota.Account, error) {
	out := []quota.Account{}
	for {
		l := listing{f, listPage}
		if limit > 0 {
			l.Limit = min(listPage, limit-len(out))
		}
		page, err := listKeys.ask(ctx, c, l)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		if len(page) < l.Limit || len(out) == limit {
			return out, nil
		}
		f.After = page[len(page)-1].ID
	}
}

// Find implements Keys.
func (c *Client) Find(ctx context.Context, text string) ([]quota.Account, error) {
	return findKeys.ask(ctx, c, text)
}

// Usage implements Keys.
func (c *Client) Usage(ctx context.Context, id quota.ID) ([]quota.MonthCalls, error) {
	return keyUsage.ask(ctx, c, id)
}

// SetStatus implements Keys.
func (c *Client) SetStatus(ctx context.Context, id quota.ID, to quota.Status) (quota.Account, error) {
	return setStatus.ask(ctx, c, changed{ID: id, Status: to})
}

// Erase implements Keys.
func (c *Client) Erase(ctx context.Context, id quota.ID) (quota.Account, error) {
	return eraseKey.ask(ctx, c, changed{ID: id})
}

// SetTier implements Keys.
func (c *Client) SetTier(ctx context.Context, id quota.ID, tier string, limit uint64) (quota.Account, error) {
	return setTier.ask(ctx, c, changed{ID: id, Tier: tier, Limit: limit})
}

// Address is that of the server's ledger, as Place.Address says it.
func (c *Client) Address(ctx context.Context) (string, error) { return address.ask(ctx, c, struct{}{}) }

// Check implements Ledger.
func (c *Client) Check(ctx context.Context) (quota.Report, error) {
	return check.ask(ctx, c, struct{}{})
}

// BackupFile implements Ledger. The server writes the file, so its path must be absolute.
func (c *Client) BackupFile(ctx context.Context, file string) (int64, error) {
	return backup.ask(ctx, c, file)
}
