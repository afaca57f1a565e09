// Package proxies finds the address of the client when a request came through proxies.
//
// Each proxy appends to X-Forwarded-For (or Forwarded, RFC 7239) the address it was called from. The list is read from
// the right: the last entry is that of the proxy that called us, the entry before it that of the proxy that called that
// one, and so on. It ends at the first address that is not a trusted proxy. That is the client; everything to the left
// of it was written by the client, and can be anything.
//
// Some proxies append to the last line of the header, others add a line of their own, so all lines
// are one list. A proxy maintains one of the two headers and may pass the other through as the
// client wrote it: where both are present and name different clients, neither is trusted.
package proxies

import (
	"fmt"
	"net/netip"
	"strings"
)

// Trusted are the networks whose proxies are believed. Nil trusts none.
type Trusted []netip.Prefix

// Parse reads addresses, and networks such as 10.0.0.0/8.
func Parse(texts []string) (Trusted, error) {
	var out Trusted
	for _, t := range texts {
		p, err := netip.ParsePrefix(t)
		if addr, addrErr := netip.ParseAddr(t); addrErr == nil {
			addr = addr.Unmap().WithZone("")
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("must be addresses or networks such as 10.0.0.0/8, got %q", t)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// Contains says whether an address is that of a trusted proxy.
func (t Trusted) Contains(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, p := range t {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// Request is what is needed of a request.
type Request struct {
	// Peer is the address of the other end of the connection.
	Peer netip.Addr
	// Forwarded and ForwardedFor are all lines of the headers Forwarded and X-Forwarded-For.
	Forwarded, ForwardedFor []string
	// Passed says that another header shows that a proxy passed the request on, such as Via.
	Passed bool
}

// Client is where a request comes from.
type Client struct {
	// Addr is the client, or the last trusted proxy before an unreadable entry.
	Addr netip.Addr
	// Local says that the request was sent from this machine itself, through no proxy.
	Local bool
	// Undeclared says that a proxy that is not trusted passed the request on. If it is ours, it
	// should be declared: until then all its clients are counted as one.
	Undeclared bool
}

// Client finds out where a request comes from.
func (t Trusted) Client(r Request) Client {
	peer := r.Peer.Unmap().WithZone("")
	passed := r.Passed || len(r.Forwarded) > 0 || len(r.ForwardedFor) > 0
	switch {
	case !passed:
		return Client{Addr: peer, Local: peer.IsLoopback()}
	case !t.Contains(peer):
		return Client{Addr: peer, Undeclared: true}
	}
	addr := t.walk(peer, forwardedForHops(r.ForwardedFor))
	if len(r.Forwarded) > 0 {
		other := t.walk(peer, forwardedHops(r.Forwarded))
		switch {
		case len(r.ForwardedFor) == 0:
			addr = other
		case addr != other:
			addr = peer
		}
	}
	return Client{Addr: addr}
}

// walk goes from the peer to the left until it meets the client or an entry it cannot read.
func (t Trusted) walk(addr netip.Addr, hops []string) netip.Addr {
	for i := len(hops) - 1; i >= 0; i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			return addr
		}
		if addr = hop; !t.Contains(addr) {
			break
		}
	}
	return addr
}

// parseHop reads an address as written by proxies: 192.0.2.1, 192.0.2.1:4711, 2001:db8::1, [2001:db8::1] or
// [2001:db8::1]:4711, with or without a zone.
func parseHop(s string) (netip.Addr, bool) {
	s = strings.Trim(s, " \t")
	if addrPort, err := netip.ParseAddrPort(s); err == nil {
		return addrPort.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(s, ":") {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(s)
	return addr.Unmap().WithZone(""), err == nil
}

func forwardedForHops(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(strings.Join(lines, ","), ",")
}

// forwardedHops returns the for parameter of each element of Forwarded, in order; an element without exactly one, or
// that is not well formed, is an entry that cannot be read. The form is judged strictly: a quote that the client leaves
// open swallows what our proxy appends, and must not make that part of a value of the client's choice.
func forwardedHops(lines []string) (hops []string) {
	for _, element := range splitQuoted(strings.Join(lines, ","), ',') {
		hop, found := "", 0
		for _, pair := range splitQuoted(element, ';') {
			name, text, _ := strings.Cut(pair, "=")
			value, ok := readValue(strings.Trim(text, " \t"))
			switch name = strings.Trim(name, " \t"); {
			case !ok || strings.ContainsAny(name, "\" \t"):
				found = 2
			case strings.EqualFold(name, "for"):
				hop, found = value, found+1
			}
		}
		if found != 1 {
			hop = ""
		}
		hops = append(hops, hop)
	}
	return hops
}

// splitQuoted splits at a separator that is not inside double quotes.
func splitQuoted(s string, sep byte) (parts []string) {
	quoted, from := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			parts, from = append(parts, s[from:i]), i+1
		}
	}
	return append(parts, s[from:])
}

// readValue reads a token or exactly one quoted string (RFC 9110, 5.6). Tokens may have the colons
// and brackets of addresses, which proxies often leave without quotes.
func readValue(s string) (value string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, s != "" && !strings.ContainsAny(s, "\" \t\\")
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), i == len(s)-1
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", false
}
