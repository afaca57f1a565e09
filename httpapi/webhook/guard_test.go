package webhook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// forbidden are addresses of every kind to which nothing may be sent.
var forbidden = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1", "127.255.255.254",
	"169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1",
	"192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250",
	"240.0.0.1", "255.255.255.255", "168.63.129.16",
	"::", "::1", "::2", "fc00::1", "fd00:ec2::254", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "ff0e::1", "100::1", "5f00::1", "4000::1",
	"2001:db8::1", "3fff::1", "2001::1", "2001:0:7f00:1::1", "2001:10::1", "2001:20::1", "2002:7f00:1::1", "2002:808:808::1", "2620:4f:8000::1",
	// IPv4 inside IPv6: mapped, compatible, translated, NAT64 of both prefixes, ISATAP
	"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1",
	"64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::127.0.0.1", "64:ff9b:1::808:808",
	"2a00:1450:4001::5efe:7f00:1", "2a00:1450:4001:0:200:5efe:a00:1",
}

var allowed = []string{
	"8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.167.255.255", "11.0.0.1", "126.0.0.1", "223.255.255.255",
	"2606:4700::1111", "2a00:1450:4001:80e::200e", "2003::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
}

func TestAddresses(t *testing.T) {
	var g Guard
	for _, text := range forbidden {
		if err := g.Control("tcp", net.JoinHostPort(text, "443"), nil); !errors.Is(err, errForbidden) {
			t.Errorf("Control(%s) = %v, want it forbidden", text, err)
		}
	}
	for _, text := range allowed {
		if err := g.Control("tcp", net.JoinHostPort(text, "443"), nil); err != nil {
			t.Errorf("Control(%s) = %v, want it allowed", text, err)
		}
	}
	for _, at := range []string{"[fe80::1%eth0]:443", "[2606:4700::1111%eth0]:443", "", "8.8.8.8", "host:443"} {
		if err := g.Control("tcp6", at, nil); !errors.Is(err, errForbidden) {
			t.Errorf("Control(%q) = %v, want it forbidden", at, err)
		}
	}
	if err := g.Control("udp4", "8.8.8.8:443", nil); !errors.Is(err, errForbidden) {
		t.Errorf("Control(udp) = %v, want it forbidden", err)
	}
	g.AllowLoopback = true
	if g.Control("tcp", "127.0.0.1:443", nil) != nil || g.Control("tcp", "10.0.0.1:443", nil) == nil {
		t.Error("AllowLoopback does not allow loopback alone")
	}
}

// Addresses of this machine are not to be connected to, public or not.
func TestOwnAddress(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip("the addresses of this machine cannot be listed")
	}
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok {
			if ip, _ := netip.AddrFromSlice(n.IP); !isOwn(ip.Unmap()) {
				t.Errorf("isOwn(%s) = false", ip)
			}
		}
	}
	if isOwn(netip.MustParseAddr("8.8.8.8")) {
		t.Error("isOwn(another machine) = true")
	}
}

// names is a name server on loopback with answers of its own.
type names struct {
	mu      sync.Mutex
	answers map[string][][]string // by name: the answers of the first query, the second and so on; the last stays
	asked   map[string]int
}

// newNames starts a name server and returns a resolver that asks it.
func newNames(t *testing.T, answers map[string][][]string) *net.Resolver {
	t.Helper()
	n := &names{answers: answers, asked: map[string]int{}}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go n.serve(conn)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (n *names) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		size, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil || len(m.Questions) == 0 {
			continue
		}
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		q := m.Questions[0]
		for _, text := range n.answer(strings.TrimSuffix(q.Name.String(), "."), q.Type) {
			addr := netip.MustParseAddr(text)
			h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			if addr.Is4() && q.Type == dnsmessage.TypeA {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: addr.As4()}})
			}
			if addr.Is6() && q.Type == dnsmessage.TypeAAAA {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
			}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = conn.WriteTo(out, from)
		}
	}
}

// answer counts the queries for addresses of one kind, so that both kinds of one look-up agree.
func (n *names) answer(name string, kind dnsmessage.Type) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.answers[name]
	if len(list) == 0 {
		return nil
	}
	at := min(n.asked[name+kind.String()], len(list)-1)
	n.asked[name+kind.String()]++
	return list[at]
}

