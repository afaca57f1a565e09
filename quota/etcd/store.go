package etcd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// formatVersion is the layout of the keys. A ledger with a higher one is rejected.
const formatVersion = 1

// registration is how long a server's registration outlives its last sign of life, in seconds.
const registration = 60

// requestTimeout bounds every method but Load and Watch, so that a caller without a deadline gets an
// error while etcd is away. It is well below what HTTP clients wait.
const requestTimeout = 5 * time.Second

// pageSize is how many keys one request reads.
const pageSize = 1000

// Store is the ledger of a fleet in etcd. It is made by Open.
type Store struct {
	client      *clientv3.Client
	closeClient func() error
	prefix      string // ends with a slash
	name        string // the servers and the prefix, for messages
	server      string // random id of this process
	ledger      string // id of the ledger as it was opened
	now         func() time.Time

	rev  atomic.Int64 // etcd's revision at the last Load
	seen atomic.Int64 // the newest revision of a linearizable response
	stop context.CancelFunc
	done sync.WaitGroup
}

var _ quota.Store = (*Store)(nil)

// ledgerInfo is the value of the key "ledger".
type ledgerInfo struct {
	Format int    `json:"format"`
	ID     string `json:"id"`
}

// Open connects to etcd, creates the ledger below opt.Prefix if there is none, and registers this process. It waits at
// most opt.DialTimeout. quota.ErrVersion is returned for a ledger of a newer program.
func Open(ctx context.Context, opt Options) (*Store, error) {
	s, err := open(ctx, opt)
	if err != nil {
		return nil, explain("opening", opt.String(), withCause(ctx, opt, err))
	}
	return s, nil
}

func open(ctx context.Context, opt Options) (*Store, error) {
	opt.DialTimeout = cmp.Or(opt.DialTimeout, 5*time.Second)
	client, closeClient, err := connect(ctx, opt)
	if err != nil {
		return nil, err
	}
	s := &Store{
		client: client, closeClient: closeClient, prefix: strings.Trim(opt.Prefix, "/") + "/", name: opt.String(), server: rand.Text(), now: time.Now,
	}
	ctx, cancel := context.WithTimeout(ctx, opt.DialTimeout)
	defer cancel()
	var lease clientv3.LeaseID
	if err = s.create(ctx, opt.MustExist); err == nil {
		lease, err = s.register(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, closeClient())
	}
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(func() { s.stayRegistered(background, lease) })
	return s, nil
}

// today is the day by which old numbers are folded, in days since 1970.
func (s *Store) today() int64 { return s.now().Unix() / (24 * 60 * 60) }

// key joins parts to a key below the prefix.
func (s *Store) key(parts ...string) string { return s.prefix + path.Join(parts...) }

// create writes the key "ledger" if it is missing, unless it must exist, and reads it.
func (s *Store) create(ctx context.Context, mustExist bool) error {
	fresh := encode(ledgerInfo{Format: formatVersion, ID: rand.Text()})
	key := s.key("ledger")
	ops := []clientv3.Op{clientv3.OpGet(key)}
	if !mustExist {
		ops = []clientv3.Op{clientv3.OpPut(key, fresh), clientv3.OpGet(key)}
	}
	resp, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).Then(ops...).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return err
	}
	got := resp.Responses[len(resp.Responses)-1].GetResponseRange()
	if len(got.Kvs) == 0 {
		return fmt.Errorf("%w; check the prefix", quota.ErrMissing)
	}
	info, err := parseInfo(got.Kvs[0].Value)
	if err != nil {
		return err
	}
	s.ledger = info.ID
	return nil
}

func parseInfo(value []byte) (ledgerInfo, error) {
	var info ledgerInfo
	if err := jsonv2.Unmarshal(value, &info); err != nil || info.ID == "" {
		return info, fmt.Errorf("%w: another program uses the prefix", quota.ErrNotLedger)
	}
	if info.Format > formatVersion {
		return info, fmt.Errorf("%w: %d, this program supports %d", quota.ErrVersion, info.Format, formatVersion)
	}
	return info, nil
}

// register writes this process's registration, which etcd removes when it is not renewed.
func (s *Store) register(ctx context.Context) (clientv3.LeaseID, error) {
	lease, err := s.client.Grant(ctx, registration)
	if err != nil {
		return 0, err
	}
	host, _ := os.Hostname()
	self := server{host, os.Getpid(), s.now().UTC().Format(time.RFC3339)}
	_, err = s.client.Put(ctx, s.key("n", s.server), encode(self), clientv3.WithLease(lease.ID))
	return lease.ID, err
}

