package etcd

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"modeldex/quota"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// stored is an account as it was read, with what a transaction has to compare.
type stored struct {
	account
	person quota.Person
	rev    int64 // etcd's revision of the account's last change
}

// read reads an account and its person in one transaction; quota.ErrNotFound when there is none.
func (s *Store) read(ctx context.Context, id quota.ID) (out stored, err error) {
	account, person := s.key("a", hexID(id)), s.key("p", hexID(id))
	resp, err := s.commit(s.client.Txn(ctx).Then(clientv3.OpGet(account), clientv3.OpGet(person)))
	if err != nil {
		return out, err
	}
	kvs := resp.Responses[0].GetResponseRange().Kvs
	if len(kvs) == 0 {
		return out, quota.ErrNotFound
	}
	out.rev = kvs[0].ModRevision
	out.account, err = parseAccount(account, kvs[0].Value)
	for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
		err = errors.Join(err, parse(person, kv.Value, &out.person))
	}
	return out, err
}

// Get implements quota.Store.
func (s *Store) Get(ctx context.Context, id quota.ID) (quota.Record, quota.Person, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	got, err := s.read(ctx, id)
	return got.Record, got.person, s.explain("reading", err)
}

// Find implements quota.Store.
func (s *Store) Find(ctx context.Context, f quota.Filter, fn func(quota.Record, quota.Person) bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	more := true
	visit := func(id quota.ID) error { // with the person, as it is now
		got, err := s.read(ctx, id)
		if err == nil && f.Matches(got.Record) && (f.Email == "" || quota.SameAddress(got.person.Email, f.Email)) {
			more = fn(got.Record, got.person)
		}
		return err
	}
	if f.Email != "" {
		ids, err := s.idsOf(ctx, quota.AddressKeys(f.Email))
		for _, id := range ids {
			if err == nil && more {
				err = visit(id)
			}
		}
		return s.explain("reading", err)
	}
	after := ""
	if f.After != 0 {
		after = hexID(f.After) + "\x00"
	}
	_, err := s.eachID(ctx, s.key("a")+"/", after, 0, func(id quota.ID, key string, value []byte) error {
		if a, err := parseAccount(key, value); err != nil || !more || !f.Matches(a.Record) {
			return err
		}
		return visit(id)
	})
	return s.explain("reading", err)
}

// addressDir is where the accounts listed under the hash of an address are.
func (s *Store) addressDir(hash []byte) string { return s.key("e", hex.EncodeToString(hash)) + "/" }

