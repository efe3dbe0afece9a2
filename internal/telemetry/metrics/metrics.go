// Package metrics collects metrics of the server and serves them to Prometheus.
//
// The values of labels come from fixed sets, such as the routes and the error codes, and never from
// clients.
package metrics

import (
	"context"
	"database/sql"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the metrics of one server. Its methods may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry

	requests      *prometheus.CounterVec
	latency       *prometheus.HistogramVec
	responseBytes prometheus.Counter
	operations    *prometheus.CounterVec
	errors        *prometheus.CounterVec
	uploads       prometheus.Counter
	uploadBytes   prometheus.Counter
	downloads     prometheus.Counter
	previews      *prometheus.CounterVec
	previewTime   prometheus.Histogram
	deliveries    *prometheus.CounterVec
	statements    *prometheus.HistogramVec
	failures      *prometheus.CounterVec
	calls         *prometheus.HistogramVec
	callErrors    *prometheus.CounterVec
}

// New returns metrics that name the version of the program.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "meshyard_http_requests_total", Help: "HTTP requests by route and status.",
		}, []string{"route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "meshyard_http_request_duration_seconds",
			Help:    "Time from the head of an HTTP request to the end of its response, by route, without uploads by form and subscriptions, whose time depends on the client.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		responseBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "meshyard_http_response_bytes_total", Help: "Bytes of HTTP response bodies before the last compression.",
		}),
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "meshyard_graphql_fields_total",
			Help: "Root fields of executed GraphQL operations. The REST API runs GraphQL operations, too.",
		}, []string{"field"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "meshyard_errors_total",
			Help: "Errors of GraphQL operations by code. The REST API runs GraphQL operations, too.",
		}, []string{"code"}),
		uploads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "meshyard_uploads_total", Help: "Uploads that were stored.",
		}),
		uploadBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "meshyard_upload_bytes_total", Help: "Bytes of uploads that were stored.",
		}),
		downloads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "meshyard_downloads_total", Help: "Downloads that were recorded.",
		}),
		previews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "meshyard_previews_total", Help: "Attempts to make a preview, by outcome: done, failed, retried or released.",
		}, []string{"outcome"}),
		previewTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "meshyard_preview_duration_seconds", Help: "Time that attempts to make a preview took.",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "meshyard_webhook_attempts_total",
			Help: "Attempts to deliver a message to a webhook, by outcome: delivered, retried or failed.",
		}, []string{"outcome"}),
		statements: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "meshyard_database_statement_duration_seconds",
			Help:    "Time of database statements, waiting for a connection included.",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10},
		}, []string{"verb"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "meshyard_database_errors_total", Help: "Database statements that failed.",
		}, []string{"verb"}),
	}
	m.calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "meshyard_bucket_call_duration_seconds",
		Help:    "Time of calls to the bucket. For uploads it is the time of writing, without waiting for the client.",
		Buckets: []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 30},
	}, []string{"call"})
	m.callErrors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "meshyard_bucket_errors_total", Help: "Calls to the bucket that failed. A missing object is no failure.",
	}, []string{"call"})
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "meshyard_build_info", Help: "1, labeled with the version of the program.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build,
		m.requests, m.latency, m.responseBytes, m.operations, m.errors, m.uploads, m.uploadBytes, m.downloads,
		m.previews, m.previewTime, m.deliveries, m.statements, m.failures, m.calls, m.callErrors,
	)
	// Create the series now: rate() ignores the first event of a series that did not exist before it.
	for _, outcome := range []string{"done", "failed", "retried", "released"} {
		m.previews.WithLabelValues(outcome)
	}
	for _, outcome := range []string{"delivered", "retried", "failed"} {
		m.deliveries.WithLabelValues(outcome)
	}
	for _, code := range []string{"UNAVAILABLE", "INSUFFICIENT_STORAGE", "TIMEOUT", "INTERNAL"} {
		m.errors.WithLabelValues(code)
	}
	return m
}

// Handler serves the metrics in the formats of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second,
		EnableOpenMetrics: true})
}

// Request counts an HTTP request. The time of a streamed request is not observed: it depends on the
// client.
func (m *Metrics) Request(route string, status int, bytes int64, took time.Duration, streamed bool) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	if !streamed {
		m.latency.WithLabelValues(route).Observe(took.Seconds())
	}
	m.responseBytes.Add(float64(bytes))
}

