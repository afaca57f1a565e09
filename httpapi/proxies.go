package httpapi

import (
	"log/slog"
	"net/netip"
	"strings"
	"sync"

	"modeldex/httpapi/proxies"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// callers knows where requests come from, and by what address callers know this service.
type callers struct {
	trusted    proxies.Trusted
	baseURL    string
	log        *slog.Logger
	undeclared sync.Once // the warning about a proxy that is not trusted
}

// client is where a request comes from, for the limits of sign-ups.
func (c *callers) client(ctx *fasthttp.RequestCtx) proxies.Client {
	h := &ctx.Request.Header
	lines := func(name string) (out []string) {
		for _, line := range h.PeekAll(name) {
			out = append(out, string(line))
		}
		return out
	}
	r := proxies.Request{Peer: peerAddr(ctx), Forwarded: lines("Forwarded"), ForwardedFor: lines(fiber.HeaderXForwardedFor)}
	for _, name := range []string{"Via", fiber.HeaderXForwardedProto, fiber.HeaderXForwardedHost, "X-Real-Ip"} {
		r.Passed = r.Passed || len(h.Peek(name)) > 0
	}
	from := c.trusted.Client(r)
	if from.Undeclared {
		c.undeclared.Do(func() {
			c.log.Warn("a request came through an undeclared proxy: add it to --trusted-proxies, or all its clients share one sign-up limit", "peer", r.Peer.String())
		})
	}
	return from
}

func peerAddr(ctx *fasthttp.RequestCtx) netip.Addr {
	addr, _ := netip.AddrFromSlice(ctx.RemoteIP())
	return addr.Unmap()
}

// base is the address of this service as the caller knows it, without a slash at the end. It
// goes into errors only: bodies that are kept hold addresses without it.
func (c *callers) base(ctx *fasthttp.RequestCtx) string {
	if c.baseURL != "" {
		return strings.TrimSuffix(c.baseURL, "/")
	}
	host := string(ctx.Host())
	if host == "" || strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]_") != "" {
		return ""
	}
	scheme := "http"
	if ctx.IsTLS() || c.trusted.Contains(peerAddr(ctx)) && string(ctx.Request.Header.Peek(fiber.HeaderXForwardedProto)) == "https" {
		scheme = "https"
	}
	return scheme + "://" + host
}
