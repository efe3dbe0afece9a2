package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// objCube returns a cube of 12 triangles as OBJ.
func objCube(side float64) []byte {
	return fmt.Appendf(nil,
		"v 0 0 0\nv %[1]g 0 0\nv %[1]g %[1]g 0\nv 0 %[1]g 0\nv 0 0 %[1]g\nv %[1]g 0 %[1]g\nv %[1]g %[1]g %[1]g\nv 0 %[1]g %[1]g\n"+
			"f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n", side)
}

// TestFiltersAndFacets checks each condition of a filter, sorting by name, and that the values of a
// facet are counted without the filter's own list of such values.
func TestFiltersAndFacets(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		ids := make(map[string]string)
		create := func(c *servertest.Client, name, license, category string, tags []string, files map[string][]byte) {
			t.Helper()
			var made struct {
				CreateThing struct{ Thing struct{ ID string } }
			}
			uploads, uploaded := []servertest.Object{}, []int64{}
			for name, bytes := range files {
				id := c.Upload(name, bytes)
				uploads, uploaded = append(uploads, servertest.Object{"id": servertest.ID(id)}), append(uploaded, id)
			}
			c.Query(`mutation ($i: CreateThingInput!) { createThing(input: $i) { thing { id } } }`,
				servertest.Object{"i": servertest.Object{
					"name": name, "license": license, "category": category, "tags": tags, "description": "A fruit.", "files": uploads,
				}}, &made)
			ids[name] = made.CreateThing.Thing.ID
			if name != "draft" {
				c.Query(`mutation ($id: ID!) { publishThing(input: {id: $id}) { thing { id } } }`,
					servertest.Object{"id": ids[name]}, new(any))
			}
			for _, id := range uploaded {
				if p := servertest.Settled(t, c, id); p.Mesh == nil {
					t.Fatalf("%s: %+v", name, p.Processing)
				}
			}
		}
		create(bob, "cherry", "CC", "chess", []string{"Red", "Blue"}, map[string][]byte{"c.stl": servertest.Cube(100, 11)})
		create(ada, "Banana", "GPL", "sculptures", []string{"Gear"}, map[string][]byte{"b.obj": objCube(50)})
		create(ada, "apple", "CC", "math-art", []string{"Gear", "Red"}, map[string][]byte{"a.stl": servertest.Cube(10, 12)})
		create(bob, "Date: Medjool", "PD0", "2d-art", []string{}, map[string][]byte{"d.stl": servertest.Cube(200, 12),
			"d.obj": objCube(5)})
		create(ada, "draft", "CC", "math-art", []string{"Gear"}, map[string][]byte{"a.stl": servertest.Cube(10, 12)})

		for filter, want := range map[string]string{
			``:                                         "apple Banana cherry Date: Medjool",
			`tags: []`:                                 "apple Banana cherry Date: Medjool",
			`tags: ["gear", "BLUE"]`:                   "apple Banana cherry",
			`tags: ["blue", "unknown"]`:                "cherry",
			`allTags: ["gear", "RED"]`:                 "apple",
			`tags: ["gear"], allTags: ["red"]`:         "apple",
			`licenses: [CC, PD0]`:                      "apple cherry Date: Medjool",
			`categoryIds: [2]`:                         "apple Banana Date: Medjool",
			`categoryIds: [21, 73, 999]`:               "apple cherry",
			`creators: ["ADA", "nobody"]`:              "apple Banana",
			`creators: ["ada", "me"]`:                  "apple Banana cherry Date: Medjool",
			`creators: ["me"], creatorIds: [1]`:        "",
			`formats: [OBJ]`:                           "Banana Date: Medjool",
			`formats: [STL, OBJ], minSize: 50`:         "Banana cherry Date: Medjool",
			`formats: [OBJ], minSize: 200`:             "",
			`minSize: 50, maxSize: 100`:                "Banana cherry",
			`maxSize: 5`:                               "Date: Medjool",
			`fitsBed: {width: 5, depth: 5, height: 5}`: "Date: Medjool",
			`fitsBed: {width: 100000, depth: 100000, height: 100000}`:   "apple Banana cherry Date: Medjool",
			`fitsBed: {width: 100000, depth: 100000, height: 0.000001}`: "",
			`printsWithoutSupports: true`:                               "",
			`printsWithoutSupports: false`:                              "apple Banana cherry Date: Medjool",
			`maxTriangles: 11`:                                          "cherry",
			`minTriangles: 12`:                                          "apple Banana Date: Medjool",
			`isWatertight: false`:                                       "cherry",
			`isWatertight: true, maxSize: 10`:                           "apple Date: Medjool",
			`updatedAfter: "2000-01-01T00:00:00Z", publishedBefore: "2100-01-01T00:00:00Z"`: "apple Banana cherry Date: Medjool",
			`updatedBefore: "2000-01-01T00:00:00Z"`:                                         "",
			`ids: [` + ids["cherry"] + `, ` + ids["draft"] + `, 999]`:                       "cherry",
			`ids: []`: "",
		} {
			type list struct{ Nodes []struct{ Name string } }
			var r struct{ Things, Search list }
			bob.Query(`{ things(filter: {`+filter+`}, sort: NAME) { nodes { name } } search(filter: {`+filter+`}, sort: NAME) { nodes { ... on Thing { name } } } }`, nil, &r)
			for field, list := range map[string]list{"things": r.Things, "search": r.Search} {
				names := []string{}
				for _, n := range list.Nodes {
					names = append(names, n.Name)
				}
				if got := strings.Join(names, " "); got != want {
					t.Errorf("%s(filter: {%s}) finds %q, want %q", field, filter, got, want)
				}
			}
		}

		for filter, want := range map[string]string{
			``: "categories art 3, math-art 1, sculptures 1, 2d-art 1, toys-and-games 1, chess 1; licenses CC 2, GPL 1, PD0 1; " +
				"tags red 2, gear 2, blue 1; creators ada 2, bob 2; formats STL 3, OBJ 2",
			`licenses: [GPL], tags: ["gear"]`: "categories art 1, sculptures 1; licenses CC 1, GPL 1; tags gear 1; creators ada 1; formats OBJ 1",
			`allTags: ["gear"], licenses: [CC]`: "categories art 1, math-art 1; licenses CC 1, GPL 1; tags gear 1, red 1; " +
				"creators ada 1; formats STL 1",
			`categoryIds: [73], creators: ["bob"], formats: [STL]`: "categories art 1, 2d-art 1, toys-and-games 1, chess 1; licenses CC 1; " +
				"tags red 1, blue 1; creators bob 1; formats STL 1",
		} {
			for _, query := range []string{"", "fruit"} {
				if got := facets(bob, query, filter); sortedCounts(got) != sortedCounts(want) {
					t.Errorf("facets of %q with {%s} are\n%s, want\n%s", query, filter, got, want)
				}
			}
		}
	}, servertest.Derives)
}

