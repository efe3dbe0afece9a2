package models_test

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestThingsWithAncestorsAreRemixes checks that a thing with ancestors is a remix, whatever a
// change says, and that one without ancestors may be either.
func TestThingsWithAncestorsAreRemixes(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ancestor, _ := cataloguetest.Published(t, s, ada)
		thing, _ := cataloguetest.Published(t, s, ada)
		yes, no := true, false
		some, none := []int64{ancestor.ID}, []int64{}
		for _, c := range []struct {
			name   string
			change models.ThingChange
			want   bool
		}{
			{"a remix without ancestors", models.ThingChange{IsRemix: &yes}, true},
			{"no remix", models.ThingChange{IsRemix: &no}, false},
			{"with an ancestor", models.ThingChange{AncestorIDs: some}, true},
			{"no remix, while there is an ancestor", models.ThingChange{IsRemix: &no}, true},
			{"no remix, with an ancestor", models.ThingChange{IsRemix: &no, AncestorIDs: some}, true},
			{"without ancestors", models.ThingChange{AncestorIDs: none}, true},
			{"no remix, with an ancestor again", models.ThingChange{IsRemix: &no, AncestorIDs: some}, true},
			{"no remix, without ancestors", models.ThingChange{IsRemix: &no, AncestorIDs: none}, false},
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
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ben := cataloguetest.NewUser(t, s, "ben")
		hidden, _ := cataloguetest.Published(t, s, ben)
		remix, _ := cataloguetest.Published(t, s, ada)
		other, _ := cataloguetest.Published(t, s, ada)
		set := func(thing *models.Thing, ancestor int64) error {
			_, err := s.UpdateThing(t.Context(), ada, models.ThingChange{ID: thing.ID, AncestorIDs: []int64{ancestor}})
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
		if err := set(other, hidden.ID); models.CodeOf(err) != models.Forbidden {
			t.Errorf("a draft of another user as a new ancestor: got %v, want %s", err, models.Forbidden)
		}
		if err := set(other, other.ID); models.CodeOf(err) != models.BadInput {
			t.Errorf("the thing itself: got %v, want %s", err, models.BadInput)
		}
	})
}
