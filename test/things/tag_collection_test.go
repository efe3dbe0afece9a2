package things_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestTagsAgainstCollector checks that clients can add and remove tags while the collector removes
// the unused ones: each request succeeds, and each thing keeps its last tags.
func TestTagsAgainstCollector(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		const clients, rounds = 4, 15
		things := make([]int64, clients)
		for i := range things {
			things[i] = ada.Thing(fmt.Sprint("Thing ", i))
		}
		done := make(chan struct{})
		collected := make(chan error, 1)
		go func() {
			var err error
			for err == nil {
				select {
				case <-done:
					collected <- err
					return
				default:
					_, err = s.Store.Maintenance.CollectGarbage(context.Background(), 0, false)
				}
			}
			collected <- err
		}()
		// The clients use the same few tags, so that each is often used by no thing.
		servertest.Together(clients, func(i int) bool {
			for round := range rounds {
				tags := []string{fmt.Sprint("tag ", (round+i)%3), fmt.Sprint("tag ", (round+i+1)%3)}
				if round%2 == 1 {
					tags = []string{}
				}
				r := ada.Do("PATCH", fmt.Sprint("/things/", things[i]), servertest.Object{"tags": tags})
				var of struct {
					Thing struct{ Tags []struct{ Name string } }
				}
				ada.Query(`query ($id: ID!) { thing(id: $id) { tags { name } } }`,
					servertest.Object{"id": servertest.ID(things[i])}, &of)
				var got []string
				for _, g := range of.Thing.Tags {
					got = append(got, g.Name)
				}
				if r.StatusCode != 200 || !slices.Equal(got, tags) && len(got)+len(tags) > 0 {
					t.Errorf("client %d, round %d: status %d, tags %q, want %q: %.200s", i, round, r.StatusCode, got, tags, r.Bytes)
				}
			}
			return true
		})
		close(done)
		if err := <-collected; err != nil {
			t.Errorf("the collector: %v", err)
		}
		if changed, err := s.Store.Maintenance.Recount(context.Background()); changed != 0 || err != nil {
			t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
		}
	})
}