// idsOf lists the accounts listed under any of the hashes, oldest first.
func (s *Store) idsOf(ctx context.Context, hashes [][]byte) (ids []quota.ID, err error) {
	for _, hash := range hashes {
		if _, err = s.eachID(ctx, s.addressDir(hash), "", 0, func(id quota.ID, _ string, _ []byte) error {
			ids = append(ids, id)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Create implements quota.Store. The number of accounts of the address is counted first; the
// transaction then compares that no account of the address was added since. An attempt whose response was lost is
// repeated, and may then find the account that it made.
func (s *Store) Create(ctx context.Context, r quota.Record, p quota.Person, perEmail int) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := r.Check(); err != nil {
		return fmt.Errorf("creating account: %w", err)
	}
	again := false // an attempt before may have been made
	return s.explain("writing", s.retry(ctx, func() (bool, error) {
		done, err := s.tryCreate(ctx, r, p, perEmail, again)
		if isUnclear(err) {
			again, err = true, nil
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

// putAccount are the operations that store an account and its person.
func (s *Store) putAccount(r quota.Record, p quota.Person) []clientv3.Op {
	id := hexID(r.ID)
	puts := []clientv3.Op{clientv3.OpPut(s.key("a", id), encodeAccount(r, nil))}
	if p != (quota.Person{}) {
		puts = append(puts, clientv3.OpPut(s.key("p", id), encode(p)))
	}
	if p.Email != "" {
		puts = append(puts, clientv3.OpPut(s.addressDir(p.AddressKey())+id, ""))
	}
	return puts
}

func (s *Store) tryCreate(ctx context.Context, r quota.Record, p quota.Person, perEmail int, again bool) (bool, error) {
	account := s.key("a", hexID(r.ID))
	compare := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(account), "=", 0)}
	puts := s.putAccount(r, p)
	if p.Email != "" {
		guard := s.key("g", hex.EncodeToString(p.AddressKey()))
		last, err := s.client.Get(ctx, guard, clientv3.WithKeysOnly())
		if err == nil {
			err = s.checkAddress(ctx, r.ID, p, perEmail)
		}
		if err != nil {
			return false, err
		}
		rev := int64(0) // of the last change; 0: there was none
		for _, kv := range last.Kvs {
			rev = kv.ModRevision
		}
		compare = append(compare, clientv3.Compare(clientv3.ModRevision(guard), "=", rev))
		puts = append(puts, clientv3.OpPut(guard, ""))
	}
	resp, err := s.commit(s.client.Txn(ctx).If(compare...).Then(puts...).Else(clientv3.OpGet(account)))
	if err != nil || resp.Succeeded {
		return err == nil, err
	}
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		if again && string(kvs[0].Value) == encodeAccount(r, nil) {
			return true, nil
		}
		return false, quota.ErrTaken
	}
	return false, nil // another key of the address was created meanwhile: count again
}

// checkAddress returns quota.ErrTooMany when the address has perEmail other accounts that are not
// revoked; 0 means no limit.
func (s *Store) checkAddress(ctx context.Context, id quota.ID, p quota.Person, perEmail int) error {
	if perEmail <= 0 {
		return nil
	}
	ids, err := s.idsOf(ctx, p.CountedKeys())
	if err != nil {
		return err
	}
	n := 0
	for _, other := range ids {
		got, err := s.read(ctx, other)
		if err != nil {
			return err
		}
		if got.Status != quota.StatusRevoked && other != id {
			n++
		}
	}
	if n >= perEmail {
		return quota.ErrTooMany
	}
	return nil
}

// Update implements quota.Store. After an attempt whose response was lost it reads whether that was made. If it was not, it
// makes the same change again, as long as there was no other: the first may still be under way, and only one can be made.
func (s *Store) Update(ctx context.Context, id quota.ID, fn func(*quota.Record, *quota.Person) error) (r quota.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var rejected error // fn's own error, which is returned as it is
	var sent stored    // the intended account of the last attempt whose response was lost
	err = s.retry(ctx, func() (bool, error) {
		got, err := s.read(ctx, id)
		if err != nil {
			if sent.rev != 0 && isUnclear(err) {
				err = nil // to be repeated
			}
			return false, err
		}
		if sent.rev != 0 && encodeAccount(got.Record, nil) == encodeAccount(sent.Record, nil) {
			r = sent.Record
			return true, nil
		}
		to := sent
		if got.rev != sent.rev {
			to = stored{account{got.Record, got.Newer}, got.person, got.rev}
			to.Old = slices.Clone(got.Old)
			if rejected = fn(&to.Record, &to.person); rejected != nil {
				return false, rejected
			}
			to.Rev++
			if rejected = to.Check(); rejected != nil {
				rejected = fmt.Errorf("changing account %s: %w", id, rejected)
				return false, rejected
			}
		}
		r = to.Record
		ops := []clientv3.Op{clientv3.OpPut(s.key("a", hexID(to.ID)), encodeAccount(to.Record, got.Newer))}
		if to.person == (quota.Person{}) && got.person != to.person {
			ops = append(ops, clientv3.OpDelete(s.key("p", hexID(to.ID))))
			if got.person.Email != "" {
				ops = append(ops, clientv3.OpDelete(s.addressDir(got.person.AddressKey())+hexID(to.ID)))
			}
		}
		resp, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(s.key("a", hexID(to.ID))), "=", to.rev)).Then(ops...).Commit()
		if isUnclear(err) {
			sent = to
			return false, nil
		}
		return err == nil && resp.Succeeded, err
	})
	if rejected != nil {
		return r, rejected
	}
	return r, s.explain("writing", err)
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
