package things_test

import (
	"context"
	"testing"
	"time"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// updated is the payload of updateThings and undoThingsUpdate.
type updated struct {
	UndoID        *string
	UndoableUntil *time.Time
	Results       []struct {
		ID    string
		Thing *struct {
			State string
			Tags  []struct{ Name string }
		}
		IsDeleted bool
		Error     *struct {
			Code, Message string
			Field         *string
			FieldCodes    []string
		}
	}
}

const updatedFields = `results { id thing { state tags { name } } isDeleted error { code message field fieldCodes } }`

func TestBulkUpdate(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		published := servertest.ID(servertest.PublishedThing(t, ada, "Vase"))
		foreign := servertest.ID(servertest.PublishedThing(t, bob, "Cup"))
		var made struct {
			CreateThing struct{ Thing struct{ ID string } }
		}
		ada.Query(`mutation { createThing(input: {name: "Draft", license: CC, category: "Art", tags: ["a"]}) { thing { id } } }`, nil, &made)
		ids := []string{published, foreign, made.CreateThing.Thing.ID}
		var v struct{ UpdateThings, UndoThingsUpdate updated }
		ada.Query(`mutation ($ids: [ID!]!) { updateThings(input: {ids: $ids, addTags: ["new"], state: UNLISTED}) { undoId undoableUntil `+updatedFields+` } }`,
			servertest.Object{"ids": ids}, &v)
		u := v.UpdateThings
		if u.UndoID == nil || u.UndoableUntil == nil || time.Until(*u.UndoableUntil) > time.Minute || len(u.Results) != 3 {
			t.Fatalf("got %+v", u)
		}
		if r := u.Results[0]; r.Error != nil || r.Thing == nil || r.Thing.State != "UNLISTED" || len(r.Thing.Tags) != 1 {
			t.Errorf("own thing: got %+v", r)
		}
		if r := u.Results[1]; r.Thing != nil || r.Error == nil || r.Error.Code != "NOT_FOUND" ||
			r.Error.Message != "thing "+foreign+" does not exist" {
			t.Errorf("thing of another user: got %+v", r.Error)
		}
		if r := u.Results[2]; r.Thing != nil || r.Error == nil || r.Error.Code != "BAD_USER_INPUT" ||
			len(r.Error.FieldCodes) != 2 || r.Error.FieldCodes[0] != "DESCRIPTION_REQUIRED" {
			t.Errorf("draft: got %+v", r.Error)
		}

		undo := `mutation ($id: ID!) { undoThingsUpdate(input: {id: $id}) { ` + updatedFields + ` } }`
		if got := bob.GraphQL(undo, servertest.Object{"id": *u.UndoID}).Code(); got != "NOT_FOUND" {
			t.Errorf("undo by another user: got %s", got)
		}
		ada.Query(undo, servertest.Object{"id": *u.UndoID}, &v)
		if r := v.UndoThingsUpdate.Results; len(r) != 1 || r[0].Thing == nil || r[0].Thing.State != "PUBLISHED" ||
			len(r[0].Thing.Tags) != 0 {
			t.Errorf("undo: got %+v", r)
		}
		if got := ada.GraphQL(undo, servertest.Object{"id": *u.UndoID}).Code(); got != "CONFLICT" {
			t.Errorf("undo again: got %s", got)
		}
	})
}

// TestBulkDeletion checks that deleted things are hidden at once, are in no list of the owner, and
// are deleted by a job after the time in which the deletion can be undone.
func TestBulkDeletion(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		id := servertest.ID(servertest.PublishedThing(t, ada, "Vase"))
		var v struct{ UpdateThings updated }
		ada.Query(`mutation ($ids: [ID!]!) { updateThings(input: {ids: $ids, delete: true}) { undoId `+updatedFields+` } }`,
			servertest.Object{"ids": []string{id}}, &v)
		if r := v.UpdateThings.Results[0]; !r.IsDeleted || r.Thing != nil || r.Error != nil {
			t.Errorf("got %+v", r)
		}
		var lists struct {
			Me     struct{ Things, Drafts struct{ TotalCount int } }
			Things struct{ TotalCount int }
		}
		ada.Query(`{ me { things { totalCount } drafts { totalCount } } things { totalCount } }`, nil, &lists)
		if lists.Me.Things.TotalCount+lists.Me.Drafts.TotalCount+lists.Things.TotalCount != 0 {
			t.Errorf("lists contain the deleted thing: %+v", lists)
		}
		db := servertest.OpenDB(t, s)
		if _, err := db.Write.NewRaw("UPDATE bulk_updates SET expires_at = ?", models.Now().Add(-time.Second)).
			Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Store.Bulk.Finish(context.Background(), servertest.Atoi(t, *v.UpdateThings.UndoID)); err != nil {
			t.Fatal(err)
		}
		ada.Get("/things/"+id).Want(t, 404)
	})
}
