package metrics

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// TestDeployedMetricsExist checks that the alert rules and the dashboard use only metrics that
// exist.
func TestDeployedMetricsExist(t *testing.T) {
	t.Parallel()
	m := New("test")
	m.Request("GET /", 200, 1, time.Second, false)
	m.Operation([]string{"Query.me"}, nil)
	m.Statement("SELECT", time.Millisecond, os.ErrClosed)
	m.BucketCall("read", time.Millisecond, os.ErrClosed)
	m.Pool("test", new(sql.DB))
	m.Readiness([]string{"unavailable"}, func(context.Context) string { return "" })
	free := func() (uint64, bool) { return 1, true }
	m.BucketFreeBytes(free)
	m.DatabaseFreeBytes(free)
	m.Queue("previews", func(context.Context) (Queue, error) { return Queue{}, nil })
	m.PostponedPreviews(func(context.Context) (int64, error) { return 0, nil })
	m.FailingJobs(func(context.Context) (int64, error) { return 0, nil })
	m.LastRuns([]string{"backup"}, func(context.Context) (map[string]LastRun, error) { return nil, nil })
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"meshyard_http_request_duration_seconds", "meshyard_database_statement_duration_seconds",
		"meshyard_preview_duration_seconds"}
	for _, family := range families {
		names = append(names, family.GetName())
	}
	suffix := regexp.MustCompile(`_(bucket|count|sum)$`)
	for _, path := range []string{"prometheus/alerts.yaml", "prometheus/alerts_test.yaml", "grafana/meshyard.json"} {
		text, err := os.ReadFile(filepath.Join(meshtest.Root(), "deploy", path))
		if err != nil {
			t.Fatal(err)
		}
		used := regexp.MustCompile(`\b(meshyard|go|process|go_sql)_[a-z_]+\b`).FindAllString(string(text), -1)
		if len(used) < 5 {
			t.Errorf("%s: found the metrics %q only", path, used)
		}
		for _, name := range used {
			if !slices.Contains(names, name) && !slices.Contains(names, suffix.ReplaceAllString(name, "")) {
				t.Errorf("%s: there is no metric %s", path, name)
			}
		}
		if filepath.Ext(path) == ".json" && !json.Valid(text) {
			t.Errorf("%s is not JSON", path)
		}
	}
}
