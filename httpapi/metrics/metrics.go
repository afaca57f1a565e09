// Package metrics counts requests by route and holds the other figures of the server for Prometheus. It knows the
// names of metrics and their forms; what is measured is given to it as functions. Labels are route ids and classes
// of status only: nothing a caller can make up.
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"modeldex/httpapi/webhook"
	"modeldex/quota"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Registry is what /metrics of the admin listener shows.
type Registry struct {
	all      *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// Route counts the requests of one route. Safe for concurrent use.
type Route struct {
	classes [6]prometheus.Counter // by class of status
	seconds prometheus.Observer
}

// latencies are the upper ends of the classes of the latency histogram, in seconds: a response
// from the cache takes microseconds, a rejected key or a cold page milliseconds.
var latencies = []float64{25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 1, 5}

// New makes a registry with the figures of the process.
func New() *Registry {
	m := &Registry{
		all: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "modeldex_requests_total", Help: "Requests answered, by route and class of status.",
		}, []string{"route", "class"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "modeldex_request_duration_seconds", Help: "Time from the end of reading a request to its response, by route.", Buckets: latencies,
		}, []string{"route"}),
	}
	m.all.MustRegister(m.requests, m.seconds, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Route adds the figures of a route.
func (m *Registry) Route(id string) *Route {
	out := &Route{seconds: m.seconds.WithLabelValues(id)}
	for class := 2; class <= 5; class++ {
		out.classes[class] = m.requests.WithLabelValues(id, strconv.Itoa(class)+"xx")
	}
	return out
}

// Count counts a response by its status and the time it took.
func (r *Route) Count(status int, took time.Duration) {
	r.seconds.Observe(took.Seconds())
	if counter := r.classes[min(status/100, 5)]; counter != nil {
		counter.Inc()
	}
}

// Handler serves what Prometheus scrapes.
func (m *Registry) Handler() http.Handler { return promhttp.HandlerFor(m.all, promhttp.HandlerOpts{}) }

// Gauge adds a figure that rises and falls.
func (m *Registry) Gauge(name, help string, value func() float64) {
	m.all.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// Counter adds a figure that only rises.
func (m *Registry) Counter(name, help string, value func() float64) {
	m.all.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

// Webhooks adds the metrics of webhooks.
func (m *Registry) Webhooks(hooks *webhook.Service) {
	ctx := context.Background()
	states := func(state string, value func(quota.HookCounts) int) {
		m.all.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "modeldex_webhooks", Help: "Webhooks of all keys, by state; at most 15 seconds old.", ConstLabels: prometheus.Labels{"state": state},
		}, func() float64 { return float64(value(hooks.Counts(ctx))) }))
	}
	states("active", func(c quota.HookCounts) int { return c.Active })
	states("paused", func(c quota.HookCounts) int { return c.Paused })
	states("disabled", func(c quota.HookCounts) int { return c.Disabled })
	results := func(result string, n *atomic.Uint64) {
		m.all.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "modeldex_webhook_deliveries_total", Help: "Attempts to deliver a message, by result: delivered, retried (it failed and is tried again) or failed.",
			ConstLabels: prometheus.Labels{"result": result},
		}, func() float64 { return float64(n.Load()) }))
	}
	results("delivered", &hooks.Results.Delivered)
	results("retried", &hooks.Results.Retried)
	results("failed", &hooks.Results.Failed)
	m.Gauge("modeldex_webhook_messages_pending", "Messages that wait for an active webhook; at most 15 seconds old.", func() float64 { return float64(hooks.Counts(ctx).Pending) })
	m.Gauge("modeldex_webhook_oldest_pending_seconds", "Age of the oldest message that waits for an active webhook; 0 if none does.", func() float64 { return hooks.OldestPending(ctx).Seconds() })
}
