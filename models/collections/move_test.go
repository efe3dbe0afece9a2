package collections_test

import (
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/collections"
)

// TestMovingThingsTouchesCollections checks that all collections that a move changes have the time
// of the move, whichever collections the things are removed from.
func TestMovingThingsTouchesCollections(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		thing, _ := cataloguetest.Published(t, s, ada)
		var made []*models.Collection
		for _, name := range []string{"to", "from", "other"} {
			c, err := s.Collections.CreateCollection(ctx, ada, collections.NewCollection{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, c)
		}
		to, from, other := made[0].ID, made[1].ID, made[2].ID
		long := models.Now().Add(-time.Hour)
		for _, c := range []struct {
			name    string
			move    collections.MoveThings
			touched []int64
		}{
			{"added", collections.MoveThings{}, []int64{to}},
			{"moved from a collection", collections.MoveThings{FromCollectionID: &from}, []int64{to, from}},
			{"moved from all others", collections.MoveThings{FromOthers: true}, []int64{to, from}},
		} {
			if _, err := s.Collections.MoveThings(ctx, ada, collections.MoveThings{ThingIDs: []int64{thing.ID},
				CollectionID: from}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.DB.Write.NewRaw("UPDATE collections SET modified_at = ?", long).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			c.move.ThingIDs, c.move.CollectionID = []int64{thing.ID}, to
			if _, err := s.Collections.MoveThings(ctx, ada, c.move); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			found, err := s.CollectionsByID(ctx, auth.Caller{}, models.AllCollectionFields, []int64{to, from, other})
			if err != nil {
				t.Fatal(err)
			}
			touched := make(map[int64]bool)
			for _, id := range c.touched {
				touched[id] = true
			}
			for id, c2 := range found {
				if got := c2.ModifiedAt.After(long); got != touched[id] {
					t.Errorf("%s: the modification time of collection %q changes: %t, want %t", c.name, c2.Name, got, touched[id])
				}
			}
		}
	})
}
