package search_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/search"
	"github.com/meshyard/meshyard/models/uploads"
	"github.com/meshyard/meshyard/test/servertest"
)

// find returns the IDs of the first ten things that a query finds.
func find(c *servertest.Client, query string) []string {
	var found struct {
		Search struct{ Nodes []struct{ ID string } }
	}
	c.Query(`query ($q: String!) { search(query: $q, first: 10) { nodes { ... on Thing { id } } } }`,
		map[string]any{"q": query}, &found)
	ids := make([]string, len(found.Search.Nodes))
	for i, n := range found.Search.Nodes {
		ids[i] = n.ID
	}
	return ids
}

// TestSearchFindsWhatIsMeant checks that queries as users type them find the intended thing among
// the first ten results in a real catalogue. One in twenty queries may fail.
func TestSearchFindsWhatIsMeant(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "testdata", "catalogue", "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var queries [][]string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "#") {
			queries = append(queries, strings.Split(line, " | "))
		}
	}
	if len(queries) < 100 {
		t.Fatalf("%d queries, want 100", len(queries))
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		c := s.User("ada")
		missed := 0
		for _, q := range queries {
			if ids := find(c, q[0]); !slices.Contains(ids, q[1]) {
				missed++
				t.Logf("%q does not find %s, %s, but %q", q[0], q[1], q[2], ids)
			}
		}
		t.Logf("%d of %d queries find what is meant", len(queries)-missed, len(queries))
		if missed*20 > len(queries) {
			t.Errorf("%d of %d queries miss what is meant", missed, len(queries))
		}
	})
}

// TestSearchIsWalkedWhole checks that paging through results by cursors in both directions and by
// page numbers returns each hit once. This includes the results after the best hits, which are
// sorted by text relevance.
func TestSearchIsWalkedWhole(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		c := s.User("ada")
		const document = `query ($q: String!, $sort: SearchSort!, $first: Int, $after: String, $last: Int, $before: String) {
			search(query: $q, sort: $sort, first: $first, after: $after, last: $last, before: $before) {
				totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { ... on Thing { id } } } }`
		type page struct {
			Search struct {
				TotalCount int
				PageInfo   struct {
					HasNextPage, HasPreviousPage bool
					StartCursor, EndCursor       string
				}
				Nodes []struct{ ID string }
			}
		}
		for _, sort := range []string{"RELEVANT", "TEXT", "POPULAR", "NEWEST", "MAKES"} {
			// More than a thousand things contain "p".
			for _, query := range []string{"p", "3d", "gear", "p zzzzzz"} {
				walk := func(next func(p page, n int) map[string]any) (ids []string) {
					args := next(page{}, 0)
					for n := 1; args != nil && n < 60; n++ {
						args["q"], args["sort"] = query, sort
						var p page
						c.Query(document, args, &p)
						for _, node := range p.Search.Nodes {
							ids = append(ids, node.ID)
						}
						if args = next(p, n); args == nil && len(ids) != p.Search.TotalCount {
							t.Errorf("%q by %s: walked %d of %d", query, sort, len(ids), p.Search.TotalCount)
						}
					}
					return ids
				}
				forward := walk(func(p page, n int) map[string]any {
					if n == 0 {
						return map[string]any{"first": 97}
					}
					if !p.Search.PageInfo.HasNextPage {
						return nil
					}
					return map[string]any{"first": 97, "after": p.Search.PageInfo.EndCursor}
				})
				pages := walk(func(p page, n int) map[string]any {
					if n > 0 && !p.Search.PageInfo.HasNextPage {
						return nil
					}
					return map[string]any{"first": 100, "after": graph.PageCursor(n + 1)}
				})
				backward := []string{}
				before := map[string]any{"last": 100}
				for n := 0; before != nil && n < 60; n++ {
					before["q"], before["sort"] = query, sort
					var p page
					c.Query(document, before, &p)
					ids := []string{}
					for _, node := range p.Search.Nodes {
						ids = append(ids, node.ID)
					}
					backward = append(ids, backward...)
					before = map[string]any{"last": 100, "before": p.Search.PageInfo.StartCursor}
					if !p.Search.PageInfo.HasPreviousPage {
						before = nil
					}
				}
				if !slices.Equal(forward, pages) || !slices.Equal(forward, backward) {
					t.Errorf("%q by %s: forward %d, by pages %d, backward %d, which are not the same", query, sort, len(forward),
						len(pages), len(backward))
				}
				seen := slices.Sorted(slices.Values(forward))
				if n := len(slices.Compact(seen)); n != len(forward) || n == 0 {
					t.Errorf("%q by %s: %d of %d are there once", query, sort, n, len(forward))
				}
			}
		}
	})
}

