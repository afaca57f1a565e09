package etcdtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Secure is an etcd that speaks TLS only, asks every client for a certificate, and every client but
// root for a user who may use the keys below one prefix.
type Secure struct {
	*Cluster

	// Paths of the authority's certificate, and of a client certificate, which is the same, with its key.
	CA, Cert, Key string
	// User may read and write the keys below Prefix, with Password.
	User, Password, Prefix string
}

// rootPassword is that of etcd's own administrator in tests.
const rootPassword = "root of a test"

// StartSecure starts one member that asks for certificate, user and password. A login is valid for
// tokenSeconds and has to be made again then.
func StartSecure(tb testing.TB, tokenSeconds string) *Secure {
	tb.Helper()
	dir := tb.TempDir()
	s := &Secure{User: "modeldex", Password: "a secret of a test", Prefix: "guarded", Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	s.CA = s.Cert
	client := s.certify(tb)
	s.Cluster = &Cluster{scheme: "https", client: clientv3.Config{TLS: client}, args: []string{
		"--cert-file", s.Cert, "--key-file", s.Key, "--trusted-ca-file", s.CA, "--client-cert-auth",
		"--auth-token-ttl", tokenSeconds, "--bcrypt-cost", "4",
	}}
	s.start(tb, 1)
	s.protect()
	return s
}

// certify writes a new certificate with its key, of an authority that is also etcd's and the clients'. It returns how
// this package's own clients connect.
func (s *Secure) certify(tb testing.TB) *tls.Config {
	tb.Helper()
	removed := errors.Join(os.RemoveAll(s.Cert), os.RemoveAll(s.Key))
	info, made := transport.SelfCert(zap.NewNop(), filepath.Dir(s.Cert), []string{"127.0.0.1:0"}, 1, x509.ExtKeyUsageClientAuth)
	info.TrustedCAFile = s.CA
	config, err := info.ClientConfig()
	if err := errors.Join(removed, made, err); err != nil {
		tb.Fatal(err)
	}
	return config
}

// Replace gives s.User another password, and restarts etcd with the certificates of another authority, which take the
// place of those before in their files. From then on nobody connects or logs in with what was good before.
func (s *Secure) Replace(password string) {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := s.Client().UserChangePassword(ctx, s.User, password); err != nil {
		s.tb.Fatal(err)
	}
	s.Password = password
	s.Kill(0)
	s.client.TLS = s.certify(s.tb)
	s.Restart(0)
}

// protect makes the users root and s.User and turns on etcd's rules of access.
func (s *Secure) protect() {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, prefix := s.Client(), s.Prefix+"/"
	do := func(_ any, err error) {
		s.tb.Helper()
		if err != nil {
			s.tb.Fatal(err)
		}
	}
	do(client.RoleAdd(ctx, "root"))
	do(client.UserAdd(ctx, "root", rootPassword))
	do(client.UserGrantRole(ctx, "root", "root"))
	do(client.RoleAdd(ctx, "ledger"))
	do(client.RoleGrantPermission(ctx, "ledger", prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite)))
	do(client.UserAdd(ctx, s.User, s.Password))
	do(client.UserGrantRole(ctx, s.User, "ledger"))
	do(client.AuthEnable(ctx))
	s.client.Username, s.client.Password = "root", rootPassword
}
