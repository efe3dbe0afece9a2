package telemetry

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestProbesAreLoggedAtDebug checks the levels of the log lines of probes and of other requests.
func TestProbesAreLoggedAtDebug(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		route  string
		status int
		level  slog.Level
		logged bool
	}{
		{"GET /readyz", 200, slog.LevelInfo, false},
		{"GET /healthz", 200, slog.LevelInfo, false},
		{"GET /readyz", 200, slog.LevelDebug, true},
		{"GET /readyz", 503, slog.LevelInfo, true},
		{"GET /things/{thing_id}", 200, slog.LevelInfo, true},
	} {
		var out bytes.Buffer
		h := Requests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			SetRoute(r.Context(), c.route)
			w.WriteHeader(c.status)
		}), NewLogger(&out, c.level, "json"), func(string, int, int64, time.Duration) {}, nil)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		if got := strings.Contains(out.String(), `"msg":"request"`); got != c.logged {
			t.Errorf("%s with status %d at level %s: logged %q", c.route, c.status, c.level, out.String())
		}
	}
}
