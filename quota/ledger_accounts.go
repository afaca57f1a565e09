package quota

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Load implements Store, in the order of creation.
func (l *Ledger) Load(ctx context.Context, month Month, fn func(Record, uint64) error) error {
	return l.view(ctx, "loading", func(tx *bolt.Tx) error {
		if _, err := months(tx); err != nil { // the month may be there under another name
			return err
		}
		calls := map[ID]uint64{}
		if b := monthBucket(tx, month); b != nil {
			if err := eachRow("usage "+month.String(), b, func(k, v []byte) (err error) {
				calls[idFromKey(k)], err = readCount(k, v)
				return err
			}); err != nil {
				return err
			}
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

// readPerson reads a row of people. The decoder's own words could quote the person, so they are left out.
func readPerson(k, v []byte) (p Person, err error) {
	payload, err := unseal(k, v)
	if err != nil {
		return p, fmt.Errorf("person of %s: %w", idFromKey(k), err)
	}
	if jsonv2.Unmarshal(payload, &p) != nil || p == (Person{}) {
		return p, fmt.Errorf("%w: person of %s cannot be read", ErrCorrupt, idFromKey(k))
	}
	return p, nil
}

// getAccount returns the zero Person for an account whose person was erased.
func getAccount(tx *bolt.Tx, id ID) (r Record, p Person, err error) {
	if r, err = getRecord(tx, id); err != nil {
		return r, p, err
	}
	if v := tx.Bucket(peopleBucket).Get(id.key()); v != nil {
		p, err = readPerson(id.key(), v)
	}
	return r, p, err
}

// Get implements Store.
func (l *Ledger) Get(ctx context.Context, id ID) (r Record, p Person, err error) {
	err = l.view(ctx, "reading", func(tx *bolt.Tx) (err error) {
		r, p, err = getAccount(tx, id)
		return err
	})
	return r, p, err
}

// Find implements Store. It reads every account unless the filter holds an e-mail address.
// fn runs inside a read transaction: it must be quick and must not change the ledger.
func (l *Ledger) Find(ctx context.Context, f Filter, fn func(Record, Person) bool) error {
	return l.view(ctx, "reading", func(tx *bolt.Tx) error {
		visit := func(id ID) (more bool, err error) {
			r, p, err := getAccount(tx, id)
			if err != nil || !f.Matches(r) || f.Email != "" && !SameAddress(p.Email, f.Email) {
				return true, err
			}
			return fn(r, p), nil
		}
		if f.Email != "" {
			for _, id := range idsOf(tx, AddressKeys(f.Email)) {
				if more, err := visit(id); !more || err != nil {
					return err
				}
			}
			return nil
		}
		c := tx.Bucket(accountsBucket).Cursor()
		for k, v := c.Seek(f.After.key()); k != nil; k, v = c.Next() {
			r, err := readRecord(k, v)
			if err != nil {
				return err
			}
			if more, err := visit(r.ID); !more || err != nil {
				return err
			}
		}
		return nil
	})
}

// idsOf lists the accounts listed under any of the hashes of addresses, oldest first.
func idsOf(tx *bolt.Tx, hashes [][]byte) (ids []ID) {
	c := tx.Bucket(emailsBucket).Cursor()
	for _, hash := range hashes {
		for k, _ := c.Seek(hash); bytes.HasPrefix(k, hash); k, _ = c.Next() {
			ids = append(ids, idFromKey(k[len(hash):]))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Create implements Store.
func (l *Ledger) Create(ctx context.Context, r Record, p Person, perEmail int) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("creating account: %w", err)
	}
	return l.update(ctx, func(tx *bolt.Tx) error {
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
	for _, id := range idsOf(tx, p.CountedKeys()) {
		r, err := getRecord(tx, id)
		if err != nil {
			return 0, err
		}
		if r.Status != StatusRevoked {
			n++
		}
	}
	return n, nil
}

func putRecord(tx *bolt.Tx, r *Record) error {
	b := tx.Bucket(accountsBucket)
	b.FillPercent = 0.9 // ids rise, so pages fill from the end
	return insert(b, r.ID.key(), seal(r.ID.key(), r.encode()))
}

// addressRow is the key of the row that lists an account under the address of a person.
func addressRow(id ID, p Person) []byte { return append(p.AddressKey(), id.key()...) }

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
	k := addressRow(id, p)
	return insert(tx.Bucket(emailsBucket), k, seal(k, nil))
}

func removePerson(tx *bolt.Tx, id ID, p Person) error {
	if err := remove(tx.Bucket(peopleBucket), id.key()); err != nil {
		return err
	}
	return remove(tx.Bucket(emailsBucket), addressRow(id, p))
}

// Update implements Store.
func (l *Ledger) Update(ctx context.Context, id ID, fn func(*Record, *Person) error) (r Record, err error) {
	err = l.update(ctx, func(tx *bolt.Tx) error {
		var person Person
		if r, person, err = getAccount(tx, id); err != nil {
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