// stayRegistered renews the registration until ctx ends and registers again after it was lost.
func (s *Store) stayRegistered(ctx context.Context, lease clientv3.LeaseID) {
	for ctx.Err() == nil {
		if alive, err := s.client.KeepAlive(ctx, lease); err == nil {
			for range alive { // ends when the lease is lost or ctx ends
			}
		}
		attempt, cancel := context.WithTimeout(ctx, requestTimeout)
		if id, err := s.register(attempt); err == nil {
			lease = id
		} else {
			<-attempt.Done()
		}
		cancel()
	}
}

// Close removes the registration and closes the connection.
func (s *Store) Close() error {
	s.stop()
	s.done.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = s.client.Delete(ctx, s.key("n", s.server)) // its etcd lease removes it otherwise
	return s.closeClient()
}

// explain adds the act and the ledger to an error, and says what etcd's errors mean. Those about an account stay as they
// are.
func (s *Store) explain(act string, err error) error {
	if isOneOf(err, quota.ErrNotFound, quota.ErrTaken, quota.ErrTooMany) {
		return err
	}
	return explain(act, s.name, err)
}

func explain(act, ledger string, err error) error {
	switch {
	case err == nil:
		return nil
	case isOneOf(err, rpctypes.ErrAuthFailed, rpctypes.ErrPermissionDenied, rpctypes.ErrUserEmpty, rpctypes.ErrInvalidAuthToken):
		return fmt.Errorf("%s ledger %s: %w; check user, password and role", act, ledger, err)
	case isOneOf(err, context.DeadlineExceeded, rpctypes.ErrNoLeader, rpctypes.ErrTimeout):
		return fmt.Errorf("%s ledger %s: etcd did not answer in time, or has no quorum: %w", act, ledger, err)
	}
	return fmt.Errorf("%s ledger %s: %w", act, ledger, err)
}

// isOneOf also recognises an error of etcd that still has the form of the connection's library.
func isOneOf(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool {
		return errors.Is(err, target) || errors.Is(rpctypes.Error(err), target)
	})
}

// Ping implements quota.Store: a linearizable read, so that it fails without quorum.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	seen := s.seen.Load()
	resp, err := s.client.Get(ctx, s.key("ledger"))
	if err == nil {
		err = s.see(seen, resp.Header.Revision)
	}
	if err == nil && len(resp.Kvs) == 0 {
		err = quota.ErrRemoved
	}
	if err == nil {
		var info ledgerInfo
		if info, err = parseInfo(resp.Kvs[0].Value); err == nil && info.ID != s.ledger {
			err = quota.ErrRemoved
		}
	}
	return s.explain("reading", err)
}

// errEarlier is returned when etcd was restored from a backup while this process used it. Changes that were acknowledged
// are gone, and those that follow would not be watched until their revisions are new again. It wraps quota.ErrRemoved.
var errEarlier = fmt.Errorf("%w: etcd went back to an earlier state, as after restoring a backup", quota.ErrRemoved)

// see notes the revision of a response; seen is what s.seen was before the request was sent. Linearizable
// responses never have an older one.
func (s *Store) see(seen, rev int64) error {
	if rev < seen {
		return errEarlier
	}
	for {
		newest := s.seen.Load()
		if rev <= newest || s.seen.CompareAndSwap(newest, rev) {
			return nil
		}
	}
}

// commit makes a transaction and notes the revision of its response.
func (s *Store) commit(txn clientv3.Txn) (*clientv3.TxnResponse, error) {
	seen := s.seen.Load()
	resp, err := txn.Commit()
	if err != nil {
		return resp, err
	}
	return resp, s.see(seen, resp.Header.Revision)
}

