package verbs

import (
	"context"
	"fmt"
	"path/filepath"

	"modeldex/dataset/record"
	"modeldex/dataset/verbs"
	"modeldex/httpapi/operator"
	"modeldex/quota"
	"modeldex/quota/ledgers"
)

// LedgerAddress are the flags that say which ledger is meant.
type LedgerAddress struct {
	Ledger *string `help:"File for keys and quotas, default ./modeldex.db, or etcd://host:port,host:port/prefix for several servers." env:"MODELDEX_LEDGER" placeholder:"FILE"`
	Etcd
}

const defaultLedger = "./modeldex.db"

func (l *LedgerAddress) address() string {
	if l.Ledger == nil {
		return defaultLedger
	}
	return *l.Ledger
}

func (l *LedgerAddress) place() operator.Place {
	return operator.Place{Ledger: l.address(), Etcd: l.credentials()}
}

// Validate checks what the flags say before anything is opened.
func (l *LedgerAddress) Validate() error { return l.place().Validate() }

// Ledger are the flags of verbs that issue or judge keys.
type Ledger struct {
	LedgerAddress
	KeyPrefix string `help:"Prefix of new keys." env:"MODELDEX_KEY_PREFIX" default:"mdx"`
	Tiers     string `help:"File that defines the tiers; the built-in tiers are free, pro and enterprise." env:"MODELDEX_TIERS" placeholder:"FILE"`
}

func (l *Ledger) place() operator.Place {
	p := l.LedgerAddress.place()
	p.KeyPrefix, p.Tiers = l.KeyPrefix, l.Tiers
	return p
}

// Validate checks what the flags say before anything is opened.
func (l *Ledger) Validate() error { return l.place().Validate() }

// Etcd are the flags of a connection to etcd. The password has no flag, because others can read
// flags in the list of processes.
type Etcd struct {
	LedgerUser         string `help:"User name for a ledger in etcd; the password comes from --ledger-password-file or MODELDEX_LEDGER_PASSWORD." env:"MODELDEX_LEDGER_USER" placeholder:"NAME"`
	LedgerPasswordFile string `help:"File with the password for --ledger-user." env:"MODELDEX_LEDGER_PASSWORD_FILE" placeholder:"FILE"`
	LedgerPassword     string `hidden:"" help:"The password itself, for the environment only: other users can see flags in the process list." env:"MODELDEX_LEDGER_PASSWORD"`
	LedgerCA           string `name:"ledger-ca" help:"File with the certificates to trust for a ledger in etcd; turns TLS on." env:"MODELDEX_LEDGER_CA" placeholder:"FILE"`
	LedgerCert         string `help:"File with this server's certificate for a ledger in etcd." env:"MODELDEX_LEDGER_CERT" placeholder:"FILE"`
	LedgerKey          string `help:"File with the private key for --ledger-cert." env:"MODELDEX_LEDGER_KEY" placeholder:"FILE"`
	LedgerTLS          bool   `name:"ledger-tls" help:"Connect to etcd with TLS, using the certificates this machine trusts." env:"MODELDEX_LEDGER_TLS"`
}

func (e *Etcd) credentials() ledgers.Credentials {
	return ledgers.Credentials{
		User: e.LedgerUser, Password: e.LedgerPassword, PasswordFile: e.LedgerPasswordFile,
		CAFile: e.LedgerCA, CertFile: e.LedgerCert, KeyFile: e.LedgerKey, TLS: e.LedgerTLS,
	}
}

// Socket is the flag of verbs that ask a running server.
type Socket struct {
	AdminSocket string `help:"Admin socket of a running server, used instead of the file; default the ledger's name with .sock." env:"MODELDEX_ADMIN_SOCKET" placeholder:"FILE"`
}

// of is a place with the socket. Where no ledger was named the socket alone says which.
func (s *Socket) of(p operator.Place, ledger *string) operator.Place {
	p.Socket = s.AdminSocket
	p.AnyLedger = s.AdminSocket != "" && ledger == nil
	return p
}

// Operator are the flags of verbs that reach the keys: through the admin socket if a server runs,
// else in the ledger file itself.
type Operator struct {
	Ledger
	verbs.Format
	Socket
}

func (o *Operator) place() operator.Place { return o.of(o.Ledger.place(), o.Ledger.Ledger) }

// Reader are the flags of verbs that read the whole ledger, in the server that has it open if one runs.
type Reader struct {
	LedgerAddress
	verbs.Format
	Socket
}

func (r *Reader) place() operator.Place {
	return r.of(r.LedgerAddress.place(), r.Ledger)
}

// with calls do with the keys. The ledger must exist: a mistyped path is not an empty ledger.
func (o *Operator) with(do func(ctx context.Context, keys operator.Keys) error) error {
	return o.place().With(context.Background(), quota.Options{MustExist: true}, do)
}

func (o *Operator) print(env *verbs.Env, accounts ...quota.Account) error {
	if o.JSON() {
		return env.PrintJSON(accounts)
	}
	return operator.WriteTable(env.Stdout, accounts)
}

// LedgerCheck checks the ledger for damage.
type LedgerCheck struct{ Reader }