// TestSearchFollowsChanges checks that committed changes are found immediately, and that deleted or
// hidden objects are not found.
func TestSearchFollowsChanges(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := ada.Thing("Zwölfender Kerzenhalter")
		path := "/things/" + servertest.ID(thing)
		found := func(query string, want bool) {
			t.Helper()
			if got := slices.Contains(find(bob, query), servertest.ID(thing)); got != want {
				t.Errorf("search %q finds the thing: %t, want %t", query, got, want)
			}
		}
		found("kerzenhalter", false) // a draft
		ada.Finalize("thing", thing, ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		for _, query := range []string{"kerzenhalter", "ZWOLFENDER", "zwölf", "kerzen zwolf", "kerzenhaltr",
			"ada kerzenhalter"} {
			found(query, true)
		}
		found("nothing", false)
		ada.Do("PATCH", path, map[string]any{"name": "Sconce", "tags": []string{"Żyrandol", "竜の像"},
			"description": "A quokka holds it."}).Want(t, 200)
		found("kerzenhalter", false)
		for _, query := range []string{"sconces", "zyrandol", "の像", "像", "quokka", "ada"} {
			found(query, true)
		}
		ada.Do("DELETE", path, nil).Want(t, 200)
		found("sconce", false)

		count := func(kind, query string, want int) {
			t.Helper()
			var r struct{ Search struct{ TotalCount int } }
			bob.Query(`query ($q: String!, $t: SearchType!) { search(query: $q, type: $t) { totalCount } }`,
				map[string]any{"q": query, "t": kind}, &r)
			if r.Search.TotalCount != want {
				t.Errorf("%q finds %d %s, want %d", query, r.Search.TotalCount, kind, want)
			}
		}
		count("USERS", "ada", 1)
		count("USERS", "lovelace", 0)
		ada.Query(`mutation { updateProfile(input: {lastName: "Lovelace"}) { user { id } } }`, nil, new(any))
		count("USERS", "lovlace", 1)
		var c struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		ada.Query(`mutation { createCollection(input: {name: "Candelabra"}) { collection { id } } }`, nil, &c)
		count("COLLECTIONS", "candelabra", 1)
		ada.Query(`mutation ($id: ID!) { updateCollection(input: {id: $id, name: "Lamps"}) { collection { id } } }`,
			map[string]any{"id": c.CreateCollection.Collection.ID}, new(any))
		count("COLLECTIONS", "candelabra", 0)
		count("COLLECTIONS", "lamp", 1)
		ada.Query(`mutation ($id: ID!) { deleteCollection(input: {id: $id}) { deletedId } }`,
			map[string]any{"id": c.CreateCollection.Collection.ID}, new(any))
		count("COLLECTIONS", "lamp", 0)
	})
}

