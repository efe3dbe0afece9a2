package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/outage"
)

// ErrOutdated is returned by a part, possibly wrapped, if a newer version has migrated the
// database.
var ErrOutdated = errors.New("outdated")

// readyTimeout is how long a probe waits for the parts.
const readyTimeout = 5 * time.Second

// Reasons are the reasons for which a server is not ready.
var Reasons = []string{"unavailable", "insufficient storage", "outdated", "shutting down"}

// Part is something that the server needs.
type Part struct {
	Name string
	// Optional parts are checked only by requests for all parts: most requests do without them.
	Optional bool
	// Ready returns an error if the part does not work.
	Ready func(context.Context) error
}

// Readiness is the readiness probe: 200, or 503 if a part that is not optional fails or the server
// shuts down. With the parameter all, it checks all parts, and the body names those that fail. The
// body distinguishes a full disk, ErrOutdated and the shutdown from other failures; the log has the
// details, one line when a part begins to fail and one when it works again.
type Readiness struct {
	stopping <-chan struct{}
	parts    []Part
	failing  []atomic.Bool // by part
}

// NewReadiness returns the probe of parts. stopping is closed when the server begins to shut down.
func NewReadiness(stopping <-chan struct{}, parts ...Part) *Readiness {
	return &Readiness{stopping: stopping, parts: parts, failing: make([]atomic.Bool, len(parts))}
}

// state is the body of a probe.
type state struct {
	Status string            `json:"status"`
	Failed map[string]string `json:"failed,omitempty"` // the reason by part
}

func (p *Readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all := r.URL.Query().Has("all")
	s := p.check(r.Context(), all, p.logChange)
	if !all {
		s.Failed = nil
	}
	w.Header().Set("Content-Type", "application/json")
	if s.Status != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
	} else {
		s.Status = "ok"
	}
	_ = json.NewEncoder(w).Encode(s)
}

// Reason returns the one of [Reasons] for which a part, also an optional one, is not ready, or ""
// if all of them are.
func (p *Readiness) Reason(ctx context.Context) string {
	return p.check(ctx, true, func(context.Context, int, error) {}).Status
}

// check checks the parts at once and calls found with the index and the result of each. The status
// is the reason of the first part that fails, or "" if none does.
func (p *Readiness) check(ctx context.Context, all bool, found func(ctx context.Context, part int, err error)) state {
	select {
	case <-p.stopping:
		return state{Status: "shutting down"}
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	errs := make([]error, len(p.parts))
	var checks sync.WaitGroup
	for i, part := range p.parts {
		if all || !part.Optional {
			checks.Go(func() {
				errs[i] = part.Ready(ctx)
				found(ctx, i, errs[i])
			})
		}
	}
	checks.Wait()
	s := state{Failed: make(map[string]string)}
	for i, err := range errs {
		if err == nil {
			continue
		}
		s.Failed[p.parts[i].Name] = reason(err)
		if s.Status == "" {
			s.Status = reason(err)
		}
	}
	return s
}

// logChange logs that a part begins to fail or works again.
func (p *Readiness) logChange(ctx context.Context, part int, err error) {
	switch failed := p.failing[part].Swap(err != nil); {
	case err != nil && !failed:
		slog.WarnContext(ctx, "not ready", "part", p.parts[part].Name, "error", err.Error())
	case err == nil && failed:
		slog.InfoContext(ctx, "ready again", "part", p.parts[part].Name)
	}
}

// reason returns the one of [Reasons] that the error of a part means.
func reason(err error) string {
	switch found := outage.Of(err); {
	case errors.Is(err, ErrOutdated):
		return "outdated"
	case found != nil && found.Code == apierror.InsufficientStorage:
		return "insufficient storage"
	default:
		return "unavailable"
	}
}
