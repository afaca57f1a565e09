package etcd

import (
	"context"
	"errors"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
)

// TestLoginMeanwhile: a request that was denied because it went without a login is made again with one, also if another request
// logged in meanwhile. What is denied after a login stays denied.
func TestLoginMeanwhile(t *testing.T) {
	denied := func(l *login, meanwhile func()) error {
		return l.intercept(context.Background(), "", nil, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			meanwhile()
			return rpctypes.ErrGRPCPermissionDenied
		})
	}
	l := &login{}
	if err := denied(l, func() { l.made.Store(true) }); !errors.Is(err, rpctypes.ErrGRPCUserEmpty) {
		t.Errorf("denied while another request logged in: %v, want %v, which has the client log in", err, rpctypes.ErrGRPCUserEmpty)
	}
	if err := denied(l, func() {}); !errors.Is(err, rpctypes.ErrGRPCPermissionDenied) {
		t.Errorf("denied after a login: %v, want %v", err, rpctypes.ErrGRPCPermissionDenied)
	}
}
