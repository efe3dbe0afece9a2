package graphql_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/search"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestChangedCursors checks that a modified cursor is rejected as bad input, even if it contains a
// time that the database cannot store.
func TestChangedCursors(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.Catalogue()
		ada := s.User("ada")
		number := regexp.MustCompile(`:-?\d+:`)
		for _, list := range []string{
			`things(first: 1 AFTER) { pageInfo { endCursor } }`,
			`things(sort: POPULAR, first: 1 AFTER) { pageInfo { endCursor } }`,
			`search(sort: NEWEST, first: 1 AFTER) { pageInfo { endCursor } }`,
			`search(query: "gear", first: 1 AFTER) { pageInfo { endCursor } }`,
			`category(slug: "learning") { things(first: 1 AFTER) { pageInfo { endCursor } } }`,
			`comments(first: 1 AFTER) { pageInfo { endCursor } }`,
		} {
			r := ada.GraphQL("{ "+strings.Replace(list, "AFTER", "", 1)+" }", nil)
			_, rest, ok := strings.Cut(string(r.Data), `"endCursor":"`)
			if !ok {
				continue // an empty list
			}
			cursor, _, _ := strings.Cut(rest, `"`)
			plain, err := base64.RawURLEncoding.DecodeString(cursor)
			if err != nil {
				t.Fatal(err)
			}
			timed := strings.Contains(list, "NEWEST") || strings.Contains(list, "category") ||
				strings.HasPrefix(list, "things(first")
			for _, key := range []string{"9223372036854775807", "-9223372036854775808", "253402300800000000",
				"-62135596800000001", "0"} {
				changed := base64.RawURLEncoding.EncodeToString([]byte(number.ReplaceAllString(string(plain), ":"+key+":")))
				for _, argument := range []string{", after: ", ", before: "} {
					r := ada.GraphQL("{ "+strings.Replace(list, "AFTER", fmt.Sprintf("%s%q", argument, changed), 1)+" }", nil)
					want := ""
					if timed && key != "0" {
						want = "BAD_USER_INPUT"
					}
					if r.Code() != want {
						t.Errorf("%s%s%s: code %q, want %q: %+v", list, argument, key, r.Code(), want, r.Errors)
					}
				}
			}
		}
	})
}

// TestMakeCountOfUsers checks that a user's make count equals the length of the list: makes of
// drafts do not count.
func TestMakeCountOfUsers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		thing := ada.Thing("Lamp")
		ada.Finalize("thing", thing, ada.Upload("a.stl", []byte("solid a"))).Want(t, 200)
		ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, description: "A lamp."}) { thing { id } } createMake(input: {thingId: $id}) { make { id } } }`, servertest.Object{"id": thing}, new(any))
		check := func(when string, want int64) {
			t.Helper()
			for range 2 { // folded or not
				var got struct {
					User struct {
						MakeCount int64
						Makes     struct{ TotalCount int64 }
					}
				}
				bob.Query(`{ user(username: "ada") { makeCount makes { totalCount } } }`, nil, &got)
				if got.User.MakeCount != want || got.User.Makes.TotalCount != want {
					t.Errorf("%s: makeCount is %d, and %d makes are listed, want %d", when, got.User.MakeCount,
						got.User.Makes.TotalCount, want)
				}
				s.Fold()
			}
			if changed, err := s.Store.Maintenance.Recount(context.Background()); changed != 0 || err != nil {
				t.Errorf("%s: a recount changed %d counts (%v), want 0", when, changed, err)
			}
		}
		check("a draft", 0)
		ada.Publish(thing).Want(t, 200)
		check("published", 1)
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "copied"}) { thing { id } } }`,
			servertest.Object{"id": thing}, new(any))
		check("taken down", 0)
		ada.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`, servertest.Object{"id": thing},
			new(any))
		check("made while it was down", 0)
		admin.Query(`mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "not copied"}) { thing { id } } }`,
			servertest.Object{"id": thing}, new(any))
		check("restored", 2)
	})
}

// TestDeprecatedCallsAreBounded checks that a token that uses many user agents creates few rows,
// and that rows are removed after some time.
func TestDeprecatedCallsAreBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, caller := context.Background(), auth.Caller{TokenID: 7}
		rows := func() (rows, calls int) {
			t.Helper()
			if err := servertest.OpenDB(t, s).SQL().
				QueryRow("SELECT count(*), coalesce(sum(calls), 0) FROM deprecated_calls WHERE token_id = 7").
				Scan(&rows, &calls); err != nil {
				t.Fatal(err)
			}
			return rows, calls
		}
		note := func(round int) {
			t.Helper()
			for i := range 100 {
				s.Store.Activity.NoteDeprecated(caller, "get_things", fmt.Sprintf("agent/%d.%d", round, i))
			}
			if err := s.Store.Activity.SaveActivity(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for round := range 3 {
			note(round)
		}
		if n, calls := rows(); n != 21 || calls != 300 {
			t.Errorf("300 user agents made %d rows with %d calls, want 21 with 300", n, calls)
		}
		if _, err := servertest.OpenDB(t, s).SQL().
			Exec("UPDATE deprecated_calls SET last_at = '2020-01-01 00:00:00+00:00'"); err != nil {
			t.Fatal(err)
		}
		note(9)
		if n, calls := rows(); n != 21 || calls != 100 {
			t.Errorf("after half a year there are %d rows with %d calls, want 21 with 100", n, calls)
		}
	})
}

// TestSearchIsBounded checks that a single letter matches whole words only, and that the number of
// statements for correcting misspelled words is limited.
func TestSearchIsBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for _, name := range []string{"X wing", "xylophone", "竜の像"} {
			thing := ada.Thing(name)
			ada.Finalize("thing", thing, ada.Upload("a.stl", []byte("solid "+name))).Want(t, 200)
			ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, description: "A model."}) { thing { id } } }`,
				servertest.Object{"id": thing}, new(any))
			ada.Publish(thing).Want(t, 200)
		}
		for query, want := range map[string]string{"x": "X wing", "xy": "xylophone", "X-wing": "X wing", "竜": "竜の像",
			"w": ""} {
			var got struct {
				Search struct{ Nodes []struct{ Name string } }
			}
			ada.Query(`query ($q: String!) { search(query: $q) { nodes { ... on Thing { name } } } }`,
				servertest.Object{"q": query}, &got)
			var names []string
			for _, n := range got.Search.Nodes {
				names = append(names, n.Name)
			}
			if found := strings.Join(names, ", "); found != want {
				t.Errorf("search %q: got %q, want %q", query, found, want)
			}
		}
		ctx := auth.WithNetwork(t.Context(), "192.0.2.0")
		statements := func(query string) int64 {
			before := s.RequestStatements()
			if _, err := s.Store.Search.Search(ctx, search.SearchThings, query, lists.Filter{}, lists.ByRelevance); err != nil {
				t.Fatal(err)
			}
			return s.RequestStatements() - before
		}
		few, many := statements("aaaaa bbbbb ccccc"),
			statements("aaaaa bbbbb ccccc ddddd eeeee fffff ggggg hhhhh iiiii jjjjj")
		if many != few || few == 0 {
			t.Errorf("ten unknown words cost %d statements, three cost %d", many, few)
		}
	})
}

