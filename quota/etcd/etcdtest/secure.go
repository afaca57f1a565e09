package etcdtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
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
	s := &Secure{User: "modeldex", Password: "a secret of a test", Prefix: "guarded", Cert: filepath.Join(dir, "test.pem"), Key: filepath.Join(dir, "test.key")}
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

// certify writes a new certificate with its key, of an authority that is also etcd's and the clients', valid for a day.
// It returns how this package's own clients connect.
func (s *Secure) certify(tb testing.TB) *tls.Config {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{s.Cert: {Type: "CERTIFICATE", Bytes: der}, s.Key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair}}
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
