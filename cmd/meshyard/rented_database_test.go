package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestRentedDatabases checks that users can work, and that a backup can be made and restored, on
// PostgreSQL databases with settings that providers choose. make test-pgbouncer runs it behind
// PgBouncer in transaction mode.
func TestRentedDatabases(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	isolated := func(level string) func(t *testing.T) string {
		return func(t *testing.T) string {
			directOnly(t)
			_, address := managedDatabase(t, "CURRENT_USER",
				"ALTER DATABASE {database} SET default_transaction_isolation = '"+level+"'")
			return address
		}
	}
	for name, database := range map[string]func(t *testing.T) string{
		"usual":           func(t *testing.T) string { return pgtest.Database(t) },
		"repeatable read": isolated("repeatable read"),
		"serializable":    isolated("serializable"),
		"Turkish":         func(t *testing.T) string { return pgtest.Localized(t, "tr-TR") },
		"unprivileged": func(t *testing.T) string {
			directOnly(t)
			address, _ := managedDatabase(t, newRole(t), "GRANT CREATE ON SCHEMA public TO {role}", "CREATE EXTENSION pg_trgm")
			return address
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, built, database(t))
			s := c.serve()
			user := func(name string) *servertest.Client {
				c.run("user", "create", name)
				return tokenClient(t, s.url, c.run("token", "create", name, "--scope", "read", "--scope", "write"))
			}
			ada, bob := user("ada"), user("bob")
			if _, stderr, err := c.try("user", "create", "ADMIN"); exitStatus(err) != 1 || !strings.Contains(stderr, "taken") {
				t.Errorf("user create ADMIN: got %v, %q, want it taken by admin", err, stderr)
			}
			stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
			// Concurrent changes fail in transactions that see an old state of the rows.
			var all sync.WaitGroup
			things := make([]int64, 6)
			for i := range things {
				all.Go(func() {
					things[i] = ada.Thing(fmt.Sprint("ISTANBUL Işık ", i))
					ada.Finalize("thing", things[i], ada.Upload("İstanbul.stl", stl)).Want(t, http.StatusOK)
					ada.Publish(things[i]).Want(t, http.StatusOK)
					bob.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { likeCount } } watchThing(input: {id: $id}) { thing { id } } followUser(input: {username: "ada"}) { user { username } } }`,
						map[string]any{"id": servertest.ID(things[i])}, new(any))
				})
			}
			all.Wait()
			checkFound(t, s.url, stl, len(things))
			dir := filepath.Join(t.TempDir(), "backup")
			c.directly(func() { c.run("backup", dir) })
			c.stop(s)

			restored := newCatalogue(t, built, database(t))
			restored.directly(func() { restored.run("restore", dir) })
			restored.run("fsck")
			s = restored.serve()
			defer s.kill()
			checkFound(t, s.url, stl, len(things))
		})
	}
}

// directOnly skips a test behind PgBouncer, whose clients cannot set the isolation level, and which
// knows one role only in tests.
func directOnly(t *testing.T) {
	t.Helper()
	if strings.Contains(pgtest.Database(t), "pool_mode") {
		t.Skip("this is not possible behind PgBouncer")
	}
}

// directly calls fn while commands use the database without PgBouncer, as the documentation of
// backup and restore requires.
func (c *catalogue) directly(fn func()) {
	pooled := c.database
	if strings.Contains(pooled, "pool_mode") {
		c.database = pgtest.Direct(c.t, pooled)
		defer func() { c.database = pooled }()
	}
	fn()
}

// tokenClient returns a client of a server with a token.
func tokenClient(t *testing.T, url, token string) *servertest.Client {
	return (&servertest.Client{URL: url, Token: strings.TrimSpace(token)}).For(t)
}

// checkFound checks that a visitor finds a number of things and can download their files.
func checkFound(t *testing.T, url string, content []byte, things int) {
	t.Helper()
	var found struct {
		Search struct {
			TotalCount int
			Nodes      []struct {
				Files []struct{ PublicURL string }
			}
		}
	}
	visitor := tokenClient(t, url, "")
	visitor.Query(`{ search(query: "istanbul", type: THINGS) { totalCount nodes { ... on Thing { files { publicUrl } } } } }`, nil, &found)
	if found.Search.TotalCount != things || len(found.Search.Nodes) != things {
		t.Fatalf("the search finds %+v, want %d things", found, things)
	}
	for _, thing := range found.Search.Nodes {
		r := visitor.Get(thing.Files[0].PublicURL)
		for r.StatusCode == http.StatusFound {
			r = visitor.Get(r.Header.Get("Location"))
		}
		if r.StatusCode != http.StatusOK || !bytes.Equal(r.Bytes, content) {
			t.Errorf("%s: got %d and %d bytes, want the file", thing.Files[0].PublicURL, r.StatusCode, len(r.Bytes))
		}
	}
}
