package search

import (
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/modelstest"
)

// TestSearchReadsIndex checks that SQLite looks up the matching things in a covering index, also in
// a database without statistics.
func TestSearchReadsIndex(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		modelstest.Published(t, s.core, ada)
		if s.core.DB.Engine != database.SQLite {
			return
		}
		things := database.NewTable(func(t *models.Thing) (int64, *database.Listed) { return t.ID, &t.Listed })
		for _, sort := range inThingsFound {
			found, err := s.Search(t.Context(), SearchThings, "a", lists.Filter{}, sort)
			if err != nil {
				t.Fatal(err)
			}
			statement, err := things.Statement(found.List, models.ThingFields{}, database.Slice{First: 30})
			if err != nil {
				t.Fatal(err)
			}
			var plan []struct {
				ID, Parent, Notused int64
				Detail              string
			}
			if err := s.core.DB.Read.NewRaw("EXPLAIN QUERY PLAN "+statement).Scan(t.Context(), &plan); err != nil {
				t.Fatal(err)
			}
			details := make([]string, len(plan))
			for i, step := range plan {
				details[i] = step.Detail
			}
			if !slices.Contains(details, "SEARCH t USING COVERING INDEX things_found (id=?)") {
				t.Errorf("%s: %q", sort, details)
			}
		}
	})
}