// TestSearchFileNames checks that things are found by the names and folders of their files, also
// after these have changed, and that the matching files are highlighted.
func TestSearchFileNames(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Clock")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		gear := ada.Upload("part_14_gear.stl", stl)
		ada.Finalize("thing", thing, gear).Want(t, 200)
		found := func(query string, want bool) {
			t.Helper()
			if got := slices.Contains(find(ada, query), servertest.ID(thing)); got != want {
				t.Errorf("search %q finds the thing: %t, want %t", query, got, want)
			}
		}
		found("part_14_gear", false) // a draft
		ada.Publish(thing).Want(t, 200)
		for _, query := range []string{"part_14_gear", "part_14_gear.stl", "PART 14", "gears clock", "gear"} {
			found(query, true)
		}
		user := servertest.Must(s.Store.Admin().User(t.Context(), "ada"))(t)
		up := servertest.Must(s.Store.Uploads.Upload(t.Context(), auth.Caller{UserID: user.ID},
			uploads.NewUpload{Folder: "Escapement/Left", Name: "anchor.stl", Bytes: bytes.NewReader(stl)}))(t)
		ada.Finalize("thing", thing, up.ID).Want(t, 200)
		found("escapement anchor", true)
		var r struct {
			Search struct {
				Edges []struct {
					Highlights []struct {
						Field string
						Parts []struct {
							Text    string
							IsMatch bool
						}
					}
				}
			}
		}
		ada.Query(`{ search(query: "escapement") { edges { highlights { field parts { text isMatch } } } } }`, nil, &r)
		if got := fmt.Sprint(r.Search.Edges); got != "[{[{FILE [{Escapement true} {/Left/anchor.stl false}]}]}]" {
			t.Errorf("the highlights are %s", got)
		}
		ada.Do("DELETE", fmt.Sprintf("/things/%d/files/%d", thing, up.ID), nil).Want(t, 200)
		found("escapement anchor", false)
		found("part_14_gear", true)

		// A database of an earlier version has documents without files.
		for _, statement := range []string{"DELETE FROM thing_documents WHERE true",
			"INSERT INTO outdated_documents (noun, after_id) VALUES ('thing', 0)"} {
			servertest.Must(s.Store.DB.Write.ExecContext(t.Context(), statement))(t)
		}
		found("part_14_gear", false)
		for _, want := range []int{1, 0} {
			if n, err := s.Store.DB.IndexFiles(t.Context()); n != want || err != nil {
				t.Errorf("indexed %d things, %v; want %d", n, err, want)
			}
		}
		found("part_14_gear", true)
	})
}

// TestHighlightsFacetsAndSuggestions checks highlights, facets and suggestions.
func TestHighlightsFacetsAndSuggestions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		c := s.User("ada")
		searchWithFacets(t, c)
		check := func(document, want string) {
			t.Helper()
			r := c.GraphQL(document, nil)
			if got := strings.ReplaceAll(string(r.Data), `"`, ""); got != want || len(r.Errors) > 0 {
				t.Errorf("%s\n%s %+v, want\n%s", document, got, r.Errors, want)
			}
		}
		check(`{ search(query: "ocotcat", first: 1) { edges { node { ... on Thing { id } } highlights { field parts { text isMatch } } } } }`,
			`{search:{edges:[{node:{id:10367},highlights:[{field:NAME,parts:[{text:Octocat,isMatch:true}]},{field:TAG,parts:[{text:octocat,isMatch:true}]}]}]}}`)
		check(`{ search(query: "bevel gear", first: 1) { edges { highlights { field parts { text isMatch } } } } }`,
			`{search:{edges:[{highlights:[{field:NAME,parts:[{text:Spiral ,isMatch:false},{text:bevel,isMatch:true},{text: ,isMatch:false},{text:gear,isMatch:true}]},{field:TAG,parts:[{text:Bevel_Gear,isMatch:true}]},{field:TAG,parts:[{text:Gear,isMatch:true}]}]}]}}`)
		check(`{ suggestions(query: "octoc", first: 3) }`, `{suggestions:[Octocat]}`)
		check(`{ suggestions(query: "digital sun") }`, `{suggestions:[Digital Sundial]}`)
		check(`{ search(query: "%_'\"") { totalCount nodes { __typename } facets { categories { count } } } }`,
			`{search:{totalCount:0,nodes:[],facets:{categories:[]}}}`)

		var r struct {
			Search struct {
				TotalCount int
				Facets     struct {
					Categories []struct {
						Category struct{ ID, Slug string }
						Count    int
					}
					Licenses []struct {
						License string
						Count   int
					}
					Tags []struct {
						Tag   struct{ Slug string }
						Count int
					}
					Creators []struct {
						Creator struct{ ID, Username string }
						Count   int
					}
				}
			}
		}
		c.Query(`{ search(query: "gear") { totalCount facets(first: 100) { categories { category { id slug } count } licenses { license count } tags { tag { slug } count } creators { creator { id username } count } } } }`, nil, &r)
		narrowed := func(filter string) int {
			var n struct{ Search struct{ TotalCount int } }
			c.Query(`{ search(query: "gear", filter: {`+filter+`}) { totalCount } }`, nil, &n)
			return n.Search.TotalCount
		}
		total, f := 0, r.Search.Facets
		for _, l := range f.Licenses {
			total += l.Count
		}
		if total != r.Search.TotalCount || total < 50 {
			t.Errorf("the licenses of %d things are those of %d", r.Search.TotalCount, total)
		}
		if n := narrowed("licenses: " + f.Licenses[0].License); n != f.Licenses[0].Count {
			t.Errorf("%d things have the license, the facet has %d", n, f.Licenses[0].Count)
		}
		if n := narrowed(`tags: "` + f.Tags[0].Tag.Slug + `"`); n != f.Tags[0].Count || f.Tags[0].Tag.Slug != "gear" {
			t.Errorf("%d things have the tag %s, the facet has %d", n, f.Tags[0].Tag.Slug, f.Tags[0].Count)
		}
		if n := narrowed("creatorIds: " + f.Creators[0].Creator.ID); n != f.Creators[0].Count {
			t.Errorf("%d things are by %s, the facet has %d", n, f.Creators[0].Creator.Username, f.Creators[0].Count)
		}
		for _, category := range f.Categories {
			if n := narrowed("categoryIds: " + category.Category.ID); n != category.Count {
				t.Errorf("%d things are in %s and below, the facet has %d", n, category.Category.Slug, category.Count)
			}
		}

		var hits struct {
			Total int
			Hits  []struct{ ID int64 }
		}
		c.Get("/search/"+url.PathEscape("ocotcat")+"?per_page=5").Want(t, 200, &hits)
		if hits.Total == 0 || hits.Hits[0].ID != 10367 {
			t.Errorf("REST returns %+v", hits)
		}
	})
}

