package etcd

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// stored is an account as it was read, with what a transaction has to compare.
type stored struct {
	doc    document
	rev    int64 // etcd's revision of the account's last change
	record quota.Record
	person quota.Person
}

// read reads an account and its person in one transaction; quota.ErrNotFound when there is none.
func (s *Store) read(ctx context.Context, id quota.ID) (stored, error) {
	account, person := s.key("a", hexID(id)), s.key("p", hexID(id))
	resp, err := s.commit(s.client.Txn(ctx).Then(clientv3.OpGet(account), clientv3.OpGet(person)))
	if err != nil {
		return stored{}, err
	}
	kvs := resp.Responses[0].GetResponseRange().Kvs
	if len(kvs) == 0 {
		return stored{}, quota.ErrNotFound
	}
	out := stored{rev: kvs[0].ModRevision}
	if out.doc, err = parseDocument(account, kvs[0].Value); err != nil {
		return stored{}, err
	}
	if out.record, err = parseRecord(account, id, kvs[0].Value); err != nil {
		return stored{}, err
	}
	for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
		if out.person, err = parsePerson(person, kv.Value); err != nil {
			return stored{}, err
		}
	}
	return out, nil
}

func parsePerson(key string, value []byte) (p quota.Person, err error) {
	if err := jsonv2.Unmarshal(value, &p); err != nil {
		return p, fmt.Errorf("%w: %s: %w", quota.ErrCorrupt, key, err)
	}
	return p, nil
}

// Get implements quota.Store.
func (s *Store) Get(ctx context.Context, id quota.ID) (quota.Record, quota.Person, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	got, err := s.read(ctx, id)
	return got.record, got.person, s.about("reading", err)
}

// about explains an error, but leaves those about an account as they are.
func (s *Store) about(act string, err error) error {
	for _, of := range []error{quota.ErrNotFound, quota.ErrTaken, quota.ErrTooMany} {
		if errors.Is(err, of) {
			return err
		}
	}
	return s.explain(act, err)
}

// Find implements quota.Store.
func (s *Store) Find(ctx context.Context, f quota.Filter, fn func(quota.Record, quota.Person) bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if f.Email != "" {
		return s.findEmail(ctx, f, fn)
	}
	dir, after := s.key("a")+"/", ""
	if f.After != 0 {
		after = hexID(f.After) + "\x00"
	}
	more := true
	_, err := s.each(ctx, dir, after, 0, func(rest string, value []byte) error {
		if !more {
			return nil
		}
		id, err := parseHexID(dir+rest, rest)
		if err != nil {
			return err
		}
		r, err := parseRecord(dir+rest, id, value)
		if err != nil || !f.Matches(r) {
			return err
		}
		got, err := s.read(ctx, id) // with the person, as it is now
		if errors.Is(err, quota.ErrNotFound) {
			return nil // removed meanwhile
		}
		if err == nil {
			more = fn(got.record, got.person)
		}
		return err
	})
	return s.explain("reading", err)
}

func (s *Store) findEmail(ctx context.Context, f quota.Filter, fn func(quota.Record, quota.Person) bool) error {
	ids, err := s.idsOf(ctx, quota.AddressKeys(f.Email))
	if err != nil {
		return s.explain("reading", err)
	}
	for _, id := range ids {
		got, err := s.read(ctx, id)
		if err != nil {
			return s.about("reading", err)
		}
		if f.Matches(got.record) && quota.SameAddress(got.person.Email, f.Email) && !fn(got.record, got.person) {
			return nil
		}
	}
	return nil
}

// addressDir is where the accounts listed under the hash of an address are.
func (s *Store) addressDir(hash []byte) string { return s.key("e", hex.EncodeToString(hash)) + "/" }

