package outage

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
)

// sameOutage is how long after its last failure an outage counts as over. A new one is logged.
const sameOutage = time.Minute

var seen = struct {
	sync.Mutex
	at map[string]time.Time // the last failure, by message
}{at: map[string]time.Time{}}

// Log logs the cause of the outage that [Of] returned: one line for each outage, which may fail
// every request for long.
func Log(ctx context.Context, e *apierror.Error, cause error) {
	seen.Lock()
	begins := time.Since(seen.at[e.Message]) >= sameOutage
	seen.at[e.Message] = time.Now()
	seen.Unlock()
	if begins {
		slog.ErrorContext(ctx, "outage", "code", string(e.Code), "error", cause.Error())
	}
}
