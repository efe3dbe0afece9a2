package things_test

import (
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestFeaturing checks that moderators can feature published things, that the latest featured thing
// comes first, and that other users cannot feature things.
func TestFeaturing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, admin := s.User("ada"), s.Administrator()
		feature := func(c *servertest.Client, id int64, featured bool) string {
			document := `mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`
			if !featured {
				document = `mutation ($id: ID!) { unfeatureThing(input: {id: $id}) { thing { id } } }`
			}
			return c.GraphQL(document, servertest.Object{"id": servertest.ID(id)}).Code()
		}
		listed := func() string {
			var things []struct{ ID int64 }
			ada.Get("/featured").Want(t, 200, &things)
			var found struct {
				Search struct{ Nodes []struct{ ID string } }
				Things struct{ Nodes []struct{ ID string } }
			}
			ada.Query(`{ search(filter: {isFeatured: true}) { nodes { ... on Thing { id } } } things(sort: FEATURED) { nodes { id } } }`, nil, &found)
			if len(found.Search.Nodes) != len(things) || len(found.Things.Nodes) != len(things) {
				t.Errorf("/featured has %d things, search %d, things %d", len(things), len(found.Search.Nodes),
					len(found.Things.Nodes))
			}
			return fmt.Sprint(things)
		}
		var ids []int64
		for i := range 3 {
			ids = append(ids, ada.Thing(fmt.Sprint("Thing ", i)))
			ada.Finalize("thing", ids[i], ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))).Want(t, 200)
			ada.Publish(ids[i]).Want(t, 200)
		}
		draft := ada.Thing("Draft")
		unscoped := s.Client(s.Token("staff", auth.Read, auth.Write))
		for name, c := range map[string]struct {
			client *servertest.Client
			id     int64
			want   string
		}{
			"the owner": {ada, ids[0], "FORBIDDEN"}, "an administrator without the scope": {unscoped, ids[0], "FORBIDDEN"},
			"nobody":  {s.Client(""), ids[0], "UNAUTHENTICATED"},
			"a draft": {admin, draft, "BAD_USER_INPUT"}, "none": {admin, 99, "NOT_FOUND"},
		} {
			if got := feature(c.client, c.id, true); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
		for _, step := range []struct {
			id       int64
			featured bool
			want     string
		}{
			{ids[1], true, fmt.Sprintf("[{%d}]", ids[1])}, {ids[0], true, fmt.Sprintf("[{%d} {%d}]", ids[0], ids[1])},
			{ids[1], true, fmt.Sprintf("[{%d} {%d}]", ids[0], ids[1])}, {ids[0], false, fmt.Sprintf("[{%d}]", ids[1])},
			{ids[1], false, "[]"},
		} {
			if code := feature(admin, step.id, step.featured); code != "" {
				t.Errorf("feature %d %t: %s", step.id, step.featured, code)
			}
			if got := listed(); got != step.want {
				t.Errorf("after featuring %d %t: %s, want %s", step.id, step.featured, got, step.want)
			}
		}
	})
}
