package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// reconnect is how long the client waits between two attempts to connect to a member, and how long one may take. By
// default the pause grows to two minutes, for which a server would go on rejecting calls after an outage is over.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 250 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: 3 * time.Second,
}

// connect returns a client and what closes it.
func connect(ctx context.Context, opt Options) (*clientv3.Client, func() error, error) {
	cfg := clientv3.Config{
		DialTimeout: opt.DialTimeout,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(reconnect)},
		// A member that stops answering without closing its connections is left after 3 s.
		DialKeepAliveTime:    2 * time.Second,
		DialKeepAliveTimeout: time.Second,
		Logger:               zap.NewNop(), // errors reach the caller; the client would log passwords of URLs
		Context:              context.WithoutCancel(ctx),
	}
	scheme := "http://"
	if opt.usesTLS() {
		first, err := opt.tls()
		if err != nil {
			return nil, nil, err
		}
		scheme, cfg.TLS = "https://", first // so that the client connects with TLS; the connections are made by renewed
		connections := &renewed{TransportCredentials: credentials.NewTLS(first), read: opt.tls}
		connections.last.Store(first)
		cfg.DialOptions = append(cfg.DialOptions, grpc.WithTransportCredentials(connections))
	}
	for _, e := range opt.Endpoints {
		cfg.Endpoints = append(cfg.Endpoints, scheme+e)
	}
	client, err := clientv3.New(cfg) // logins go through it if there is a user
	if err != nil || opt.User == "" {
		return client, func() error { return client.Close() }, err
	}
	anonymous, logins := client, &login{anonymous: client, password: opt.password}
	cfg.Username = opt.User
	if cfg.Password, err = opt.password(); err == nil {
		client, err = clientv3.New(cfg)
	}
	if err != nil {
		return nil, nil, errors.Join(err, anonymous.Close())
	}
	logins.Auth, client.Auth = client.Auth, logins
	return client, func() error { return errors.Join(client.Close(), anonymous.Close()) }, nil
}

// renewed makes every connection with certificates that are read again: those of machines are often valid for a day or
// an hour, and are replaced while the server runs. While they cannot be read, because they are being
// replaced, those of the connection before are used.
type renewed struct {
	credentials.TransportCredentials // for all but the connections
	read                             func() (*tls.Config, error)
	last                             atomic.Pointer[tls.Config]
}

// ClientHandshake implements credentials.TransportCredentials.
func (r *renewed) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if config, err := r.read(); err == nil {
		r.last.Store(config)
	}
	return credentials.NewTLS(r.last.Load()).ClientHandshake(ctx, authority, conn)
}

// Clone implements credentials.TransportCredentials. It has no state per connection.
func (r *renewed) Clone() credentials.TransportCredentials { return r }

// login makes logins through a connection of their own. The client sends its token with every request, logins
// included. etcd before 3.5 rejects a login with an expired token, so the client would never get a new one
// (github.com/etcd-io/etcd/pull/12165).
type login struct {
	clientv3.Auth
	anonymous *clientv3.Client
	password  func() (string, error)
}

// Authenticate logs in with the password of the moment. While that cannot be read, or is half written, it is the one given.
func (l *login) Authenticate(ctx context.Context, user, password string) (*clientv3.AuthenticateResponse, error) {
	if now, err := l.password(); err == nil && now != "" {
		password = now
	}
	return l.anonymous.Authenticate(ctx, user, password)
}

// withCause adds to a connection timeout the reason why the first server could not be reached. The client goes on trying
// and returns only the timeout; a request that does not wait for a connection returns the reason.
func withCause(ctx context.Context, opt Options, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	transport, hint := insecure.NewCredentials(), "; if it uses TLS, give its CA certificate"
	if opt.usesTLS() {
		config, unreadable := opt.tls()
		if unreadable != nil {
			return unreadable
		}
		transport, hint = credentials.NewTLS(config), "; check the certificates"
	}
	conn, refused := grpc.NewClient(opt.Endpoints[0], grpc.WithTransportCredentials(transport))
	if refused == nil {
		defer conn.Close()
		_, refused = etcdserverpb.NewKVClient(conn).Range(ctx, &etcdserverpb.RangeRequest{Key: []byte("x")})
	}
	if status.Code(refused) != codes.Unavailable {
		return err
	}
	return fmt.Errorf("%w; %s: %s%s", err, opt.Endpoints[0], status.Convert(refused).Message(), hint)
}