// TestHighlightsAreBounded checks that matches are highlighted near the beginning of a text only.
func TestHighlightsAreBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for name, before := range map[string]int{"Near": 100, "Far": 10_000} {
			thing := ada.Thing(name)
			ada.Finalize("thing", thing, ada.Upload("a.stl", []byte("solid "+name))).Want(t, 200)
			ada.Query(`mutation ($id: ID!, $text: String!) { updateThing(input: {id: $id, description: $text}) { thing { id } } }`,
				servertest.Object{"id": thing, "text": strings.Repeat("word ", before) + "octocat " +
					strings.Repeat("word ", 1000)}, new(any))
			ada.Publish(thing).Want(t, 200)
		}
		var got struct {
			Search struct {
				Edges []struct {
					Node       struct{ Name string }
					Highlights []struct{ Field string }
				}
			}
		}
		ada.Query(`{ search(query: "octocat") { edges { node { ... on Thing { name } } highlights { field } } } }`, nil, &got)
		if len(got.Search.Edges) != 2 {
			t.Fatalf("found %d things, want 2", len(got.Search.Edges))
		}
		for _, e := range got.Search.Edges {
			if want := map[string]int{"Near": 1}[e.Node.Name]; len(e.Highlights) != want {
				t.Errorf("%s: %d highlights, want %d", e.Node.Name, len(e.Highlights), want)
			}
		}
	})
}

// TestDuplicatesAreReadTogether checks that the duplicates of many files are loaded in one batch,
// by the stored shape of their previews.
func TestDuplicatesAreReadTogether(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		mesh := servertest.Mesh(t, "hschendel_simple_ascii.stl")
		thing := ada.Thing("Cubes")
		added := 0
		add := func() {
			added++ // another content of the same shape
			id := ada.Upload("simple.stl", append(mesh[:len(mesh):len(mesh)], strings.Repeat("\n", added)...))
			ada.Finalize("thing", thing, id).Want(t, 200)
			servertest.Settled(t, ada, id)
		}
		const document = `query ($id: ID!) { thing(id: $id) { files { mesh { duplicates { totalCount nodes { id } } } } } }`
		read := func(files int) int64 {
			t.Helper()
			var got struct {
				Thing struct {
					Files []struct {
						Mesh struct {
							Duplicates struct {
								TotalCount int
								Nodes      []any
							}
						}
					}
				}
			}
			before := s.RequestStatements()
			ada.Query(document, servertest.Object{"id": thing}, &got)
			statements := s.RequestStatements() - before
			for _, f := range got.Thing.Files {
				if d := f.Mesh.Duplicates; d.TotalCount != files-1 || len(d.Nodes) != files-1 {
					t.Errorf("a file has %d duplicates and shows %d, want %d", d.TotalCount, len(d.Nodes), files-1)
				}
			}
			return statements
		}
		add()
		add()
		few := read(2)
		for range 3 {
			add()
		}
		if many := read(5); many > few {
			t.Errorf("the duplicates of 5 files cost %d statements, of 2 files %d", many, few)
		}
		if _, err := servertest.OpenDB(t, s).SQL().Exec("UPDATE previews SET shape_id = NULL"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Store.Previews.AssignShapes(context.Background()); err != nil {
			t.Error(err)
		}
		read(5)
	}, servertest.Derives)
}