func TestURLs(t *testing.T) {
	answers := map[string][][]string{"good.example.com": {{"8.8.8.8", "2606:4700::1111"}}, "half.example.com": {{"8.8.8.8", "10.0.0.1"}}}
	for i, text := range forbidden {
		answers["bad"+string(rune('a'+i/26))+string(rune('a'+i%26))+".example.com"] = [][]string{{text}}
	}
	// Names that are not public are rejected as such, whatever address their resolver says they have.
	for _, name := range []string{"a.localhost", "printer.local", "metadata.google.internal", "router.home.arpa", "intranet", "corp", "nohost", "foo.0x7f", "good.example.com.onion"} {
		answers[name] = [][]string{{"8.8.8.8"}}
	}
	g := Guard{Resolver: newNames(t, answers)}
	bad := []string{
		"", "x", "https://", "https:///x", "https:good.example.com", "//good.example.com", "http://good.example.com/", "ftp://good.example.com", "gopher://good.example.com",
		"https://user@good.example.com/", "https://user:pw@good.example.com/", "https://good.example.com/#x", "https://good.example.com/#", "https://good.example.com:80/", "https://good.example.com:22/",
		"https://good.example.com:99999/", "https://good.example.com:x/", "https://good.example.com./", "https://good..example.com/", "https://-good.example.com/", "https://good example.com/",
		"https://good.example.com/\x00", "https://good.example.com/é", "https://" + strings.Repeat("a", maxURL) + ".example.com/",
		"https://localhost/", "https://LOCALHOST/", "https://a.localhost/", "https://printer.local/", "https://metadata.google.internal/", "https://router.home.arpa/", "https://intranet/", "https://corp/", "https://good.example.com.onion/", "https://nohost/",
		"https://half.example.com/", "https://unknown.example.com/", "http://127.0.0.1/", "http://localhost/",
		// loopback in other notations
		"https://2130706433/", "https://017700000001/", "https://0x7f000001/", "https://0X7F000001/", "https://127.1/", "https://127.0.1/", "https://0177.0.0.1/", "https://0x7f.0.0.1/", "https://0x7f.1/",
		"https://127.0.0.0x1/", "https://127.0.0.01/", "https://00127.0.0.1/", "https://127.000.000.001/", "https://0/", "https://0x/", "https://1/", "https://foo.0x7f/", "https://127.0.0.1./",
		"https://%31%32%37.0.0.1/", "https://127%2e0.0.1/", "https://１２７.０.０.１/", "https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/", "https://[::ffff:7f00:1]/", "https://[0:0:0:0:0:ffff:127.0.0.1]/", "https://[::1]/",
		"https://[fe80::1%25eth0]/", "https://[2606:4700::1111%25eth0]/", "https://[v1.x]/", "https://[::1/", "https://3232235777/", "https://0xa9fea9fe/", "https://2852039166/", "https://0251.0376.0251.0376/",
	}
	for _, text := range forbidden {
		bad = append(bad, "https://"+bracketed(text)+"/hook", "https://"+bracketed(text)+":8443/hook")
	}
	for name := range answers {
		if strings.HasPrefix(name, "bad") {
			bad = append(bad, "https://"+name+"/")
		}
	}
	for _, text := range bad {
		if err := g.CheckURL(context.Background(), text); err == nil {
			t.Errorf("CheckURL(%q) = nil, want it rejected", text)
		}
	}
	for _, text := range []string{
		"https://good.example.com", "https://GOOD.example.com/x?y=z", "https://good.example.com:443/", "https://good.example.com:8443/", "https://8.8.8.8/", "https://[2606:4700::1111]/",
	} {
		if err := g.CheckURL(context.Background(), text); err != nil {
			t.Errorf("CheckURL(%q) = %v, want nil", text, err)
		}
	}
	local := Guard{AllowLoopback: true, Resolver: g.Resolver}
	for text, ok := range map[string]bool{
		"http://127.0.0.1:1234/": true, "http://[::1]:1234/": true, "http://localhost:1234/": true, "https://127.0.0.1/": true, "http://good.example.com/": false,
		"http://8.8.8.8/": false, "http://10.0.0.1/": false, "https://10.0.0.1/": false, "http://2130706433/": false,
	} {
		if err := local.CheckURL(context.Background(), text); (err == nil) != ok {
			t.Errorf("with loopback allowed: CheckURL(%q) = %v, want it accepted: %v", text, err, ok)
		}
	}
}

func bracketed(addr string) string {
	if strings.Contains(addr, ":") {
		return "[" + addr + "]"
	}
	return addr
}

// TestRebinding has a name that is public when it is checked and loopback when it is dialled: the
// connection must not be made, and the receiver on loopback must not hear of it.
func TestRebinding(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	connected := make(chan struct{}, 1)
	go func() {
		if c, err := ln.Accept(); err == nil {
			connected <- struct{}{}
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	guard := &Guard{Resolver: newNames(t, map[string][][]string{
		"rebind.example.com": {{"8.8.8.8"}, {"127.0.0.1"}},
		"both.example.com":   {{"127.0.0.1", "::1", "169.254.169.254"}},
	})}
	if err := guard.CheckURL(context.Background(), "https://rebind.example.com:"+port+"/"); err != nil {
		t.Fatalf("CheckURL(first answer) = %v, want it accepted", err)
	}
	client := newClient(guard)
	client.Timeout = patience
	for _, host := range []string{"rebind.example.com", "both.example.com", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "localhost"} {
		resp, err := client.Get("https://" + host + ":" + port + "/")
		if err == nil {
			resp.Body.Close()
		}
		if err == nil || !strings.Contains(explain(err), "reserved network") && !strings.Contains(explain(err), "cannot be resolved") {
			t.Errorf("GET %s = %v, want the connection rejected", host, err)
		}
	}
	select {
	case <-connected:
		t.Error("a connection to loopback was made")
	case <-time.After(50 * time.Millisecond):
	}
}
