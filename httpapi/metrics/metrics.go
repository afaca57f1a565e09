// Package metrics counts requests by route and holds the other figures of the server for Prometheus. It knows the
// names of metrics and their forms; what is measured is given to it as functions. Labels are route ids and classes
// of status only: nothing a caller can make up.
package metrics

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"modeldex/httpapi/webhook"
	"modeldex/quota/hooks"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// Registry is what /metrics of the admin listener shows.
type Registry struct {
	all      *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	signups  *prometheus.CounterVec
	limited  *prometheus.CounterVec
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
			Name: "modeldex_request_duration_seconds", Help: "Time from reading a request to sending its response, by route.", Buckets: latencies,
		}, []string{"route"}),
		signups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "modeldex_signups_total", Help: "Sign-ups for a key, by result: issued, refused (limits of an address or an e-mail address) or failed.",
		}, []string{"result"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "modeldex_limited_total", Help: "Requests answered 429, by tier of the key (none without one) and code of the error.",
		}, []string{"tier", "code"}),
	}
	for _, r := range []string{"issued", "refused", "failed"} {
		m.SignUps(r) // shown as 0 from the start
	}
	m.all.MustRegister(m.requests, m.seconds, m.signups, m.limited, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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

// SignUps is the counter of sign-ups with a result: issued, refused or failed.
func (m *Registry) SignUps(result string) prometheus.Counter {
	return m.signups.WithLabelValues(result)
}

// Limited is the counter of requests of a tier that were answered 429 with a code.
func (m *Registry) Limited(tier, code string) prometheus.Counter {
	return m.limited.WithLabelValues(tier, code)
}

// Counts is what was answered since the start.
type Counts struct {
	Requests, Failed uint64             // Failed: with a status of 5xx
	Of               map[string]Latency // by kind of route
	Limited          []LimitedCount     // by tier, then code
}

// Latency is how fast some requests were answered.
type Latency struct {
	Requests uint64
	within   []uint64 // by class of latency, cumulative
}

// LimitedCount is how many requests of a tier were answered 429 with a code.
type LimitedCount struct {
	Tier, Code string
	Requests   uint64
}

// Counts adds up requests by the kind of their route.
func (m *Registry) Counts(kind func(route string) string) (c Counts) {
	families, err := m.all.Gather()
	if err != nil {
		panic(err) // names and labels were checked when they were made
	}
	c.Of = map[string]Latency{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range metric.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			count := uint64(metric.GetCounter().GetValue())
			switch family.GetName() {
			case "modeldex_request_duration_seconds":
				of := c.Of[kind(labels["route"])]
				of.add(metric.GetHistogram())
				c.Of[kind(labels["route"])] = of
				c.Requests += metric.GetHistogram().GetSampleCount()
			case "modeldex_requests_total":
				if labels["class"] == "5xx" {
					c.Failed += count
				}
			case "modeldex_limited_total":
				c.Limited = append(c.Limited, LimitedCount{labels["tier"], labels["code"], count})
			}
		}
	}
	slices.SortFunc(c.Limited, func(a, b LimitedCount) int { return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Code, b.Code)) })
	return c
}

func (t *Latency) add(h *dto.Histogram) {
	if t.within == nil {
		t.within = make([]uint64, len(latencies))
	}
	t.Requests += h.GetSampleCount()
	for i, b := range h.GetBucket() {
		t.within[i] += b.GetCumulativeCount()
	}
}

// Within is the share of requests, from 0 to 1, that were answered within some seconds: an upper end of the classes of
// latency, or a class further down.
func (t Latency) Within(seconds float64) float64 {
	i, _ := slices.BinarySearch(latencies, seconds)
	return float64(t.within[i]) / float64(max(t.Requests, 1))
}

// Quantile is the least upper end of a class, in seconds, within which a share of the requests was answered; infinite
// where that is none.
func (t Latency) Quantile(share float64) float64 {
	for i, n := range t.within {
		if float64(n) >= share*float64(t.Requests) {
			return latencies[i]
		}
	}
	return math.Inf(1)
}

// Info adds a metric that is always 1, for the values of its labels, in pairs of name and value. They are asked for at
// each scrape.
func (m *Registry) Info(name, help string, labels func() []string) {
	m.all.MustRegister(prometheus.CollectorFunc(func(out chan<- prometheus.Metric) {
		var names, values []string
		for pair := range slices.Chunk(labels(), 2) {
			names, values = append(names, pair[0]), append(values, pair[1])
		}
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), prometheus.GaugeValue, 1, values...)
	}))
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
func (m *Registry) Webhooks(service *webhook.Service) {
	gauge := func(name, help string, labels prometheus.Labels, add func(sum float64, h *hooks.Hook) float64) {
		opts := prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}
		m.all.MustRegister(prometheus.NewGaugeFunc(opts, func() (sum float64) {
			list, _ := service.Store.List(context.Background(), 0) // other metrics say that the ledger fails
			for i := range list {
				sum = add(sum, &list[i])
			}
			return sum
		}))
	}
	for _, state := range []hooks.State{hooks.Active, hooks.Paused, hooks.Disabled} {
		labels := prometheus.Labels{"state": string(state)}
		gauge("modeldex_webhooks", "Webhooks of all keys, by state.", labels, func(sum float64, h *hooks.Hook) float64 {
			if h.State == state {
				sum++
			}
			return sum
		})
	}
	pending := "Messages waiting for an active webhook."
	gauge("modeldex_webhook_messages_pending", pending, nil, func(sum float64, h *hooks.Hook) float64 {
		if h.State == hooks.Active {
			sum += float64(len(h.Queue))
		}
		return sum
	})
	oldest := "Age of the oldest message waiting for an active webhook; 0 if there is none."
	gauge("modeldex_webhook_oldest_pending_seconds", oldest, nil, func(sum float64, h *hooks.Hook) float64 {
		if h.State == hooks.Active && len(h.Queue) > 0 {
			sum = max(sum, time.Since(time.Unix(h.Queue[0].Created, 0)).Seconds())
		}
		return sum
	})
	results := func(result string, n *atomic.Uint64) {
		m.all.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "modeldex_webhook_deliveries_total", Help: "Attempts to deliver a message, by result: delivered, retried (failed, will be tried again) or failed (the webhook was disabled).",
			ConstLabels: prometheus.Labels{"result": result},
		}, func() float64 { return float64(n.Load()) }))
	}
	results("delivered", &service.Results.Delivered)
	results("retried", &service.Results.Retried)
	results("failed", &service.Results.Failed)
}
