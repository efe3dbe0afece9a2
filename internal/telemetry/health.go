package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/outage"
)

// Healthz is the liveness probe.
func Healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}

// Errors that the ready function of Readyz returns, possibly wrapped.
var (
	ErrShuttingDown = errors.New("shutting down")
	ErrOutdated     = errors.New("outdated") // a newer version has migrated the database
)

// Readyz is the readiness probe: 200, or 503 if ready returns an error. The body distinguishes a
// full disk, ErrShuttingDown and ErrOutdated from other failures; the log has the details, one line
// when the server becomes unready and one when it is ready again.
func Readyz(ready func(context.Context) error) http.HandlerFunc {
	var failing atomic.Bool
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		w.Header().Set("Content-Type", "application/json")
		if err := ready(ctx); err != nil {
			if errors.Is(err, ErrShuttingDown) {
				writeUnready(w, err.Error())
				return
			}
			if !failing.Swap(true) {
				slog.WarnContext(ctx, "not ready", "error", err.Error())
			}
			writeUnready(w, Reason(err))
			return
		}
		if failing.Swap(false) {
			slog.InfoContext(ctx, "ready again")
		}
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
	}
}

// Reasons are the reasons for which a server is not ready.
var Reasons = []string{"unavailable", "insufficient storage", "outdated", "shutting down"}

// Reason returns the one of [Reasons] that an error of a ready function means, or "" if it is nil.
func Reason(err error) string {
	switch found := outage.Of(err); {
	case err == nil:
		return ""
	case errors.Is(err, ErrShuttingDown):
		return "shutting down"
	case errors.Is(err, ErrOutdated):
		return "outdated"
	case found != nil && found.Code == apierror.InsufficientStorage:
		return "insufficient storage"
	default:
		return "unavailable"
	}
}

func writeUnready(w http.ResponseWriter, status string) {
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = fmt.Fprintf(w, "{\"status\":%q}\n", status)
}
