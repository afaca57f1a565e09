package etcd

import (
	"context"
	"errors"
	"time"

	"modeldex/quota"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// progressEvery is how often the watch asks etcd how far it is.
	progressEvery = 500 * time.Millisecond
	// silenceLimit is how long etcd may answer nothing before the watch is taken for broken. The
	// client itself waits without end for a member that it cannot reach.
	silenceLimit = 3 * time.Second
)

// errSilent is returned by Watch when etcd has not answered for three seconds.
var errSilent = errors.New("etcd has not answered for 3 seconds; this server does not see changes made on other servers")

// Watch implements quota.Store. It begins after the revision of the last Load.
func (s *Store) Watch(ctx context.Context, fn func(quota.Record)) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	changes := s.client.Watch(ctx, s.key("a")+"/", clientv3.WithPrefix(), clientv3.WithRev(s.rev.Load()+1))
	look, ask := time.NewTicker(progressEvery), time.NewTicker(progressEvery)
	defer look.Stop()
	go func() { // a request waits as long as the connection is broken, so the watch itself must not wait for it
		defer ask.Stop()
		for ctx.Err() == nil {
			select {
			case <-ask.C:
				_ = s.client.RequestProgress(ctx) // that one is missing is noticed by the silence
			case <-ctx.Done():
			}
		}
	}()
	heard := time.Now()
	for {
		select {
		case resp, ok := <-changes:
			if !ok {
				return errors.Join(ctx.Err(), s.explain("watching", errors.New("the watch has ended")))
			}
			err := resp.Err()
			heard = time.Now()
			for _, ev := range resp.Events {
				if err == nil && ev.Type == clientv3.EventTypePut { // accounts are never removed
					var a account
					if a, err = parseAccount(string(ev.Kv.Key), ev.Kv.Value); err == nil {
						fn(a.Record)
					}
				}
			}
			if err != nil {
				return s.explain("watching", err)
			}
		case <-look.C:
			if time.Since(heard) > silenceLimit {
				return s.explain("watching", errSilent)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