// facets returns the facets of a search as a line of text.
func facets(c *servertest.Client, query, filter string) string {
	var r struct {
		Search struct{ Facets map[string][]map[string]any }
	}
	c.Query(`query ($q: String!) { search(query: $q, filter: {`+filter+`}) { facets { categories { is: category { is: slug } count } licenses { is: license count }
		tags { is: tag { is: slug } count } creators { is: creator { is: username } count } formats { is: format count } } } }`, servertest.Object{"q": query}, &r)
	var lines []string
	for _, name := range []string{"categories", "licenses", "tags", "creators", "formats"} {
		var values []string
		for _, v := range r.Search.Facets[name] {
			is := v["is"]
			if o, ok := is.(map[string]any); ok {
				is = o["is"]
			}
			values = append(values, fmt.Sprint(is, " ", v["count"]))
		}
		lines = append(lines, name+" "+strings.Join(values, ", "))
	}
	return strings.Join(lines, "; ")
}

// sortedCounts sorts the values of each facet, because equal counts have no fixed order.
func sortedCounts(line string) string {
	facets := strings.Split(line, "; ")
	for i, facet := range facets {
		name, values, _ := strings.Cut(facet, " ")
		list := strings.Split(values, ", ")
		slices.Sort(list)
		facets[i] = name + " " + strings.Join(list, ", ")
	}
	return strings.Join(facets, "; ")
}

// TestUsersAreListed checks the conditions and orders of the list of users.
func TestUsersAreListed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for _, name := range []string{"Adam", "bob", "ad_min"} {
			s.User(name)
		}
		gone := s.User("adagone")
		gone.Query(`mutation { deleteAccount(input: {username: "adagone"}) { deletedId } }`, nil, new(any))
		s.Administrator().Query(
			`mutation { setUserRole(input: {username: "bob", role: MODERATOR, reason: "Helps."}) { user { id } } }`, nil,
			new(any))
		servertest.PublishedThing(t, ada, "Bracket")
		ada.Query(`mutation { followUser(input: {username: "bob"}) { user { id } } }`, nil, new(any))
		s.Fold()
		for args, want := range map[string]string{
			`sort: NAME`:                                                "ad_min ada Adam bob staff",
			`sort: NAME, filter: {prefix: "AD"}`:                        "ad_min ada Adam",
			`sort: NAME, filter: {prefix: "ada"}`:                       "ada Adam",
			`sort: NAME, filter: {prefix: "ad%"}`:                       "",
			`sort: NAME, filter: {prefix: "adagone"}`:                   "",
			`filter: {role: MODERATOR}`:                                 "bob",
			`filter: {role: ADMINISTRATOR}`:                             "staff",
			`sort: NAME, filter: {role: MEMBER}`:                        "ad_min ada Adam",
			`first: 1, sort: THINGS`:                                    "ada",
			`first: 1, sort: FOLLOWERS`:                                 "bob",
			`first: 1`:                                                  "staff",
			`filter: {ids: []}`:                                         "",
			`sort: NAME, filter: {ids: null, prefix: null, role: null}`: "ad_min ada Adam bob staff",
		} {
			var r struct {
				Users struct{ Nodes []struct{ Username string } }
			}
			ada.Query(`{ users(`+args+`) { nodes { username } } }`, nil, &r)
			var names []string
			for _, u := range r.Users.Nodes {
				names = append(names, u.Username)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("users(%s) are %q, want %q", args, got, want)
			}
		}
	})
}

