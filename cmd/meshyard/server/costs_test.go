package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
)

// REST operations take what they cost from the same budget as GraphQL operations, and what is beyond
// it is refused in the shape of each.
func TestRESTIsChargedLikeGraphQL(t *testing.T) {
	few := func(s *config.Settings) { s.RateLimit = 12 } // and a cost of 120,000
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
		if cost < 1_000 {
			t.Errorf("a hundred things by REST cost %d, want at least 1,000", cost)
		}
		before = left()
		ada.Get("/newest?per_page=50").Want(t, http.StatusOK)
		if half := before - left() - 1; half < cost/3 || half > cost*2/3 {
			t.Errorf("fifty things cost %d, and a hundred %d", half, cost)
		}
		ada.Get("/users/me/downloads?per_page=75").Want(t, http.StatusOK) // whole things: most of what is left
		var said struct{ Message string }
		r := ada.Get("/users/me/downloads?per_page=75").Want(t, http.StatusTooManyRequests, &said)
		if !strings.Contains(said.Message, "costs") || r.Header.Get("Retry-After") == "" {
			t.Errorf("refused with %q and Retry-After %q", said.Message, r.Header.Get("Retry-After"))
		}
		if got := ada.GraphQL("{ things(first: 100) { nodes { files(first: 400) { id } } } }", nil); got.Code() != "RATE_LIMITED" {
			t.Errorf("GraphQL after that: %q, want RATE_LIMITED", got.Code())
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
