package server_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/database"
)

// TestOneCallerLeavesConnections checks that the concurrent statements and transactions of one
// caller are limited, however much the caller requests in one operation or in many. The other
// connections stay available to other callers.
func TestOneCallerLeavesConnections(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		ada := s.User("ada")
		var aliases strings.Builder
		for i := range 15 {
			fmt.Fprintf(&aliases, "a%d: search(query: \"ge\", first: 2) { totalCount nodes { ... on Thing { id } } }\n", i)
		}
		limit := database.Concurrency{Statements: max(4, runtime.NumCPU()) / 2, Transactions: 1}
		if s.Settings.DatabaseURL[:6] != "sqlite" {
			limit.Statements = max(4, runtime.NumCPU())
			limit.Transactions = limit.Statements
		}
		work := map[string]func(int){
			"GraphQL":   func(int) { ada.GraphQL("{"+aliases.String()+"}", nil) },
			"REST":      func(i int) { ada.Get(fmt.Sprintf("/search/ge?per_page=%d", i+1)) },
			"anonymous": func(int) { s.Client("").GraphQL("{"+aliases.String()+"}", nil) },
			"mutations": func(i int) {
				ada.Do(http.MethodPost, "/things", object{"name": fmt.Sprint("Thing ", i), "license": "cc", "category": "Tools"})
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
	})
}
