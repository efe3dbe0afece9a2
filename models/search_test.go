package models

import (
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// TestSearchReadsIndex checks that SQLite looks up the matching things in a covering index, also in
// a database without statistics.
func TestSearchReadsIndex(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		published(t, s, ada)
		if s.DB.Engine != database.SQLite {
			return
		}
		for _, sort := range inThingsFound {
			found, err := s.Search(t.Context(), SearchThings, "a", Filter{}, sort)
			if err != nil {
				t.Fatal(err)
			}
			statement, err := things.Statement(found.List, ThingFields{}, database.Slice{First: 30})
			if err != nil {
				t.Fatal(err)
			}
			var plan []struct {
				ID, Parent, Notused int64
				Detail              string
			}
			if err := s.DB.Read.NewRaw("EXPLAIN QUERY PLAN "+statement).Scan(t.Context(), &plan); err != nil {
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
