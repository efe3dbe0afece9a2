package server_test

import (
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// TestUpdatedComment checks that updatedAt of a comment differs from createdAt only after its
// creator has changed it, also if it was hidden as spam and restored.
func TestUpdatedComment(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, staff := s.User("ada"), s.User("bob"), s.Staff()
		type comment struct{ ID, CreatedAt, UpdatedAt string }
		change := func(c *servertest.Client, mutation string, variables object) comment {
			var v struct{ Payload struct{ Comment comment } }
			c.Query(`mutation ($id: ID!) { payload: `+mutation+` { comment { id createdAt updatedAt } } }`, variables, &v)
			return v.Payload.Comment
		}
		made := change(bob, `createComment(input: {target: {type: THING, id: $id}, body: "Nice."})`, object{"id": servertest.ID(publishedThing(t, ada, "Vase"))})
		if made.UpdatedAt != made.CreatedAt {
			t.Errorf("new: updated at %s, want %s", made.UpdatedAt, made.CreatedAt)
		}
		id := object{"id": made.ID}
		change(staff, `reportSpam(input: {id: $id})`, id)
		if got := change(staff, `restoreComment(input: {id: $id})`, id); got != made {
			t.Errorf("restored: got %+v, want %+v", got, made)
		}
		edited := change(bob, `updateComment(input: {id: $id, body: "Very nice."})`, id)
		if edited.CreatedAt != made.CreatedAt || edited.UpdatedAt <= made.UpdatedAt {
			t.Errorf("edited: got %+v, want a later updatedAt than that of %+v", edited, made)
		}
		change(staff, `reportSpam(input: {id: $id})`, id)
		if got := change(staff, `restoreComment(input: {id: $id})`, id); got != edited {
			t.Errorf("edited and restored: got %+v, want %+v", got, edited)
		}
	})
}
