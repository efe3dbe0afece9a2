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
		}), NewLogger(&out, c.level, "json"), func(string, int, int64, time.Duration, bool) {}, nil)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		if got := strings.Contains(out.String(), `"msg":"request"`); got != c.logged {
			t.Errorf("%s with status %d at level %s: logged %q", c.route, c.status, c.level, out.String())
		}
	}
}

// TestStreamedRequests checks which requests are reported as those whose clients decide how long
// they take.
func TestStreamedRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent, answered string
		status         int
		want           bool
	}{
		"query":                   {"application/json", "application/json", 200, false},
		"upload by form":          {"multipart/form-data; boundary=x", "application/json", 200, true},
		"server-sent events":      {"application/json", "text/event-stream", 200, true},
		"WebSocket":               {"", "", 101, true},
		"event stream is refused": {"application/json", "application/json", 406, false},
	} {
		var got bool
		h := Requests(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.answered)
			w.WriteHeader(c.status)
		}), slog.New(slog.DiscardHandler), func(_ string, _ int, _ int64, _ time.Duration, streamed bool) { got = streamed },
			nil)
		r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
		r.Header.Set("Content-Type", c.sent)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
