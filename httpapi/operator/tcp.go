package operator

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"

	"modeldex/quota"
)

// Guard protects the handler of an Admin that is reached over TCP, where any program of the machine, and through it any
// web page that a browser on the machine shows, can connect. A request must carry the token as a bearer token. It must
// not have an Origin, which browsers add to requests of web pages. Its Host must be the address of the listener, or a
// web page could reach it through a name of its own that resolves to the listener (DNS rebinding).
type Guard struct {
	// Next handles what is allowed.
	Next http.Handler
	// Token is the bearer token; it must not be empty.
	Token string
	// Addr is the address as it was configured; its host, if it is a name, is one of the listener's.
	Addr string
}

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case len(r.Header["Origin"]) > 0:
		http.Error(w, "requests with an Origin header are rejected: administration is not available to web pages", http.StatusForbidden)
	case !g.ownHost(r):
		http.Error(w, "the Host header is not the address of this listener", http.StatusMisdirectedRequest)
	case !g.authorized(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="administration"`)
		http.Error(w, "send the admin token as a bearer token", http.StatusUnauthorized)
	default:
		g.Next.ServeHTTP(w, r)
	}
}

func (g *Guard) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || g.Token == "" || len(r.Header["Authorization"]) != 1 {
		return false
	}
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// ownHost says whether Host is the address that the connection was made to, the configured name of
// the listener, or localhost for a listener on loopback.
func (g *Guard) ownHost(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return false
	}
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil || port != fmt.Sprint(local.Port) {
		return false
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.Equal(local.IP)
	}
	name, _, _ := net.SplitHostPort(g.Addr)
	return host != "" && strings.EqualFold(host, name) || local.IP.IsLoopback() && strings.EqualFold(host, "localhost")
}

// minToken is the length of the shortest token that is accepted, in bytes.
const minToken = 16

// CheckToken says what is wrong with a token.
func CheckToken(token string) error {
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("admin token: must be at least %d printable ASCII characters without spaces", minToken)
	}
	return nil
}

// ReadToken reads a token from a file, whose end may be a line break.
func ReadToken(file string) (string, error) {
	b, err := quota.ReadFile(file)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if err := CheckToken(token); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return token, nil
}

// MakeToken reads the token in file, and creates both if the file does not exist; created says
// which it was. The file gets mode 0600.
func MakeToken(file string) (token string, created bool, err error) {
	token, err = ReadToken(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, false, err
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	token = base64.RawURLEncoding.EncodeToString(b[:])
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", false, err
	}
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", false, errors.Join(err, os.Remove(file))
	}
	return token, true, nil
}
