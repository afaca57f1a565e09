package operator

import (
	"context"
	"errors"
	"fmt"
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
	// Socket is the admin socket of the server that has the ledger open; empty means FileBase with
	// .sock.
	Socket string
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
	if err := ledgers.Validate("--ledger", p.Ledger, p.Etcd); err != nil {
		return err
	}
	_, err := p.config(quota.Config{})
	return err
}

func (p Place) config(cfg quota.Config) (_ quota.Config, err error) {
	if p.Tiers != "" {
		if cfg.Tiers, err = quota.LoadTiers(p.Tiers); err != nil {
			return cfg, err
		}
	}
	if p.KeyPrefix != "" {
		if err := quota.CheckPrefix(p.KeyPrefix); err != nil {
			return cfg, fmt.Errorf("--key-prefix: %w", err)
		}
	}
	cfg.KeyPrefix = p.KeyPrefix
	ledgers.Tune(p.Ledger, &cfg)
	return cfg, nil
}

// Opened is a ledger that this process has open, with the keeper over it.
type Opened struct {
	*quota.Keeper
	Ledger ledgers.Ledger
}

// Open opens the ledger. Its errors are those of quota.Open and quota.NewKeeper, or name the
// setting that is wrong; nothing is created when a setting is wrong. It ends early when ctx does; what is
// open then does not depend on ctx.
func (p Place) Open(ctx context.Context, cfg quota.Config, opt quota.Options) (*Opened, error) {
	cfg, err := p.config(cfg)
	if err != nil {
		return nil, err
	}
	var o Opened
	if o.Ledger, err = p.open(ctx, opt); err != nil {
		return nil, err
	}
	if o.Keeper, err = quota.NewKeeperContext(ctx, o.Ledger, cfg); err != nil {
		return nil, errors.Join(err, o.Ledger.Close())
	}
	return &o, nil
}

func (p Place) open(ctx context.Context, opt quota.Options) (ledgers.Ledger, error) {
	return ledgers.Open(ctx, p.Ledger, ledgers.Options{File: opt, Etcd: p.Etcd})
}

// closeWait is how long Close waits for the counts to be written.
const closeWait = 10 * time.Second

// Close writes the counts and releases the ledger.
func (o *Opened) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	return errors.Join(o.Keeper.Close(ctx), o.Ledger.Close())
}

// With calls do with the keys of this place: through the admin socket if a server listens there,
// else in the file, which opt says how to open.
func (p Place) With(ctx context.Context, opt quota.Options, do func(ctx context.Context, keys Keys) error) (err error) {
	if client, err := Dial(p.SocketPath()); err == nil {
		defer client.Close()
		return do(ctx, client)
	}
	opened, err := p.Open(ctx, quota.Config{}, opt)
	if errors.Is(err, quota.ErrLocked) {
		// A server that was opening the ledger a moment ago listens by now.
		if client, dialErr := Dial(p.SocketPath()); dialErr == nil {
			defer client.Close()
			return do(ctx, client)
		}
		return fmt.Errorf("%w; no server answers at %s: name its socket with --admin-socket", err, p.SocketPath())
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return do(ctx, opened)
}

// Check checks the ledger for damage: in the server that has it open, else in the file.
func (p Place) Check(ctx context.Context) (quota.Report, error) {
	if client, err := Dial(p.SocketPath()); err == nil {
		defer client.Close()
		return client.Check(ctx)
	}
	ledger, err := p.open(ctx, quota.Options{ReadOnly: true, MustExist: true})
	if err != nil {
		return quota.Report{}, err
	}
	report, err := ledger.Check(ctx)
	return report, errors.Join(err, ledger.Close())
}

// Backup writes a copy of the ledger to a file that must not exist, and returns its size in bytes.
// The path must be absolute: where a server has the ledger open, the server writes the copy.
func (p Place) Backup(ctx context.Context, to string) (int64, error) {
	if client, err := Dial(p.SocketPath()); err == nil {
		defer client.Close()
		return client.BackupFile(ctx, to)
	}
	ledger, err := p.open(ctx, quota.Options{ReadOnly: true, MustExist: true})
	if err != nil {
		return 0, err
	}
	defer ledger.Close() // only read
	return ledger.BackupFile(ctx, to)
}
