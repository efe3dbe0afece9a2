package main_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/models"
)

// TestRestoreBesideServer checks that restore and an import of everything are rejected while a
// server runs, and that a server on SQLite accepts nothing after its database was deleted.
func TestRestoreBesideServer(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			m := newMoving(t, built, engine, 10)
			c := newCatalogue(t, built, databaseOn(t, engine))
			s := c.serve()
			defer s.kill()
			c.run("user", "create", "bob")
			bob := &user{name: "bob", token: strings.TrimSpace(c.run("token", "create", "bob"))}
			if engine == "sqlite" {
				for _, suffix := range []string{"", "-wal", "-shm"} {
					if err := os.Remove(filepath.Join(c.data, "meshyard.db"+suffix)); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				}
			}
			for _, args := range [][]string{{"restore", m.backup}, {"import", "archive", m.archive}} {
				if _, stderr, err := c.try(args...); exitStatus(err) != 1 || !strings.Contains(stderr, "in use by meshyard serve") {
					t.Errorf("%q beside a server: got %v, %q; want it rejected", args, err, stderr)
				}
			}
			if engine != "sqlite" {
				return
			}
			answer, err := http.Get(s.url + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(c.logged(), "was deleted or replaced") {
				t.Errorf("/readyz after the database was deleted: %s, want 503 and a line in the log", answer.Status)
			}
			if id, err := newClient(s.url).thing(bob, "Gone"); err == nil {
				t.Errorf("the server accepted thing %d after its database was deleted", id)
			}
		})
	}
}

// TestKillRestore and TestKillArchiveImport check that a server that starts during a restore or an
// import, or after one that was killed by SIGKILL, changes nothing: run again, it is completed with
// the same rows. If a server was first, what it has accepted stays.
func TestKillRestore(t *testing.T) {
	t.Parallel()
	killMoving(t, func(m *moving) []string { return []string{"restore", m.backup} })
}

func TestKillArchiveImport(t *testing.T) {
	t.Parallel()
	killMoving(t, func(m *moving) []string { return []string{"import", "archive", m.archive} })
}

// moving is a catalogue with a backup and an archive of it.
type moving struct {
	from            *catalogue
	backup, archive string
}

func newMoving(t *testing.T, binary, engine string, things int) *moving {
	t.Helper()
	dir := t.TempDir()
	m := &moving{newCatalogue(t, binary, databaseOn(t, engine)), filepath.Join(dir, "backup"),
		filepath.Join(dir, "archive")}
	m.from.run("import", "catalogue", filepath.Join("..", "..", "testdata", "catalogue"), "--scale", fmt.Sprint(things))
	m.from.run("backup", m.backup)
	m.from.run("export", m.archive)
	return m
}

func killMoving(t *testing.T, command func(*moving) []string) {
	kills := numberFrom(t, "MESHYARD_TEST_KILLS", 3)
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			m := newMoving(t, built, engine, 500)
			whole := newCatalogue(t, built, databaseOn(t, engine))
			began := time.Now()
			whole.run(command(m)...)
			took := time.Since(began)
			outcomes := map[string]int{}
			for i := range kills {
				c := newCatalogue(t, built, databaseOn(t, engine))
				outcomes[killedBeside(t, c, took, took*time.Duration(i+1)/time.Duration(kills+1), command(m), whole)]++
			}
			t.Logf("outcomes: %v", outcomes)
		})
	}
}

const (
	interrupted = "run it again to continue"
	inUse       = "in use by meshyard"
	occupied    = "there is a database already"
	hasUsers    = "there are users already"
)

// killedBeside runs a command that takes a time, starts a server at a random moment, and kills the
// command at another moment. It returns what happened.
func killedBeside(t *testing.T, c *catalogue, took, killAt time.Duration, args []string,
	whole *catalogue) (outcome string) {
	t.Helper()
	p, err := c.start(args...)
	if err != nil {
		t.Fatal(err)
	}
	serving := make(chan *server, 1)
	go func() {
		time.Sleep(time.Duration(rand.Int64N(int64(took))))
		s, _ := c.tryServe(0)
		serving <- s
	}()
	if p.ends(killAt) {
		outcome = "not killed"
	} else {
		p.kill()
		outcome = "killed"
	}
	marked := c.marked()
	if s := <-serving; s != nil {
		if outcome += ", served"; marked {
			t.Errorf("the server has started although %q was interrupted", args)
		}
		// What the server accepts must stay.
		c.run("user", "create", "bob")
		s.kill()
		c.run("user", "show", "bob")
		if _, stderr, err := c.try(args...); err == nil || !strings.Contains(stderr, occupied) &&
			!strings.Contains(stderr, hasUsers) {
			t.Errorf("%q after a server has accepted a user: got %v, %q; want it rejected", args, err, stderr)
		}
		c.run("user", "show", "bob")
		if c.rows("things") != 0 && c.rows("things") != whole.rows("things") {
			t.Errorf("the server has served %d things of %d", c.rows("things"), whole.rows("things"))
		}
		return outcome
	}
	if log := c.logged(); !strings.Contains(log, interrupted) && !strings.Contains(log, inUse) {
		t.Errorf("the server did not start, for another reason:\n%s", log)
	}
	before := len(c.logged())
	s, err := c.tryServe(before)
	switch {
	case err == nil: // the command was complete
		s.kill()
		if outcome += ", complete"; marked {
			t.Errorf("the server has started although %q was interrupted", args)
		}
	case !strings.Contains(c.logged()[before:], interrupted):
		t.Errorf("the server after the command: %v\n%s", err, c.logged()[before:])
	default:
		outcome += ", continued"
		if _, stderr, err := c.try("user", "create", "bob"); err == nil || !strings.Contains(stderr, interrupted) {
			t.Errorf("a user was created in an incomplete catalogue: %v, %q", err, stderr)
		}
		c.run(args...)
		c.run("fsck")
	}
	if strings.Contains(outcome, "complete") && c.rows("things") == 0 {
		return outcome + ", not begun"
	}
	for _, query := range []string{
		"SELECT id, name, owner_id, license FROM things ORDER BY id",
		"SELECT id, username FROM users WHERE username <> 'admin' ORDER BY id",
		"SELECT id, name, size, sha256 FROM files ORDER BY id",
	} {
		want, n := whole.digest(query)
		if got, rows := c.digest(query); got != want {
			t.Errorf("%s: there are %d rows, want %d, or they differ: %s", outcome, rows, n, query)
		}
	}
	return outcome
}

// marked reports whether the database has the marker of an operation that was interrupted.
func (c *catalogue) marked() bool {
	c.t.Helper()
	if c.database == "" {
		_, err := os.Stat(filepath.Join(c.data, "meshyard.db.unfinished"))
		return err == nil
	}
	db := c.open()
	defer db.Close()
	var marked bool
	if err := db.SQL().QueryRow("SELECT to_regclass('meshyard_unfinished') IS NOT NULL").Scan(&marked); err != nil {
		c.t.Fatal(err)
	}
	return marked
}

// rows returns the number of rows of a table.
func (c *catalogue) rows(table string) int {
	c.t.Helper()
	db := c.open()
	defer db.Close()
	return rows(c.t, db, table)
}

func rows(t testing.TB, db *models.DB, table string) (n int) {
	t.Helper()
	if err := db.SQL().QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
