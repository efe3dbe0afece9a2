package models_test

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/search"
)

// TestCountThings checks that the stored number of featured things is equal to the number of things
// in their list, and the number of results of a search to that of the published things, after each
// way in which they can change.
func TestCountThings(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		moderator := ada
		moderator.Role, moderator.Scopes = auth.Administrator, auth.Scopes{auth.Admin}
		var things [4]*models.Thing
		for i := range things {
			things[i], _ = cataloguetest.Published(t, s, ada)
		}
		feature := func(id int64) (*models.Thing, error) { return s.Moderation.FeatureThing(ctx, moderator, id, true) }
		unfeature := func(id int64) (*models.Thing, error) { return s.Moderation.FeatureThing(ctx, moderator, id, false) }
		move := func(id int64) (*models.Thing, error) {
			category := "other"
			moved, err := s.UpdateThing(ctx, ada, models.ThingChange{ID: id, Category: &category})
			if err != nil {
				return nil, err
			}
			return moved.Thing, nil
		}
		publish := func(id int64) (*models.Thing, error) { return s.PublishThing(ctx, ada, id, models.Published) }
		unpublish := func(id int64) (*models.Thing, error) { return s.UnpublishThing(ctx, ada, id) }
		takeDown := func(id int64) (*models.Thing, error) { return s.Moderation.TakeDownThing(ctx, moderator, id, "spam") }
		restore := func(id int64) (*models.Thing, error) { return s.Moderation.RestoreThing(ctx, moderator, id, "no spam") }
		remove := func(id int64) (*models.Thing, error) {
			deleted, err := s.DeleteThing(ctx, ada, id, "")
			if err != nil {
				return nil, err
			}
			return deleted.Thing, nil
		}
		for i, c := range []struct {
			name  string
			do    func(id int64) (*models.Thing, error)
			thing int // index in things
			want  int64
		}{
			{"a thing is featured", feature, 0, 1},
			{"it is featured again", feature, 0, 1},
			{"another is featured", feature, 1, 2},
			{"a third is featured", feature, 2, 3},
			{"one moves to another category", move, 0, 3},
			{"one that is not featured moves", move, 3, 3},
			{"one is no longer featured", unfeature, 0, 2},
			{"it is not featured again", unfeature, 0, 2},
			{"one becomes a draft", unpublish, 1, 1},
			{"it is published again", publish, 1, 1},
			{"one is taken down", takeDown, 2, 0},
			{"it is restored", restore, 2, 0},
			{"one is featured after that", feature, 2, 1},
			{"it is deleted", remove, 2, 0},
		} {
			if _, err := c.do(things[c.thing].ID); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if i%2 == 1 { // with and without changes that are not folded
				if _, err := s.FoldCounts(ctx); err != nil {
					t.Fatal(err)
				}
			}
			list, err := s.Lists.Things(lists.Filter{}, lists.ByFeatured)
			if err != nil {
				t.Fatal(err)
			}
			total, err := list.Count(ctx, []int64{0})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := s.DB.Read.NewSelect().TableExpr("(?) AS rows", list.Select().ColumnExpr("t.id")).Count(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if total[0] != c.want || rows != c.want {
				t.Errorf("%s: got %d of %d rows, want %d", c.name, total[0], rows, c.want)
			}
			found, err := s.Search.Search(ctx, search.SearchThings, "a", lists.Filter{}, lists.ByNewest)
			if err != nil {
				t.Fatal(err)
			}
			total, err = found.Count(ctx, []int64{0})
			if err != nil {
				t.Fatal(err)
			}
			var public int64
			if err := s.DB.Read.NewRaw("SELECT count(*) FROM things WHERE state = 'published'").Scan(ctx, &public); err != nil {
				t.Fatal(err)
			}
			if total[0] != public {
				t.Errorf("%s: a search has %d results, but %d things are published", c.name, total[0], public)
			}
		}
		if _, err := s.FoldCounts(ctx); err != nil {
			t.Fatal(err)
		}
		var stored []struct{ ID, FeaturedCount int64 }
		err := s.DB.Read.NewSelect().TableExpr("categories AS c").ColumnExpr("c.id, c.featured_count").
			Where("c.featured_count <> 0").Scan(ctx, &stored)
		if err != nil || len(stored) > 0 {
			t.Errorf("categories still count %+v, %v", stored, err)
		}
		if changed, err := s.Maintenance.Recount(ctx); changed != 0 || err != nil {
			t.Errorf("a recount changed %d counts, %v", changed, err)
		}
		if _, err := s.Maintenance.CollectGarbage(ctx, 0, false); err != nil { // with the file
			t.Error(err)
		}
	})
}

