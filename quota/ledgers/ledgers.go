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
	"os"
	"path/filepath"
	"slices"
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

// Validate checks an address, which is that of a flag, and credentials without connecting; files are read.
func Validate(flag, address string, c Credentials) error {
	if err := CheckAddress(address); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return CheckCredentials(c, address)
}

// CheckCredentials checks credentials for the ledgers at some addresses; files are read.
func CheckCredentials(c Credentials, addresses ...string) error {
	if c == (Credentials{}) {
		return nil
	}
	i := slices.IndexFunc(addresses, Shared)
	if i < 0 {
		return fmt.Errorf("--ledger-user, --ledger-password-file, --ledger-ca, --ledger-cert, --ledger-key, --ledger-tls: are for a ledger in etcd, not for a file (%s)", strings.Join(addresses, ", "))
	}
	_, err := options(addresses[i], c)
	return err
}

// CheckAddress checks an address alone.
func CheckAddress(address string) error {
	switch {
	case address == "":
		return errors.New("must not be empty")
	case Shared(address):
		_, err := etcd.ParseAddress(address)
		return err
	case strings.Contains(address, "://"):
		return fmt.Errorf("must be a file or %shost:port/prefix, got %q", etcd.Scheme, address)
	}
	return nil
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
	if (c.CertFile == "") != (c.KeyFile == "") {
		return o, errors.New("--ledger-cert, --ledger-key: must be given together")
	}
	password, err := c.password()
	if err != nil {
		return o, err
	}
	if (c.User == "") != (password == "") {
		return o, errors.New("--ledger-user, --ledger-password-file (or MODELDEX_LEDGER_PASSWORD): must be given together")
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

// Same reports whether two addresses name one ledger: one file, or one prefix of an etcd with an endpoint in common.
// Nothing is connected to.
func Same(a, b string) bool {
	if Shared(a) || Shared(b) {
		one, errOne := etcd.ParseAddress(a)
		other, errOther := etcd.ParseAddress(b)
		return errOne == nil && errOther == nil && one.Prefix == other.Prefix &&
			slices.ContainsFunc(one.Endpoints, func(e string) bool { return slices.Contains(other.Endpoints, e) })
	}
	aInfo, aErr := os.Stat(a)
	bInfo, bErr := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || aErr == nil && bErr == nil && os.SameFile(aInfo, bInfo)
}

// Prefix is the part of the address of a shared ledger that names it within etcd, empty for a file.
func Prefix(address string) string {
	o, _ := etcd.ParseAddress(address) // of an address that cannot be read: none
	return o.Prefix
}

// Copy copies the ledger at one address to another, which is created if it does not exist and must
// be empty, and compares both. No server may use either: a file is locked by the server that uses
// it, and etcd knows which servers are registered. A file that is copied is only read. After an error a target that is a
// file is as it was before.
func Copy(ctx context.Context, from, to string, opt Options) (report quota.CopyReport, err error) {
	fromOpt := opt
	fromOpt.File.MustExist, fromOpt.File.ReadOnly = true, true
	source, err := Open(ctx, from, fromOpt)
	if err != nil {
		return report, quota.OfSource(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := alone(ctx, source); err != nil {
		return report, err
	}
	if Shared(to) {
		report, err = copyShared(ctx, source, to, opt)
	} else {
		report, err = quota.CopyFile(ctx, source, to)
	}
	if err != nil {
		return report, fmt.Errorf("copying ledger %s to %s: %w", from, to, err)
	}
	return report, nil
}

// copyShared copies a ledger to one that several servers share.
func copyShared(ctx context.Context, source Ledger, to string, opt Options) (report quota.CopyReport, err error) {
	target, err := Open(ctx, to, opt)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if err := alone(ctx, target); err != nil {
		return report, err
	}
	return quota.Copy(ctx, source, target)
}

// alone checks that no server uses a ledger. A file has a lock for that.
func alone(ctx context.Context, l Ledger) error {
	if shared, ok := l.(*etcd.Store); ok {
		return shared.Alone(ctx)
	}
	return nil
}
