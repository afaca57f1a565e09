package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"modeldex/quota/boltfile"

	bolt "go.etcd.io/bbolt"

	jsonv2 "github.com/goccy/go-json/v2"
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
}

// Add adds a finding; after 100 the rest is left out.
func (r *Report) Add(format string, args ...any) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
	}
}

// Check reads the ledger at path, which no running server may hold, and reports everything
// that is wrong inside it. The error is for a file that cannot be read at all. Findings name
// accounts by id, never by person.
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
	err := l.view(ctx, "checking", func(tx *bolt.Tx) error {
		if err := l.walk(tx); errors.Is(err, ErrCorrupt) {
			report.Add("%v", err)
			return nil // reading on could take the process with it
		} else if err != nil {
			return err
		}
		if !bothHeads(l) {
			report.Add("head of the file: one of its two copies is damaged, the last change may be lost")
		}
		c := checker{tx: tx, report: &report, accounts: map[ID]Status{}, digests: map[Digest]ID{}}
		return c.run(l.db.Stats().FreePageN)
	})
	return report, err
}

// errMoved is returned when commits have overtaken a transaction before its meta was read.
var errMoved = errors.New("ledger changes too fast to be checked, try again")

// walk checks the pages as tx sees them.
func (l *Ledger) walk(tx *bolt.Tx) error {
	meta, ok := boltfile.MetaOf(l.file, uint64(tx.ID()), int64(l.db.Info().PageSize))
	if !ok {
		return errMoved
	}
	return boltfile.Walk(l.file, meta)
}

// checker walks the buckets in an order in which every row comes after the rows it refers to.
type checker struct {
	tx        *bolt.Tx
	report    *Report
	accounts  map[ID]Status
	digests   map[Digest]ID   // every secret's digest -> its account
	addresses map[string]bool // keys the emails bucket must have
}

func (c *checker) run(freePages int) error {
	c.report.Size = c.tx.Size()
	c.report.Free = int64(freePages) * int64(c.tx.DB().Info().PageSize)
	c.each(accountsBucket, c.account)
	c.addresses = map[string]bool{}
	c.each(peopleBucket, c.person)
	c.each(emailsBucket, c.email)
	for k := range c.addresses {
		c.report.Add("emails: account %s is missing under its address", idFromKey([]byte(k)[emailHashLen:]))
	}
	c.each(historyBucket, c.history)
	err := eachMonth(c.tx, func(m Month, b *bolt.Bucket) error {
		c.report.Months = append(c.report.Months, m)
		c.rows("usage "+m.String(), b, c.count)
		return nil
	})
	if err != nil {
		c.report.Add("%v", err)
	}
	if c.tx.Bucket(daysBucket) != nil {
		c.each(daysBucket, func(k, v []byte) error {
			if err := c.known(k); err != nil {
				return err
			}
			_, err := readDays(k, v)
			return err
		})
	}
	for _, name := range hookBuckets {
		if c.tx.Bucket([]byte(name)) != nil {
			c.each([]byte(name), func(k, v []byte) error { return c.hookRow(name, k, v) })
		}
	}
	return nil
}

// hookRow checks a row of package hooks.
func (c *checker) hookRow(bucket string, k, v []byte) error {
	if _, err := unseal(k, v); err != nil {
		return err
	}
	if bucket == BucketHooks {
		c.report.Webhooks++
	}
	if slices.Contains(ownedBuckets, bucket) {
		return c.known(k[:min(len(k), 8)])
	}
	return nil
}

func (c *checker) each(name []byte, fn func(k, v []byte) error) {
	c.rows(string(name), c.tx.Bucket(name), fn)
}

// rows visits every row of a bucket and counts them.
func (c *checker) rows(name string, b *bolt.Bucket, fn func(k, v []byte) error) {
	rows := uint64(0)
	err := b.ForEach(func(k, v []byte) error {
		rows++
		if err := fn(k, v); err != nil {
			c.report.Add("%s: %v", name, err)
		}
		return nil
	})
	if err == nil {
		err = checkRows(name, b, rows)
	}
	if err != nil {
		c.report.Add("%s: %v", name, err)
	}
}

func (c *checker) account(k, v []byte) error {
	r, err := readRecord(k, v)
	if err != nil {
		return err
	}
	c.report.Accounts++
	c.accounts[r.ID] = r.Status
	c.digest(r.ID, r.Digest)
	for _, o := range r.Old {
		c.digest(r.ID, o.Digest)
	}
	if r.Erased && r.Status != StatusRevoked {
		return fmt.Errorf("account %s is erased but %s", r.ID, r.Status)
	}
	switch person := c.tx.Bucket(peopleBucket).Get(k) != nil; {
	case r.Erased && person:
		return fmt.Errorf("account %s is erased but its person is there", r.ID)
	case !r.Erased && !person:
		return fmt.Errorf("account %s has no person but is not erased", r.ID)
	}
	return nil
}

func (c *checker) digest(id ID, d Digest) {
	if other, ok := c.digests[d]; ok {
		c.report.Add("accounts: %s and %s have a secret in common", other, id)
	}
	c.digests[d] = id
}

// known checks that a key is the id of an account.
func (c *checker) known(k []byte) error {
	if len(k) != 8 {
		return fmt.Errorf("key has %d bytes", len(k))
	}
	if c.accounts[idFromKey(k)] == 0 {
		return fmt.Errorf("account %s is not there", idFromKey(k))
	}
	return nil
}

func (c *checker) person(k, v []byte) error {
	if err := c.known(k); err != nil {
		return err
	}
	payload, err := unseal(k, v)
	if err != nil {
		return fmt.Errorf("person of %s: %w", idFromKey(k), err)
	}
	var p Person
	if jsonv2.Unmarshal(payload, &p) != nil || p == (Person{}) {
		return fmt.Errorf("person of %s cannot be read", idFromKey(k))
	}
	if p.Email != "" {
		c.addresses[string(append(emailKey(p.key()), k...))] = true
	}
	return nil
}

func (c *checker) email(k, v []byte) error {
	if len(k) != emailHashLen+8 {
		return fmt.Errorf("key has %d bytes", len(k))
	}
	id := idFromKey(k[emailHashLen:])
	if !c.addresses[string(k)] {
		return fmt.Errorf("account %s is listed under an address it does not have", id)
	}
	delete(c.addresses, string(k))
	if _, err := unseal(k, v); err != nil {
		return fmt.Errorf("address of %s: %w", id, err)
	}
	return nil
}

func (c *checker) history(k, v []byte) error {
	if err := c.known(k); err != nil {
		return err
	}
	_, err := readHistory(k, v)
	return err
}

func (c *checker) count(k, v []byte) error {
	if err := c.known(k); err != nil {
		return err
	}
	_, err := readCount(k, v)
	return err
}
