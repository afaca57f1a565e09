package service

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modeldex/httpapi/operator"
)

// adminListeners are where administration is reached: a Unix socket, which only its owner can
// open, and TCP if the configuration says so. Either may be nil.
type adminListeners struct {
	cfg         *Config
	socket, tcp net.Listener
	token       string // of tcp
}

// listenAdmin opens the listeners. When it returns an error, nothing is left behind.
func listenAdmin(cfg *Config) (_ *adminListeners, err error) {
	a := &adminListeners{cfg: cfg}
	var made string // the file of a token created here
	defer func() {
		if err != nil {
			err = fmt.Errorf("listening for administration: %w", err)
			a.close()
			if made != "" {
				err = errors.Join(err, os.Remove(made))
			}
		}
	}()
	path := cfg.Place.SocketPath()
	if len(path) > operator.MaxSocketPath && cfg.Place.Socket == "" {
		cfg.Log.Warn("no admin socket: the path is too long for a Unix socket; choose a shorter one with --admin-socket", "path", path)
	} else if a.socket, err = operator.ListenSocket(path); err != nil {
		return nil, err
	}
	if cfg.AdminAddr == "" {
		return a, nil
	}
	if a.token, made, err = adminToken(cfg); err != nil {
		return nil, err
	}
	if a.tcp, err = net.Listen("tcp", cfg.AdminAddr); err != nil {
		return nil, err
	}
	return a, nil
}

// adminToken is the token of the configuration or of its file; made is the file if it was created.
func adminToken(cfg *Config) (token, made string, err error) {
	if cfg.AdminToken != "" {
		return cfg.AdminToken, "", operator.CheckToken(cfg.AdminToken)
	}
	file := cfg.AdminTokenFile
	if file == "" {
		file = cfg.Place.TokenFile()
	}
	token, created, err := operator.MakeToken(file)
	if created {
		made = file
	}
	if err == nil {
		cfg.Log.Info("admin token", "file", file, "created", created)
	}
	return token, made, err
}

func (a *adminListeners) serve(keys operator.Keys, ledger operator.Ledger, metrics http.Handler) (stop func()) {
	var serving sync.WaitGroup
	var servers []*http.Server
	begin := func(ln net.Listener, h http.Handler) {
		if ln == nil {
			return
		}
		server := &http.Server{
			Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
			ErrorLog: slog.NewLogLogger(a.cfg.Log.With("listener", ln.Addr().String()).Handler(), slog.LevelWarn),
		}
		servers = append(servers, server)
		serving.Go(func() {
			if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
				a.cfg.Log.Error("admin listener", "cause", err)
			}
		})
		a.cfg.Log.Info("serving administration", "addr", ln.Addr().String())
	}
	address := a.cfg.Place.Address()
	bySocket := operator.Admin{Keys: keys, Ledger: ledger, Address: address, Metrics: metrics, Log: a.cfg.Log, By: "admin socket"}
	byTCP := bySocket
	byTCP.By, byTCP.BackupDir = "admin address", filepath.Dir(a.cfg.Place.FileBase())
	begin(a.socket, bySocket.Handler())
	begin(a.tcp, &operator.Guard{Next: byTCP.Handler(), Token: a.token, Addr: a.cfg.AdminAddr})
	return func() {
		for _, server := range servers {
			_ = server.Close()
		}
		serving.Wait()
		a.close()
	}
}

// close closes the listeners, also those that Serve has closed: a socket must not stay behind.
func (a *adminListeners) close() {
	for _, ln := range []net.Listener{a.socket, a.tcp} {
		if ln != nil {
			_ = ln.Close()
		}
	}
}
