package maintenance_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestStatisticsFollowGrowth checks that statistics of SQLite that are missing, or older than most
// rows, are reported and collected.
func TestStatisticsFollowGrowth(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		if s.DB.Engine != database.SQLite {
			if err := s.Maintenance.RefreshStatistics(ctx); err != nil { // autovacuum does it
				t.Error(err)
			}
			return
		}
		thing, file := cataloguetest.Published(t, s, ada)
		finding := func() string {
			t.Helper()
			findings, err := s.Maintenance.Diagnose(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(findings, "\n")
		}
		rows := 0
		add := func(n int) {
			t.Helper()
			if _, err := s.DB.Write.NewRaw(
				"INSERT INTO downloads (user_id, file_id, thing_id, created_at) WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?) "+
					"SELECT ?, ?, ?, '2026-01-02 03:04:05+00:00' FROM n", n, ada.UserID, file.ID, thing.ID).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			rows += n
		}
		for _, step := range []struct {
			add  int
			says string
		}{
			{database.LeastRowsSQLite - 1, ""},
			{1, "downloads: has 500 rows, and had 0 at the last ANALYZE"},
			{400, ""},
			{700, "downloads: has 1600 rows, and had 500 at the last ANALYZE"},
		} {
			add(step.add)
			if got := finding(); step.says == "" && got != "" || !strings.Contains(got, step.says) {
				t.Errorf("with %d rows: got %q, want %q", rows, got, step.says)
			}
			if err := s.Maintenance.RefreshStatistics(ctx); err != nil {
				t.Fatal(err)
			}
			if got := finding(); got != "" {
				t.Errorf("with %d rows, after statistics were collected: got %q", rows, got)
			}
		}
	})
}
