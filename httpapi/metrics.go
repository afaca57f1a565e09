package httpapi

import (
	"context"
	"strconv"
	"sync/atomic"

	"modeldex/httpapi/webhook"
	"modeldex/quota"

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

// newMetrics makes the metrics of every route that requests are counted by.
func newMetrics(routes []*route) *metrics {
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
	return m
}

func (m *metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

func (m *metrics) counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

// webhooks adds the metrics of webhooks.
func (m *metrics) webhooks(hooks *webhook.Service) {
	ctx := context.Background()
	states := func(state string, value func(quota.HookCounts) int) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "modeldex_webhooks", Help: "Webhooks of all keys, by state; at most 15 seconds old.", ConstLabels: prometheus.Labels{"state": state},
		}, func() float64 { return float64(value(hooks.Counts(ctx))) }))
	}
	states("active", func(c quota.HookCounts) int { return c.Active })
	states("paused", func(c quota.HookCounts) int { return c.Paused })
	states("disabled", func(c quota.HookCounts) int { return c.Disabled })
	results := func(result string, n *atomic.Uint64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "modeldex_webhook_deliveries_total", Help: "Attempts to deliver a message, by result: delivered, retried (it failed and is tried again) or failed.",
			ConstLabels: prometheus.Labels{"result": result},
		}, func() float64 { return float64(n.Load()) }))
	}
	results("delivered", &hooks.Results.Delivered)
	results("retried", &hooks.Results.Retried)
	results("failed", &hooks.Results.Failed)
	m.gauge("modeldex_webhook_messages_pending", "Messages that wait for an active webhook; at most 15 seconds old.", func() float64 { return float64(hooks.Counts(ctx).Pending) })
	m.gauge("modeldex_webhook_oldest_pending_seconds", "Age of the oldest message that waits for an active webhook; 0 if none does.", func() float64 { return hooks.OldestPending(ctx).Seconds() })
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