// TestTotalsOfTags checks that the stored number of things with a tag is equal to the number of
// things in its list, also for a user who hides some of them.
func TestTotalsOfTags(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		hides := ada
		hides.UserID, hides.HidesNSFW = ada.UserID+1, true
		var things [3]*models.Thing
		for i := range things {
			things[i], _ = cataloguetest.Published(t, s, ada)
		}
		nsfw := true
		var tag *models.Tag
		for i, c := range []struct {
			name       string
			thing      int // index in things
			change     models.ThingChange
			unpublish  bool
			all, shown int64 // for ada, and for the user who hides some things
		}{
			{"a thing has the tag", 0, models.ThingChange{Tags: []string{"gear", "wheel"}}, false, 1, 1},
			{"another has it, spelled differently", 1, models.ThingChange{Tags: []string{"Gear"}}, false, 2, 2},
			{"a third has another tag", 2, models.ThingChange{Tags: []string{"wheel"}}, false, 2, 2},
			{"one is not safe for work", 0, models.ThingChange{IsNSFW: &nsfw}, false, 2, 1},
			{"one becomes a draft", 1, models.ThingChange{}, true, 1, 0},
			{"one loses the tag", 0, models.ThingChange{Tags: []string{"wheel"}}, false, 0, 0},
		} {
			c.change.ID = things[c.thing].ID
			_, err := s.UpdateThing(ctx, ada, c.change)
			if err == nil && c.unpublish {
				_, err = s.UnpublishThing(ctx, ada, c.change.ID)
			}
			if err == nil && i%2 == 1 { // with and without changes that are not folded
				_, err = s.FoldCounts(ctx)
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if i == 0 {
				if tag, err = s.Tag(ctx, models.AllTagFields, "gear"); err != nil {
					t.Fatal(err)
				}
			}
			for _, of := range []struct {
				caller auth.Caller
				want   int64
			}{{ada, c.all}, {hides, c.shown}} {
				list := s.Lists.ThingsWithTags(of.caller)
				total, err := list.Count(ctx, []int64{tag.ID})
				if err != nil {
					t.Fatal(err)
				}
				list.Total = nil
				counted, err := list.Count(ctx, []int64{tag.ID})
				if err != nil {
					t.Fatal(err)
				}
				if total[tag.ID] != of.want || counted[tag.ID] != of.want {
					t.Errorf("%s: got %d of %d things, want %d", c.name, total[tag.ID], counted[tag.ID], of.want)
				}
			}
		}
	})
}

// TestTotalsWithoutHidden checks that for users who hide some things, the total of a list is equal
// to the number of its rows: for all things, featured things, and things in a category.
func TestTotalsWithoutHidden(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		moderator := ada
		moderator.Role, moderator.Scopes = auth.Administrator, auth.Scopes{auth.Admin}
		yes, no := true, false
		for _, change := range []models.ThingChange{
			{}, {IsNSFW: &yes}, {IsAI: &yes}, {IsNSFW: &yes, IsAI: &yes}, {IsNSFW: &yes, Category: new(string)},
		} {
			thing, _ := cataloguetest.Published(t, s, ada)
			change.ID = thing.ID
			if change.Category != nil {
				*change.Category = "other"
			}
			if _, err := s.UpdateThing(ctx, ada, change); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Moderation.FeatureThing(ctx, moderator, thing.ID, true); err != nil {
				t.Fatal(err)
			}
		}
		draft, _ := cataloguetest.Published(t, s, ada)
		if _, err := s.UpdateThing(ctx, ada, models.ThingChange{ID: draft.ID, IsNSFW: &yes}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.UnpublishThing(ctx, ada, draft.ID); err != nil {
			t.Fatal(err)
		}
		art, err := models.FindCategory(ctx, s.DB.Read, "Art")
		if err != nil {
			t.Fatal(err)
		}
		count := func(name string, list models.List, parent, want int64) {
			t.Helper()
			total, err := list.Count(ctx, []int64{parent})
			if err != nil {
				t.Fatal(err)
			}
			list.Total = nil
			rows, err := list.Count(ctx, []int64{parent})
			if err != nil {
				t.Fatal(err)
			}
			if total[parent] != want || rows[parent] != want {
				t.Errorf("%s: got %d of %d things, want %d", name, total[parent], rows[parent], want)
			}
		}
		check := func(name string, caller auth.Caller, all, inArt int64) {
			t.Helper()
			filter := lists.Filter{}
			filter.Hide(caller)
			for _, sort := range []lists.Sort{lists.ByNewest, lists.ByFeatured} {
				list, err := s.Lists.Things(filter, sort)
				if err != nil {
					t.Fatal(err)
				}
				count(name+", "+string(sort), list, 0, all)
			}
			count(name+", in a category", s.Lists.ThingsInCategories(caller), art.ID, inArt)
		}
		for range 2 { // with and without changes that are not folded
			for _, c := range []struct {
				name       string
				nsfw, ai   bool
				all, inArt int64
			}{{"nothing", no, no, 5, 4}, {"NSFW", yes, no, 2, 2}, {"AI", no, yes, 3, 2}, {"both", yes, yes, 1, 1}} {
				caller := ada
				caller.HidesNSFW, caller.HidesAI = c.nsfw, c.ai
				check("the owner hides "+c.name, caller, 5, 4)
				caller.UserID++
				check("another user hides "+c.name, caller, c.all, c.inArt)
			}
			if _, err := s.FoldCounts(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestChangesOfUnknownCounts checks that changes of counts that only newer versions know are
// ignored, and that malformed changes are errors.
func TestChangesOfUnknownCounts(t *testing.T) {
	n := int64(1)
	if err := models.Changes("new_count:5,thing_count:2").AddTo(map[string]*int64{"thing_count": &n}); err != nil ||
		n != 3 {
		t.Errorf("got %d, %v; want 3", n, err)
	}
	if err := models.Changes("thing_count:x").AddTo(map[string]*int64{"thing_count": &n}); err == nil {
		t.Error("a change without a number: got no error")
	}
}
