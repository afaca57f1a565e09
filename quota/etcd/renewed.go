package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
)

// renewed makes every connection with certificates that are read again: those of machines are often valid for a day or
// an hour, and are replaced while the server runs. While they cannot be read, because they are being
// replaced, those of the connection before are used.
type renewed struct {
	read func() (*tls.Config, error)
	last atomic.Pointer[tls.Config]
}

func newRenewed(first *tls.Config, read func() (*tls.Config, error)) *renewed {
	r := &renewed{read: read}
	r.last.Store(first)
	return r
}

// ClientHandshake implements credentials.TransportCredentials.
func (r *renewed) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if config, err := r.read(); err == nil {
		r.last.Store(config)
	}
	return credentials.NewTLS(r.last.Load()).ClientHandshake(ctx, authority, conn)
}

// ServerHandshake implements credentials.TransportCredentials.
func (r *renewed) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("these credentials are a client's")
}

// Info implements credentials.TransportCredentials.
func (r *renewed) Info() credentials.ProtocolInfo { return credentials.NewTLS(r.last.Load()).Info() }

// Clone implements credentials.TransportCredentials.
func (r *renewed) Clone() credentials.TransportCredentials { return newRenewed(r.last.Load(), r.read) }

// OverrideServerName implements credentials.TransportCredentials.
func (r *renewed) OverrideServerName(string) error {
	return errors.New("the name of a member is that of its address")
}
