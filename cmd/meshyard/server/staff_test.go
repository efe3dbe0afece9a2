package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/auth"
)

// TestFeaturing checks that moderators can feature published things, that the latest featured thing
// comes first, and that other users cannot feature things.
func TestFeaturing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, staff := s.User("ada"), s.Staff()
		feature := func(c *servertest.Client, id int64, featured bool) string {
			document := `mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`
			if !featured {
				document = `mutation ($id: ID!) { unfeatureThing(input: {id: $id}) { thing { id } } }`
			}
			return c.GraphQL(document, object{"id": servertest.ID(id)}).Code()
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
				t.Errorf("/featured has %d things, search %d, things %d", len(things), len(found.Search.Nodes), len(found.Things.Nodes))
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
			"the owner": {ada, ids[0], "FORBIDDEN"}, "staff without the scope": {unscoped, ids[0], "FORBIDDEN"}, "nobody": {s.Client(""), ids[0], "UNAUTHENTICATED"},
			"a draft": {staff, draft, "BAD_USER_INPUT"}, "none": {staff, 99, "NOT_FOUND"},
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
			{ids[1], true, fmt.Sprintf("[{%d} {%d}]", ids[0], ids[1])}, {ids[0], false, fmt.Sprintf("[{%d}]", ids[1])}, {ids[1], false, "[]"},
		} {
			if code := feature(staff, step.id, step.featured); code != "" {
				t.Errorf("feature %d %t: %s", step.id, step.featured, code)
			}
			if got := listed(); got != step.want {
				t.Errorf("after featuring %d %t: %s, want %s", step.id, step.featured, got, step.want)
			}
		}
	})
}

// TestDeprecatedCalls checks that administrators can query the callers of deprecated operations in
// both APIs, with the number of calls and the time of the last one. Other operations are not
// recorded.
func TestDeprecatedCalls(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, staff := s.User("ada"), s.Staff()
		get := func(path, agent string) {
			r := ada.Request("GET", path, nil)
			r.Header.Set("User-Agent", agent)
			ada.Send(r)
		}
		for range 3 {
			get("/newest", "old/1")
		}
		get("/newest/?per_page=1", "old/2\t\xff")
		get("/files/1/finalize", "old/1")
		get("/search", "old/1")
		ada.Query(`{ a: newest { id } ...More } fragment More on Query { popular { id } me { id } }`, nil, new(any))
		ada.GraphQL(`{ newest { nothing } }`, nil)
		s.Client("").Get("/newest").Want(t, 401)
		const query = `{ deprecatedCalls { operation username tokenName userAgent calls firstAt lastAt } }`
		for range 2 { // the second query must not add the calls again
			var found struct {
				DeprecatedCalls []struct {
					Operation, Username, TokenName, UserAgent string
					Calls                                     int
					FirstAt, LastAt                           time.Time
				}
			}
			staff.Query(query, nil, &found)
			got := make(map[string]int)
			for _, c := range found.DeprecatedCalls {
				got[c.Operation+" "+c.UserAgent] = c.Calls
				if c.Username != "ada" || c.TokenName != "test" || time.Since(c.LastAt).Abs() > time.Minute || c.FirstAt.After(c.LastAt) {
					t.Errorf("%+v", c)
				}
			}
			want := map[string]int{"get_newest old/1": 3, "get_newest old/2\uFFFD": 1, "get_files_file_id_finalize old/1": 1, "Query.newest Go-http-client/1.1": 1, "Query.popular Go-http-client/1.1": 1}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		get("/newest", "old/1")
		var found struct{ DeprecatedCalls []struct{ Calls int } }
		staff.Query(`{ deprecatedCalls(first: 1) { calls } }`, nil, &found)
		if len(found.DeprecatedCalls) != 1 || found.DeprecatedCalls[0].Calls != 4 {
			t.Errorf("after one call more, the latest is %v", found.DeprecatedCalls)
		}
		if code := ada.GraphQL(query, nil).Code(); code != "FORBIDDEN" {
			t.Errorf("ada sees them: %q", code)
		}
	})
}
