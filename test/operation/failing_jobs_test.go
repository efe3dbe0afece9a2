package operation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestFailingJobs checks that operators see jobs that fail, single and periodic ones, in the
// metrics and in the findings of meshyard doctor, until they succeed.
func TestFailingJobs(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		db := servertest.OpenDB(t, s).SQL()
		run := func(statement string, args ...any) {
			t.Helper()
			if _, err := db.Exec(statement, args...); err != nil {
				t.Fatal(err)
			}
		}
		wantFailing := func(n int, finding string) {
			t.Helper()
			var text string
			var findings []string
			for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(100 * time.Millisecond) {
				var err error
				if findings, err = s.Diagnose(t.Context()); err != nil {
					t.Fatal(err)
				}
				text = servertest.Scrape(t, s)
				if strings.Contains(text, fmt.Sprintf("\nmeshyard_jobs_failing %d\n", n)) &&
					strings.Contains(strings.Join(findings, "\n"), finding) {
					return
				}
			}
			t.Errorf("the metrics do not have %d failing jobs, or the findings %q do not contain %q", n, findings, finding)
		}
		wantFailing(0, "")
		run("INSERT INTO count_changes (of_table, of_column, object_id, delta) VALUES ('nothing', 'count', 1, 1)")
		wantFailing(1, "background jobs fail: fold_counts (1), the newest with: fold counts: ")
		run("DELETE FROM count_changes WHERE of_table = 'nothing'")
		wantFailing(0, "")

		ada := s.User("ada")
		thing := ada.Thing("One")
		run("CREATE TABLE kept (thing_id bigint REFERENCES things (id))")
		run("INSERT INTO kept VALUES ($1)", thing)
		ada.Query(`mutation { deleteAccount(input: {username: "me"}) { deletedId } }`, nil, new(any))
		wantFailing(1, "background jobs fail: purge_account (1), the newest with: purge account ")
		run("DELETE FROM kept")
		// Do not wait for the time of the next attempt.
		run("UPDATE river_job SET scheduled_at = created_at WHERE state = 'retryable'")
		wantFailing(0, "")
	}, servertest.WithMetrics)
}

// TestJobsOfKilledServers checks that a job runs again soon if the server that ran it was killed.
func TestJobsOfKilledServers(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		db := servertest.OpenDB(t, s).SQL()
		run := func(statement string, args ...any) {
			t.Helper()
			if _, err := db.Exec(statement, args...); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		count := func(query string) (n int) {
			t.Helper()
			if err := db.QueryRow("SELECT count(*) FROM " + query).Scan(&n); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			return n
		}
		waitUntil := func(what string, done func() bool) {
			t.Helper()
			for began := time.Now(); !done(); time.Sleep(100 * time.Millisecond) {
				if time.Since(began) > time.Minute {
					t.Fatalf("waited a minute until %s", what)
				}
			}
		}
		ada := s.User("ada")
		run("CREATE TABLE kept (thing_id bigint REFERENCES things (id))")
		run("INSERT INTO kept VALUES ($1)", ada.Thing("One"))
		ada.Query(`mutation { deleteAccount(input: {username: "me"}) { deletedId } }`, nil, new(any))
		began := "datetime('now', '-12 minutes')"
		if strings.HasPrefix(s.Settings.DatabaseURL, "postgres") {
			began = "now() - interval '12 minutes'"
		}
		waitUntil("the job has failed", func() bool {
			run("UPDATE river_job SET state = 'running', attempt = 1, errors = NULL, attempted_at = " + began +
				" WHERE kind = 'purge_account' AND state = 'retryable'")
			return count("river_job WHERE kind = 'purge_account' AND state = 'running' AND attempted_at < "+strings.Replace(
				began, "12", "11", 1)) > 0
		})
		run("DELETE FROM kept")
		s.Restart()
		waitUntil("the job of the killed server has run", func() bool { return count("things") == 0 })
	})
}

// TestJobsOfEarlierSource checks that jobs whose kind does not exist any more are removed at the
// start, instead of failing for weeks.
func TestJobsOfEarlierSource(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		db := servertest.OpenDB(t, s).SQL()
		if _, err := db.Exec(
			"INSERT INTO river_job (args, kind, max_attempts, scheduled_at) VALUES ('{}', 'make_preview', 25, CURRENT_TIMESTAMP)"); err != nil {
			t.Fatal(err)
		}
		s.Restart()
		var jobs int
		if err := db.QueryRow("SELECT count(*) FROM river_job WHERE kind = 'make_preview'").Scan(&jobs); err != nil ||
			jobs != 0 {
			t.Errorf("after the start there are %d jobs to make a preview, %v, want none", jobs, err)
		}
	})
}
