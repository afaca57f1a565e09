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
	"modeldex/quota/hooks"

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

// hookGauges shows the webhooks of all keys in numbers, which are counted once for each scrape.
type hookGauges struct {
	store                     *hooks.Store
	webhooks, pending, oldest *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (g *hookGauges) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, out) }

// Collect implements prometheus.Collector.
func (g *hookGauges) Collect(out chan<- prometheus.Metric) {
	list, err := g.store.List(context.Background(), 0)
	if err != nil {
		return // other metrics say that the ledger fails
	}
	now := time.Now().Unix()
	states, pending, oldest := map[hooks.State]int{}, 0, now
	for _, h := range list {
		states[h.State]++
		if h.State == hooks.Active && h.Queued > 0 {
			pending += h.Queued
			oldest = min(oldest, h.Oldest)
		}
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for _, s := range []hooks.State{hooks.Active, hooks.Paused, hooks.Disabled} {
		gauge(g.webhooks, float64(states[s]), string(s))
	}
	gauge(g.pending, float64(pending))
	gauge(g.oldest, float64(now-oldest))
}

// Webhooks adds the metrics of webhooks.
func (m *Registry) Webhooks(service *webhook.Service) {
	m.all.MustRegister(&hookGauges{
		service.Store,
		prometheus.NewDesc("modeldex_webhooks", "Webhooks of all keys, by state.", []string{"state"}, nil),
		prometheus.NewDesc("modeldex_webhook_messages_pending", "Messages that wait for an active webhook.", nil, nil),
		prometheus.NewDesc("modeldex_webhook_oldest_pending_seconds", "Age of the oldest message that waits for an active webhook; 0 if none does.", nil, nil),
	})
	results := func(result string, n *atomic.Uint64) {
		m.all.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "modeldex_webhook_deliveries_total", Help: "Attempts to deliver a message, by result: delivered, retried (it failed and is tried again) or failed.",
			ConstLabels: prometheus.Labels{"result": result},
		}, func() float64 { return float64(n.Load()) }))
	}
	results("delivered", &service.Results.Delivered)
	results("retried", &service.Results.Retried)
	results("failed", &service.Results.Failed)
}
