package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"modeldex/quota"
	"modeldex/quota/ledgers"
)

// Place says where keys and quota are kept.
type Place struct {
	// Ledger is a file, or etcd://host:port,host:port/prefix.
	Ledger string
	// Etcd is how to connect to a ledger in etcd.
	Etcd ledgers.Credentials
	// Socket is the admin socket of the server that has the ledger open; empty means FileBase with .sock.
	Socket string
	// AnyLedger accepts a server at Socket that uses another ledger than Ledger.
	AnyLedger bool
	// KeyPrefix is what new keys start with; empty means mdx.
	KeyPrefix string
	// Tiers is a file of tiers; empty means those built in.
	Tiers string
}

// SocketPath is Socket or its default.
func (p Place) SocketPath() string {
	if p.Socket != "" {
		return p.Socket
	}
	return p.FileBase() + ".sock"
}

// TokenFile is the default file of the admin token.
func (p Place) TokenFile() string { return p.FileBase() + ".token" }

// FileBase is what the names of files beside the ledger begin with: its own path, or ./modeldex for
// one that is not a file.
func (p Place) FileBase() string {
	if ledgers.Shared(p.Ledger) {
		return "./modeldex"
	}
	return p.Ledger
}

// Validate checks what can be checked without opening anything but the file of tiers.
func (p Place) Validate() error {
	if err := ledgers.Validate(p.Etcd, ledgers.Named{Name: "--ledger", Address: p.Ledger}); err != nil {
		return err
	}
	return p.fill(&quota.Config{})
}

func (p Place) fill(cfg *quota.Config) (err error) {
	if p.Tiers != "" {
		cfg.Tiers, err = quota.LoadTiers(p.Tiers)
	}
	if cfg.KeyPrefix = p.KeyPrefix; p.KeyPrefix != "" && err == nil {
		if err = quota.CheckPrefix(p.KeyPrefix); err != nil {
			err = fmt.Errorf("--key-prefix: %w", err)
		}
	}
	ledgers.Tune(p.Ledger, cfg)
	return err
}

// Opened is a ledger that this process has open, with the keeper over it.
type Opened struct {
	*quota.Keeper
	Ledger quota.Portable
}

// Open opens the ledger. Its errors are those of quota.Open and quota.NewKeeper, or name the setting that is wrong;
// nothing is created when a setting is wrong. It ends early when ctx does; what is open then does not depend on ctx.
func (p Place) Open(ctx context.Context, cfg quota.Config, opt quota.Options) (*Opened, error) {
	if err := p.fill(&cfg); err != nil {
		return nil, err
	}
	ledger, err := ledgers.Open(ctx, p.Ledger, opt, p.Etcd)
	if err != nil {
		return nil, err
	}
	keeper, err := quota.NewKeeper(ctx, ledger, cfg)
	if err != nil {
		return nil, errors.Join(p.missingTier(err), ledger.Close())
	}
	return &Opened{keeper, ledger}, nil
}

// missingTier words the error of a tier that a key has and the tiers lack.
func (p Place) missingTier(err error) error {
	account, ok := errors.AsType[*quota.AccountTierError](err)
	switch {
	case !ok || !errors.Is(err, quota.ErrUnknownTier):
		return err
	case p.Tiers == "":
		return fmt.Errorf("--tiers: must name a file with the tier %q, which %s uses", account.Tier, account.ID)
	}
	return fmt.Errorf("--tiers %s: must have the tier %q, which %s uses; add it, or move the key with keys set-tier and the old file", p.Tiers, account.Tier, account.ID)
}

// closeWait is how long Close waits for the counts to be written.
const closeWait = 10 * time.Second

// Close writes the counts and releases the ledger.
func (o *Opened) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	return errors.Join(o.Keeper.Close(ctx), o.Ledger.Close())
}

// Address is what a server says of its ledger: the absolute path of the file, or the address without credentials.
func (p Place) Address() string {
	if ledgers.Shared(p.Ledger) {
		return p.Ledger
	}
	if path, err := filepath.Abs(p.Ledger); err == nil {
		return path
	}
	return p.Ledger
}

// server returns a client of the server that listens at the admin socket, nil where none does. One that uses another
// ledger than the one named is an error.
func (p Place) server(ctx context.Context) (*Client, error) {
	client, err := Dial(p.SocketPath())
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("admin socket %s: permission denied; run this as the server's user", p.SocketPath())
	}
	if err != nil || p.AnyLedger {
		return client, nil //nolint:nilerr // there is no socket, or a killed server left it behind
	}
	theirs, err := client.Address(ctx)
	if err != nil || !p.differs(theirs) {
		return client, nil //nolint:nilerr // a server of an older version does not say which ledger it uses
	}
	client.Close()
	err = fmt.Errorf("--ledger %s: the server at %s uses %s", p.Ledger, p.SocketPath(), theirs)
	if p.Socket != "" {
		err = fmt.Errorf("%w; omit one of the two flags", err)
	}
	return nil, err
}

// differs reports whether a server's ledger is certainly another one. Its path may not be visible here, as from outside
// a container.
func (p Place) differs(theirs string) bool {
	if ledgers.Shared(p.Ledger) || ledgers.Shared(theirs) {
		return ledgers.Prefix(p.Ledger) != ledgers.Prefix(theirs)
	}
	their, err := os.Stat(theirs)
	if err != nil {
		return false
	}
	our, err := os.Stat(p.Ledger)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(our, their)
}

// reach calls ask with the server that has the ledger open, or open where none listens. Only one process at a time can
// do the work.
func (p Place) reach(ctx context.Context, ask func(*Client) error, open func() error) error {
	var locked error
	for {
		client, err := p.server(ctx)
		if err != nil {
			return err
		}
		if client != nil {
			defer client.Close()
			return ask(client)
		}
		if locked != nil {
			return fmt.Errorf("%w; no server answers at %s: name its socket with --admin-socket", locked, p.SocketPath())
		}
		if locked = open(); !errors.Is(locked, quota.ErrLocked) {
			return locked
		}
		// A server that was opening the ledger a moment ago listens by now.
	}
}

// With calls do with the keys of this place: through the admin socket if a server listens there,
// else in the file, which opt says how to open.
func (p Place) With(ctx context.Context, opt quota.Options, do func(ctx context.Context, keys Keys) error) error {
	return p.reach(ctx, func(client *Client) error { return do(ctx, client) }, func() (err error) {
		opened, err := p.Open(ctx, quota.Config{}, opt)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, opened.Close()) }()
		return do(ctx, opened)
	})
}

// WithLedger calls do with the ledger: in the server that has it open if one runs, else in the file, opened for reading.
// address is the ledger that is asked. A path of a copy must be absolute: a server writes the copy itself.
func (p Place) WithLedger(ctx context.Context, do func(ledger Ledger, address string) error) error {
	return p.reach(ctx, func(client *Client) error {
		address := p.Ledger
		if p.AnyLedger {
			var err error
			if address, err = client.Address(ctx); err != nil {
				address = p.SocketPath()
			}
		}
		return do(client, address)
	}, func() error {
		ledger, err := ledgers.Open(ctx, p.Ledger, quota.Options{ReadOnly: true, MustExist: true}, p.Etcd)
		if err != nil {
			return err
		}
		return errors.Join(do(ledger, p.Ledger), ledger.Close())
	})
}
