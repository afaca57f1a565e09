package httpapi

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// clientAddr is the address a request comes from. Behind trusted proxies it is the rightmost
// address of X-Forwarded-For that is no trusted proxy: what stands left of it anyone may
// have written.
func (s *Server) clientAddr(c *fiber.Ctx) netip.Addr {
	peer := peerAddr(c.Context())
	if !s.trusted(peer) {
		return peer
	}
	hops := strings.Split(c.Get(fiber.HeaderXForwardedFor), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return peer
		}
		if peer = hop.Unmap(); !s.trusted(peer) {
			break
		}
	}
	return peer
}

func peerAddr(ctx *fasthttp.RequestCtx) netip.Addr {
	addr, _ := netip.AddrFromSlice(ctx.RemoteIP())
	return addr.Unmap()
}

func (s *Server) trusted(addr netip.Addr) bool {
	for _, p := range s.cfg.TrustedProxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// base is the address of this service as the caller knows it, without a slash at the end. It
// goes into errors only: bodies that are kept hold addresses without it.
func (s *Server) base(ctx *fasthttp.RequestCtx) string {
	if s.cfg.BaseURL != "" {
		return strings.TrimSuffix(s.cfg.BaseURL, "/")
	}
	host := string(ctx.Host())
	if host == "" || strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]_") != "" {
		return ""
	}
	scheme := "http"
	if ctx.IsTLS() || s.trusted(peerAddr(ctx)) && string(ctx.Request.Header.Peek(fiber.HeaderXForwardedProto)) == "https" {
		scheme = "https"
	}
	return scheme + "://" + host
}

// ParseProxies reads Config.TrustedProxies: addresses, or networks such as 10.0.0.0/8.
func ParseProxies(texts []string) (out []netip.Prefix, err error) {
	for _, t := range texts {
		p, err := netip.ParsePrefix(t)
		if addr, addrErr := netip.ParseAddr(t); addrErr == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("trusted proxies: must be addresses or networks such as 10.0.0.0/8, got %q", t)
		}
		out = append(out, p)
	}
	return out, nil
}
