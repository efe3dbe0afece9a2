package server

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/jobs"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/telemetry/metrics"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/rest"
)

// connectMetrics connects the metrics to the database, the bucket and the queues.
func (a *Server) connectMetrics() {
	a.metrics.ExpectCalls(database.Verbs, bucket.Calls)
	a.bucket.OnCall(a.metrics.BucketCall)
	a.db.OnStatement(a.metrics.Statement)
	for name, pool := range a.db.Pools() {
		a.metrics.Pool(name, pool)
	}
	a.metrics.Readiness(telemetry.Reasons, a.readiness().Reason)
	a.metrics.BucketFreeBytes(a.bucket.Free)
	a.metrics.DatabaseFreeBytes(a.db.Free)
	a.metrics.PostponedPreviews(a.Store.Previews.PostponedPreviews)
	a.metrics.FailingJobs(func(ctx context.Context) (int64, error) {
		failing, err := a.failingJobs(ctx)
		n := int64(0)
		for _, f := range failing {
			n += f.Jobs
		}
		return n, err
	})
	a.metrics.LastRuns(maintenance.RecordedRuns, func(ctx context.Context) (map[string]metrics.LastRun, error) {
		runs, err := a.Store.Maintenance.LastRuns(ctx)
		found := make(map[string]metrics.LastRun)
		for _, run := range runs {
			found[run.Command] = metrics.LastRun{At: run.At, Problems: run.Problems}
		}
		return found, err
	})
	a.metrics.Queue("previews", func(ctx context.Context) (metrics.Queue, error) {
		q, err := a.Store.Previews.PreviewQueue(ctx)
		return metrics.Queue{Waiting: q.Waiting, Running: q.Running, OldestSeconds: q.Oldest.Seconds()}, err
	})
	a.metrics.Queue("webhooks", func(ctx context.Context) (metrics.Queue, error) {
		waiting, oldest, err := a.Store.Webhook.WebhookQueue(ctx)
		return metrics.Queue{Waiting: waiting, OldestSeconds: oldest.Seconds()}, err
	})
	for name, queue := range map[string]string{"jobs": jobs.Default, "mail": jobs.Mails} {
		a.metrics.Queue(name, func(ctx context.Context) (metrics.Queue, error) {
			waiting, running, oldest, err := a.queue.State(ctx, queue)
			return metrics.Queue{Waiting: waiting, Running: running, OldestSeconds: oldest.Seconds()}, err
		})
	}
}

// mainMetrics serves the metrics on the main address to requests with the token of the settings.
func (a *Server) mainMetrics(w http.ResponseWriter, r *http.Request) {
	if a.Settings.MetricsToken == "" {
		missing(w)
		return
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(a.Settings.MetricsToken)) != 1 {
		rest.WriteError(w, http.StatusUnauthorized, "requires the bearer token of --metrics-token")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	a.metrics.Handler().ServeHTTP(w, r)
}

// ListenMetrics serves the metrics on the metrics address of the settings until ctx ends. It
// returns when it listens. It does nothing and returns nil if no address is set.
func (a *Server) ListenMetrics(ctx context.Context) (net.Addr, error) {
	if a.Settings.MetricsListen == "" {
		return nil, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.Settings.MetricsListen)
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.Logger.Error("the metrics listener stopped", "error", err)
		}
	}()
	a.Logger.Info("serving metrics", "address", listener.Addr().String())
	return listener.Addr(), nil
}
