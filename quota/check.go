package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// maxFindings bounds a report: a file with more is lost anyway.
const maxFindings = 100

// Report is what a check of a ledger found.
type Report struct {
	Accounts int      `json:"accounts"`
	Months   []Month  `json:"months"` // that have a bucket of their own
	Webhooks int      `json:"webhooks"`
	Size     int64    `json:"size"`     // bytes of the file
	Free     int64    `json:"free"`     // approximate bytes that a compaction would free
	Findings []string `json:"findings"` // problems, each with place and sentence; at most 100

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
			r.Add("accounts: %s and %s share a secret", other, a.ID)
		}
		r.digests[secret.Digest] = a.ID
	}
	switch {
	case a.Erased && a.Status != StatusRevoked:
		r.Add("accounts: account %s is erased but %s", a.ID, a.Status)
	case a.Erased && person:
		r.Add("accounts: account %s is erased but its personal data is still there", a.ID)
	case !a.Erased && !person:
		r.Add("accounts: account %s has no personal data but is not erased", a.ID)
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

// Check is the package's Check for an open ledger. It takes seconds for a million accounts,
// during which changes go on.
func (l *Ledger) Check(ctx context.Context) (Report, error) {
	report := Report{Months: []Month{}, Findings: []string{}}
	err := l.ViewRows(ctx, func(rows Rows) error {
		if err := walkPages(l.file, uint64(rows.tx.ID())); errors.Is(err, ErrCorrupt) {
			report.Add("%v", err)
			return nil // reading on could take the process with it
		} else if err != nil {
			return err
		}
		if !bothMetas(l.file) {
			report.Add("file header: one of its two copies is damaged, and the last change may be lost")
		}
		report.Size = rows.tx.Size()
		report.Free = int64(l.db.Stats().FreePageN) * int64(l.db.Info().PageSize)
		c := checker{Rows: rows, report: &report, accounts: map[ID]bool{}}
		c.run()
		return nil
	})
	return report, err
}

// checker checks the rows of all buckets, those of accounts first.
type checker struct {
	Rows
	report   *Report
	accounts map[ID]bool
}

func (c *checker) run() {
	people, addresses := c.Bucket(peopleBucket), map[string]bool{} // that bucket emails must have
	c.rows(c.Bucket(accountsBucket), func(k, v []byte) error {
		r, err := decodeRecord(k, v)
		if err == nil {
			c.accounts[r.ID] = true
			c.report.AddAccount(r, people.b.Get(k) != nil)
		}
		return err
	})
	c.owned(people, func(k, v []byte) error {
		p, err := decodePerson(k, v)
		if p.Email != "" {
			addresses[string(addressRow(idFromKey(k), p))] = true
		}
		return err
	})
	c.rows(c.Bucket(emailsBucket), func(k, _ []byte) error {
		if len(k) != emailHashLen+8 {
			return fmt.Errorf("key has %d bytes", len(k))
		}
		if !addresses[string(k)] {
			return fmt.Errorf("account %s is listed under another e-mail address", idFromKey(k[emailHashLen:]))
		}
		delete(addresses, string(k))
		return nil
	})
	for k := range addresses {
		c.report.Add("emails: account %s is not listed under its e-mail address", idFromKey([]byte(k)[emailHashLen:]))
	}
	c.owned(c.Bucket(historyBucket), func(k, v []byte) error { _, err := decodeHistory(k, v); return err })
	list, err := c.months()
	if err != nil {
		c.report.Add("%v", err)
	}
	for _, m := range list {
		c.report.Months = append(c.report.Months, m)
		c.owned(c.month(m), func(k, v []byte) error { _, err := decodeCount(k, v); return err })
	}
	for _, name := range hookBuckets {
		c.rows(c.Bucket(name), func(k, _ []byte) error {
			if name == BucketHooks {
				c.report.Webhooks++
			}
			if slices.Contains(ownedBuckets, name) {
				return c.known(k[:min(len(k), 8)])
			}
			return nil
		})
	}
}

// owned is rows for a bucket whose keys are ids of accounts.
func (c *checker) owned(b Bucket, fn func(k, v []byte) error) {
	c.rows(b, func(k, v []byte) error {
		if err := c.known(k); err != nil {
			return err
		}
		return fn(k, v)
	})
}

// rows visits every row of a bucket, which may be missing, and counts them.
func (c *checker) rows(b Bucket, fn func(k, v []byte) error) {
	if b.b == nil {
		return
	}
	rows := uint64(0)
	note := func(err error) {
		if err != nil {
			c.report.Add("%v", err)
		}
	}
	note(b.b.ForEach(func(k, v []byte) error {
		rows++
		payload, err := b.unseal(k, v)
		if err == nil {
			if err = fn(k, payload); err != nil {
				err = fmt.Errorf("%s: %w", b.name, err)
			}
		}
		note(err)
		return nil
	}))
	note(b.checkRows(rows))
}

func (c *checker) known(k []byte) error {
	if len(k) != 8 {
		return fmt.Errorf("key has %d bytes", len(k))
	}
	if !c.accounts[idFromKey(k)] {
		return fmt.Errorf("account %s is not there", idFromKey(k))
	}
	return nil
}
