package quota

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	jsonv2 "github.com/goccy/go-json/v2"
)

const emailHashLen = 16

// emailKey is the prefix of the keys that list the accounts of one form of an address. It is hashed
// so that the file has it in clear only once, beside the other things that erasing removes.
func emailKey(form string) []byte {
	sum := sha256.Sum256([]byte(form))
	return sum[:emailHashLen:emailHashLen]
}

// Load implements Store, in the order of creation.
func (l *Ledger) Load(ctx context.Context, month Month, fn func(Record, uint64) error) error {
	return l.view(ctx, "loading", func(tx *bolt.Tx) error {
		if _, err := months(tx); err != nil { // the month may be there under another name
			return err
		}
		calls, err := callsIn(tx, month)
		if err != nil {
			return err
		}
		return eachRow("accounts", tx.Bucket(accountsBucket), func(k, v []byte) error {
			r, err := readRecord(k, v)
			if err != nil {
				return err
			}
			if err := fn(r, calls[r.ID]); err != nil {
				return &answer{err}
			}
			return nil
		})
	})
}

func readRecord(k, v []byte) (Record, error) {
	if len(k) != 8 {
		return Record{}, fmt.Errorf("%w: account key has %d bytes", ErrCorrupt, len(k))
	}
	payload, err := unseal(k, v)
	if err != nil {
		return Record{}, fmt.Errorf("account %s: %w", idFromKey(k), err)
	}
	return decodeRecord(idFromKey(k), payload)
}

func getRecord(tx *bolt.Tx, id ID) (Record, error) {
	v := tx.Bucket(accountsBucket).Get(id.key())
	if v == nil {
		return Record{}, &answer{ErrNotFound}
	}
	return readRecord(id.key(), v)
}

// getPerson returns the zero Person for an account whose person was erased.
func getPerson(tx *bolt.Tx, id ID) (Person, error) {
	var p Person
	v := tx.Bucket(peopleBucket).Get(id.key())
	if v == nil {
		return p, nil
	}
	payload, err := unseal(id.key(), v)
	if err != nil {
		return p, fmt.Errorf("person of %s: %w", id, err)
	}
	if jsonv2.Unmarshal(payload, &p) != nil {
		// The decoder's own words could quote the person.
		return p, fmt.Errorf("%w: person of %s cannot be read", ErrCorrupt, id)
	}
	return p, nil
}

// Get implements Store.
func (l *Ledger) Get(ctx context.Context, id ID) (r Record, p Person, err error) {
	err = l.view(ctx, "reading", func(tx *bolt.Tx) (err error) {
		if r, err = getRecord(tx, id); err != nil {
			return err
		}
		p, err = getPerson(tx, id)
		return err
	})
	return r, p, err
}

// Find implements Store. It reads every account unless the filter holds an e-mail address.
// fn runs inside a read transaction: it must be quick and must not change the ledger.
func (l *Ledger) Find(ctx context.Context, f Filter, fn func(Record, Person) bool) error {
	return l.view(ctx, "reading", func(tx *bolt.Tx) error {
		visit := func(r Record) (bool, error) {
			if !f.Matches(r) {
				return true, nil
			}
			p, err := getPerson(tx, r.ID)
			return err == nil && fn(r, p), err
		}
		if f.Email != "" {
			return findEmail(tx, f, fn)
		}
		return eachAfter(tx, f.After, visit)
	})
}

func eachAfter(tx *bolt.Tx, after ID, visit func(Record) (bool, error)) error {
	c := tx.Bucket(accountsBucket).Cursor()
	for k, v := c.Seek(after.key()); k != nil; k, v = c.Next() {
		r, err := readRecord(k, v)
		if err != nil {
			return err
		}
		if more, err := visit(r); !more {
			return err
		}
	}
	return nil
}

