package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"modeldex/quota"

	clientv3 "go.etcd.io/etcd/client/v3"
)

var _ quota.Portable = (*Store)(nil)

// copyTimeout bounds one reading or writing of a whole ledger.
const copyTimeout = 10 * time.Minute

// ErrInUse is returned when servers use a ledger that must be left alone.
var ErrInUse = errors.New("servers use this ledger; stop them first")

// server is the stored form of a process that uses the ledger.
type server struct {
	Host    string `json:"host"` // for people who list the keys; may be empty
	PID     int    `json:"pid"`
	Started string `json:"started"` // RFC 3339, UTC
}

// Alone implements quota.Portable: it returns ErrInUse.
func (s *Store) Alone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var names []string
	_, err := s.each(ctx, s.key("n")+"/", "", 0, func(rest string, value []byte) error {
		var other server
		if rest == s.server {
			return nil
		}
		err := parse(rest, value, &other)
		names = append(names, fmt.Sprintf("%s pid %d", other.Host, other.PID))
		return err
	})
	if err == nil && len(names) > 0 {
		return fmt.Errorf("%s: %w: %s", s.name, ErrInUse, strings.Join(names, ", "))
	}
	return s.explain("reading", err)
}

// Export implements quota.Portable: everything as of one revision of etcd. It keeps the counts of
// all accounts in memory while it runs, about 100 bytes per account and month.
func (s *Store) Export(ctx context.Context, fn func(quota.Exported) error) error {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	people, months := map[quota.ID]quota.Person{}, map[quota.ID][]quota.MonthCalls{}
	rev, err := s.eachID(ctx, s.key("p")+"/", "", 0, func(id quota.ID, key string, value []byte) error {
		var p quota.Person
		err := parse(key, value, &p)
		people[id] = p
		return err
	})
	list, errMonths := s.months(ctx, rev)
	err = errors.Join(err, errMonths)
	for _, m := range list {
		if err == nil {
			_, err = s.eachCount(ctx, m, rev, func(id quota.ID, calls uint64) {
				months[id] = append(months[id], quota.MonthCalls{Month: m, Calls: calls})
			})
		}
	}
	if err != nil {
		return s.explain("reading", err)
	}
	return s.eachAccount(ctx, "reading", rev, func(r quota.Record) error {
		return fn(quota.Exported{Record: r, Person: people[r.ID], Months: months[r.ID]})
	})
}

// Import implements quota.Portable. Every account is written by one transaction; when one fails,
// the accounts before it stay.
func (s *Store) Import(ctx context.Context, accounts []quota.Exported) error {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	for _, a := range accounts {
		if err := s.importOne(ctx, a); err != nil {
			return s.explain("writing", fmt.Errorf("account %s: %w", a.Record.ID, err))
		}
	}
	return nil
}

func (s *Store) importOne(ctx context.Context, a quota.Exported) error {
	if err := a.Record.Check(); err != nil {
		return err
	}
	account, ops := s.key("a", hexID(a.Record.ID)), s.putAccount(a.Record, a.Person)
	for _, m := range a.Months {
		ops = append(ops, clientv3.OpPut(s.countKey(m.Month, a.Record.ID), encode(counts{"": {Calls: m.Calls, Day: s.today()}})))
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

// BackupFile implements quota.Portable.
func (s *Store) BackupFile(ctx context.Context, path string) (int64, error) {
	return quota.BackupTo(ctx, s, path)
}

// Check implements quota.Portable.
func (s *Store) Check(ctx context.Context) (quota.Report, error) {
	report := quota.Report{Months: []quota.Month{}, Findings: []string{}}
	months, err := s.months(ctx, 0)
	report.Months = append(report.Months, months...)
	err = errors.Join(err, s.Export(ctx, func(a quota.Exported) error {
		report.AddAccount(a.Record, a.Person != (quota.Person{}))
		return nil
	}))
	if errors.Is(err, quota.ErrCorrupt) {
		report.Add("%v", err)
		return report, nil
	}
	return report, err
}
