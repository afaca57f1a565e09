package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"modeldex/quota/hooks"

	jsonv2 "github.com/goccy/go-json/v2"
)

const (
	attemptTime     = 15 * time.Second // one attempt, from resolving the name to the end of the response
	maxResponse     = 64 << 10         // bytes of a response's body that are read
	maxHeaders      = 16 << 10
	idleConnections = 64
)

// newClient makes the client of all deliveries. Addresses are checked for each connection, see Guard.
func newClient(cfg *Config) *http.Client {
	guard := cfg.Guard
	dialer := &net.Dialer{Timeout: attemptTime, KeepAlive: -1, Resolver: guard.resolver(), Control: guard.Control}
	tlsConfig := cfg.TLS
	if tlsConfig == nil {
		tlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: nil, // a proxy would resolve the name itself
			// What is behind DialContext also makes connections for https, whose host name is compared with the
			// certificate.
			DialContext:            dialer.DialContext,
			TLSClientConfig:        tlsConfig,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 alone
			DisableCompression:     true,
			MaxIdleConns:           idleConnections,
			MaxIdleConnsPerHost:    perHost,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: maxHeaders,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is what a receiver answered.
type answer struct {
	status     int // 0: nothing
	retryAfter time.Duration
	failure    string // empty: the message was accepted
}

// send makes one attempt.
func (s *Service) send(ctx context.Context, job *hooks.Job, now time.Time) answer {
	var body []byte
	m, err := s.message(ctx, job)
	if err == nil {
		body, err = jsonv2.Marshal(m)
	}
	if err != nil {
		return answer{failure: "the message cannot be made: " + err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, job.Hook.URL, bytes.NewReader(body))
	if err != nil {
		return answer{failure: "the URL cannot be used"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "modeldex-webhooks/"+s.cfg.Version)
	req.Header.Set("Webhook-Id", job.Message)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("Webhook-Signature", signatures(job.Hook.Secrets, job.Message, now.Unix(), body))
	resp, err := s.client.Do(req)
	if err != nil {
		return answer{failure: explain(err)}
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxResponse) // read, so that the connection can be used again
	a := answer{status: resp.StatusCode, retryAfter: retryAfter(resp.Header.Get("Retry-After"), now)}
	switch {
	case a.status >= 300 && a.status <= 399:
		a.failure = fmt.Sprintf("status %d: redirects are not followed", a.status)
	case a.status < 200 || a.status > 299:
		a.failure = fmt.Sprintf("status %d", a.status)
	}
	return a
}

// retryAfter reads the header of that name: seconds, or a date. It is 0 for neither.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(max(n, 0)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// explain says why there is no response, in words for the owner of the webhook. Addresses are left
// out: what a name resolves to inside the server's network is not the owner's business.
func explain(err error) string {
	_, noName := errors.AsType[*net.DNSError](err)
	_, noTrust := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, errForbidden):
		return "the name has an address of a loopback, private, link-local or reserved network, to which nothing is sent"
	case noName:
		return "the name cannot be resolved"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("no response within %d seconds", int(attemptTime.Seconds()))
	case noTrust:
		return "the TLS certificate is not valid for the name"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed without a response"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached"
	}
	return "the request failed before a response"
}

// secretPrefix is what signing secrets begin with, by the Standard Webhooks specification
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md), as
// are the names of the headers and the form of a signature.
const secretPrefix = "whsec_"

// secretLen is the length of a signing secret in bytes; the specification asks for 24 to 64.
const secretLen = 32

// maxSecrets is how many secrets sign at a time: the current one and those in their grace.
const maxSecrets = 3

func newSecret() []byte {
	b := make([]byte, secretLen)
	_, _ = rand.Read(b) // never fails, says its documentation
	return b
}

// formatSecret is the form in which an owner gets a secret.
func formatSecret(secret []byte) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// signatures is the value of webhook-signature: one for each secret that signs at now, separated by
// spaces.
func signatures(secrets []hooks.Secret, id string, now int64, body []byte) string {
	var out []string
	for _, s := range secrets {
		if s.Until != 0 && now >= s.Until {
			continue
		}
		mac := hmac.New(sha256.New, s.Secret)
		mac.Write([]byte(id + "." + strconv.FormatInt(now, 10) + "."))
		mac.Write(body)
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(out, " ")
}

// rotated puts a new secret before the others; the one that was current goes on until then.
func rotated(old []hooks.Secret, secret []byte, now, until int64) []hooks.Secret {
	out := []hooks.Secret{{Secret: secret}}
	for _, s := range old {
		if s.Until == 0 {
			s.Until = until
		}
		if s.Until > now && len(out) < maxSecrets {
			out = append(out, s)
		}
	}
	return out
}
