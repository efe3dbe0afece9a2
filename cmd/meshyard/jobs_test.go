package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestJobCommands checks that operators can list failed jobs and run them before their next
// attempt, also after their last one.
func TestJobCommands(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			s := c.serve()
			c.run("user", "create", "ada")
			ada := &user{name: "ada", token: strings.TrimSpace(c.run("token", "create", "ada"))}
			thing, err := newClient(s.url).thing(ada, "Gear")
			if err != nil {
				t.Fatal(err)
			}
			if out := c.run("job", "list"); strings.Count(out, "\n") != 1 {
				t.Errorf("without failed jobs, job list prints %q", out)
			}
			c.refuses(map[string]string{
				"job retry": "ids of jobs or --all", "job retry 1 --all": "ids of jobs or --all",
				"job retry 1000000": "1000000 is not a failed job",
			})

			// The row of this table prevents the deletion of the thing.
			db := c.open()
			defer db.Close()
			run := func(statement string, args ...any) {
				t.Helper()
				if _, err := db.SQL().ExecContext(t.Context(), statement, args...); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			run("CREATE TABLE kept (thing_id bigint REFERENCES things (id))")
			run("INSERT INTO kept VALUES ($1)", thing)
			c.run("user", "delete", "ada", "--yes")
			failed := func() string { return strings.TrimPrefix(c.run("job", "list"), "ID") }
			waitFor(t, "the failed job", func() bool { return strings.Contains(failed(), "purge_account") })
			var id int64
			row := failed()[strings.Index(failed(), "\n"):]
			if _, err := fmt.Sscan(row, &id); err != nil || !strings.Contains(row, `user_id`) ||
				!strings.Contains(row, "purge account") {
				t.Fatalf("job list prints %q (%v)", row, err)
			}

			waitFor(t, "the job between two attempts", func() bool {
				updated, err := db.SQL().
					ExecContext(t.Context(),
						"UPDATE river_job SET state = 'discarded', attempt = max_attempts, finalized_at = CURRENT_TIMESTAMP WHERE id = $1 AND state = 'retryable'", id)
				if err != nil {
					t.Fatal(err)
				}
				n, err := updated.RowsAffected()
				return err == nil && n == 1
			})
			if row := failed(); !strings.Contains(row, "never") {
				t.Errorf("after the last attempt, job list prints %q", row)
			}
			c.run("job", "retry", fmt.Sprint(id)) // fails again
			waitFor(t, "another attempt", func() bool { return strings.Contains(failed(), " 26 ") })
			run("DELETE FROM kept")
			if out := c.run("job", "retry", "--all"); out != fmt.Sprintf("queued job %d\n", id) {
				t.Errorf("job retry --all printed %q", out)
			}
			waitFor(t, "the end of the job", func() bool {
				things := 0
				err := db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM things").Scan(&things)
				return err == nil && things == 0
			})
			if out := c.run("job", "list"); strings.Contains(out, "purge_account") {
				t.Errorf("after its success, job list prints %q", out)
			}
			c.refuses(map[string]string{fmt.Sprintf("job retry %d", id): "is not a failed job"})
		})
	}
}

// waitFor waits until condition returns true.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for began := time.Now(); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
