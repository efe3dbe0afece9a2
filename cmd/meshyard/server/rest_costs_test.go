package server_test

import (
	"net/http"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
)

// REST operations take what they cost from the same budget as GraphQL operations.
func TestRESTIsChargedLikeGraphQL(t *testing.T) {
	few := func(s *config.Settings) { s.RateLimit = 40 } // and a cost of 400,000
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		ada := s.User("ada")
		left := func() int {
			t.Helper()
			request := ada.Request(http.MethodPost, "/graphql", object{"query": "{ __typename }", "extensions": object{"cost": true}})
			request.Header.Set("Content-Type", "application/json")
			var said struct {
				Extensions struct{ Cost struct{ Remaining int } }
			}
			ada.Send(request).Want(t, http.StatusOK, &said)
			return said.Extensions.Cost.Remaining
		}
		before := left()
		ada.Get("/newest?per_page=100").Want(t, http.StatusOK)
		cost := before - left() - 1
		if cost < 1_000 || cost > 10_000 {
			t.Errorf("a hundred things by REST cost %d, want 1,000 to 10,000", cost)
		}
	}, few)
}

// An answer by REST is as long as one by GraphQL at most.
func TestRESTAnswersAreBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		m := newMeter(t, s)
		r := m.staff.Get("/things/1000000200/comments?per_page=100")
		if r.StatusCode != http.StatusBadRequest || len(r.Bytes) > 1_000 {
			t.Errorf("32 MiB of comments: %d with %d bytes, want 400: %.300s", r.StatusCode, len(r.Bytes), r.Bytes)
		}
		m.staff.Get("/things/1000000200/comments?per_page=30").Want(t, http.StatusOK)
	})
}