// Operation counts the root fields of a GraphQL operation and the codes of its errors.
func (m *Metrics) Operation(fields, codes []string) {
	for _, field := range fields {
		m.operations.WithLabelValues(field).Inc()
	}
	for _, code := range codes {
		m.errors.WithLabelValues(code).Inc()
	}
}

// Upload counts an upload that was stored.
func (m *Metrics) Upload(bytes int64) {
	m.uploads.Inc()
	m.uploadBytes.Add(float64(bytes))
}

// Download counts a download that was recorded.
func (m *Metrics) Download() { m.downloads.Inc() }

// Preview counts an attempt to make a preview.
func (m *Metrics) Preview(outcome string, took time.Duration) {
	m.previews.WithLabelValues(outcome).Inc()
	m.previewTime.Observe(took.Seconds())
}

// Delivery counts an attempt to deliver a message to a webhook.
func (m *Metrics) Delivery(outcome string) { m.deliveries.WithLabelValues(outcome).Inc() }

// ExpectCalls creates the error counters of the given verbs of statements and kinds of bucket
// calls, so that the first error increases a counter that was scraped before.
func (m *Metrics) ExpectCalls(verbs, calls []string) {
	for _, verb := range verbs {
		m.failures.WithLabelValues(verb)
	}
	for _, call := range calls {
		m.callErrors.WithLabelValues(call)
	}
}

// Statement counts a database statement.
func (m *Metrics) Statement(verb string, took time.Duration, err error) {
	m.statements.WithLabelValues(verb).Observe(took.Seconds())
	if err != nil {
		m.failures.WithLabelValues(verb).Inc()
	}
}

// BucketCall counts a call to the bucket.
func (m *Metrics) BucketCall(call string, took time.Duration, err error) {
	m.calls.WithLabelValues(call).Observe(took.Seconds())
	if err != nil {
		m.callErrors.WithLabelValues(call).Inc()
	}
}

// Pool reports the connections of a pool.
func (m *Metrics) Pool(name string, db *sql.DB) {
	m.registry.MustRegister(collectors.NewDBStatsCollector(db, name))
}

// Readiness reports at each scrape why the server is not ready, which reason returns: one of
// reasons, or "" if it is ready. The value of the reason is 1, and that of the others is 0.
func (m *Metrics) Readiness(reasons []string, reason func(ctx context.Context) string) {
	m.registry.MustRegister(&readiness{
		reasons: reasons, reason: reason,
		unready: prometheus.NewDesc("meshyard_unready", "Whether the server is not ready for a reason, as /readyz?all says.",
			[]string{"reason"}, nil),
	})
}

type readiness struct {
	reasons []string
	reason  func(ctx context.Context) string
	unready *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (r *readiness) Describe(out chan<- *prometheus.Desc) { out <- r.unready }

// Collect implements prometheus.Collector.
func (r *readiness) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	now := r.reason(ctx)
	for _, reason := range r.reasons {
		value := 0.0
		if reason == now {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(r.unready, prometheus.GaugeValue, value, strings.ReplaceAll(reason, " ", "_"))
	}
}

// BucketFreeBytes reports at each scrape how many bytes the disk of the bucket has left.
func (m *Metrics) BucketFreeBytes(free func() (uint64, bool)) {
	m.freeBytes("meshyard_bucket_free_bytes", "Free bytes on the disk of a bucket in a folder.", free)
}

// DatabaseFreeBytes reports at each scrape how many bytes the disk of the database has left.
func (m *Metrics) DatabaseFreeBytes(free func() (uint64, bool)) {
	m.freeBytes("meshyard_database_free_bytes", "Free bytes on the disk of a SQLite database.", free)
}

func (m *Metrics) freeBytes(name, help string, free func() (uint64, bool)) {
	if _, ok := free(); !ok {
		return
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		bytes, ok := free()
		if !ok {
			return math.NaN()
		}
		return float64(bytes)
	}))
}

// Queue is the state of a queue.
type Queue struct {
	Waiting, Running int
	OldestSeconds    float64 // how long the oldest waiting entry has been ready to run
}

