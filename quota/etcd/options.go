package etcd

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Scheme begins the address of a ledger in etcd.
const Scheme = "etcd://"

// Options say which etcd to use and how to connect.
type Options struct {
	Endpoints []string // host:port each
	Prefix    string   // before every key; must not be empty
	Username  string
	// Password returns the password of Username. It is called for every login, so that a new one counts at once.
	Password func() (string, error)
	// TLS returns how to make one connection; nil connects without TLS. It is called for every connection, so that
	// certificates can be replaced while a server runs.
	TLS func() (*tls.Config, error)

	// MustExist rejects a prefix without a ledger with quota.ErrMissing instead of creating one.
	MustExist bool

	// DialTimeout is how long Open waits for etcd; zero: 5 seconds.
	DialTimeout time.Duration
}

// String is the address without credentials, for messages.
func (o Options) String() string {
	return Scheme + strings.Join(o.Endpoints, ",") + "/" + strings.Trim(o.Prefix, "/")
}

// ParseAddress reads etcd://host:port,host:port/prefix. A user or password in the address is an
// error: the address is visible in the process list.
func ParseAddress(address string) (Options, error) {
	rest, ok := strings.CutPrefix(address, Scheme)
	if !ok {
		return Options{}, fmt.Errorf("must begin with %s, got %q", Scheme, address)
	}
	if strings.Contains(rest, "@") {
		return Options{}, errors.New("must not contain a user or password: others can read it in the process list; give them by environment or file")
	}
	hosts, prefix, _ := strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	if prefix == "" {
		return Options{}, fmt.Errorf("must name a prefix for the keys, such as %s%s/modeldex", Scheme, hosts)
	}
	if strings.ContainsAny(prefix, "?#") {
		return Options{}, fmt.Errorf("must be %shost:port,host:port/prefix without parameters, got %q", Scheme, address)
	}
	o := Options{Prefix: prefix}
	for host := range strings.SplitSeq(hosts, ",") {
		name, port, err := net.SplitHostPort(host)
		if err != nil || name == "" || port == "" {
			return Options{}, fmt.Errorf("must be %shost:port,host:port/prefix, got host %q", Scheme, host)
		}
		o.Endpoints = append(o.Endpoints, host)
	}
	return o, nil
}

func (o *Options) fill() error {
	if len(o.Endpoints) == 0 || strings.Trim(o.Prefix, "/") == "" {
		return errors.New("endpoints and prefix must be given")
	}
	o.DialTimeout = cmp.Or(o.DialTimeout, 5*time.Second)
	return nil
}

// urls are the endpoints as the client wants them.
func (o Options) urls() []string {
	scheme := "http://"
	if o.TLS != nil {
		scheme = "https://"
	}
	out := make([]string, len(o.Endpoints))
	for i, e := range o.Endpoints {
		out[i] = scheme + e
	}
	return out
}