// each calls fn for every key below dir in order, from the key dir+after on, at revision rev (0:
// the newest), and returns the revision it read at.
func (s *Store) each(ctx context.Context, dir, after string, rev int64, fn func(rest string, value []byte) error) (int64, error) {
	from, end := dir+after, clientv3.GetPrefixRangeEnd(dir)
	for {
		opts := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithLimit(pageSize)}
		if rev > 0 {
			opts = append(opts, clientv3.WithRev(rev))
		}
		resp, err := s.client.Get(ctx, from, opts...)
		if err != nil {
			return rev, err
		}
		if rev == 0 {
			rev = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			if err := fn(strings.TrimPrefix(string(kv.Key), dir), kv.Value); err != nil {
				return rev, err
			}
		}
		if !resp.More {
			return rev, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// eachID is each for a directory whose keys are ids of accounts; fn gets the whole key.
func (s *Store) eachID(ctx context.Context, dir, after string, rev int64, fn func(id quota.ID, key string, value []byte) error) (int64, error) {
	return s.each(ctx, dir, after, rev, func(rest string, value []byte) error {
		id, err := idOf(dir + rest)
		if err != nil {
			return err
		}
		return fn(id, dir+rest, value)
	})
}

// eachAccount calls fn for every account at a revision. An error of fn is returned as it is.
func (s *Store) eachAccount(ctx context.Context, act string, rev int64, fn func(quota.Record) error) error {
	var failed error
	dir := s.key("a") + "/"
	_, err := s.each(ctx, dir, "", rev, func(rest string, value []byte) error {
		a, err := parseAccount(dir+rest, value)
		if err != nil {
			return err
		}
		failed = fn(a.Record)
		return failed
	})
	if failed != nil {
		return failed
	}
	return s.explain(act, err)
}

// eachCount calls fn for every account with calls in a month at a revision (0: the newest), which it returns.
func (s *Store) eachCount(ctx context.Context, m quota.Month, rev int64, fn func(id quota.ID, calls uint64)) (int64, error) {
	return s.eachID(ctx, s.key("u", m.String())+"/", "", rev, func(id quota.ID, key string, value []byte) error {
		c, err := parseCounts(key, value)
		if calls := c.total(); calls > 0 {
			fn(id, calls)
		}
		return err
	})
}

// Load implements quota.Store. All of it is read at one revision, after which Watch begins.
func (s *Store) Load(ctx context.Context, month quota.Month, fn func(r quota.Record, calls uint64) error) error {
	counted := map[quota.ID]uint64{}
	rev, err := s.eachCount(ctx, month, 0, func(id quota.ID, calls uint64) { counted[id] = calls })
	if err != nil {
		return s.explain("loading", err)
	}
	err = s.eachAccount(ctx, "loading", rev, func(r quota.Record) error { return fn(r, counted[r.ID]) })
	if err == nil {
		s.rev.Store(rev)
	}
	return err
}

// Newest implements quota.Store.
func (s *Store) Newest(ctx context.Context) (m quota.Month, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := s.months(ctx, 0)
	if len(list) > 0 {
		m = list[len(list)-1]
	}
	return m, s.explain("reading", err)
}

// months lists the months that have counts at a revision (0: now), oldest first: one small request per month.
func (s *Store) months(ctx context.Context, rev int64) (out []quota.Month, err error) {
	dir := s.key("u") + "/"
	for from := dir; ; {
		resp, err := s.client.Get(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(dir)), clientv3.WithKeysOnly(), clientv3.WithLimit(1), clientv3.WithRev(rev))
		if err != nil || len(resp.Kvs) == 0 {
			return out, err
		}
		key := string(resp.Kvs[0].Key)
		text, _, _ := strings.Cut(strings.TrimPrefix(key, dir), "/")
		m, err := quota.ParseMonth(text)
		if err != nil {
			return out, fmt.Errorf("%w: %s: %w", quota.ErrCorrupt, key, err)
		}
		out = append(out, m)
		from = dir + m.String() + "0" // '0' follows '/'
	}
}

// Usage implements quota.Store.
func (s *Store) Usage(ctx context.Context, id quota.ID) (out []quota.MonthCalls, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, _, err := s.Get(ctx, id); err != nil {
		return nil, err
	}
	months, err := s.months(ctx, 0)
	if err != nil {
		return nil, s.explain("reading", err)
	}
	batch := make([]quota.Count, len(months))
	for i, m := range months {
		batch[i] = quota.Count{ID: id, Month: m}
	}
	err = s.Counts(ctx, batch)
	for _, c := range batch {
		if c.Total > 0 {
			out = append(out, quota.MonthCalls{Month: c.Month, Calls: c.Total})
		}
	}
	return out, err
}
