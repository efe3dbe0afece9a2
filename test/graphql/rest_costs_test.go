package graphql_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// budgetLeft returns the cost that a caller may still spend.
func budgetLeft(t *testing.T, c *servertest.Client) int {
	t.Helper()
	request := c.Request(http.MethodPost, "/graphql", servertest.Object{"query": "{ __typename }",
		"extensions": servertest.Object{"cost": true}})
	request.Header.Set("Content-Type", "application/json")
	var said struct {
		Extensions struct{ Cost struct{ Remaining int } }
	}
	c.Send(request).Want(t, http.StatusOK, &said)
	return said.Extensions.Cost.Remaining
}

// TestRESTIsChargedLikeGraphQL checks that a REST request charges the cost of its operation once to
// the same budget as GraphQL, but at most 10,000.
func TestRESTIsChargedLikeGraphQL(t *testing.T) {
	few := func(s *config.Settings) { s.RateLimit = 40 } // a budget of 400,000
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		ada, anonymous := s.User("ada"), s.Client("")
		thing := ada.Thing("Fox")
		charged := func(c *servertest.Client, path string, status int) int {
			t.Helper()
			before := budgetLeft(t, c)
			c.Get(path).Want(t, status)
			return before - budgetLeft(t, c) - 1
		}
		if cost := charged(ada, "/newest?per_page=100", http.StatusOK); cost < 1_000 || cost > 10_000 {
			t.Errorf("100 things cost %d, want 1,000 to 10,000", cost)
		}
		if cost := charged(ada, "/users/me/things?per_page=100", http.StatusOK); cost != 10_000 {
			t.Errorf("100 things with their files and texts cost %d, want 10,000", cost)
		}
		// An invalid cursor is ignored and the operation runs again without it, which must not be
		// charged.
		const newest = "/users/me/likes?per_page=2"
		if valid, invalid := charged(ada, newest, http.StatusOK),
			charged(ada, newest+"&after=x", http.StatusOK); valid != invalid {
			t.Errorf("with an invalid cursor the request costs %d, want %d", invalid, valid)
		}
		image := fmt.Sprintf("/things/%d/images/1", thing)
		known, unknown := charged(ada, image, http.StatusNotFound), charged(anonymous, image, http.StatusUnauthorized)
		if known != unknown {
			t.Errorf("without a token an image costs %d, want %d", unknown, known)
		}
		const dear, costs = "{things(first:100){nodes{creator{things(first:100){nodes{id name}}}}}}", 31_311
		left := budgetLeft(t, anonymous)
		for ; left >= costs; left -= costs {
			servertest.Asked(anonymous, servertest.Object{"query": dear})
		}
		for ; left >= unknown; left -= min(90, left/211) * 211 {
			lists := strings.Builder{}
			for i := range min(90, left/211) {
				fmt.Fprintf(&lists, "a%d:things(first:100){nodes{id}} ", i)
			}
			servertest.Asked(anonymous, servertest.Object{"query": "{" + lists.String() + "}"})
		}
		anonymous.Get(image).Want(t, http.StatusTooManyRequests)
	}, few)
}

// TestRESTResponsesAreBounded checks that the size limit of GraphQL responses also applies to REST,
// and that the JSON of REST, which escapes more characters, has at most 20 MiB.
func TestRESTResponsesAreBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		m := newMeter(t, s)
		r := m.admin.Get("/things/1000000200/comments?per_page=100")
		if r.StatusCode != http.StatusBadRequest || len(r.Bytes) > 1_000 {
			t.Errorf("32 MiB of comments: %d with %d bytes, want 400: %.300s", r.StatusCode, len(r.Bytes), r.Bytes)
		}
		r = m.admin.Get("/things/1000000200/comments?per_page=30")
		if r.StatusCode != http.StatusBadRequest ||
			!strings.Contains(string(r.Bytes), "exceeds 20 MiB: request a shorter page with per_page") {
			t.Errorf("30 comments: %d with %d bytes, want 400: %.300s", r.StatusCode, len(r.Bytes), r.Bytes)
		}
		m.admin.Get("/things/1000000200/comments?per_page=15").Want(t, http.StatusOK)
	})
}
