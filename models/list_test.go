package models_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/uploads"
)

// parentList is a list, one of its parents, and how many entries that parent has.
type parentList struct {
	list   models.List
	parent int64
	want   int64
	page   func(t *testing.T, parents []int64, part models.Slice) map[int64]positions
}

// positions are the positions on a page, each with the ID of its node.
type positions struct {
	entries []position
	more    bool
}

type position struct {
	models.Position
	node int64
}

// listOf returns a list whose nodes are in a table.
func listOf[T any](s *catalogue.Catalogue, nodes *database.Table[T], list models.List, parent, want int64) parentList {
	return parentList{list: list, parent: parent, want: want, page: func(t *testing.T, parents []int64,
		part models.Slice) map[int64]positions {
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
				p.entries = append(p.entries, position{Position: e.Position, node: id})
			}
			found[parent] = p
		}
		return found
	}}
}

// TestPreparedLists checks that the prepared statements of lists return the wanted number of
// entries, and the same for one parent as for several, for two callers.
func TestPreparedLists(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
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
func preparedLists(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) map[string]parentList {
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
	first, _ := cataloguetest.Published(t, s, ada)
	second, _ := cataloguetest.Published(t, s, ben)
	draft, err := s.CreateThing(ctx, ada, models.NewThing{Name: "draft", License: models.CC, Category: "Art"})
	must(err)
	var thingIDs []int64
	for range 4 {
		remix, err := s.CreateThing(ctx, ada, models.NewThing{Name: "a", Description: "a", License: models.CC,
			Category: "Art", Tags: []string{"gear"}, AncestorIDs: []int64{first.ID, second.ID, draft.ID}})
		must(err)
		f, err := s.Uploads.Upload(ctx, ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
		must(err)
		_, err = s.Finalize(ctx, ada, []models.FinalizeFile{{ID: f.ID}}, models.Target{Type: models.OnThing, ID: remix.ID})
		must(err)
		_, err = s.PublishThing(ctx, ada, remix.ID, models.Published)
		must(err)
		thingIDs = append(thingIDs, remix.ID)
	}
	tagsOfFirst, err := s.TagsOf(ctx, models.AllTagFields, thingIDs[:1])
	must(err)
	album, err := s.Collections.CreateCollection(ctx, ada, collections.NewCollection{Name: "a",
		Visibility: models.PublicCollection})
	must(err)
	_, err = s.Collections.MoveThings(ctx, ada, collections.MoveThings{CollectionID: album.ID, ThingIDs: thingIDs})
	must(err)
	var comment, makeID int64
	for i, id := range append(thingIDs, first.ID, first.ID) {
		c, err := s.Comments.CreateComment(ctx, ben, comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: id},
			Body: "a"})
		must(err)
		for range 3 {
			_, err = s.Comments.CreateComment(ctx, ada, comments.NewComment{ParentID: &c.ID, Body: "b"})
			must(err)
		}
		for range 3 {
			m, _, err := s.Makes.CreateMake(ctx, ben, makes.NewMake{ThingID: first.ID})
			must(err)
			makeID = m.ID
		}
		comment = c.ID
		if i < len(thingIDs) {
			must(s.Social.Like(ctx, eve, models.Target{Type: models.OnThing, ID: id}))
			must(s.Social.Like(ctx, ben, models.Target{Type: models.OnThing, ID: id}))
			must(s.Social.Watch(ctx, ben, models.Target{Type: models.OnThing, ID: id}))
		}
	}
	_, err = s.Comments.CreateComment(ctx, ben,
		comments.NewComment{Target: &models.Target{Type: models.OnMake, ID: makeID}, Body: "a"})
	must(err)
	_, err = s.Social.Follow(ctx, ben, "ada")
	must(err)
	watched, err := s.Social.WatchedThings(ben, ben.UserID)
	must(err)
	return map[string]parentList{
		"remixes":               listOf(s, models.ThingTable, s.Lists.Remixes(ben), first.ID, 4),
		"ancestors of ada":      listOf(s, models.ThingTable, s.Ancestors(ada), thingIDs[0], 3),
		"ancestors of ben":      listOf(s, models.ThingTable, s.Ancestors(ben), thingIDs[0], 2),
		"things with a tag":     listOf(s, models.ThingTable, s.Lists.ThingsWithTags(ada), tagsOfFirst[thingIDs[0]][0].ID, 4),
		"things of users":       listOf(s, models.ThingTable, s.Lists.ThingsOfUsers(ben), ada.UserID, 5),
		"own things":            listOf(s, models.ThingTable, s.Lists.ThingsOfUsers(ada), ada.UserID, 6),
		"collections of users":  listOf(s, models.CollectionTable, s.Lists.CollectionsOf(ben), ada.UserID, 1),
		"own collections":       listOf(s, models.CollectionTable, s.Lists.CollectionsOf(ada), ada.UserID, 1),
		"makes of users":        listOf(s, models.MakeTable, s.Lists.MakesOfUsers(ada), ben.UserID, 18),
		"things in categories":  listOf(s, models.ThingTable, s.Lists.ThingsInCategories(ada), first.CategoryID, 6),
		"things in collections": listOf(s, models.ThingTable, s.Lists.CollectedThings(), album.ID, 4),
		"comments on things":    listOf(s, models.CommentTable, s.Lists.CommentsOn(models.OnThing, false), first.ID, 8),
		"root comments":         listOf(s, models.CommentTable, s.Lists.CommentsOn(models.OnThing, true), first.ID, 2),
		"comments on makes":     listOf(s, models.CommentTable, s.Lists.CommentsOn(models.OnMake, false), makeID, 1),
		"replies":               listOf(s, models.CommentTable, s.Lists.Replies(), comment, 3),
		"followers":             listOf(s, models.UserTable, s.Social.Followers(), ada.UserID, 1),
		"following":             listOf(s, models.UserTable, s.Social.Following(), ben.UserID, 1),
		"likers":                listOf(s, models.UserTable, s.Social.Likers(models.OnThing), thingIDs[0], 2),
		"liked things":          listOf(s, models.ThingTable, s.Social.LikedThings(), ben.UserID, 4),
		"makes of things":       listOf(s, models.MakeTable, s.Lists.MakesOfThings(), first.ID, 18),
		"watched things":        listOf(s, models.ThingTable, watched, ben.UserID, 4),
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
	page := func(ids []int64, part models.Slice) map[int64]positions { return c.page(t, ids, part) }
	all := page([]int64{c.parent}, models.Slice{First: 100})[c.parent].entries
	if len(all) != int(c.want) {
		t.Fatalf("%s: got %d entries, want %d", name, len(all), c.want)
	}
	first, last := &all[0].Position, &all[c.want-1].Position
	for _, part := range []models.Slice{{First: 100}, {First: 2}, {First: 2, Offset: 1}, {First: 2, Offset: 2}, {Last: 2},
		{First: 2, After: first}, {Last: 2, Before: last}, {First: 9, After: first, Before: last}} {
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
				t.Errorf("%s, parent %d, %+v: got %+v among others, want %+v as alone", name, parent, part, among[parent],
					alone[parent])
			}
		}
	}
}

// TestCountsWithBounds counts a list with and without a bound, as the list of collections and a
// search without words do. Their prepared statements differ.
func TestCountsWithBounds(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		for range 3 {
			if _, err := s.Collections.CreateCollection(t.Context(), ada, collections.NewCollection{Name: "a",
				Visibility: models.PublicCollection}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := s.Lists.FindCollections(lists.Filter{}, lists.ByNewest)
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
