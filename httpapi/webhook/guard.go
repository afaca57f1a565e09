package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A Guard says which addresses messages may be sent to. The owner of a key chooses the URL.
// Without it the server could be made to send requests into its own network: to its admin
// listener, to services that trust their neighbours, to the metadata service of a cloud.
//
// A URL is checked when it is given, and each address again when a connection is made. That is
// after the name was resolved and before the first packet, so a name that has changed its
// address in between changes nothing. Redirects are not followed and no proxy is used.
//
// The zero value is ready to use. All methods are safe for concurrent use.
type Guard struct {
	// AllowLoopback allows loopback addresses, over http as well: for trying webhooks out on one
	// machine.
	AllowLoopback bool
	// Resolver resolves names; nil is the system's.
	Resolver *net.Resolver

	translators atomic.Pointer[[]netip.Prefix] // NAT64 of this network, see findTranslators
}

// errForbidden is returned for an address to which nothing is sent.
var errForbidden = errors.New("address is not allowed")

// maxURL is the longest URL, in bytes.
const maxURL = 2048

// resolveTime bounds resolving a name when a URL is given.
const resolveTime = 3 * time.Second

// CheckURL checks a URL and the addresses its name has now. The error is a sentence about the URL,
// without subject.
func (g *Guard) CheckURL(ctx context.Context, text string) error {
	u, err := g.parse(text)
	if err != nil {
		return err
	}
	host := strings.ToLower(u.Hostname())
	addr, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && addr.Unmap().IsLoopback()
	switch {
	case u.Scheme == "http" && !local:
		return errors.New("must begin with https://; http is for loopback only")
	case err == nil && g.CheckAddr(addr) != nil:
		return errors.New("must not have an address of a loopback, private, link-local or reserved network")
	case err == nil || local && g.AllowLoopback:
		return nil
	case !publicName.MatchString(host) || len(host) > 253:
		return errors.New("must have a public host: a name of letters, digits and hyphens with a dot in it, or an address of four decimal numbers or in brackets")
	case localNames.MatchString(host):
		return errors.New("must name a public host, not one of a local network")
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	addrs, err := g.resolver().LookupNetIP(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		return fmt.Errorf("must name a host that can be resolved; %s cannot", host)
	}
	if slices.ContainsFunc(addrs, func(a netip.Addr) bool { return g.CheckAddr(a) != nil }) {
		return fmt.Errorf("must name a public host; %s has an address of a loopback, private, link-local or reserved network", host)
	}
	return nil
}

// publicName is a host name. Its last label begins with a letter: otherwise resolvers of C libraries and browsers read
// the name as an IPv4 address in decimal, octal or hexadecimal parts.
var publicName = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// localNames are names of machines and networks that are not public.
var localNames = regexp.MustCompile(`\.(localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|onion)$`)

func (g *Guard) resolver() *net.Resolver { return cmp.Or(g.Resolver, net.DefaultResolver) }

// parse checks the form of a URL.
func (g *Guard) parse(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fmt.Errorf("must have at most %d bytes", maxURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Host == "" {
		return nil, errors.New("must be a URL such as https://example.com/hook")
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
	switch {
	case u.Scheme != "https" && !(g.AllowLoopback && u.Scheme == "http"):
		return nil, errors.New("must begin with https://")
	case u.User != nil:
		return nil, errors.New("must not have a user or password; check the signature of a message instead")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return nil, errors.New("must not have a fragment (#), which is never sent")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, errors.New("must be ASCII without spaces: write other letters of the name in punycode and of the path with %")
	case err != nil || port < 1024 && port != 443:
		return nil, errors.New("must have port 443 or a port from 1024 to 65535")
	}
	return u, nil
}

// CheckAddr returns errForbidden for an address to which nothing is sent. IPv4 addresses inside
// IPv6 ones are checked as what they are.
func (g *Guard) CheckAddr(addr netip.Addr) error {
	if g.AllowLoopback && addr.Unmap().IsLoopback() || g.public(addr) {
		return nil
	}
	return errForbidden
}

// reserved are the networks that are not public hosts: those in the registries of special addresses
// of IANA (https://www.iana.org/assignments/iana-ipv4-special-registry and
// iana-ipv6-special-registry, read 2026-11), multicast, and the address of the metadata service of
// Azure, which is a public one.
var reserved = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
	"2001::/23",     // protocol assignments: Teredo, ORCHID, benchmarking and others
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4: an IPv4 address inside, relayed by unknown machines
	"2620:4f:8000::/48", "3fff::/20",
)

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	// nat64 is where translators of IPv6-only networks put public IPv4 addresses (RFC 6052).
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, t := range texts {
		out = append(out, netip.MustParsePrefix(t))
	}
	return out
}

// public reports whether an address can be that of a public host.
func (g *Guard) public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	for _, p := range append([]netip.Prefix{nat64}, *cmp.Or(g.translators.Load(), &[]netip.Prefix{})...) {
		if p.Contains(addr) {
			addr = embedded(addr, p.Bits())
			break
		}
	}
	if addr.Is6() && (!globalUnicast.Contains(addr) || isatap(addr)) {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// embedded is the IPv4 address behind the prefix of a translator: byte 8 is left out (RFC 6052, 2.2).
func embedded(addr netip.Addr, bits int) netip.Addr {
	b := addr.As16()
	if bits == 96 {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return netip.AddrFrom4([4]byte(append(b[bits/8:8:8], b[9:]...)))
}

// findTranslators asks the resolver for the prefixes that translators of this network use (RFC 7050): it answers with
// them when it is asked for the IPv6 addresses of a name that has only the IPv4 addresses 192.0.0.170 and 192.0.0.171.
func (g *Guard) findTranslators(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	addrs, err := g.resolver().LookupNetIP(ctx, "ip6", "ipv4only.arpa")
	if err != nil {
		return // those known before go on
	}
	var found []netip.Prefix
	for _, a := range addrs {
		for _, bits := range []int{32, 40, 48, 56, 64, 96} {
			v4 := embedded(a, bits).As4()
			if p, err := a.Prefix(bits); err == nil && a.Is6() && (v4 == [4]byte{192, 0, 0, 170} || v4 == [4]byte{192, 0, 0, 171}) {
				found = append(found, p)
			}
		}
	}
	g.translators.Store(&found)
}

// isatap reports whether an IPv6 address carries an IPv4 one in its interface identifier (RFC 5214).
func isatap(addr netip.Addr) bool {
	b := addr.As16()
	return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// Control is for net.Dialer: it is called with the address that is about to be connected to.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	addr := to.Addr().Unmap()
	if err != nil || !strings.HasPrefix(network, "tcp") || g.CheckAddr(to.Addr()) != nil || !addr.IsLoopback() && isOwn(addr) {
		return errForbidden
	}
	return nil
}

// isOwn reports whether an address may be this machine's own: what listens there may trust the machine it is on.
func isOwn(addr netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(own, func(a net.Addr) bool {
		n, err := netip.ParsePrefix(a.String())
		return err == nil && n.Addr().Unmap() == addr
	})
}
