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

	// Paths of the certificate authority's certificate and of a client certificate with its key.
	CA, Cert, Key string
	// User may read and write the keys below Prefix, with Password.
	User, Password, Prefix string

	files string // directory of the certificates
}

// rootPassword is that of etcd's own administrator in tests.
const rootPassword = "root of a test"

// StartSecure starts one member that asks for certificate, user and password. A login is valid for
// tokenSeconds and has to be made again then.
func StartSecure(tb testing.TB, tokenSeconds string) *Secure {
	tb.Helper()
	s := &Secure{User: "modeldex", Password: "a secret of a test", Prefix: "guarded"}
	s.files = tb.TempDir()
	cert, key, client := s.certify(tb)
	s.Cluster = start(tb, 1, &Cluster{
		scheme: "https",
		client: clientv3.Config{TLS: client},
		args: []string{
			"--cert-file", cert, "--key-file", key, "--trusted-ca-file", s.CA, "--client-cert-auth",
			"--auth-token-ttl", tokenSeconds, "--bcrypt-cost", "4",
		},
	})
	s.protect()
	return s
}

// certify writes the certificates of a new authority: its own, that of etcd and that of a client. It returns the files of
// etcd's, and how this package's own clients connect.
func (s *Secure) certify(tb testing.TB) (cert, key string, own *tls.Config) {
	tb.Helper()
	authority, authorityKey := certificate(tb, nil, nil, "authority of a test")
	server, serverKey := certificate(tb, authority, authorityKey, "etcd")
	client, clientKey := certificate(tb, authority, authorityKey, "client")
	s.CA, _ = writePair(tb, s.files, "ca", authority, authorityKey)
	s.Cert, s.Key = writePair(tb, s.files, "client", client, clientKey)
	cert, key = writePair(tb, s.files, "server", server, serverKey)
	pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	return cert, key, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair}}
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
	_, _, s.client.TLS = s.certify(s.tb)
	s.Restart(0)
}

// protect makes the users root and s.User and turns on etcd's rules of access.
func (s *Secure) protect() {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := s.Client()
	prefix := s.Prefix + "/"
	for _, step := range []func() error{
		func() error { _, err := client.RoleAdd(ctx, "root"); return err },
		func() error { _, err := client.UserAdd(ctx, "root", rootPassword); return err },
		func() error { _, err := client.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := client.RoleAdd(ctx, "ledger"); return err },
		func() error {
			_, err := client.RoleGrantPermission(ctx, "ledger", prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := client.UserAdd(ctx, s.User, s.Password); return err },
		func() error { _, err := client.UserGrantRole(ctx, s.User, "ledger"); return err },
		func() error { _, err := client.AuthEnable(ctx); return err },
	} {
		if err := step(); err != nil {
			s.tb.Fatal(err)
		}
	}
	s.client.Username, s.client.Password = "root", rootPassword
}

// certificate makes a certificate for 127.0.0.1 that is valid for a day. Without an issuer it signs
// itself and may sign others.
func certificate(tb testing.TB, issuer *x509.Certificate, issuerKey *ecdsa.PrivateKey, name string) (*x509.Certificate, *ecdsa.PrivateKey) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if issuer == nil {
		template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
		issuer, issuerKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return cert, key
}

// writePair writes a certificate and its key as PEM files.
func writePair(tb testing.TB, dir, name string, cert *x509.Certificate, key *ecdsa.PrivateKey) (certFile, keyFile string) {
	tb.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert.Raw}, keyFile: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return certFile, keyFile
}
