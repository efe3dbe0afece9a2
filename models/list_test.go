package models

import (
	"reflect"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// TestPreparedLists checks that the prepared statements of lists return the wanted number of
// entries, and the same for one parent as for several, for two callers.
func TestPreparedLists(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		other, err := s.Admin().CreateUser(ctx, "ben", false)
		must(err)
		ben := auth.Caller{UserID: other.ID}
		other, err = s.Admin().CreateUser(ctx, "eve", false)
		must(err)
		eve := auth.Caller{UserID: other.ID}
		first, _ := published(t, s, ada)
		second, _ := published(t, s, ben)
		draft, err := s.CreateThing(ctx, ada, NewThing{Name: "draft", License: CC, Category: "Art"})
		must(err)
		var things []int64
		for range 4 {
			remix, err := s.CreateThing(ctx, ada, NewThing{Name: "a", Description: "a", License: CC, Category: "Art", Tags: []string{"gear"}, AncestorIDs: []int64{first.ID, second.ID, draft.ID}})
			must(err)
			f, err := s.Upload(ctx, ada, NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
			must(err)
			_, err = s.Finalize(ctx, ada, []FinalizeFile{{ID: f.ID}}, Target{OnThing, remix.ID})
			must(err)
			_, err = s.PublishThing(ctx, ada, remix.ID, Published)
			must(err)
			things = append(things, remix.ID)
		}
		tags, err := s.TagsOf(ctx, things[:1])
		must(err)
		album, err := s.CreateCollection(ctx, ada, NewCollection{Name: "a", Visibility: PublicCollection})
		must(err)
		_, err = s.MoveThings(ctx, ada, MoveThings{CollectionID: album.ID, ThingIDs: things})
		must(err)
		var comment, makeID int64
		for i, id := range append(things, first.ID, first.ID) {
			c, err := s.CreateComment(ctx, ben, NewComment{Target: &Target{OnThing, id}, Body: "a"})
			must(err)
			for range 3 {
				_, err = s.CreateComment(ctx, ada, NewComment{ParentID: &c.ID, Body: "b"})
				must(err)
			}
			for range 3 {
				m, _, err := s.CreateMake(ctx, ben, NewMake{ThingID: first.ID})
				must(err)
				makeID = m.ID
			}
			comment = c.ID
			if i < len(things) {
				must(s.Like(ctx, eve, Target{OnThing, id}))
				must(s.Like(ctx, ben, Target{OnThing, id}))
				must(s.Watch(ctx, ben, Target{OnThing, id}))
			}
		}
		_, err = s.CreateComment(ctx, ben, NewComment{Target: &Target{OnMake, makeID}, Body: "a"})
		must(err)
		_, err = s.Follow(ctx, ben, "ada")
		must(err)
		watched, err := s.WatchedThings(ben, ben.UserID)
		must(err)
		for name, c := range map[string]struct {
			list   List
			parent int64
			want   int64
		}{
			"remixes":               {s.Remixes(), first.ID, 4},
			"ancestors of ada":      {s.Ancestors(ada), things[0], 3},
			"ancestors of ben":      {s.Ancestors(ben), things[0], 2},
			"things with a tag":     {s.ThingsWithTags(ada), tags[things[0]][0].ID, 4},
			"things of users":       {s.ThingsOfUsers(ben), ada.UserID, 5},
			"own things":            {s.ThingsOfUsers(ada), ada.UserID, 6},
			"collections of users":  {s.CollectionsOf(ben), ada.UserID, 1},
			"own collections":       {s.CollectionsOf(ada), ada.UserID, 1},
			"makes of users":        {s.MakesOfUsers(ada), ben.UserID, 18},
			"things in categories":  {s.ThingsInCategories(ada), first.CategoryID, 6},
			"things in collections": {s.CollectedThings(), album.ID, 4},
			"comments on things":    {s.CommentsOn(OnThing, false), first.ID, 8},
			"root comments":         {s.CommentsOn(OnThing, true), first.ID, 2},
			"comments on makes":     {s.CommentsOn(OnMake, false), makeID, 1},
			"replies":               {s.Replies(), comment, 3},
			"followers":             {s.Followers(), ada.UserID, 1},
			"following":             {s.Following(), ben.UserID, 1},
			"likers":                {s.Likers(OnThing), things[0], 2},
			"liked things":          {s.LikedThings(), ben.UserID, 4},
			"makes of things":       {s.MakesOfThings(), first.ID, 18},
			"watched things":        {watched, ben.UserID, 4},
		} {
			if c.list.Name == "" {
				t.Errorf("%s: the list is not prepared", name)
			}
			parents := []int64{1 << 40, c.parent} // the first one does not exist
			for id := range int64(9) {
				if id != c.parent {
					parents = append(parents, id)
				}
			}
			counted, err := c.list.Count(ctx, []int64{c.parent})
			must(err)
			same, err := c.list.Count(ctx, parents)
			must(err)
			if counted[c.parent] != c.want || same[c.parent] != c.want {
				t.Errorf("%s: counted %d, and %d among others, want %d", name, counted[c.parent], same[c.parent], c.want)
			}
			all, err := c.list.Page(ctx, []int64{c.parent}, database.Slice{First: 100})
			must(err)
			if got := len(all[c.parent].Entries); got != int(c.want) {
				t.Fatalf("%s: %d entries, want %d", name, got, c.want)
			}
			first, last := &all[c.parent].Entries[0].Position, &all[c.parent].Entries[c.want-1].Position
			for _, part := range []database.Slice{{First: 100}, {First: 2}, {First: 2, Offset: 1}, {First: 2, Offset: 2}, {Last: 2}, {First: 2, After: first}, {Last: 2, Before: last}, {First: 9, After: first, Before: last}} {
				among, err := c.list.Page(ctx, parents, part)
				must(err)
				if entries := all[c.parent].Entries; part.Offset > 0 {
					from := min(int(part.Offset), len(entries))
					want := entries[from:min(from+part.First, len(entries))]
					if got := among[c.parent].Entries; len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
						t.Errorf("%s, %+v: %+v, want %+v", name, part, got, want)
					}
				}
				for _, parent := range parents {
					alone, err := c.list.Page(ctx, []int64{parent}, part)
					must(err)
					if !reflect.DeepEqual(alone[parent], among[parent]) {
						t.Errorf("%s, parent %d, %+v: %+v alone, %+v among others", name, parent, part, alone[parent], among[parent])
					}
				}
			}
		}
	})
}

// TestCountsWithBounds counts a list with and without a bound, as the list of collections and a
// search without words do. Their prepared statements differ.
func TestCountsWithBounds(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		for range 3 {
			if _, err := s.CreateCollection(t.Context(), ada, NewCollection{Name: "a", Visibility: PublicCollection}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := s.FindCollections(Filter{}, ByNewest)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ bound, want int64 }{{2, 2}, {0, 3}, {1, 1}, {2, 2}} {
			if n, err := list.Bounded(c.bound).Count(t.Context(), []int64{1}); n[1] != c.want || err != nil {
				t.Errorf("with the bound %d: %d, want %d (%v)", c.bound, n[1], c.want, err)
			}
		}
	})
}
