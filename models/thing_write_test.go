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

// TestHiddenAncestorsAreKept checks that a thing keeps an ancestor that its owner cannot see any
// more, and that such a thing, or the thing itself, cannot become an ancestor.
func TestHiddenAncestorsAreKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ben := newUser(t, s, "ben")
		hidden, _ := published(t, s, ben)
		remix, _ := published(t, s, ada)
		other, _ := published(t, s, ada)
		set := func(thing *Thing, ancestor int64) error {
			_, err := s.UpdateThing(t.Context(), ada, ThingChange{ID: thing.ID, AncestorIDs: []int64{ancestor}})
			return err
		}
		if err := set(remix, hidden.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.UnpublishThing(t.Context(), ben, hidden.ID); err != nil {
			t.Fatal(err)
		}
		if err := set(remix, hidden.ID); err != nil {
			t.Errorf("an ancestor that became a draft: got %v, want that it is kept", err)
		}
		if err := set(other, hidden.ID); CodeOf(err) != Forbidden {
			t.Errorf("a draft of another user as a new ancestor: got %v, want %s", err, Forbidden)
		}
		if err := set(other, other.ID); CodeOf(err) != BadInput {
			t.Errorf("the thing itself: got %v, want %s", err, BadInput)
		}
	})
}