// findEmail calls fn for the accounts whose address is that of the filter: a list under a form
// without its plus tag has accounts of other addresses too.
func findEmail(tx *bolt.Tx, f Filter, fn func(Record, Person) bool) error {
	var found []Record // of several lists, to be put in the order of creation
	people := map[ID]Person{}
	want := matchEmail(f.Email, false)
	for _, form := range emailForms(f.Email) {
		if err := eachOfForm(tx, form, func(r Record) (bool, error) {
			p, err := getPerson(tx, r.ID)
			if err == nil && f.Matches(r) && matchEmail(p.Email, false) == want {
				found, people[r.ID] = append(found, r), p
			}
			return err == nil, err
		}); err != nil {
			return err
		}
	}
	slices.SortFunc(found, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range found {
		if !fn(r, people[r.ID]) {
			return nil
		}
	}
	return nil
}

// eachOfForm visits the accounts listed under one form of an address.
func eachOfForm(tx *bolt.Tx, form string, visit func(Record) (bool, error)) error {
	prefix := emailKey(form)
	c := tx.Bucket(emailsBucket).Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		r, err := getRecord(tx, idFromKey(k[emailHashLen:]))
		if err != nil {
			return err
		}
		if more, err := visit(r); !more {
			return err
		}
	}
	return nil
}

// Create implements Store.
func (l *Ledger) Create(ctx context.Context, r Record, p Person, perEmail int) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("creating account: %w", err)
	}
	return l.update(ctx, "writing", func(tx *bolt.Tx) error {
		if tx.Bucket(accountsBucket).Get(r.ID.key()) != nil {
			return &answer{ErrTaken}
		}
		if perEmail > 0 && p.Email != "" {
			n, err := countOfEmail(tx, p)
			if err != nil {
				return err
			}
			if n >= perEmail {
				return &answer{ErrTooMany}
			}
		}
		if err := putRecord(tx, &r); err != nil {
			return err
		}
		return putPerson(tx, r.ID, p)
	})
}

// countOfEmail counts the accounts of an address that are not revoked. A suspended one
// counts, or suspending a key would hand its owner a new one.
func countOfEmail(tx *bolt.Tx, p Person) (n int, err error) {
	for _, form := range p.countedForms() {
		if err := eachOfForm(tx, form, func(r Record) (bool, error) {
			if r.Status != StatusRevoked {
				n++
			}
			return true, nil
		}); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func putRecord(tx *bolt.Tx, r *Record) error {
	b := tx.Bucket(accountsBucket)
	b.FillPercent = 0.9 // ids rise, so pages fill from the end
	return insert(b, r.ID.key(), seal(r.ID.key(), r.encode()))
}

func putPerson(tx *bolt.Tx, id ID, p Person) error {
	if p == (Person{}) {
		return nil
	}
	payload, err := encodeStored(p)
	if err != nil {
		return err
	}
	b := tx.Bucket(peopleBucket)
	b.FillPercent = 0.9
	if err := insert(b, id.key(), seal(id.key(), payload)); err != nil || p.Email == "" {
		return err
	}
	k := append(emailKey(p.key()), id.key()...)
	return insert(tx.Bucket(emailsBucket), k, seal(k, nil))
}

func removePerson(tx *bolt.Tx, id ID, p Person) error {
	if err := remove(tx.Bucket(peopleBucket), id.key()); err != nil {
		return err
	}
	return remove(tx.Bucket(emailsBucket), append(emailKey(p.key()), id.key()...))
}

// Update implements Store.
func (l *Ledger) Update(ctx context.Context, id ID, fn func(*Record, *Person) error) (r Record, err error) {
	err = l.update(ctx, "writing", func(tx *bolt.Tx) (err error) {
		if r, err = getRecord(tx, id); err != nil {
			return err
		}
		person, err := getPerson(tx, id)
		if err != nil {
			return err
		}
		changed := person
		if err := fn(&r, &changed); err != nil {
			return &answer{err}
		}
		r.Rev++
		if err := r.Check(); err != nil {
			return &answer{fmt.Errorf("changing account %s: %w", id, err)}
		}
		if changed == (Person{}) && person != changed {
			if err := removePerson(tx, id, person); err != nil {
				return err
			}
		}
		if r.Status == StatusRevoked {
			if err := removeOwned(tx, id); err != nil {
				return err
			}
		}
		return putRecord(tx, &r)
	})
	return r, err
}
