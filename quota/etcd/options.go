package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"modeldex/quota"
)

// Scheme begins the address of a ledger in etcd.
const Scheme = "etcd://"

// Options say which etcd to use and how to connect.
type Options struct {
	Endpoints []string // host:port each
	Prefix    string   // before every key; must not be empty
	Credentials

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
	hosts, prefix, _ := strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	switch {
	case !ok:
		return Options{}, fmt.Errorf("must begin with %s, got %q", Scheme, address)
	case strings.Contains(rest, "@"):
		return Options{}, errors.New("must not contain a user or password, because other users can see it in the process list; use environment variables or files")
	case prefix == "":
		return Options{}, fmt.Errorf("must name a prefix for the keys, such as %s%s/modeldex", Scheme, hosts)
	case strings.ContainsAny(prefix, "?#"):
		return Options{}, fmt.Errorf("must be %shost:port,host:port/prefix without parameters, got %q", Scheme, address)
	}
	o := Options{Prefix: prefix, Endpoints: strings.Split(hosts, ",")}
	for _, host := range o.Endpoints {
		name, port, err := net.SplitHostPort(host)
		if err != nil || name == "" || port == "" {
			return Options{}, fmt.Errorf("must be %shost:port,host:port/prefix, got host %q", Scheme, host)
		}
	}
	return o, nil
}

// Credentials say who connects to etcd, and how. The zero value connects without TLS and user. The files are read again
// for each connection and login, so that they can be replaced while a server runs.
type Credentials struct {
	User string
	// Password is used if PasswordFile is empty.
	Password     string
	PasswordFile string
	// CAFile has the certificates to trust; CertFile and KeyFile are this client's own. Any of them
	// makes the connection use TLS. TLS uses TLS with the system's certificates.
	CAFile, CertFile, KeyFile string
	TLS                       bool
}

// Check reads the files and says what is wrong or missing.
func (c *Credentials) Check() error {
	if (c.CertFile == "") != (c.KeyFile == "") {
		return errors.New("--ledger-cert, --ledger-key: must be given together")
	}
	password, err := c.password()
	if err == nil && (c.User == "") != (password == "") {
		err = errors.New("--ledger-user, --ledger-password-file (or MODELDEX_LEDGER_PASSWORD): must be given together")
	}
	if err == nil {
		_, err = c.tls()
	}
	return err
}

func (c *Credentials) password() (string, error) {
	if c.PasswordFile == "" {
		return c.Password, nil
	}
	b, err := quota.ReadFile(c.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("reading the ledger's password: %w", err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

func (c *Credentials) usesTLS() bool { return c.TLS || c.CAFile != "" || c.CertFile != "" }

func (c *Credentials) tls() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		pem, err := quota.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading the ledger's CA certificates: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading the ledger's CA certificates: %s has none", c.CAFile)
		}
	}
	if c.CertFile != "" {
		cert, err := quota.ReadFile(c.CertFile)
		key, errKey := quota.ReadFile(c.KeyFile)
		pair := tls.Certificate{}
		if err = errors.Join(err, errKey); err == nil {
			pair, err = tls.X509KeyPair(cert, key)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the ledger's client certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