// TestFeed checks that a feed contains what followed users published, newest first, and that paging
// by cursor returns the entries of all types.
func TestFeed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, cyd := s.User("ada"), s.User("bob"), s.User("cyd")
		feed := func(first int) string {
			t.Helper()
			var names []string
			for after := any(nil); ; {
				var r struct {
					Me struct {
						Feed struct {
							TotalCount int
							PageInfo   struct {
								HasNextPage bool
								EndCursor   string
							}
							Nodes []struct {
								Type    string `json:"__typename"`
								Name    string
								Creator struct{ Username string }
							}
						}
					}
				}
				bob.Query(`query ($n: Int!, $after: String) { me { feed(first: $n, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes { __typename
					... on Thing { name creator { username } } ... on Make { name: description creator { username } } ... on Collection { name creator { username } } } } } }`, servertest.Object{"n": first, "after": after}, &r)
				for _, n := range r.Me.Feed.Nodes {
					names = append(names, n.Type+" "+n.Name+" of "+n.Creator.Username)
				}
				if after = r.Me.Feed.PageInfo.EndCursor; !r.Me.Feed.PageInfo.HasNextPage {
					if len(names) != r.Me.Feed.TotalCount {
						t.Errorf("totalCount is %d, there are %d entries", r.Me.Feed.TotalCount, len(names))
					}
					return strings.Join(names, ", ")
				}
			}
		}
		old := servertest.PublishedThing(t, ada, "Old")
		bob.Query(`mutation { followUser(input: {username: "ada"}) { user { id } } }`, nil, new(any))
		servertest.PublishedThing(t, cyd, "Unrelated")
		servertest.PublishedThing(t, bob, "Own")
		ada.Thing("Draft")
		ada.Query(`mutation { createCollection(input: {name: "Lamps"}) { collection { id } } }`, nil, new(any))
		ada.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id, description: "Printed"}) { make { id } } }`,
			servertest.Object{"id": servertest.ID(old)}, new(any))
		servertest.PublishedThing(t, ada, "New")
		want := "Thing New of ada, Make Printed of ada, Collection Lamps of ada, Thing Old of ada"
		for _, first := range []int{1, 3, 10} {
			if got := feed(first); got != want {
				t.Errorf("%d at a time, the feed is %s, want %s", first, got, want)
			}
		}
		if r := ada.GraphQL(`{ user(username: "bob") { feed { totalCount } } }`, nil); r.Code() != "FORBIDDEN" {
			t.Errorf("the feed of another user: %+v", r)
		}
		s.Administrator().Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "Spam."}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(old)}, new(any))
		if got, want := feed(10), "Thing New of ada, Collection Lamps of ada"; got != want {
			t.Errorf("after a takedown the feed is %s, want %s", got, want)
		}
	})
}

// TestFilesWithoutBytes checks that a file that was imported without its bytes is marked as not
// available, and is counted like the others.
func TestFilesWithoutBytes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := servertest.PublishedThing(t, ada, "Bracket")
		document := fmt.Sprintf(`{ thing(id: %d) { fileCount files { isAvailable directUrl } } }`, thing)
		type response struct {
			Thing struct {
				FileCount int
				Files     []struct {
					IsAvailable bool
					DirectURL   *string
				}
			}
		}
		for _, available := range []bool{true, false} {
			if !available {
				if _, err := servertest.OpenDB(t, s).SQL().
					Exec("UPDATE files SET sha256 = '', md5 = '', object_key = ''"); err != nil {
					t.Fatal(err)
				}
			}
			var r response
			ada.Query(document, nil, &r)
			if len(r.Thing.Files) != r.Thing.FileCount || len(r.Thing.Files) == 0 {
				t.Fatalf("fileCount is %d of %d files", r.Thing.FileCount, len(r.Thing.Files))
			}
			if f := r.Thing.Files[0]; f.IsAvailable != available || (f.DirectURL != nil) != available {
				t.Errorf("isAvailable is %t, directUrl %v, want %t", f.IsAvailable, f.DirectURL, available)
			}
		}
	})
}
