package outage

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
)

// sameOutage is the time after the last failure after which an outage is treated as over, so that
// the next failure is logged.
const sameOutage = time.Minute

var seen = struct {
	sync.Mutex
	at map[string]time.Time // time of the last failure, by message
}{at: map[string]time.Time{}}

// Log logs the cause of an outage. e is the error that [Of] returned. It logs only the first
// failure of each outage, because every request may fail during an outage.
func Log(ctx context.Context, e *apierror.Error, cause error) {
	seen.Lock()
	begins := time.Since(seen.at[e.Message]) >= sameOutage
	seen.at[e.Message] = time.Now()
	seen.Unlock()
	if begins {
		slog.ErrorContext(ctx, "outage", "code", string(e.Code), "error", cause.Error())
	}
}