// idsOf lists the accounts listed under any of the hashes, oldest first.
func (s *Store) idsOf(ctx context.Context, hashes [][]byte) (ids []quota.ID, err error) {
	for _, hash := range hashes {
		dir := s.addressDir(hash)
		if _, err = s.each(ctx, dir, "", 0, func(rest string, _ []byte) error {
			id, err := parseHexID(dir+rest, rest)
			ids = append(ids, id)
			return err
		}); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Create implements quota.Store. The number of accounts of the address is counted first; the
// transaction then compares that no account of the address was added since.
func (s *Store) Create(ctx context.Context, r quota.Record, p quota.Person, perEmail int) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := r.Check(); err != nil {
		return fmt.Errorf("creating account: %w", err)
	}
	unclear := false
	return s.about("writing", s.retry(ctx, func() (bool, error) {
		if unclear {
			switch got, err := s.read(ctx, r.ID); {
			case err == nil && sameRecord(got.record, r):
				return true, nil
			case isUnclear(err):
				return false, nil
			case !errors.Is(err, quota.ErrNotFound):
				return false, cmp.Or(err, quota.ErrTaken)
			}
		}
		done, err := s.tryCreate(ctx, r, p, perEmail, unclear)
		if isUnclear(err) {
			unclear = true
			return false, nil
		}
		return done, err
	}))
}

// isUnclear reports whether an error leaves open if the transaction was made: its response was lost with the
// connection, or with the leader of etcd.
func isUnclear(err error) bool {
	var of rpctypes.EtcdError
	if errors.As(err, &of) {
		return of.Code() == codes.Unavailable
	}
	return status.Code(err) == codes.Unavailable
}

// sameRecord compares records as they are stored.
func sameRecord(a, b quota.Record) bool {
	x, y := document{}, document{}
	setRecord(x, a)
	setRecord(y, b)
	return a.ID == b.ID && x.encode() == y.encode()
}

// tryCreate creates an account; again says that it may be there from an attempt before.
func (s *Store) tryCreate(ctx context.Context, r quota.Record, p quota.Person, perEmail int, again bool) (bool, error) {
	id := hexID(r.ID)
	account := s.key("a", id)
	d := document{}
	setRecord(d, r)
	compare := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(account), "=", 0)}
	puts := []clientv3.Op{clientv3.OpPut(account, d.encode())}
	if p != (quota.Person{}) {
		raw, err := jsonv2.Marshal(p)
		if err != nil {
			return false, err
		}
		puts = append(puts, clientv3.OpPut(s.key("p", id), string(raw)))
	}
	if p.Email != "" {
		guard := s.key("g", hex.EncodeToString(p.AddressKey()))
		rev, err := s.revisionOf(ctx, guard)
		if err != nil {
			return false, err
		}
		if err := s.checkAddress(ctx, p, perEmail); err != nil {
			return false, err
		}
		compare = append(compare, clientv3.Compare(clientv3.ModRevision(guard), "=", rev))
		puts = append(puts, clientv3.OpPut(guard, ""), clientv3.OpPut(s.addressDir(p.AddressKey())+id, ""))
	}
	resp, err := s.commit(s.client.Txn(ctx).If(compare...).Then(puts...).Else(clientv3.OpGet(account)))
	if err != nil || resp.Succeeded {
		return err == nil, err
	}
	if there := resp.Responses[0].GetResponseRange().Kvs; len(there) > 0 {
		if again && string(there[0].Value) == d.encode() {
			return true, nil // by the attempt whose response was lost
		}
		return false, quota.ErrTaken
	}
	return false, nil // another key of the address was created meanwhile: count again
}

// revisionOf returns the revision of a key's last change, 0 when it does not exist.
func (s *Store) revisionOf(ctx context.Context, key string) (int64, error) {
	resp, err := s.client.Get(ctx, key, clientv3.WithKeysOnly())
	if err != nil || len(resp.Kvs) == 0 {
		return 0, err
	}
	return resp.Kvs[0].ModRevision, nil
}

// checkAddress returns quota.ErrTooMany when the address has perEmail accounts that are not
// revoked; 0 means no limit.
func (s *Store) checkAddress(ctx context.Context, p quota.Person, perEmail int) error {
	if perEmail <= 0 {
		return nil
	}
	ids, err := s.idsOf(ctx, p.CountedKeys())
	if err != nil {
		return err
	}
	n := 0
	for _, id := range ids {
		got, err := s.read(ctx, id)
		if err != nil {
			return err
		}
		if got.record.Status != quota.StatusRevoked {
			n++
		}
	}
	if n >= perEmail {
		return quota.ErrTooMany
	}
	return nil
}

// Update implements quota.Store.
func (s *Store) Update(ctx context.Context, id quota.ID, fn func(*quota.Record, *quota.Person) error) (r quota.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var rejected error // fn's own error, which is returned as it is
	var sent change    // by the last attempt whose response was lost
	err = s.retry(ctx, func() (bool, error) {
		got, err := s.read(ctx, id)
		if sent.rev != 0 && isUnclear(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if sent.rev != 0 && sameRecord(got.record, sent.record) {
			r = sent.record
			return true, nil
		}
		if got.rev == sent.rev { // the same again: the first may still be under way, and only one can be made
			r = sent.record
			return s.tryUpdate(ctx, id, got, sent, &sent)
		}
		person := got.person
		r = got.record
		if rejected = fn(&r, &person); rejected != nil {
			return false, rejected
		}
		r.Rev++
		if rejected = r.Check(); rejected != nil {
			rejected = fmt.Errorf("changing account %s: %w", id, rejected)
			return false, rejected
		}
		return s.tryUpdate(ctx, id, got, change{got.rev, r, person}, &sent)
	})
	if rejected != nil {
		return r, rejected
	}
	return r, s.about("writing", err)
}

// change is what an update makes of an account whose last change has the revision rev.
type change struct {
	rev    int64
	record quota.Record
	person quota.Person
}

// tryUpdate makes a change if there was no other. When it is not known whether it was made, it is noted in sent.
func (s *Store) tryUpdate(ctx context.Context, id quota.ID, got stored, to change, sent *change) (bool, error) {
	account := s.key("a", hexID(id))
	setRecord(got.doc, to.record)
	ops := []clientv3.Op{clientv3.OpPut(account, got.doc.encode())}
	if to.person == (quota.Person{}) && got.person != to.person {
		ops = append(ops, clientv3.OpDelete(s.key("p", hexID(id))))
		if got.person.Email != "" {
			ops = append(ops, clientv3.OpDelete(s.addressDir(got.person.AddressKey())+hexID(id)))
		}
	}
	resp, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(account), "=", to.rev)).Then(ops...).Commit()
	if isUnclear(err) {
		*sent = to
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return resp.Succeeded, nil
}

// retry runs try until it is done, fails or ctx ends. Between two runs it waits a little longer
// each time, and never as long as another process that does the same.
func (s *Store) retry(ctx context.Context, try func() (done bool, err error)) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 64*time.Millisecond) {
		done, err := try()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}
