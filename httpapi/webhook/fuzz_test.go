package webhook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// FuzzURL: without names, only https URLs of public addresses in their usual notation are accepted, and
// what is accepted names the same host when it is read again.
func FuzzURL(f *testing.F) {
	for _, text := range []string{
		"https://93.184.216.34/hook", "https://[2606:2800:220:1::]:8443/a?b=c", "https://0x7f.1/", "https://2130706433/", "https://[::ffff:127.0.0.1]/",
		"https://93.184.216.34%2f@127.0.0.1/", "https://a@b/", "https://[fe80::1%25eth0]/", "https:////127.0.0.1", "https://127.1", "https://017700000001/",
		"https://93.184.216.34:22/", "https://93.184.216.34\\@127.0.0.1/", "https://93.184.216.34#@127.0.0.1/", "HTTPS://[64:ff9b::7f00:1]/",
	} {
		f.Add(text)
	}
	nowhere := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no names here") }}
	g := Guard{Resolver: nowhere}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ToLower(text), "localhost") {
			return // the resolver knows it without asking
		}
		if g.CheckURL(context.Background(), text) != nil {
			return
		}
		u, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%q is accepted: %v", text, err)
		}
		addr, err := netip.ParseAddr(u.Hostname())
		if err != nil || !g.allows(addr) || addr.Zone() != "" || u.Scheme != "https" || u.User != nil {
			t.Errorf("%q is accepted: host %q, address %v (%v)", text, u.Hostname(), addr, err)
		}
		again, err := url.Parse(u.String())
		if err != nil || again.Host != u.Host {
			t.Errorf("%q names %q, read again %v (%v)", text, u.Host, again, err)
		}
	})
}
