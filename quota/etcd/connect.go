package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// reconnect is how long the client waits between two attempts to connect to a member, and how long one may
// take. By default the pause grows to two minutes, for which a server would go on rejecting calls after an
// outage is over.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 250 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: 3 * time.Second,
}

// connect returns a client and what closes it.
func connect(ctx context.Context, opt Options) (*clientv3.Client, func() error, error) {
	cfg := clientv3.Config{
		Endpoints:   opt.urls(),
		DialTimeout: opt.DialTimeout,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(reconnect)},
		// A member that stops answering without closing its connections is left after 3 s.
		DialKeepAliveTime:    2 * time.Second,
		DialKeepAliveTimeout: time.Second,
		Logger:               zap.NewNop(), // errors reach the caller; the client would log passwords of URLs
		Context:              context.WithoutCancel(ctx),
	}
	if opt.TLS != nil {
		first, err := opt.TLS()
		if err != nil {
			return nil, nil, err
		}
		cfg.TLS = first // so that the client connects with TLS; the connections are made by renewed
		cfg.DialOptions = append(cfg.DialOptions, grpc.WithTransportCredentials(newRenewed(first, opt.TLS)))
	}
	client, err := clientv3.New(cfg) // logins go through it if there is a user
	if err != nil || opt.Username == "" {
		return client, func() error { return client.Close() }, err
	}
	anonymous, logins := client, &login{anonymous: client, password: opt.Password}
	cfg.Username = opt.Username
	cfg.DialOptions = append(cfg.DialOptions, grpc.WithChainUnaryInterceptor(logins.intercept))
	if cfg.Password, err = opt.Password(); err == nil {
		client, err = clientv3.New(cfg)
	}
	if err != nil {
		return nil, nil, errors.Join(err, anonymous.Close())
	}
	logins.Auth, client.Auth = client.Auth, logins
	return client, func() error { return errors.Join(client.Close(), anonymous.Close()) }, nil
}

// login makes logins through a connection of their own. The client sends its token with every request, logins
// included. etcd before 3.5 rejects a login with an expired token, so the client would never get a new one
// (github.com/etcd-io/etcd/pull/12165).
type login struct {
	clientv3.Auth
	anonymous *clientv3.Client
	password  func() (string, error)
	made      atomic.Bool // by Authenticate
}

// Authenticate logs in with the password of the moment. While that cannot be read, or is half written, it is the one given.
func (l *login) Authenticate(ctx context.Context, user, password string) (*clientv3.AuthenticateResponse, error) {
	if now, err := l.password(); err == nil && now != "" {
		password = now
	}
	resp, err := l.anonymous.Authenticate(ctx, user, password)
	l.made.Store(err == nil)
	return resp, err
}

// intercept has the client log in when it is denied something before it did. An etcd whose access control was turned on
// under it takes the name in the client's certificate for the user, and does not ask for one.
func (l *login) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	made := l.made.Load() // before: another request may log in meanwhile, which this one did not go with
	err := invoke(ctx, method, req, reply, cc, opts...)
	if !made && errors.Is(rpctypes.Error(err), rpctypes.ErrPermissionDenied) {
		return rpctypes.ErrGRPCUserEmpty
	}
	return err
}

// withCause adds to a connection timeout the reason why the first server could not be reached. The client knows
// the reason, but returns only the timeout.
func withCause(ctx context.Context, opt Options, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || len(opt.Endpoints) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if cause := probe(ctx, opt.Endpoints[0], opt.TLS); cause != nil {
		return fmt.Errorf("%w; %s: %w", err, opt.Endpoints[0], cause)
	}
	return err
}

// probe opens a connection as the client does, begins to speak HTTP/2, and returns what goes wrong before the server's
// first frame. A server that rejects the client's certificate says so after the handshake.
func probe(ctx context.Context, address string, makeTLS func() (*tls.Config, error)) error {
	dial := (&net.Dialer{}).DialContext
	if makeTLS != nil {
		config, err := makeTLS()
		if err != nil {
			return err
		}
		config.NextProtos = []string{http2.NextProtoTLS}
		dial = (&tls.Dialer{Config: config}).DialContext
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	framer := http2.NewFramer(conn, conn)
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err = io.WriteString(conn, http2.ClientPreface); err == nil {
		err = framer.WriteSettings()
	}
	if err == nil {
		_, err = framer.ReadFrame()
	}
	if err != nil && makeTLS == nil {
		err = fmt.Errorf("does not speak HTTP/2 without TLS; if it uses TLS, give its CA certificate: %w", err)
	}
	return err
}