// Queue reports the state of a queue at each scrape. If read fails, the queue is missing from the
// response, and the metric meshyard_queue_up is 0.
func (m *Metrics) Queue(name string, read func(ctx context.Context) (Queue, error)) {
	m.registry.MustRegister(&queue{
		read: read,
		up: prometheus.NewDesc("meshyard_queue_up", "Whether the state of the queue could be read.", nil,
			prometheus.Labels{"queue": name}),
		entries: prometheus.NewDesc("meshyard_queue_entries", "Entries of the queue by state: waiting or running.",
			[]string{"state"}, prometheus.Labels{"queue": name}),
		oldest: prometheus.NewDesc("meshyard_queue_oldest_seconds",
			"How long the entry that has waited longest has been ready.", nil, prometheus.Labels{"queue": name}),
	})
}

type queue struct {
	read                func(ctx context.Context) (Queue, error)
	up, entries, oldest *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (q *queue) Describe(out chan<- *prometheus.Desc) {
	out <- q.up
	out <- q.entries
	out <- q.oldest
}

// Collect implements prometheus.Collector.
func (q *queue) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	state, err := q.read(ctx)
	if err != nil {
		out <- prometheus.MustNewConstMetric(q.up, prometheus.GaugeValue, 0)
		return
	}
	out <- prometheus.MustNewConstMetric(q.up, prometheus.GaugeValue, 1)
	out <- prometheus.MustNewConstMetric(q.entries, prometheus.GaugeValue, float64(state.Waiting), "waiting")
	out <- prometheus.MustNewConstMetric(q.entries, prometheus.GaugeValue, float64(state.Running), "running")
	out <- prometheus.MustNewConstMetric(q.oldest, prometheus.GaugeValue, state.OldestSeconds)
}

// PostponedPreviews reports at each scrape how many previews wait because of an outage. The value
// is NaN if read fails.
func (m *Metrics) PostponedPreviews(read func(ctx context.Context) (int64, error)) {
	m.number("meshyard_previews_postponed",
		"Previews whose last attempt ended because the bucket was unavailable or full.", read)
}

// FailingJobs reports at each scrape the number of background jobs that fail. If read fails, it is
// NaN.
func (m *Metrics) FailingJobs(read func(ctx context.Context) (int64, error)) {
	m.number("meshyard_jobs_failing", "Background jobs whose last attempt failed.", read)
}

// number registers a gauge that is read at each scrape. If read fails, it is NaN.
func (m *Metrics) number(name, help string, read func(ctx context.Context) (int64, error)) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		n, err := read(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(n)
	}))
}

// LastRun is the last complete run of a command.
type LastRun struct {
	At       time.Time // the moment whose state the run saw
	Problems int       // that the run found
}

// LastRuns reports at each scrape the last runs of commands, which read returns by command. A
// command that has never run has the time 0, so that its absence can be alerted on. If read fails,
// the metrics are missing from the response.
func (m *Metrics) LastRuns(commands []string, read func(ctx context.Context) (map[string]LastRun, error)) {
	m.registry.MustRegister(&lastRuns{
		commands: commands, read: read,
		at: prometheus.NewDesc("meshyard_last_run_timestamp_seconds",
			"Time of the state that the last complete run of a command saw; 0 if it has never run.", []string{"command"}, nil),
		problems: prometheus.NewDesc("meshyard_last_run_problems", "Problems that the last complete run of a command found.",
			[]string{"command"}, nil),
	})
}

type lastRuns struct {
	commands     []string
	read         func(ctx context.Context) (map[string]LastRun, error)
	at, problems *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (l *lastRuns) Describe(out chan<- *prometheus.Desc) {
	out <- l.at
	out <- l.problems
}

// Collect implements prometheus.Collector.
func (l *lastRuns) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	runs, err := l.read(ctx)
	if err != nil {
		return
	}
	for _, command := range l.commands {
		run, at := runs[command], 0.0
		if !run.At.IsZero() {
			at = float64(run.At.Unix())
		}
		out <- prometheus.MustNewConstMetric(l.at, prometheus.GaugeValue, at, command)
		out <- prometheus.MustNewConstMetric(l.problems, prometheus.GaugeValue, float64(run.Problems), command)
	}
}
