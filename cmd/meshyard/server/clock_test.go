package server_test

import (
	"context"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/models"
)

// TestLeaderOfClockAhead checks that periodic jobs run although a server was killed while the clock
// was ten years ahead.
func TestLeaderOfClockAhead(t *testing.T) {
	t.Parallel()
	for engine, later := range map[string]string{"sqlite": "datetime('now', '+10 years')", "postgres": "now() + interval '10 years'"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			settings := servertest.Settings(t, engine)
			db, err := models.OpenDB(context.Background(), settings.DatabaseURL)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.SQL().Exec("INSERT INTO river_leader (elected_at, expires_at, leader_id) VALUES (" + later + ", " + later + ", 'killed')"); err != nil {
				t.Fatal(err)
			}
			servertest.Run(t, settings)
			until(t, "a run of a periodic job", func() bool {
				var done int
				err := db.SQL().QueryRow("SELECT count(*) FROM river_job WHERE kind = 'fold_counts' AND state = 'completed'").Scan(&done)
				return err == nil && done > 0
			})
		})
	}
}
