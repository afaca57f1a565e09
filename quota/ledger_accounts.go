package quota

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Load implements Store, in the order of creation.
func (l *Ledger) Load(ctx context.Context, month Month, fn func(Record, uint64) error) error {
	return l.ViewRows(ctx, func(rows Rows) error {
		if _, err := rows.months(); err != nil { // the month may be there under another name
			return err
		}
		counted, usage := map[ID]uint64{}, rows.month(month)
		if err := usage.all(func(k, v []byte) (err error) {
			counted[idFromKey(k)], err = decodeCount(k, v)
			return err
		}); err != nil {
			return err
		}
		accounts := rows.Bucket(accountsBucket)
		return accounts.all(func(k, v []byte) error {
			r, err := decodeRecord(k, v)
			if err != nil {
				return err
			}
			return answered(fn(r, counted[r.ID]))
		})
	})
}

// Account returns the record of an account, or ErrNotFound.
func (r Rows) Account(id ID) (Record, error) {
	accounts := r.Bucket(accountsBucket)
	v, err := accounts.Get(id.key())
	if err == nil && v == nil {
		err = &answer{ErrNotFound}
	}
	if err != nil {
		return Record{}, err
	}
	return decodeRecord(id.key(), v)
}

// decodePerson reads a row of people. The decoder's own words could quote the person, so they are left out.
func decodePerson(k, v []byte) (p Person, err error) {
	if jsonv2.Unmarshal(v, &p) != nil || p == (Person{}) {
		err = fmt.Errorf("%w: person of %s cannot be read", ErrCorrupt, idFromKey(k))
	}
	return p, err
}

// account also returns the person, the zero one if it was erased.
func (r Rows) account(id ID) (record Record, p Person, err error) {
	if record, err = r.Account(id); err != nil {
		return record, p, err
	}
	people := r.Bucket(peopleBucket)
	v, err := people.Get(id.key())
	if v != nil {
		p, err = decodePerson(id.key(), v)
	}
	return record, p, err
}

// Get implements Store.
func (l *Ledger) Get(ctx context.Context, id ID) (r Record, p Person, err error) {
	err = l.ViewRows(ctx, func(rows Rows) (err error) {
		r, p, err = rows.account(id)
		return err
	})
	return r, p, err
}

// Find implements Store. It reads every account unless the filter holds an e-mail address.
// fn runs inside a read transaction: it must be quick and must not change the ledger.
func (l *Ledger) Find(ctx context.Context, f Filter, fn func(Record, Person) bool) error {
	return l.ViewRows(ctx, func(rows Rows) error {
		visit := func(id ID) (more bool, err error) {
			r, p, err := rows.account(id)
			if err != nil || !f.Matches(r) || f.Email != "" && !SameAddress(p.Email, f.Email) {
				return true, err
			}
			return fn(r, p), nil
		}
		if f.Email != "" {
			for _, id := range rows.idsOf(AddressKeys(f.Email)) {
				if more, err := visit(id); !more || err != nil {
					return err
				}
			}
			return nil
		}
		c := rows.tx.Bucket([]byte(accountsBucket)).Cursor()
		for k, _ := c.Seek(f.After.key()); k != nil; k, _ = c.Next() {
			if more, err := visit(idFromKey(k)); !more || err != nil {
				return err
			}
		}
		return nil
	})
}

// idsOf lists the accounts listed under any of the hashes of addresses, oldest first.
func (r Rows) idsOf(hashes [][]byte) (ids []ID) {
	c := r.tx.Bucket([]byte(emailsBucket)).Cursor()
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
	return l.UpdateRows(ctx, func(rows Rows) error {
		if perEmail <= 0 || p.Email == "" {
			return rows.create(r, p)
		}
		for _, id := range rows.idsOf(p.CountedKeys()) {
			other, err := rows.Account(id)
			if err != nil {
				return err
			}
			if other.Status != StatusRevoked { // suspending a key must not hand its owner a new one
				perEmail--
			}
		}
		if perEmail <= 0 {
			return &answer{ErrTooMany}
		}
		return rows.create(r, p)
	})
}

// create stores a new account.
func (r Rows) create(record Record, p Person) error {
	accounts, k := r.Bucket(accountsBucket), record.ID.key()
	if err := record.Check(); err != nil {
		return &answer{fmt.Errorf("creating account: %w", err)}
	}
	if accounts.b.Get(k) != nil {
		return &answer{ErrTaken}
	}
	if err := r.putRecord(&record); err != nil || p == (Person{}) {
		return err
	}
	payload, err := jsonv2.Marshal(p)
	if err != nil {
		return err
	}
	people, emails := r.Bucket(peopleBucket), r.Bucket(emailsBucket)
	people.b.FillPercent = 0.9
	if err := people.Put(k, payload); err != nil || p.Email == "" {
		return err
	}
	return emails.Put(addressRow(record.ID, p), nil)
}

func (r Rows) putRecord(record *Record) error {
	accounts := r.Bucket(accountsBucket)
	accounts.b.FillPercent = 0.9 // ids rise, so pages fill from the end
	return accounts.Put(record.ID.key(), record.encode())
}

// addressRow is the key of the row that lists an account under the address of a person.
func addressRow(id ID, p Person) []byte { return append(p.AddressKey(), id.key()...) }

// Update implements Store.
func (l *Ledger) Update(ctx context.Context, id ID, fn func(*Record, *Person) error) (r Record, err error) {
	err = l.UpdateRows(ctx, func(rows Rows) error {
		var person Person
		if r, person, err = rows.account(id); err != nil {
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
			people, emails := rows.Bucket(peopleBucket), rows.Bucket(emailsBucket)
			if err := errors.Join(people.Delete(id.key()), emails.Delete(addressRow(id, person))); err != nil {
				return err
			}
		}
		for _, name := range ownedBuckets {
			b := rows.Bucket(name)
			if r.Status == StatusRevoked && err == nil {
				err = b.DeletePrefix(id.key())
			}
		}
		return errors.Join(err, rows.putRecord(&r))
	})
	return r, err
}
