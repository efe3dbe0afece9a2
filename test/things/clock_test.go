package things_test

import (
	"context"
	"testing"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestJobsOfClockAhead checks that jobs run although they were inserted, and a server was killed,
// while the clock was ten years ahead.
func TestJobsOfClockAhead(t *testing.T) {
	t.Parallel()
	for engine, later := range map[string]string{"sqlite": "datetime('now', '+10 years')",
		"postgres": "now() + interval '10 years'"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			settings := servertest.Settings(t, engine)
			db, err := models.OpenDB(context.Background(), settings.DatabaseURL)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.SQL().Exec("INSERT INTO river_leader (elected_at, expires_at, leader_id) VALUES (" + later + ", " +
				later + ", 'killed')"); err != nil {
				t.Fatal(err)
			}
			for _, state := range []string{"available", "scheduled", "retryable"} {
				if _, err := db.SQL().
					Exec("INSERT INTO river_job (args, kind, max_attempts, state, scheduled_at) VALUES ('{\"user_id\": 1000000}', 'purge_account', 25, '" + state + "', " + later + ")"); err != nil {
					t.Fatal(err)
				}
			}
			servertest.Run(t, settings)
			for kind, want := range map[string]int{"fold_counts": 1, "purge_account": 3} {
				servertest.Until(t, "the jobs "+kind, func() bool {
					var done int
					err := db.SQL().QueryRow("SELECT count(*) FROM river_job WHERE kind = $1 AND state = 'completed'", kind).
						Scan(&done)
					return err == nil && done >= want
				})
			}
		})
	}
}
