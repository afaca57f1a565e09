package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
	clientv3 "go.etcd.io/etcd/client/v3"
)

var _ quota.Portable = (*Store)(nil)

// copyTimeout bounds one reading or writing of a whole ledger.
const copyTimeout = 10 * time.Minute

// ErrInUse is returned when servers use a ledger that must be left alone.
var ErrInUse = errors.New("servers use this ledger; stop them first")

// Server is a process that uses the ledger.
type Server struct {
	ID      string `json:"id"`
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Started string `json:"started"` // RFC 3339, UTC
}

// Servers lists the other processes that are registered now.
func (s *Store) Servers(ctx context.Context) ([]Server, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	out := []Server{}
	dir := s.key("n") + "/"
	_, err := s.each(ctx, dir, "", 0, func(rest string, value []byte) error {
		if rest == s.server {
			return nil
		}
		other := Server{ID: rest}
		if err := jsonv2.Unmarshal(value, &other); err != nil {
			return fmt.Errorf("%w: %s%s", quota.ErrCorrupt, dir, rest)
		}
		out = append(out, other)
		return nil
	})
	return out, s.explain("reading", err)
}

// Alone returns ErrInUse, with their names, if other processes use the ledger.
func (s *Store) Alone(ctx context.Context) error {
	others, err := s.Servers(ctx)
	if err != nil || len(others) == 0 {
		return err
	}
	var names []string
	for _, o := range others {
		names = append(names, fmt.Sprintf("%s pid %d", o.Host, o.PID))
	}
	return fmt.Errorf("%s: %w: %s", s.name, ErrInUse, strings.Join(names, ", "))
}

// Export implements quota.Portable: everything as of one revision of etcd. It keeps the counts of
// all accounts in memory while it runs, about 100 bytes per account and month.
func (s *Store) Export(ctx context.Context, fn func(quota.Exported) error) error {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	people := map[quota.ID]quota.Person{}
	dir := s.key("p") + "/"
	rev, err := s.each(ctx, dir, "", 0, func(rest string, value []byte) error {
		id, err := parseHexID(dir+rest, rest)
		if err != nil {
			return err
		}
		people[id], err = parsePerson(dir+rest, value)
		return err
	})
	if err != nil {
		return s.explain("reading", err)
	}
	months, err := s.allCounts(ctx, rev)
	if err != nil {
		return s.explain("reading", err)
	}
	days, err := s.allDays(ctx, rev)
	if err != nil {
		return s.explain("reading", err)
	}
	var failed error // fn's own error, which is returned as it is
	accounts := s.key("a") + "/"
	_, err = s.each(ctx, accounts, "", rev, func(rest string, value []byte) error {
		id, err := parseHexID(accounts+rest, rest)
		if err != nil {
			return err
		}
		r, err := parseRecord(accounts+rest, id, value)
		if err != nil {
			return err
		}
		failed = fn(quota.Exported{Record: r, Person: people[id], Months: months[id], Days: days[id]})
		return failed
	})
	if failed != nil {
		return failed
	}
	return s.explain("reading", err)
}

// allCounts reads the counts of all months; the keys are in order of month.
func (s *Store) allCounts(ctx context.Context, rev int64) (map[quota.ID][]quota.MonthCalls, error) {
	out := map[quota.ID][]quota.MonthCalls{}
	dir := s.key("u") + "/"
	_, err := s.each(ctx, dir, "", rev, func(rest string, value []byte) error {
		month, err := monthOfKey(dir, dir+rest)
		if err != nil {
			return err
		}
		_, account, _ := strings.Cut(rest, "/")
		id, err := parseHexID(dir+rest, account)
		if err != nil {
			return err
		}
		c, err := parseCounts(dir+rest, value)
		if calls := c.total(); calls > 0 {
			out[id] = append(out[id], quota.MonthCalls{Month: month, Calls: calls})
		}
		return err
	})
	return out, err
}

// Import implements quota.Portable. Every account is written by one transaction; when one fails,
// the accounts before it stay.
func (s *Store) Import(ctx context.Context, accounts []quota.Exported) error {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	for _, a := range accounts {
		if err := s.importOne(ctx, a); err != nil {
			return s.about("writing", fmt.Errorf("account %s: %w", a.Record.ID, err))
		}
	}
	return nil
}

func (s *Store) importOne(ctx context.Context, a quota.Exported) error {
	if err := a.Record.Check(); err != nil {
		return err
	}
	id := hexID(a.Record.ID)
	account := s.key("a", id)
	d := document{}
	setRecord(d, a.Record)
	ops := []clientv3.Op{clientv3.OpPut(account, d.encode())}
	if a.Person != (quota.Person{}) {
		raw, err := jsonv2.Marshal(a.Person)
		if err != nil {
			return err
		}
		ops = append(ops, clientv3.OpPut(s.key("p", id), string(raw)))
	}
	if a.Person.Email != "" {
		ops = append(ops, clientv3.OpPut(s.addressDir(a.Person.AddressKey())+id, ""))
	}
	if len(a.Days) > 0 {
		ops = append(ops, clientv3.OpPut(s.key("d", id), encodeDays(a.Days)))
	}
	day := s.now().Unix() / (24 * 60 * 60)
	for _, m := range a.Months {
		ops = append(ops, clientv3.OpPut(s.key("u", m.Month.String(), id), counts{"": {Calls: m.Calls, Day: day}}.encode()))
	}
	// The account is written last, so that an interrupted copy has no account without its counts. One
	// transaction is not enough: etcd allows 128 operations in it, and a long history needs more.
	for len(ops) > batchSize {
		part := ops[len(ops)-batchSize:]
		if _, err := s.client.Txn(ctx).Then(part...).Commit(); err != nil {
			return err
		}
		ops = ops[:len(ops)-batchSize]
	}
	resp, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(account), "=", 0)).Then(ops...).Commit()
	if err == nil && !resp.Succeeded {
		return quota.ErrTaken
	}
	return err
}

// BackupFile copies the ledger, as it is at one moment, into a new ledger file at path, which must
// not exist. Servers may go on: calls they have leased are in the copy as counted. It returns the
// size of the file in bytes.
func (s *Store) BackupFile(ctx context.Context, path string) (int64, error) {
	return quota.BackupTo(ctx, s, path)
}

// Check reads the whole ledger and reports what cannot be read or does not fit together.
func (s *Store) Check(ctx context.Context) (quota.Report, error) {
	report := quota.Report{Months: []quota.Month{}, Findings: []string{}}
	months, err := s.months(ctx)
	if err == nil {
		report.Months = append(report.Months, months...)
	}
	digests := map[quota.Digest]quota.ID{}
	err = errors.Join(err, s.Export(ctx, func(a quota.Exported) error {
		report.Accounts++
		for _, d := range append([]quota.OldSecret{{Digest: a.Record.Digest}}, a.Record.Old...) {
			if other, ok := digests[d.Digest]; ok {
				report.Add("accounts: %s and %s have a secret in common", other, a.Record.ID)
			}
			digests[d.Digest] = a.Record.ID
		}
		switch {
		case a.Record.Erased && a.Person != (quota.Person{}):
			report.Add("accounts: account %s is erased but its person is there", a.Record.ID)
		case !a.Record.Erased && a.Person == (quota.Person{}):
			report.Add("accounts: account %s has no person but is not erased", a.Record.ID)
		}
		return nil
	}))
	if errors.Is(err, quota.ErrCorrupt) {
		report.Add("%v", err)
		return report, nil
	}
	return report, err
}