// Run ends with 1 when the ledger is damaged.
func (c *LedgerCheck) Run(env *verbs.Env) error {
	var report quota.Report
	var address string
	ctx := context.Background()
	err := c.place().WithLedger(ctx, func(ledger operator.Ledger, asked string) (err error) {
		address = asked
		report, err = ledger.Check(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON() {
		err = env.PrintJSON(report)
	} else {
		fmt.Fprintf(env.Stdout, "%s: %s, %s, %d bytes, %d of them free\n", address, record.Counted(report.Accounts, "account"), record.Counted(len(report.Months), "month"), report.Size, report.Free)
	}
	for _, f := range report.Findings {
		fmt.Fprintf(env.Stderr, "%s: %s\n", address, f)
	}
	if len(report.Findings) > 0 {
		err = fmt.Errorf("%s: %s; restore a backup", address, record.Counted(len(report.Findings), "finding"))
	}
	return err
}

// LedgerBackup writes a copy of the ledger.
type LedgerBackup struct {
	Reader
	To string `arg:"" help:"File to write; it must not exist yet. A running server writes it as its own user."`
}

// Help is shown by --help.
func (*LedgerBackup) Help() string { return "Check the copy: modeldex ledger check --ledger FILE" }

// Run prints the size of the copy.
func (c *LedgerBackup) Run(env *verbs.Env) error {
	to, err := filepath.Abs(c.To)
	if err != nil {
		return err
	}
	n, ctx := int64(0), context.Background()
	err = c.place().WithLedger(ctx, func(ledger operator.Ledger, _ string) (err error) {
		n, err = ledger.BackupFile(ctx, to)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON():
		return env.PrintJSON(struct {
			Path  string `json:"path"`
			Bytes int64  `json:"bytes"`
		}{to, n})
	}
	fmt.Fprintf(env.Stdout, "%s: %d bytes\n", to, n)
	return nil
}

// LedgerCopy copies a ledger to another place or kind.
type LedgerCopy struct {
	Etcd
	verbs.Format
	From *string `arg:"" help:"Ledger to read: a file, or etcd://host:port/prefix."`
	To   *string `arg:"" help:"Ledger to write: a new file, or an empty ledger in etcd."`
}

// Validate checks the addresses. Kong reports missing ones.
func (c *LedgerCopy) Validate() error {
	if c.From == nil || c.To == nil {
		return nil
	}
	return checkCopy("<from>", *c.From, "<to>", *c.To, c.credentials())
}

func checkCopy(fromName, from, toName, to string, c ledgers.Credentials) error {
	if ledgers.Same(from, to) {
		return fmt.Errorf("%s: must be another ledger than %s", toName, fromName)
	}
	return ledgers.Validate(c, ledgers.Named{Name: fromName, Address: from}, ledgers.Named{Name: toName, Address: to})
}

// Run prints what the copy has, after both were read and compared.
func (c *LedgerCopy) Run(env *verbs.Env) error {
	return copyLedger(env, *c.From, *c.To, c.credentials(), c.Format)
}

func copyLedger(env *verbs.Env, from, to string, c ledgers.Credentials, format verbs.Format) error {
	ctx := context.Background()
	if !ledgers.Shared(to) { // etcd keeps what was written before a signal
		var stop func()
		ctx, stop = verbs.UntilSignal()
		defer stop()
	}
	report, err := ledgers.Copy(ctx, from, to, c)
	if err != nil {
		return verbs.CutShort(ctx, err, to)
	}
	if format.JSON() {
		return env.PrintJSON(report)
	}
	fmt.Fprintf(env.Stdout, "%s: %s, %s, equal to %s (SHA-256 %s)\n", to, record.Counted(report.Accounts, "account"), record.Counted(report.Calls, "call"), from, report.SHA256)
	return nil
}

// LedgerRestore puts a backup in the place of a ledger.
type LedgerRestore struct {
	LedgerAddress
	verbs.Format
	From *string `arg:"" help:"Backup to read."`
}

// Validate checks the addresses. Kong reports missing ones.
func (c *LedgerRestore) Validate() error {
	if c.From == nil {
		return nil
	}
	return checkCopy("<from>", *c.From, "--ledger", c.address(), c.credentials())
}

// Run copies the backup to the ledger, see LedgerCopy.To.
func (c *LedgerRestore) Run(env *verbs.Env) error {
	return copyLedger(env, *c.From, c.address(), c.credentials(), c.Format)
}

// LedgerCompact gives back free space.
type LedgerCompact struct{ LedgerAddress }

// Help is shown by --help.
func (*LedgerCompact) Help() string {
	return "Check it afterwards: modeldex ledger check --ledger FILE"
}

// Run prints the size before and after.
func (c *LedgerCompact) Run(env *verbs.Env) error {
	if ledgers.Shared(c.address()) {
		return fmt.Errorf("%s: compact is for a ledger file; etcd compacts by itself (--auto-compaction-mode)", c.address())
	}
	before, after, err := quota.Compact(c.address())
	if err == nil {
		fmt.Fprintf(env.Stdout, "%s: %d bytes, was %d\n", c.address(), after, before)
	}
	return err
}
