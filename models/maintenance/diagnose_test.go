package maintenance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestDiagnoseDownloads checks that downloads that are not folded are reported, and that the dead
// tuples that a burst of downloads leaves on PostgreSQL are not.
func TestDiagnoseDownloads(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		ctx := t.Context()
		finding := func(part string) bool {
			t.Helper()
			findings, err := s.Maintenance.Diagnose(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(strings.Join(findings, "\n"), part)
		}
		const burst = 20*models.FoldBatch + 1
		if _, err := s.DB.Write.NewRaw(
			"INSERT INTO new_downloads (id, thing_id, file_id) WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?) SELECT n, 1 + n % 3, 1 FROM n", burst).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		if !finding(fmt.Sprintf("%d downloads are not folded", burst)) {
			t.Error("downloads that wait are not reported")
		}
		if folded, err := s.Activity.FoldDownloads(ctx); folded != burst || err != nil {
			t.Fatalf("folded %d, %v", folded, err)
		}
		for dead := 0; s.DB.Engine == database.Postgres && dead < 2*database.LeastRows; time.Sleep(50 * time.Millisecond) {
			if err := s.DB.Read.NewRaw("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'new_downloads'").
				Scan(ctx, &dead); err != nil {
				t.Fatal(err)
			}
		}
		if finding("downloads") {
			t.Error("a burst of downloads is reported after it was folded")
		}
	})
}

// TestDiagnoseConnections checks that PostgreSQL databases that accept fewer connections than one
// server opens are reported.
func TestDiagnoseConnections(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		if s.DB.Engine != database.Postgres {
			return
		}
		s.DB.LimitConnections(12)
		for _, tc := range []struct{ limit, want string }{{"-1", ""}, {"12", ""},
			{"11", "PostgreSQL accepts 11 connections, and one server may open 12: "}} {
			if _, err := s.DB.Write.Exec("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT " + tc.limit +
				"', current_database()); END $$"); err != nil {
				t.Fatal(err)
			}
			findings, err := s.Maintenance.Diagnose(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(findings, "\n")
			if tc.want == "" && strings.Contains(got, "connections") || !strings.Contains(got, tc.want) {
				t.Errorf("with a limit of %s: %q, want %q", tc.limit, got, tc.want)
			}
		}
	})
}
