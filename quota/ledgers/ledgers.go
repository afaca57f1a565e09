// Package ledgers opens a ledger by its address: the path of a file, or etcd://host:port/prefix.
//
// It is the one place that knows which kinds of ledger there are. A ledger file belongs to one
// process; a ledger in etcd is shared by a fleet of servers.
package ledgers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"modeldex/quota"
	"modeldex/quota/etcd"
)

// Ledger is an open ledger of any kind.
type Ledger interface {
	quota.Portable

	// Check reports what is damaged or does not fit together.
	Check(ctx context.Context) (quota.Report, error)
	// BackupFile writes a ledger file at path, which must not exist, and returns its size in bytes.
	BackupFile(ctx context.Context, path string) (int64, error)
	// Close releases the ledger.
	Close() error
}

// Options say how to open a ledger.
type Options struct {
	// File are the options of a ledger file. Of a ledger in etcd MustExist is respected.
	File quota.Options
	// Etcd is how to connect to etcd; it is not looked at for a file.
	Etcd Credentials
}

// Credentials say who connects to etcd, and how. The zero value connects without TLS and user.
type Credentials struct {
	User string
	// Password is used if PasswordFile is empty.
	Password     string
	PasswordFile string
	// CAFile has the certificates to trust; CertFile and KeyFile are this client's own. Any of them
	// makes the connection use TLS. TLS uses TLS with the system's certificates. The files, and PasswordFile,
	// are read again for each connection and login, so that they can be replaced while a server runs.
	CAFile, CertFile, KeyFile string
	TLS                       bool
}

// Shared reports whether a ledger address is one that several servers share.
func Shared(address string) bool { return strings.HasPrefix(address, etcd.Scheme) }

// Validate checks an address and credentials without connecting; files are read.
func Validate(address string, c Credentials) error {
	if !Shared(address) {
		if c != (Credentials{}) {
			return fmt.Errorf("user, password and certificates are for a ledger in etcd, and %q is a file", address)
		}
		return nil
	}
	_, err := options(address, c)
	return err
}

// Open opens the ledger at address. Errors are those of quota.Open or of package etcd.
func Open(ctx context.Context, address string, opt Options) (Ledger, error) {
	if !Shared(address) {
		ledger, err := quota.Open(address, opt.File)
		if err != nil {
			return nil, err // not a nil *quota.Ledger in an interface
		}
		return ledger, nil
	}
	o, err := options(address, opt.Etcd)
	if err != nil {
		return nil, err
	}
	o.MustExist = opt.File.MustExist
	store, err := etcd.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return store, nil
}

func options(address string, c Credentials) (etcd.Options, error) {
	o, err := etcd.ParseAddress(address)
	if err != nil {
		return o, fmt.Errorf("ledger address: %w", err)
	}
	password, err := c.password()
	if err != nil {
		return o, err
	}
	if (c.User == "") != (password == "") {
		return o, errors.New("a ledger in etcd needs both a user and a password, or neither")
	}
	o.Username, o.Password = c.User, c.password
	if c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" || c.TLS {
		if _, err = c.tls(); err == nil {
			o.TLS = c.tls
		}
	}
	return o, err
}

// password reads the password.
func (c Credentials) password() (string, error) {
	if c.PasswordFile == "" {
		return c.Password, nil
	}
	b, err := quota.ReadFile(c.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("reading the ledger's password: %w", err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// tls reads the certificates of a connection.
func (c Credentials) tls() (*tls.Config, error) {
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
	if c.CertFile != "" || c.KeyFile != "" {
		pair, err := keyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("reading the ledger's client certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// keyPair reads a certificate and its key.
func keyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := quota.ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := quota.ReadFile(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// Tune sets what a keeper on a ledger of this kind needs and cfg leaves open. A commit to etcd is a
// round trip between machines, with a disk write on a majority of them. So a keeper leases five seconds
// of each key's own traffic instead of one, and commits at most twenty times per second.
func Tune(address string, cfg *quota.Config) {
	if !Shared(address) {
		return
	}
	if cfg.LeaseSpan == 0 {
		cfg.LeaseSpan = 5 * time.Second
	}
	if cfg.CommitEvery == 0 {
		cfg.CommitEvery = 50 * time.Millisecond
	}
}

// Copy copies the ledger at one address to another, which is created if it does not exist and must
// be empty, and compares both. No server may use either: a file is locked by the server that uses
// it, and etcd knows which servers are registered. A file that is copied is only read.
func Copy(ctx context.Context, from, to string, opt Options) (report quota.CopyReport, err error) {
	fromOpt := opt
	fromOpt.File.MustExist, fromOpt.File.ReadOnly = true, true
	source, err := Open(ctx, from, fromOpt)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := Open(ctx, to, opt)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	for _, l := range []Ledger{source, target} {
		if shared, ok := l.(*etcd.Store); ok {
			if err := shared.Alone(ctx); err != nil {
				return report, err
			}
		}
	}
	report, err = quota.Copy(ctx, source, target)
	if err != nil {
		return report, fmt.Errorf("copying ledger %s to %s: %w", from, to, err)
	}
	return report, nil
}
