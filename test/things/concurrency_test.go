package things_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestOneCallerLeavesConnections checks that the concurrent statements and transactions of one
// caller are limited, however much the caller requests in one operation or in many. The other
// connections stay available to other callers.
func TestOneCallerLeavesConnections(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		ada := s.User("ada")
		var aliases strings.Builder
		for i := range 15 {
			fmt.Fprintf(&aliases, "a%d: search(query: \"ge\", first: 2) { totalCount nodes { ... on Thing { id } } }\n", i)
		}
		limit := database.Concurrency{Statements: max(4, runtime.NumCPU()) / 2, Transactions: 1}
		if s.Settings.DatabaseURL[:6] != "sqlite" {
			limit = database.Concurrency{Statements: 5, Transactions: 5} // a fourth of the connections
		}
		work := map[string]func(int){
			"GraphQL":   func(int) { ada.GraphQL("{"+aliases.String()+"}", nil) },
			"REST":      func(i int) { ada.Get(fmt.Sprintf("/search/ge?per_page=%d", i+1)) },
			"anonymous": func(int) { s.Client("").GraphQL("{"+aliases.String()+"}", nil) },
			"mutations": func(i int) {
				ada.Do(http.MethodPost, "/things", servertest.Object{"name": fmt.Sprint("Thing ", i), "license": "cc",
					"category": "Tools"})
			},
		}
		for name, ask := range work {
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() { ask(i) })
			}
			all.Wait()
			if most := s.MostConcurrency(); most.Statements > limit.Statements || most.Transactions > limit.Transactions {
				t.Errorf("%s: one caller had %+v under way at once, want at most %+v", name, most, limit)
			}
		}
		if most := s.MostConcurrency(); most.Statements != limit.Statements || most.Transactions == 0 {
			t.Errorf("one caller had at most %+v under way at once, want %+v", most, limit)
		}
	}, func(c *config.Settings) { c.DatabaseConnections = 20 })
}

// TestDatabaseConnections checks that a server opens no more connections to PostgreSQL than its
// setting allows, and that more clients than that are served.
func TestDatabaseConnections(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "postgres", func(c *config.Settings) { c.DatabaseConnections = 5 })
	s.Catalogue()
	db := servertest.OpenDB(t, s)
	servertest.Together(20, func(i int) bool {
		c := s.User(fmt.Sprint("user", i))
		for range 3 {
			c.Get("/newest").Want(t, http.StatusOK)
			c.Thing("Thing")
		}
		return true
	})
	var open int
	// openDB has connections with this name, too, of which one runs this statement.
	if err := db.SQL().QueryRow(
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'meshyard'").
		Scan(&open); err != nil {
		t.Fatal(err)
	}
	if open -= db.SQL().Stats().OpenConnections; open != 5 {
		t.Errorf("the server has %d connections, want 5", open)
	}
}