// searchWithFacets checks that a search with facets, which counts the results in the same
// statement, returns the same total count and page as a search without facets.
func searchWithFacets(t *testing.T, c *servertest.Client) {
	t.Helper()
	for _, arguments := range []string{
		`query: "gear"`, `query: "gear box"`, `query: "raspbrry pi case"`, `query: "nosuchword vase"`, `query: "a"`,
		`query: "1"`, `query: ""`,
		`query: "", filter: {licenses: [CC]}`, `query: "gear", sort: NEWEST, filter: {licenses: [CC], tags: ["gear"]}`,
		`query: "gear", type: MAKES`, `query: "a", type: USERS`,
	} {
		type result struct {
			TotalCount int
			Nodes      []struct{ ID string }
		}
		var found struct {
			Plain, Long struct{ result }
			With        struct {
				result
				Facets struct{ Licenses []struct{ Count int } }
			}
		}
		const nodes = `nodes { ... on Thing { id } ... on Make { id } ... on User { id } }`
		c.Query(`{
				plain: search(`+arguments+`, first: 24) { totalCount `+nodes+` }
				with: search(`+arguments+`, first: 24) { totalCount `+nodes+` facets(first: 11) { licenses { count } categories { category { name parent { name } } } tags { tag { name thingCount } } } }
				long: search(`+arguments+`, first: 25) { totalCount `+nodes+` }
			}`, nil, &found)
		if d := cmp.Diff(found.Plain.result, found.With.result); d != "" {
			t.Errorf("%s: with facets (-want +got):\n%s", arguments, d)
		}
		// A separate statement reads the nodes of a page of 25.
		if d := cmp.Diff(found.Long.Nodes[:min(24, len(found.Long.Nodes))], found.Plain.Nodes); d != "" {
			t.Errorf("%s: a shorter page has other nodes (-want +got):\n%s", arguments, d)
		}
		// Each thing has exactly one license.
		sum := 0
		for _, license := range found.With.Facets.Licenses {
			sum += license.Count
		}
		if len(found.With.Facets.Licenses) > 0 && !strings.Contains(arguments, "licenses") && sum != found.With.TotalCount {
			t.Errorf("%s: %d things by license, %d in all", arguments, sum, found.With.TotalCount)
		}
	}
}

