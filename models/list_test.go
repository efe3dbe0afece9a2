package models

import (
	"reflect"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// parentList is a list, one of its parents, and how many entries that parent has.
type parentList struct {
	list   List
	parent int64
	want   int64
	page   func(t *testing.T, parents []int64, part Slice) map[int64]positions
}

// positions are the positions on a page, each with the ID of its node.
type positions struct {
	entries []position
	more    bool
}

type position struct {
	Position
	node int64
}

// listOf returns a list whose nodes are in a table.
func listOf[T any](s *Store, nodes *database.Table[T], list List, parent, want int64) parentList {
	return parentList{list, parent, want, func(t *testing.T, parents []int64, part Slice) map[int64]positions {
		t.Helper()
		pages, err := nodes.Pages(t.Context(), list, list.Caller, nodes.All(), parents, part)
		if err != nil {
			t.Fatalf("%+v: %v", part, err)
		}
		found := make(map[int64]positions)
		for parent, page := range pages {
			p := positions{more: page.More}
			for _, e := range page.Entries {
				id, _ := nodes.ID(e.Node)
				p.entries = append(p.entries, position{e.Position, id})
			}
			found[parent] = p
		}
		return found
	}}
}

// TestPreparedLists checks that the prepared statements of lists return the wanted number of
// entries, and the same for one parent as for several, for two callers.
func TestPreparedLists(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		for name, c := range preparedLists(t, s, ada) {
			if _, once := c.list.Rows.(database.RowsFunc); once {
				t.Errorf("%s: the list is not prepared", name)
			}
			parents := []int64{1 << 40, c.parent} // the first one does not exist
			for id := range int64(9) {
				if id != c.parent {
					parents = append(parents, id)
				}
			}
			c.checkCounts(t, name, parents)
			c.checkPages(t, name, parents)
		}
	})
}

// preparedLists creates objects of all kinds, and returns all lists that have prepared statements.
func preparedLists(t *testing.T, s *Store, ada auth.Caller) map[string]parentList {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	user := func(name string) auth.Caller {
		t.Helper()
		u, err := s.Admin().CreateUser(ctx, name, false)
		must(err)
		return auth.Caller{UserID: u.ID}
	}
	ben, eve := user("ben"), user("eve")
	first, _ := published(t, s, ada)
	second, _ := published(t, s, ben)
	draft, err := s.CreateThing(ctx, ada, NewThing{Name: "draft", License: CC, Category: "Art"})
	must(err)
	var thingIDs []int64
	for range 4 {
		remix, err := s.CreateThing(ctx, ada, NewThing{Name: "a", Description: "a", License: CC, Category: "Art", Tags: []string{"gear"}, AncestorIDs: []int64{first.ID, second.ID, draft.ID}})
		must(err)
		f, err := s.Upload(ctx, ada, NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
		must(err)
		_, err = s.Finalize(ctx, ada, []FinalizeFile{{ID: f.ID}}, Target{OnThing, remix.ID})
		must(err)
		_, err = s.PublishThing(ctx, ada, remix.ID, Published)
		must(err)
		thingIDs = append(thingIDs, remix.ID)
	}
	tagsOfFirst, err := s.TagsOf(ctx, AllTagFields, thingIDs[:1])
	must(err)
	album, err := s.CreateCollection(ctx, ada, NewCollection{Name: "a", Visibility: PublicCollection})
	must(err)
	_, err = s.MoveThings(ctx, ada, MoveThings{CollectionID: album.ID, ThingIDs: thingIDs})
	must(err)
	var comment, makeID int64
	for i, id := range append(thingIDs, first.ID, first.ID) {
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
		if i < len(thingIDs) {
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
	return map[string]parentList{
		"remixes":               listOf(s, things, s.Remixes(ben), first.ID, 4),
		"ancestors of ada":      listOf(s, things, s.Ancestors(ada), thingIDs[0], 3),
		"ancestors of ben":      listOf(s, things, s.Ancestors(ben), thingIDs[0], 2),
		"things with a tag":     listOf(s, things, s.ThingsWithTags(ada), tagsOfFirst[thingIDs[0]][0].ID, 4),
		"things of users":       listOf(s, things, s.ThingsOfUsers(ben), ada.UserID, 5),
		"own things":            listOf(s, things, s.ThingsOfUsers(ada), ada.UserID, 6),
		"collections of users":  listOf(s, collections, s.CollectionsOf(ben), ada.UserID, 1),
		"own collections":       listOf(s, collections, s.CollectionsOf(ada), ada.UserID, 1),
		"makes of users":        listOf(s, makes, s.MakesOfUsers(ada), ben.UserID, 18),
		"things in categories":  listOf(s, things, s.ThingsInCategories(ada), first.CategoryID, 6),
		"things in collections": listOf(s, things, s.CollectedThings(), album.ID, 4),
		"comments on things":    listOf(s, comments, s.CommentsOn(OnThing, false), first.ID, 8),
		"root comments":         listOf(s, comments, s.CommentsOn(OnThing, true), first.ID, 2),
		"comments on makes":     listOf(s, comments, s.CommentsOn(OnMake, false), makeID, 1),
		"replies":               listOf(s, comments, s.Replies(), comment, 3),
		"followers":             listOf(s, users, s.Followers(), ada.UserID, 1),
		"following":             listOf(s, users, s.Following(), ben.UserID, 1),
		"likers":                listOf(s, users, s.Likers(OnThing), thingIDs[0], 2),
		"liked things":          listOf(s, things, s.LikedThings(), ben.UserID, 4),
		"makes of things":       listOf(s, makes, s.MakesOfThings(), first.ID, 18),
		"watched things":        listOf(s, things, watched, ben.UserID, 4),
	}
}

// checkCounts counts the entries of the parent, alone and among others.
func (c parentList) checkCounts(t *testing.T, name string, parents []int64) {
	t.Helper()
	for _, ids := range [][]int64{{c.parent}, parents} {
		counted, err := c.list.Count(t.Context(), ids)
		if err != nil || counted[c.parent] != c.want {
			t.Errorf("%s: counted %d for one of %d parents, want %d (%v)", name, counted[c.parent], len(ids), c.want, err)
		}
	}
}

// checkPages reads several parts of the list, of all parents together and of each one alone.
func (c parentList) checkPages(t *testing.T, name string, parents []int64) {
	t.Helper()
	page := func(ids []int64, part Slice) map[int64]positions { return c.page(t, ids, part) }
	all := page([]int64{c.parent}, Slice{First: 100})[c.parent].entries
	if len(all) != int(c.want) {
		t.Fatalf("%s: got %d entries, want %d", name, len(all), c.want)
	}
	first, last := &all[0].Position, &all[c.want-1].Position
	for _, part := range []Slice{{First: 100}, {First: 2}, {First: 2, Offset: 1}, {First: 2, Offset: 2}, {Last: 2}, {First: 2, After: first}, {Last: 2, Before: last}, {First: 9, After: first, Before: last}} {
		among := page(parents, part)
		if part.Offset > 0 {
			from := min(int(part.Offset), len(all))
			want := all[from:min(from+part.First, len(all))]
			if got := among[c.parent].entries; len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %+v: got %+v, want %+v", name, part, got, want)
			}
		}
		for _, parent := range parents {
			if alone := page([]int64{parent}, part); !reflect.DeepEqual(alone[parent], among[parent]) {
				t.Errorf("%s, parent %d, %+v: got %+v among others, want %+v as alone", name, parent, part, among[parent], alone[parent])
			}
		}
	}
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
