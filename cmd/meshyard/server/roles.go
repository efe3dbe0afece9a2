package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/jobs"
	"github.com/meshyard/meshyard/internal/telemetry"
)

// queues returns the queues whose jobs this server runs.
func (a *Server) queues() (queues []string) {
	if a.Settings.Roles.Has(config.RoleJobs) {
		queues = append(queues, jobs.Default, jobs.Webhooks, jobs.Printers)
	}
	if a.mailHandler() != nil {
		queues = append(queues, jobs.Mails)
	}
	return queues
}

// mailHandler returns the function that sends a mail, or nil if this server sends none.
func (a *Server) mailHandler() func(context.Context, jobs.Mail) error {
	if a.Settings.SMTPURL == "" || !a.Settings.Roles.Has(config.RoleMail) {
		return nil
	}
	return a.sendMail
}

// lateAfter is how long work is due before it counts as late.
const lateAfter = 5 * time.Minute

// lateWork returns a finding about each queue whose jobs no server runs, or not fast enough.
func (a *Server) lateWork(ctx context.Context) (findings []string, err error) {
	for _, q := range []struct{ queue, work, remedy string }{
		{jobs.Default, "background jobs", "a server with the role jobs"},
		{jobs.Mails, "mails", "a server with the role mail and --smtp-url"},
	} {
		due, _, oldest, err := a.queue.State(ctx, q.queue)
		if err != nil {
			return nil, err
		}
		if oldest > lateAfter {
			findings = append(findings, fmt.Sprintf("%d %s wait, the oldest for %s: start %s (--roles)", due, q.work,
				oldest.Round(time.Second), q.remedy))
		}
	}
	return findings, nil
}

// probes returns the handler of a server without the role web: it serves probes and metrics only.
func (a *Server) probes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { missing(w) })
	mux.HandleFunc("GET /healthz", telemetry.Healthz)
	mux.Handle("GET /readyz", a.readiness())
	mux.HandleFunc("GET /metrics", a.mainMetrics)
	return mux
}
