package models

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestThingsWithAncestorsAreRemixes checks that a thing with ancestors is a remix, whatever a
// change says, and that one without ancestors may be either.
func TestThingsWithAncestorsAreRemixes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ancestor, _ := published(t, s, ada)
		thing, _ := published(t, s, ada)
		yes, no := true, false
		some, none := []int64{ancestor.ID}, []int64{}
		for _, c := range []struct {
			name   string
			change ThingChange
			want   bool
		}{
			{"a remix without ancestors", ThingChange{IsRemix: &yes}, true},
			{"no remix", ThingChange{IsRemix: &no}, false},
			{"with an ancestor", ThingChange{AncestorIDs: some}, true},
			{"no remix, while there is an ancestor", ThingChange{IsRemix: &no}, true},
			{"no remix, with an ancestor", ThingChange{IsRemix: &no, AncestorIDs: some}, true},
			{"without ancestors", ThingChange{AncestorIDs: none}, true},
			{"no remix, with an ancestor again", ThingChange{IsRemix: &no, AncestorIDs: some}, true},
			{"no remix, without ancestors", ThingChange{IsRemix: &no, AncestorIDs: none}, false},
		} {
			c.change.ID = thing.ID
			changed, err := s.UpdateThing(t.Context(), ada, c.change)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if changed.Thing.IsDerivative != c.want {
				t.Errorf("%s: is a remix: %t, want %t", c.name, changed.Thing.IsDerivative, c.want)
			}
		}
	})
}
