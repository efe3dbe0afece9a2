package telemetry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// TestReadinessLogsChanges replaces the default logger, so it cannot be parallel.
func TestReadinessLogsChanges(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(NewLogger(&out, slog.LevelInfo, "text"))
	defer slog.SetDefault(before)
	var down error
	probe := NewReadiness(nil, Part{Name: "database", Ready: func(context.Context) error { return down }})
	for _, down = range []error{nil, errors.New("no route"), errors.New("no route"), nil, nil} {
		probe.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/readyz", nil))
	}
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "no route") ||
		!strings.Contains(got, "ready again") {
		t.Errorf("got %q, want one line when it fails and one when it is ready again", got)
	}
}

// TestReadinessOfParts checks that an optional part is checked only by requests for all parts, and
// that these name each part that fails.
func TestReadinessOfParts(t *testing.T) {
	t.Parallel()
	down, full := errors.New("no route"), error(syscall.ENOSPC)
	for name, c := range map[string]struct {
		database, bucket error
		usual, all       string // the bodies; 200 only if the status is ok
	}{
		"all work": {nil, nil, `{"status":"ok"}`, `{"status":"ok"}`},
		"bucket":   {nil, down, `{"status":"ok"}`, `{"status":"unavailable","failed":{"bucket":"unavailable"}}`},
		"database": {down, nil, `{"status":"unavailable"}`, `{"status":"unavailable","failed":{"database":"unavailable"}}`},
		"both": {ErrOutdated, full, `{"status":"outdated"}`,
			`{"status":"outdated","failed":{"bucket":"insufficient storage","database":"outdated"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopping := make(chan struct{})
			probe := NewReadiness(stopping,
				Part{Name: "database", Ready: func(context.Context) error { return c.database }},
				Part{Name: "bucket", Optional: true, Ready: func(context.Context) error { return c.bucket }})
			check := func(path, want string) {
				t.Helper()
				w, status := httptest.NewRecorder(), http.StatusServiceUnavailable
				if want == `{"status":"ok"}` {
					status = http.StatusOK
				}
				probe.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
				if w.Code != status || w.Body.String() != want+"\n" {
					t.Errorf("%s: got %d %s, want %d %s", path, w.Code, w.Body, status, want)
				}
			}
			check("/readyz", c.usual)
			check("/readyz?all", c.all)
			close(stopping)
			check("/readyz?all", `{"status":"shutting down"}`)
		})
	}
}
