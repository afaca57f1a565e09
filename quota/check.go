package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// maxFindings bounds a report: a file with more is lost anyway.
const maxFindings = 100

// Report is what a check of a ledger found.
type Report struct {
	Accounts int      `json:"accounts"`
	Months   []Month  `json:"months"` // that have a bucket of their own
	Webhooks int      `json:"webhooks"`
	Size     int64    `json:"size"`     // bytes of the file
	Free     int64    `json:"free"`     // bytes of it that a compaction would give back, about
	Findings []string `json:"findings"` // what is wrong: place and sentence; at most 100

	digests map[Digest]ID // of accounts so far
}

// Add adds a finding; after 100 the rest is left out.
func (r *Report) Add(format string, args ...any) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
	}
}

// AddAccount counts an account and checks it against those before; person says whether it has one.
func (r *Report) AddAccount(a Record, person bool) {
	r.Accounts++
	if r.digests == nil {
		r.digests = map[Digest]ID{}
	}
	for _, secret := range append([]OldSecret{{Digest: a.Digest}}, a.Old...) {
		if other, ok := r.digests[secret.Digest]; ok {
			r.Add("accounts: %s and %s have a secret in common", other, a.ID)
		}
		r.digests[secret.Digest] = a.ID
	}
	switch {
	case a.Erased && a.Status != StatusRevoked:
		r.Add("accounts: account %s is erased but %s", a.ID, a.Status)
	case a.Erased && person:
		r.Add("accounts: account %s is erased but its person is there", a.ID)
	case !a.Erased && !person:
		r.Add("accounts: account %s has no person but is not erased", a.ID)
	}
}

// Check reads the ledger at path, which no running server may hold, and reports everything that is wrong inside it. The
// error is for a file that cannot be read at all. Findings name accounts by id, never by person.
func Check(path string) (Report, error) {
	l, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return Report{}, err
	}
	report, err := l.Check(context.Background())
	return report, errors.Join(err, l.Close())
}

// Check is the package's Check for an open ledger. It takes seconds for a million accounts, during which changes go on.
func (l *Ledger) Check(ctx context.Context) (Report, error) {
	report := Report{Months: []Month{}, Findings: []string{}}
	err := l.view(ctx, "checking", func(tx *bolt.Tx) error {
		if err := walkPages(l.file, uint64(tx.ID())); errors.Is(err, ErrCorrupt) {
			report.Add("%v", err)
			return nil // reading on could take the process with it
		} else if err != nil {
			return err
		}
		if !bothMetas(l.file) {
			report.Add("head of the file: one of its two copies is damaged, the last change may be lost")
		}
		report.Size = tx.Size()
		report.Free = int64(l.db.Stats().FreePageN) * int64(l.db.Info().PageSize)
		c := checker{tx: tx, report: &report, accounts: map[ID]bool{}}
		c.run()
		return nil
	})
	return report, err
}

// checker checks the rows of all buckets, those of accounts first.
type checker struct {
	tx       *bolt.Tx
	report   *Report
	accounts map[ID]bool
}

func (c *checker) run() {
	people, addresses := c.tx.Bucket(peopleBucket), map[string]bool{} // that bucket emails must have
	c.rows("accounts", c.tx.Bucket(accountsBucket), func(k, v []byte) error {
		r, err := readRecord(k, v)
		if err == nil {
			c.accounts[r.ID] = true
			c.report.AddAccount(r, people.Get(k) != nil)
		}
		return err
	})
	c.owned("people", people, func(k, v []byte) error {
		p, err := readPerson(k, v)
		if p.Email != "" {
			addresses[string(addressRow(idFromKey(k), p))] = true
		}
		return err
	})
	c.rows("emails", c.tx.Bucket(emailsBucket), func(k, v []byte) error {
		if len(k) != emailHashLen+8 {
			return fmt.Errorf("key has %d bytes", len(k))
		}
		if !addresses[string(k)] {
			return fmt.Errorf("account %s is listed under an address it does not have", idFromKey(k[emailHashLen:]))
		}
		delete(addresses, string(k))
		_, err := unseal(k, v)
		return err
	})
	for k := range addresses {
		c.report.Add("emails: account %s is missing under its address", idFromKey([]byte(k)[emailHashLen:]))
	}
	c.owned("history", c.tx.Bucket(historyBucket), func(k, v []byte) error { _, err := readHistory(k, v); return err })
	list, err := months(c.tx)
	if err != nil {
		c.report.Add("%v", err)
	}
	for _, m := range list {
		c.report.Months = append(c.report.Months, m)
		c.owned("usage "+m.String(), monthBucket(c.tx, m), func(k, v []byte) error { _, err := readCount(k, v); return err })
	}
	for _, name := range hookBuckets {
		c.rows(name, c.tx.Bucket([]byte(name)), func(k, v []byte) error {
			if name == BucketHooks {
				c.report.Webhooks++
			}
			_, err := unseal(k, v)
			if err == nil && slices.Contains(ownedBuckets, name) {
				err = c.known(k[:min(len(k), 8)])
			}
			return err
		})
	}
}

// owned is rows for a bucket whose keys are ids of accounts.
func (c *checker) owned(name string, b *bolt.Bucket, fn func(k, v []byte) error) {
	c.rows(name, b, func(k, v []byte) error {
		if err := c.known(k); err != nil {
			return err
		}
		return fn(k, v)
	})
}

// rows visits every row of a bucket, which may be missing, and counts them.
func (c *checker) rows(name string, b *bolt.Bucket, fn func(k, v []byte) error) {
	if b == nil {
		return
	}
	if err := eachRow(name, b, func(k, v []byte) error {
		if err := fn(k, v); err != nil {
			c.report.Add("%s: %v", name, err)
		}
		return nil
	}); err != nil {
		c.report.Add("%s: %v", name, err)
	}
}

// known checks that a key is the id of an account.
func (c *checker) known(k []byte) error {
	if len(k) != 8 {
		return fmt.Errorf("key has %d bytes", len(k))
	}
	if !c.accounts[idFromKey(k)] {
		return fmt.Errorf("account %s is not there", idFromKey(k))
	}
	return nil
}
