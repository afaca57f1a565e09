package httpapi

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are what /metrics of the admin listener shows. Labels are route ids, methods and
// status classes only: nothing a caller can make up.
type metrics struct {
	registry *prometheus.Registry
	routes   map[*route]*routeMetrics
}

// routeMetrics are those of one route.
type routeMetrics struct {
	classes [6]prometheus.Counter // by class of status
	seconds prometheus.Observer
}

// latencies are the upper ends of the classes of the latency histogram, in seconds: a response
// from the cache takes microseconds, a rejected key or a cold page milliseconds.
var latencies = []float64{25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 1, 5}

// newMetrics makes the metrics of a server and of every route it counts requests by.
func newMetrics(s *Server, routes []*route) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), routes: map[*route]*routeMetrics{}}
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "modeldex_requests_total", Help: "Requests answered, by route and class of status.",
	}, []string{"route", "class"})
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "modeldex_request_duration_seconds", Help: "Time from the end of reading a request to its response, by route.", Buckets: latencies,
	}, []string{"route"})
	m.registry.MustRegister(requests, seconds, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	add := func(rt *route) {
		rm := &routeMetrics{seconds: seconds.WithLabelValues(rt.id)}
		for class := 2; class <= 5; class++ {
			rm.classes[class] = requests.WithLabelValues(rt.id, strconv.Itoa(class)+"xx")
		}
		m.routes[rt] = rm
	}
	for _, rt := range routes {
		add(rt)
	}
	m.register(s)
	return m
}

// register adds the metrics of the parts of the server.
func (m *metrics) register(s *Server) {
	m.gauge("modeldex_generation", "Number of the dataset load being served.", func() float64 {
		if gen := s.cfg.Live.Current(); gen != nil {
			return float64(gen.Number)
		}
		return 0
	})
	m.gauge("modeldex_row_bytes", "Bytes of rendered records in the generation being served.", func() float64 {
		if gen := s.cfg.Live.Current(); gen != nil {
			return float64(gen.Bytes())
		}
		return 0
	})
	m.gauge("modeldex_dataset_refused", "1 while the most recent load of the dataset is rejected.", func() float64 {
		if s.cfg.History.Refused() != nil {
			return 1
		}
		return 0
	})
	m.counter("modeldex_dataset_refusals_total", "Loads of the dataset that were rejected.", func() float64 {
		if s.cfg.History == nil {
			return 0
		}
		return float64(s.cfg.History.refusals.Load())
	})
	m.counter("modeldex_cache_hits_total", "Responses found in the cache.", func() float64 { return float64(s.cache.cache.Metrics.Hits()) })
	m.counter("modeldex_cache_misses_total", "Look-ups that found no response in the cache.", func() float64 { return float64(s.cache.cache.Metrics.Misses()) })
	l := s.limit
	count := func(name, help string, n *atomic.Uint64) {
		m.counter(name, help, func() float64 { return float64(n.Load()) })
	}
	m.gauge("modeldex_connections", "Open connections.", func() float64 { return float64(l.count()) })
	m.gauge("modeldex_connections_limit", "Connections that may be open at a time.", func() float64 { return float64(l.max) })
	m.gauge("modeldex_unread_bytes", "Bytes of responses that wait to be read by their callers.", func() float64 { return float64(l.unreadBytes.Load()) })
	count("modeldex_accept_errors_total", "Connections that could not be accepted for a while.", &l.acceptErrors)
	count("modeldex_connections_rejected_full_total", "Connections rejected because all were in use.", &l.rejectedFull)
	count("modeldex_connections_rejected_address_total", "Connections rejected because their address had too many.", &l.rejectedAddress)
	count("modeldex_connections_closed_idle_total", "Idle connections closed to make room for others.", &l.closedIdle)
	count("modeldex_connections_closed_slow_total", "Connections closed because their caller read too slowly.", &l.closedSlow)
	m.gauge("modeldex_keys", "Keys in memory, of every status.", func() float64 { return float64(s.cfg.Keeper.Stats().Accounts) })
	m.counter("modeldex_ledger_commits_total", "Lease commits that succeeded.", func() float64 { return float64(s.cfg.Keeper.Stats().Commits) })
	m.counter("modeldex_ledger_failures_total", "Lease commits that failed.", func() float64 { return float64(s.cfg.Keeper.Stats().Failures) })
	m.gauge("modeldex_ledger_failing", "1 while leases cannot be written.", func() float64 { return boolValue(s.cfg.Keeper.Stats().Failing) })
	m.gauge("modeldex_ledger_blind", "1 while changes that other servers make to keys are not seen.", func() float64 { return boolValue(s.cfg.Keeper.Stats().Blind) })
}

func (m *metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

func (m *metrics) counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
