package outage

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
)

// logEvery is how often a lasting outage is logged: it fails every request.
const logEvery = time.Minute

var logged = struct {
	sync.Mutex
	at map[string]time.Time // by message
}{at: map[string]time.Time{}}

// Log logs the cause of the outage that [Of] returned, at most once a minute for each kind of
// outage.
func Log(ctx context.Context, e *apierror.Error, cause error) {
	logged.Lock()
	due := time.Since(logged.at[e.Message]) >= logEvery
	if due {
		logged.at[e.Message] = time.Now()
	}
	logged.Unlock()
	if due {
		slog.ErrorContext(ctx, "outage", "code", string(e.Code), "error", cause.Error(), "next_log_in", logEvery.String())
	}
}
