package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"modeldex/httpapi/operator"
	"modeldex/httpapi/proxies"
)

// defaultAddr is also that of an empty --addr, which would mean every address of the machine and any port.
const defaultAddr = "127.0.0.1:8080"

// Validate checks the values of all flags before anything is loaded, opened or created.
func (c *Serve) Validate() error {
	if c.Process.Addr == "" {
		c.Process.Addr = defaultAddr
	}
	var proxyErr error
	if c.trusted, proxyErr = proxies.Parse(c.TrustedProxies); proxyErr != nil {
		proxyErr = fmt.Errorf("--trusted-proxies: %w", proxyErr)
	}
	return errors.Join(
		checkAddr("--addr", c.Process.Addr),
		checkAddr("--admin-addr", c.Process.AdminAddr),
		checkOrigin("--base-url", "https://api.example.com", c.API.BaseURL),
		checkURL("--repository-url", "https://github.com/owner/name", c.API.RepositoryURL),
		checkSupport(c.API.SupportEmail),
		checkRange("--cache-mb", c.CacheMB, 1),
		checkRange("--signups-per-hour", int64(c.Process.SignupsPerHour), 0),
		checkRange("--pages-per-minute", int64(c.API.PagesPerMinute), 0),
		checkRange("--pages-at-once", int64(c.API.PagesAtOnce), 1),
		checkRange("--keys-per-email", int64(c.Process.KeysPerEmail), 0),
		checkRange("--max-connections", int64(c.API.Connections), 0),
		checkRange("--max-connections-per-address", int64(c.API.ConnectionsPerAddress), 0),
		checkToken(c.Process.AdminToken),
		proxyErr,
		c.place().Validate(),
		c.checkTokenFile(),
	)
}

func (c *Serve) checkTokenFile() error {
	if c.Process.AdminAddr == "" || c.Process.AdminToken != "" {
		return nil
	}
	file := cmp.Or(c.Process.AdminTokenFile, c.place().TokenFile())
	_, err := operator.ReadToken(file)
	if errors.Is(err, fs.ErrNotExist) {
		if info, dirErr := os.Stat(filepath.Dir(file)); dirErr == nil && info.IsDir() {
			return nil
		}
		err = fmt.Errorf("%s: cannot be written: directory does not exist", file)
	}
	if err != nil {
		return fmt.Errorf("--admin-token-file: %w", err)
	}
	return nil
}

// warnIgnored warns about flags that have no effect without another. It is not an error, because programs may share an
// environment.
func (c *Serve) warnIgnored(log *slog.Logger) {
	if c.Process.AdminAddr == "" && (c.Process.AdminToken != "" || c.Process.AdminTokenFile != "") {
		log.Warn("a flag has no effect", "flag", "--admin-token-file", "without", "--admin-addr")
	}
}

func checkAddr(flag, addr string) error {
	if addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || n > 65535 {
		return fmt.Errorf("%s: must be HOST:PORT with a port from 0 to 65535, got %q", flag, addr)
	}
	return nil
}

func checkURL(flag, example, text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%s: must be an http or https URL such as %s, got %q", flag, example, text)
	}
	return nil
}

// checkOrigin checks a URL that is the root of the service: its pages link to each other from there.
func checkOrigin(flag, example, text string) error {
	if u, err := url.Parse(text); err == nil && u.Path != "" && u.Path != "/" {
		return fmt.Errorf("%s: must be a URL without a path, such as %s, because the service runs at the root of its host; got %q", flag, example, text)
	}
	return checkURL(flag, example, text)
}

func checkSupport(text string) error {
	if addr, err := mail.ParseAddress(text); err != nil || addr.Address != text {
		return fmt.Errorf("--support-email: must be an e-mail address, got %q", text)
	}
	return nil
}

// mostOf bounds every number: a million is more than any server needs, and does not overflow as MiB.
const mostOf = 1 << 20

func checkRange(flag string, n, least int64) error {
	if n < least || n > mostOf {
		return fmt.Errorf("%s: must be %d to %d, got %d", flag, least, mostOf, n)
	}
	return nil
}

func checkToken(token string) error {
	if token == "" {
		return nil
	}
	return operator.CheckToken(token)
}
