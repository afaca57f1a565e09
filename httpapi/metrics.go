package httpapi

import (
	"runtime"
	"time"

	"modeldex/httpapi/connections"
	"modeldex/httpapi/metrics"
	"modeldex/index"
	"modeldex/quota"
)

func (s *Server) countParts(m *metrics.Registry) {
	ofServed := func(name, help string, value func(*index.Generation) float64) {
		m.Gauge(name, help, func() float64 {
			if gen := s.cfg.Live.Current(); gen != nil {
				return value(gen)
			}
			return 0
		})
	}
	ofServed("modeldex_generation", "Number of the dataset load being served.", func(gen *index.Generation) float64 { return float64(gen.Number) })
	ofServed("modeldex_dataset_age_seconds", "Time since the day on which the dataset being served was released.",
		func(gen *index.Generation) float64 { return time.Since(releasedAt(gen)).Seconds() })
	ofServed("modeldex_row_bytes", "Bytes of encoded records in the dataset being served.", func(gen *index.Generation) float64 { return float64(gen.Bytes()) })
	m.Info("modeldex_build_info", "Version of the program, version of Go, and platform.", func() []string {
		return []string{"version", s.cfg.Version, "goversion", runtime.Version(), "platform", runtime.GOOS + "/" + runtime.GOARCH}
	})
	m.Info("modeldex_dataset_info", "Version and digest of the dataset being served.", func() []string {
		if gen := s.cfg.Live.Current(); gen != nil {
			return []string{"version", gen.Info.Version, "digest", gen.Digest.String()}
		}
		return []string{"version", "", "digest", ""}
	})
	m.Limited(quota.NoTier, pageLimited.name) // all are shown as 0 from the start
	m.Limited(quota.NoTier, signupLimited.name)
	for _, t := range s.cfg.Keeper.Tiers().Names() {
		m.Limited(t, burstExceeded.name)
		m.Limited(t, quotaExhausted.name)
	}
	flag := func(name, help string, value func() bool) {
		m.Gauge(name, help, func() float64 { return map[bool]float64{true: 1}[value()] })
	}
	flag("modeldex_dataset_refused", "1 if the most recent load of the dataset was rejected.", func() bool { return s.cfg.History.Refused(s.cfg.Live.Current()) != nil })
	m.Counter("modeldex_dataset_refusals_total", "Rejected loads of the dataset.", func() float64 { return float64(s.cfg.History.Refusals()) })
	m.Counter("modeldex_cache_hits_total", "Cache hits.", func() float64 { return float64(s.cache.Metrics().Hits() + s.open.Metrics().Hits()) })
	m.Counter("modeldex_cache_misses_total", "Cache misses.", func() float64 { return float64(s.cache.Metrics().Misses() + s.open.Metrics().Misses()) })
	l := s.limit
	count := func(name, help string, of func(c connections.Counts) uint64) {
		m.Counter(name, help, func() float64 { return float64(of(l.Counts())) })
	}
	m.Gauge("modeldex_connections", "Open connections.", func() float64 { return float64(l.Counts().Open) })
	m.Gauge("modeldex_connections_limit", "Maximum number of open connections.", func() float64 { return float64(l.Max) })
	m.Gauge("modeldex_unread_bytes", "Bytes of responses not yet read by clients.", func() float64 { return float64(l.Counts().UnreadBytes) })
	count("modeldex_accept_errors_total", "Failed attempts to accept a connection, for example because no file descriptor was free.", func(c connections.Counts) uint64 { return c.AcceptErrors })
	count("modeldex_connections_rejected_full_total", "Connections rejected because the server was at its limit.", func(c connections.Counts) uint64 { return c.RejectedFull })
	count("modeldex_connections_rejected_address_total", "Connections rejected because the address was at its limit.", func(c connections.Counts) uint64 { return c.RejectedAddress })
	count("modeldex_connections_closed_slow_total", "Connections closed because the client read too slowly.", func(c connections.Counts) uint64 { return c.ClosedSlow })
	if s.cfg.Hooks != nil {
		m.Webhooks(s.cfg.Hooks)
	}
	m.Gauge("modeldex_keys", "Keys in memory, of every status.", func() float64 { return float64(s.cfg.Keeper.Stats().Accounts) })
	m.Counter("modeldex_ledger_commits_total", "Successful lease commits.", func() float64 { return float64(s.cfg.Keeper.Stats().Commits) })
	m.Counter("modeldex_ledger_failures_total", "Failed lease commits.", func() float64 { return float64(s.cfg.Keeper.Stats().Failures) })
	flag("modeldex_ledger_failing", "1 while the server cannot write leases.", func() bool { return s.cfg.Keeper.Stats().Failing })
	flag("modeldex_ledger_key_changes_failing", "1 if the last change of a key, such as a sign-up, could not be written.", func() bool { return s.cfg.Keeper.Stats().Unkept })
	flag("modeldex_ledger_blind", "1 while this server does not see key changes made by other servers.", func() bool { return s.cfg.Keeper.Stats().Blind })
}

func releasedAt(gen *index.Generation) time.Time {
	day, _ := time.Parse(time.DateOnly, string(gen.Info.Released)) // check demands a day
	return day
}
