package permissions_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestReadsDuringTakedowns checks that a list of comments does not fail because the thing of one of
// them is taken down after the list was read and before the things are.
func TestReadsDuringTakedowns(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		id := ada.Thing("Lamp")
		ada.Finalize("thing", id, ada.Upload("a.stl", []byte("solid a"))).Want(t, 200)
		ada.Do("PATCH", fmt.Sprintf("/things/%d", id), servertest.Object{"description": "A lamp."}).Want(t, 200)
		ada.Publish(id).Want(t, 200)
		bob.Query(`mutation ($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "Nice."}) { comment { id } } }`, servertest.Object{"id": id}, new(any))
		var done atomic.Bool
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			for !done.Load() {
				admin.GraphQL(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "No."}) { thing { id } } restoreThing(input: {id: $id, reason: "Yes."}) { thing { id } } }`, servertest.Object{"id": id})
			}
		}()
		for range 1_000 {
			if r := bob.GraphQL(`{ comments { nodes { target { id } } } }`, nil); len(r.Errors) > 0 {
				t.Errorf("got %+v, want no errors", r.Errors)
				break
			}
		}
		done.Store(true)
		<-changed
	})
}

// TestTargetOfHiddenComment checks that the creator of a file on a comment can still query the file
// after the thing was taken down, and that the comment, which they cannot see any more, is null.
func TestTargetOfHiddenComment(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		thing := ada.Thing("Lamp")
		ada.Finalize("thing", thing, ada.Upload("a.stl", []byte("solid a"))).Want(t, 200)
		ada.Do("PATCH", fmt.Sprintf("/things/%d", thing), servertest.Object{"description": "A lamp."}).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		var comment struct{ ID int64 }
		bob.Do("POST", fmt.Sprintf("/things/%d/comments", thing), servertest.Object{"body": "Mine."}).Want(t, 200, &comment)
		file := bob.Upload("b.stl", []byte("solid b"))
		bob.Finalize("comment", comment.ID, file).Want(t, 200)
		for _, c := range []struct {
			mutation string
			visible  bool
		}{{"takeDownThing", false}, {"restoreThing", true}} {
			admin.Query(`mutation ($id: ID!) { done: `+c.mutation+`(input: {id: $id, reason: "Why."}) { thing { id } } }`,
				servertest.Object{"id": thing}, new(any))
			var got struct {
				File struct {
					Name   string
					Target *struct{ ID string }
				}
			}
			bob.Query(`query ($id: ID!) { file(id: $id) { name target { ... on Comment { id } } } }`,
				servertest.Object{"id": file}, &got)
			if got.File.Name != "b.stl" || (got.File.Target != nil) != c.visible {
				t.Errorf("after %s: got %+v, want the file, and its comment: %v", c.mutation, got.File, c.visible)
			}
		}
	})
}
