package graphql_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestUpdatedComment checks that updatedAt of a comment differs from createdAt only after its
// creator has changed it, also if it was hidden as spam and restored.
func TestUpdatedComment(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		type comment struct{ ID, CreatedAt, UpdatedAt string }
		change := func(c *servertest.Client, mutation string, variables servertest.Object) comment {
			var v struct{ Payload struct{ Comment comment } }
			c.Query(`mutation ($id: ID!) { payload: `+mutation+` { comment { id createdAt updatedAt } } }`, variables, &v)
			return v.Payload.Comment
		}
		made := change(bob, `createComment(input: {target: {type: THING, id: $id}, body: "Nice."})`,
			servertest.Object{"id": servertest.ID(servertest.PublishedThing(t, ada, "Vase"))})
		if made.UpdatedAt != made.CreatedAt {
			t.Errorf("new: updated at %s, want %s", made.UpdatedAt, made.CreatedAt)
		}
		id := servertest.Object{"id": made.ID}
		change(admin, `reportSpam(input: {id: $id})`, id)
		if got := change(admin, `restoreComment(input: {id: $id})`, id); got != made {
			t.Errorf("restored: got %+v, want %+v", got, made)
		}
		edited := change(bob, `updateComment(input: {id: $id, body: "Very nice."})`, id)
		if edited.CreatedAt != made.CreatedAt || edited.UpdatedAt <= made.UpdatedAt {
			t.Errorf("edited: got %+v, want a later updatedAt than that of %+v", edited, made)
		}
		change(admin, `reportSpam(input: {id: $id})`, id)
		if got := change(admin, `restoreComment(input: {id: $id})`, id); got != edited {
			t.Errorf("edited and restored: got %+v, want %+v", got, edited)
		}
	})
}

// TestUpdatedMake checks that updatedAt of a make differs from createdAt only after the make or its
// list of files has changed.
func TestUpdatedMake(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		var made struct {
			CreateMake struct {
				Make struct{ ID, CreatedAt, UpdatedAt string }
			}
		}
		bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id createdAt updatedAt } } }`,
			servertest.Object{"id": servertest.ID(servertest.PublishedThing(t, ada, "Vase"))}, &made)
		last := made.CreateMake.Make
		if last.UpdatedAt != last.CreatedAt {
			t.Errorf("new: updated at %s, want %s", last.UpdatedAt, last.CreatedAt)
		}
		png := servertest.Mesh(t, "lib3mf_thumbnail.png")
		ids := strings.NewReplacer("$make", last.ID, "$a", servertest.ID(bob.Upload("a.png", png)), "$b",
			servertest.ID(bob.Upload("b.png", png)))
		for _, c := range []struct {
			caller   *servertest.Client
			mutation string
			changes  bool
		}{
			{ada, `likeMake(input: {id: $make})`, false},
			{ada, `createComment(input: {target: {type: MAKE, id: $make}, body: "Nice."})`, false},
			{bob, `updateMake(input: {id: $make, name: "Blue vase"})`, true},
			{bob, `finalizeFiles(input: {target: {type: MAKE, id: $make}, files: [{id: $a}, {id: $b}]})`, true},
			{bob, `updateFile(input: {id: $a, note: "At night"})`, true},
			{bob, `updateImage(input: {id: $b, isDefault: true})`, true},
			{bob, `reorderFiles(input: {target: {type: MAKE, id: $make}, fileIds: [$a]})`, true},
			{bob, `deleteImage(input: {id: $a})`, true},
		} {
			c.caller.Query(`mutation { `+ids.Replace(c.mutation)+` { __typename } }`, nil, new(any))
			var v struct {
				Make struct{ ID, CreatedAt, UpdatedAt string }
			}
			bob.Query(`query ($id: ID!) { make(id: $id) { id createdAt updatedAt } }`, servertest.Object{"id": last.ID}, &v)
			if v.Make.CreatedAt != last.CreatedAt || (v.Make.UpdatedAt != last.UpdatedAt) != c.changes {
				t.Errorf("%s: changed from %+v to %+v, want another updatedAt: %t", c.mutation, last, v.Make, c.changes)
			}
			last = v.Make
		}
	})
}
