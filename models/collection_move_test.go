package models

import (
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestMovingThingsTouchesCollections checks that all collections that a move changes have the time
// of the move, whichever collections the things are removed from.
func TestMovingThingsTouchesCollections(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		thing, _ := published(t, s, ada)
		var collections []*Collection
		for _, name := range []string{"to", "from", "other"} {
			c, err := s.CreateCollection(ctx, ada, NewCollection{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			collections = append(collections, c)
		}
		to, from, other := collections[0].ID, collections[1].ID, collections[2].ID
		long := Now().Add(-time.Hour)
		for _, c := range []struct {
			name    string
			move    MoveThings
			touched []int64
		}{
			{"added", MoveThings{}, []int64{to}},
			{"moved from a collection", MoveThings{FromCollectionID: &from}, []int64{to, from}},
			{"moved from all others", MoveThings{FromOthers: true}, []int64{to, from}},
		} {
			if _, err := s.MoveThings(ctx, ada, MoveThings{ThingIDs: []int64{thing.ID}, CollectionID: from}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.DB.Write.NewRaw("UPDATE collections SET modified_at = ?", long).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			c.move.ThingIDs, c.move.CollectionID = []int64{thing.ID}, to
			if _, err := s.MoveThings(ctx, ada, c.move); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			found, err := s.CollectionsByID(ctx, auth.Caller{}, AllCollectionFields, []int64{to, from, other})
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