// TestSearchAcceptsAnyInput checks that ten thousand random texts and filters cause no error of the
// query parser or the database, and stay within the limits.
func TestSearchAcceptsAnyInput(t *testing.T) {
	odd := []string{
		"'", "\"", "''", `\`, "%", "_", "*", ":", ":*", "&", "|", "!", "(", ")", "((((", "<->", "<1>", "^", "{name}:", "{",
		"}", "NEAR(", "AND", "OR", "NOT", "-", "+", "~", "$1", "?", "?0", "??", "@@", "::tsquery",
		"\u202e", "\u200b", "\u0000", "\xff", "\ufeff", "\u0301", "İ", "ſ", "Ǆ", "竜の像", "ドラゴン", "हिन्दी", "🐉", "é", "e\u0301",
		"½", "ﬁ", "0x10", "1e309", "NaN", "null", "gear", "benchy", "3d", "a", "the",
		"; DROP TABLE things; --", "' OR '1'='1", "\n", "\t", strings.Repeat("a", 199), strings.Repeat("a ", 99),
		strings.Repeat("(", 199), strings.Repeat("竜", 199), strings.Repeat("x-", 60), strings.Repeat("z", 300),
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		r, n := rand.New(rand.NewPCG(1, 2)), 2_500
		kinds := []search.SearchType{search.SearchThings, search.SearchMakes, search.SearchUsers, search.SearchCollections}
		sorts := []lists.Sort{lists.ByRelevance, lists.ByText, lists.ByPopular, lists.ByNewest, lists.ByMakes,
			lists.ByDesigns, lists.ByFollowers, lists.ByName, lists.ByUpdated}
		times := []*time.Time{nil, nil, nil, nil, nil, nil, nil, nil, new(time.Time),
			new(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)), new(time.Date(-4712, 1, 1, 0, 0, 0, 0, time.UTC)),
			new(time.Date(290000, 1, 1, 0, 0, 0, 0, time.UTC))}
		// run returns the time of a search without its facets. The test logs the maximum in comparison
		// with the median of ordinary searches.
		run := func(kind search.SearchType, query string, f lists.Filter, sort lists.Sort,
			facets bool) (time.Duration, error) {
			began := time.Now()
			found, err := s.Store.Search.Search(t.Context(), kind, query, f, sort)
			if err == nil {
				_, err = found.Page(t.Context(), []int64{0}, models.Slice{First: 30})
			}
			took := time.Since(began)
			if err == nil && facets {
				_, err = found.Facets(t.Context(), 5)
			}
			return took, err
		}
		var ordinary []time.Duration
		for _, query := range []string{"gear", "benchy", "raspberry pi case", "fidget box", "drgon", "phone hol", "octocat",
			"vase", "calibration cube", "whistle"} {
			for range 3 {
				took, err := run(search.SearchThings, query, lists.Filter{}, lists.ByRelevance, false)
				if err != nil {
					t.Fatal(err)
				}
				ordinary = append(ordinary, took)
			}
		}
		slices.Sort(ordinary)
		slowest, slow := time.Duration(0), ""
		answered, refused := 0, 0
		for i := range n {
			var query strings.Builder
			for range 1 + r.IntN(4) {
				query.WriteString(odd[r.IntN(len(odd))])
				if r.IntN(2) == 0 {
					query.WriteByte(' ')
				}
			}
			f := lists.Filter{PublishedAfter: times[r.IntN(len(times))], PublishedBefore: times[r.IntN(len(times))]}
			if r.IntN(4) == 0 {
				f.Tags, f.CategoryIDs, f.Licenses = []string{odd[r.IntN(len(odd))]}, []int64{r.Int64()},
					[]models.License{models.License(odd[r.IntN(len(odd))])}
			}
			took, err := run(kinds[i%len(kinds)], query.String(), f, sorts[r.IntN(len(sorts))], i%10 == 0)
			if took > slowest {
				slowest, slow = took, query.String()
			}
			switch {
			case err == nil:
				answered++
			case models.CodeOf(err) == models.BadInput:
				refused++
			default:
				t.Errorf("%q %+v: %v", query.String(), f, err)
			}
		}
		median := ordinary[len(ordinary)/2]
		t.Logf("the slowest took %.1f times the %s that ordinary ones take in the median: %.200q",
			slowest.Seconds()/median.Seconds(), median, slow)
		if answered < n/3 || refused == 0 {
			t.Errorf("%d successful and %d rejected of %d", answered, refused, n)
		}
	})
}
