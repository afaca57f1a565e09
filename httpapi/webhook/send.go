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
	attemptTime = 15 * time.Second // one attempt, from resolving the name to the headers of the response
	maxHeaders  = 16 << 10
)

// newClient makes the client of all deliveries. Addresses are checked for each connection, see Guard; each message has
// a connection of its own.
func newClient(guard *Guard) *http.Client {
	dialer := &net.Dialer{Timeout: attemptTime, Resolver: guard.Resolver, Control: guard.Control}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:       nil, // a proxy would resolve the name itself
			DialContext: dialer.DialContext, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeaders,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send makes one attempt to deliver the first message of a job, and returns after how long the receiver asks to be
// tried again.
func (s *Service) send(ctx context.Context, job *hooks.Job) (a hooks.Attempt, retry time.Duration) {
	began, id := s.now(), job.Queue[0].Message
	a.At = began.Unix()
	defer func() { a.Millis = s.now().Sub(began).Milliseconds() }()
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	body, err := jsonv2.Marshal(messageOf(job, s.cfg.Base))
	req, errReq := http.NewRequestWithContext(ctx, http.MethodPost, job.URL, bytes.NewReader(body))
	if err != nil || errReq != nil {
		a.Error = "the message cannot be made"
		return a, 0
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "modeldex-webhooks/"+s.cfg.Version)
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(a.At, 10))
	req.Header.Set("Webhook-Signature", signatures(job.Secrets, id, a.At, body))
	resp, err := s.client.Do(req)
	if err != nil {
		a.Error = explain(err)
		return a, 0
	}
	defer resp.Body.Close() // what it says is not read
	switch a.Status = resp.StatusCode; {
	case a.Status >= 300 && a.Status <= 399:
		a.Error = fmt.Sprintf("status %d: redirects are not followed", a.Status)
	case a.Status < 200 || a.Status > 299:
		a.Error = fmt.Sprintf("status %d", a.Status)
	}
	return a, retryAfter(resp.Header.Get("Retry-After"))
}

// retryAfter reads the header of that name, in seconds; it is 0 for a date.
func retryAfter(text string) time.Duration {
	n, _ := strconv.ParseUint(text, 10, 31)
	return time.Duration(n) * time.Second
}

// explain says why there is no response, for the owner of the webhook. It leaves out addresses, which would reveal the
// server's network.
func explain(err error) string {
	_, noName := errors.AsType[*net.DNSError](err)
	_, noTrust := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, errForbidden):
		return "the name has an address in a loopback, private, link-local or reserved network"
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

// newSecret draws a signing secret, and its form for the owner. The specification asks for 24 to 64 bytes.
func newSecret() (secret []byte, text string) {
	secret = make([]byte, 32)
	_, _ = rand.Read(secret) // never fails, says its documentation
	return secret, secretPrefix + base64.StdEncoding.EncodeToString(secret)
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
		fmt.Fprintf(mac, "%s.%d.%s", id, now, body)
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(out, " ")
}
