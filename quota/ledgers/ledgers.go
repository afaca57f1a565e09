// Package ledgers opens a ledger by its address: the path of a file, or etcd://host:port/prefix.
//
// It is the one place that knows which kinds of ledger there are. A ledger file belongs to one
// process; a ledger in etcd is shared by a fleet of servers.
package ledgers

import (
	"cmp"
	"context"
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

// Credentials say who connects to etcd, and how.
type Credentials = etcd.Credentials

// Shared reports whether a ledger address is one that several servers share.
func Shared(address string) bool { return strings.HasPrefix(address, etcd.Scheme) }

// Named is an address and the flag or argument that gave it.
type Named struct{ Name, Address string }

// Validate checks addresses and the credentials for them without connecting; files are read.
func Validate(c Credentials, ledgers ...Named) error {
	shared := false
	for _, l := range ledgers {
		var err error
		switch {
		case l.Address == "":
			err = errors.New("must not be empty")
		case Shared(l.Address):
			shared = true
			_, err = etcd.ParseAddress(l.Address)
		case strings.Contains(l.Address, "://"):
			err = fmt.Errorf("must be a file or %shost:port/prefix, got %q", etcd.Scheme, l.Address)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	if !shared && c != (Credentials{}) {
		return fmt.Errorf("--ledger-user, --ledger-password-file, --ledger-ca, --ledger-cert, --ledger-key, --ledger-tls: only work with a ledger in etcd, not with a file (%s)", ledgers[0].Address)
	}
	return c.Check()
}

// Open opens the ledger at address. Of the options of a file, one in etcd respects MustExist. Errors are those of
// quota.Open or of package etcd.
func Open(ctx context.Context, address string, opt quota.Options, c Credentials) (quota.Portable, error) {
	if !Shared(address) {
		ledger, err := quota.Open(address, opt)
		if err != nil {
			return nil, err // not a nil *quota.Ledger in an interface
		}
		return ledger, nil
	}
	o, err := etcd.ParseAddress(address)
	if err != nil {
		return nil, fmt.Errorf("ledger address: %w", err)
	}
	o.Credentials, o.MustExist = c, opt.MustExist
	store, err := etcd.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// Tune sets what a keeper on a ledger of this kind needs and cfg leaves open. A commit to etcd is a
// round trip between machines, with a disk write on a majority of them. So a keeper leases five seconds
// of each key's own traffic instead of one, and commits at most twenty times per second.
func Tune(address string, cfg *quota.Config) {
	if Shared(address) {
		cfg.LeaseSpan = cmp.Or(cfg.LeaseSpan, 5*time.Second)
		cfg.CommitEvery = cmp.Or(cfg.CommitEvery, 50*time.Millisecond)
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

// Copy copies the ledger at one address to another, which is created if it does not exist and must be empty, and
// compares both. No server may use either: a file is locked by the server that uses it, and etcd knows which servers
// are registered. A file that is copied is only read. After an error a target that is a file is as it was before.
func Copy(ctx context.Context, from, to string, c Credentials) (report quota.CopyReport, err error) {
	source, err := Open(ctx, from, quota.Options{MustExist: true, ReadOnly: true}, c)
	if err != nil {
		return report, quota.OfSource(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := source.Alone(ctx); err != nil {
		return report, err
	}
	if Shared(to) {
		report, err = copyShared(ctx, source, to, c)
	} else {
		report, err = quota.CopyFile(ctx, source, to)
	}
	if err != nil {
		return report, fmt.Errorf("copying ledger %s to %s: %w", from, to, err)
	}
	return report, nil
}

func copyShared(ctx context.Context, source quota.Portable, to string, c Credentials) (report quota.CopyReport, err error) {
	target, err := Open(ctx, to, quota.Options{}, c)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if err := target.Alone(ctx); err != nil {
		return report, err
	}
	return quota.Copy(ctx, source, target)
}
