package server_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// TestReadsDuringTakedowns checks that a list of comments does not fail because the thing of one of
// them is taken down after the list was read and before the things are.
func TestReadsDuringTakedowns(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		id := ada.Thing("Lamp")
		ada.Finalize("thing", id, ada.Upload("a.stl", []byte("solid a"))).Want(t, 200)
		ada.Do("PATCH", fmt.Sprintf("/things/%d", id), object{"description": "A lamp."}).Want(t, 200)
		ada.Publish(id).Want(t, 200)
		bob.Query(`mutation ($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "Nice."}) { comment { id } } }`, object{"id": id}, new(any))
		var done atomic.Bool
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			for !done.Load() {
				admin.GraphQL(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "No."}) { thing { id } } restoreThing(input: {id: $id, reason: "Yes."}) { thing { id } } }`, object{"id": id})
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
