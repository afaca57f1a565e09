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
}

// errForbidden is returned for an address to which nothing is sent.
var errForbidden = errors.New("address is not allowed")

const (
	maxURL = 2048 // bytes
	// resolveTime bounds resolving a name when a URL is given.
	resolveTime = 3 * time.Second
)

// publicName is a host name. Its last label begins with a letter: otherwise resolvers of C libraries and browsers read
// the name as an IPv4 address in decimal, octal or hexadecimal parts.
var publicName = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// localNames are names of machines and networks that are not public.
var localNames = regexp.MustCompile(`\.(localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|onion)$`)

// CheckURL checks a URL and the addresses its name has now. The error is a sentence about the URL,
// without subject.
func (g *Guard) CheckURL(ctx context.Context, text string) error {
	u, err := url.Parse(text)
	if len(text) > maxURL || err != nil || u.Opaque != "" || u.Host == "" {
		return fmt.Errorf("must be a URL such as https://example.com/hook, of at most %d bytes", maxURL)
	}
	host := strings.ToLower(u.Hostname())
	addr, notAddr := netip.ParseAddr(host)
	local := g.AllowLoopback && (host == "localhost" || notAddr == nil && addr.Unmap().IsLoopback())
	port, badPort := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
	switch {
	case u.Scheme != "https" && !(local && u.Scheme == "http"):
		return errors.New("must begin with https://")
	case u.User != nil:
		return errors.New("must not have a user or password; check the signature of a message instead")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return errors.New("must not have a fragment (#), which is never sent")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("must be ASCII without spaces: use punycode for the host and percent-encoding for the path")
	case badPort != nil || port < 1024 && port != 443:
		return errors.New("must have port 443 or a port from 1024 to 65535")
	case notAddr == nil && !g.allows(addr):
		return errors.New("must not be an address in a loopback, private, link-local or reserved network")
	case notAddr == nil || local:
		return nil
	case !publicName.MatchString(host) || len(host) > 253:
		return errors.New("must have a public host: a domain name with a dot, an IPv4 address, or an IPv6 address in brackets")
	case localNames.MatchString(host):
		return errors.New("must name a public host, not one in a local network")
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	addrs, err := g.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		return fmt.Errorf("must name a host that can be resolved; %s cannot", host)
	}
	if slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !g.allows(a) }) {
		return fmt.Errorf("must name a public host; %s has an address in a loopback, private, link-local or reserved network", host)
	}
	return nil
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

// allows reports whether messages may be sent to an address: one that can be that of a public host. IPv4 addresses
// inside IPv6 ones are checked as what they are.
func (g *Guard) allows(addr netip.Addr) bool {
	addr = addr.Unmap()
	if g.AllowLoopback && addr.IsLoopback() {
		return true
	}
	b := addr.As16()
	if nat64.Contains(addr) {
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	isatap := b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe // an IPv4 address behind it (RFC 5214)
	if !addr.IsValid() || addr.Zone() != "" || addr.Is6() && (isatap || !globalUnicast.Contains(addr)) {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// Control is for net.Dialer: it is called with the address that is about to be connected to.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") || !g.allows(to.Addr()) || !to.Addr().Unmap().IsLoopback() && isOwn(to.Addr().Unmap()) {
		return errForbidden
	}
	return nil
}

// isOwn reports whether an address may be this machine's own. Services there may trust local requests.
func isOwn(addr netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(own, func(a net.Addr) bool {
		n, err := netip.ParsePrefix(a.String())
		return err == nil && n.Addr().Unmap() == addr
	})
}
