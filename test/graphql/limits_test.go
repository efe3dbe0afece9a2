package graphql_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/graphql/graphqltest"
	"github.com/meshyard/meshyard/internal/web/graphiql"
	"github.com/meshyard/meshyard/rest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestHostileDocuments checks that documents that are much more expensive than their size suggests
// are rejected before validation, and that responses stay small. Without the limits, none of these
// documents would be processed in reasonable time.
func TestHostileDocuments(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	ada, nobody := s.User("ada"), s.Client("")
	fanOut := "{me{...F0}} "
	for i := range 100 {
		fanOut += fmt.Sprintf("fragment F%d on User{...F%d ...F%d} ", i, i+1, i+1)
	}
	nested, deep := "id", "id"
	for range 4 {
		nested = "files{target{... on Thing{" + nested + "}}}"
	}
	for range 30 {
		deep = "files{owner{downloads{nodes{thing{" + deep + "}}}}}"
	}
	for name, document := range map[string]string{
		"a fan of fragments":   fanOut + "fragment F100 on User{id}",
		"one field over again": "{me{" + strings.Repeat("id ", 1_900) + "}}",
		"unknown fields":       "{me{" + strings.Repeat("nothing ", 990) + "}}",
		"directives":           "{me{id " + strings.Repeat("@skip(if: true)", 200) + "}}",
		"aliases":              "{" + aliases(600) + "}",
		"lists in lists":       "{thing(id:1){" + nested + "}}",
		"depth":                "{thing(id:1){" + deep + "}}",
		"a circle":             "{me{...A}} fragment A on User{...B} fragment B on User{...A}",
		"braces":               strings.Repeat("{a", 100_000),
	} {
		for _, c := range []*servertest.Client{ada, nobody} {
			r := c.Request("POST", "/graphql", map[string]any{"query": document})
			r.Header.Set("Content-Type", "application/json")
			response := c.Send(r)
			want := "TOO_LARGE"
			if name == "a circle" {
				want = "BAD_USER_INPUT"
			}
			if !strings.Contains(string(response.Bytes), `"`+want+`"`) || len(response.Bytes) > 16<<10 {
				t.Errorf("%s: got %d bytes, %.200s, want %s in at most 16 KiB", name, len(response.Bytes), response.Bytes, want)
			}
		}
	}
	servertest.Decode(t,
		nobody.GraphQL(`{ __schema { types { name fields { name type { ofType { ofType { ofType { ofType { name } } } } } } } } }`, nil), new(any))
}

func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d:me{id} ", i)
	}
	return b.String()
}

// TestHostileRequests checks that the response to any request is short and not an internal error.
func TestHostileRequests(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	for name, c := range map[string]*servertest.Client{"somebody": s.User("ada"), "nobody": s.Client("")} {
		for _, request := range graphqltest.Requests() {
			r := c.Request("POST", "/graphql", request.Body(0))
			r.Header.Set("Content-Type", "application/json")
			response := c.Send(r)
			if response.StatusCode >= 500 || len(response.Bytes) >= 96<<10 || !json.Valid(response.Bytes) ||
				strings.Contains(string(response.Bytes), `"INTERNAL"`) {
				t.Errorf("%s, by %s: got %d, %d bytes, %.200s, want JSON below 96 KiB without an internal error", request.Name,
					name, response.StatusCode, len(response.Bytes), response.Bytes)
			}
		}
	}
}

// TestHardened checks that a hardened server runs registered documents only, and reveals nothing
// about its schema.
func TestHardened(t *testing.T) {
	const misspelt = `query asked($n: String) { things(name: $n) { nodes { id } } }`
	mine := []string{`{ me { id } }`, `query introspect { __schema { types { name } } }`,
		`query by($id: ID!) { thing(id: $id) { name } }`}
	s := servertest.Start(t, "sqlite", servertest.Hardened(t, mine...))
	ada := s.User("ada")
	for _, text := range []string{mine[0], mine[0] + "\n", "\n  " + mine[0] + "\r\n\t"} {
		servertest.Decode(t, ada.GraphQL(text, nil), new(any))
	}
	// The documents that the server publishes for its clients are registered too.
	thing := ada.Thing("Fox")
	stored, err := rest.Stored(graph.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(stored, func(d graphqlhttp.Document) bool { return d.Name == "get_things_thing_id" })
	servertest.Decode(t, ada.GraphQL(stored[at].Text, map[string]any{"thing_id": thing}), new(any))
	servertest.Decode(t, ada.GraphQL(graphiql.Examples()[0].Query, nil), new(any))
	up := graphiql.Examples()[2]
	servertest.Decode(t, ada.GraphQLUpload(up.Query, map[string]any{"file": nil}, "file", "a.stl",
		[]byte("solid a\nendsolid a\n")), new(any))
	// A document can be requested by its hash alone.
	id := graphqlhttp.Document{Text: mine[2]}.ID()
	body := servertest.Object{"variables": servertest.Object{"id": thing},
		"extensions": servertest.Object{"persistedQuery": servertest.Object{"version": 1, "sha256Hash": id}}}
	if r := servertest.Asked(ada, body); !strings.Contains(string(r.Bytes), `"Fox"`) {
		t.Errorf("by hash: got %d %s, want Fox", r.StatusCode, r.Bytes)
	}
	for _, document := range []string{misspelt, `{ me { id  } }`, `{ __schema { types { name } } }`,
		`{ __type(name: "Query") { name } }`, `{ me { usernam } }`, `{`} {
		if r := ada.GraphQL(document, nil); r.Code() != "FORBIDDEN" || strings.Contains(r.Errors[0].Message, "username") {
			t.Errorf("%s: got %s %+v, want FORBIDDEN without suggestions", document, r.Data, r.Errors)
		}
		body := servertest.Object{"query": document,
			"extensions": servertest.Object{"persistedQuery": servertest.Object{"version": 1,
				"sha256Hash": graphqlhttp.Document{Text: document}.ID()}}}
		for range 2 {
			if r := servertest.Asked(ada, body); !strings.Contains(string(r.Bytes), `"FORBIDDEN"`) &&
				!strings.Contains(string(r.Bytes), `"PersistedQueryNotFound"`) {
				t.Errorf("%s by hash: got %d %s, want FORBIDDEN or PersistedQueryNotFound", document, r.StatusCode, r.Bytes)
			}
			delete(body, "query")
		}
	}
	if r := ada.GraphQL(mine[1], nil); r.Code() != "FORBIDDEN" {
		t.Errorf("registered introspection: got %s %+v, want FORBIDDEN", r.Data, r.Errors)
	}
	ada.Get("/graphql?query="+url.QueryEscape(mine[0])).Want(t, 405)
	ada.Get("/graphiql").Want(t, 404)
	ada.Get("/schema.graphql").Want(t, 404)
	// REST works as before.
	ada.Get(fmt.Sprintf("/things/%d", thing)).Want(t, 200)
}

// TestAllowedMethods checks that a method that /graphql does not have is refused with a list of
// those that it has.
func TestAllowedMethods(t *testing.T) {
	for want, options := range map[string][]func(*config.Settings){"GET, HEAD, POST": nil,
		"POST": {servertest.Hardened(t, `{ me { id } }`)}} {
		s := servertest.Start(t, "sqlite", options...)
		r := s.User("ada").Do("PUT", "/graphql", nil)
		r.Want(t, 405)
		if got := r.Header.Get("Allow"); got != want {
			t.Errorf("PUT: Allow is %q, want %q", got, want)
		}
	}
}

// TestDocumentsAreChecked checks that an invalid document is reported at the start, with its file.
func TestDocumentsAreChecked(t *testing.T) {
	for text, want := range map[string]string{"{ nothing }": "Cannot query field", "": "no operation",
		"{": "Expected Name"} {
		settings := servertest.Settings(t, "sqlite")
		servertest.Hardened(t, "{ me { id } }", text)(&settings)
		a, err := server.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Handler(t.Context()); err == nil || !strings.Contains(err.Error(), "1.graphql") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRateLimit checks that both APIs and the pages reject requests beyond the limit, each in its
// own format.
func TestRateLimit(t *testing.T) {
	s := servertest.Start(t, "sqlite", func(c *config.Settings) { c.RateLimit = 3 })
	ada, bob := s.User("ada"), s.User("bob")
	for range 3 {
		ada.Get("/files/1").Want(t, 404)
	}
	r := ada.Get("/files/1").Want(t, 429)
	if r.Header.Get("X-Error") != "Too Many Requests" || r.Header.Get("Retry-After") == "" {
		t.Errorf("beyond the rate limit: got %v %s, want X-Error and Retry-After", r.Header, r.Bytes)
	}
	if g := ada.GraphQL(`{ me { id } }`, nil); g.Code() != "RATE_LIMITED" {
		t.Errorf("beyond the rate limit: got %+v, want RATE_LIMITED", g.Errors)
	}
	bob.Get("/files/1").Want(t, 404)
	visitor := s.Client("")
	visitor.Get("/healthz").Want(t, 200)
	for _, path := range []string{"/", "/login"} { // each has a separate limit
		for range 3 {
			visitor.Get(path).Want(t, 200)
		}
		servertest.WantProblem(t, visitor.Get(path), 429, "Too many requests")
	}
	visitor.Get("/things/1").Want(t, 429, new(map[string]any))
}

// TestCostIsReported checks that a client can request the cost of an operation and its remaining
// budget, and that an operation that exceeds the budget is rejected with the time until it may run.
func TestCostIsReported(t *testing.T) {
	s := servertest.Start(t, "sqlite", func(c *config.Settings) { c.RateLimit = 10 })
	ada, bob := s.User("ada"), s.User("bob")
	type told struct {
		Extensions *struct {
			Cost struct{ Requested, Limit, Remaining int }
		}
	}
	cost := func(c *servertest.Client, query string) (got told) {
		servertest.Asked(c, servertest.Object{"query": query, "extensions": servertest.Object{"cost": true}}).
			Want(t, 200, &got)
		return got
	}
	var quiet told
	servertest.Asked(ada, servertest.Object{"query": "{me{id}}"}).Want(t, 200, &quiet)
	if quiet.Extensions != nil {
		t.Errorf("without a request for the cost: got %+v, want no extensions", quiet)
	}
	if got := cost(ada, "{me{id}}").Extensions.Cost; got.Requested != 11 || got.Limit != 50_000 ||
		got.Remaining != 100_000-22 {
		t.Errorf("%+v", got)
	}
	const dear = "{things(first:100){nodes{creator{things(first:100){nodes{id name}}}}}}"
	if got := cost(ada, dear).Extensions.Cost; got.Requested != 31_311 || got.Remaining != 100_000-22-31_311 {
		t.Errorf("%+v", got)
	}
	cost(ada, dear)
	cost(ada, dear)
	refused := servertest.Asked(ada, servertest.Object{"query": dear}).Want(t, 429)
	if !strings.Contains(string(refused.Bytes), `"RATE_LIMITED"`) || refused.Header.Get("Retry-After") == "" {
		t.Errorf("beyond the budget: got %v %s, want RATE_LIMITED and Retry-After", refused.Header, refused.Bytes)
	}
	if got := cost(ada, "{me{id}}").Extensions.Cost; got.Remaining != 100_000-3*31_311-33 {
		t.Errorf("after a rejected operation: got %+v, want no charge for it", got)
	}
	if got := cost(bob, "{me{id}}").Extensions.Cost; got.Remaining != 100_000-11 {
		t.Errorf("another caller: got %+v, want a budget of their own", got)
	}
}

// TestResponseIsBounded checks that a response that becomes too large is aborted while it is
// written.
func TestResponseIsBounded(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	thing := ada.Thing("Fox")
	ada.Do("PATCH", fmt.Sprintf("/things/%d", thing), servertest.Object{"description": strings.Repeat("ä", 65_000)}).
		Want(t, 200)
	var all strings.Builder
	for i := range 64 {
		fmt.Fprintf(&all, "a%d:description ", i)
	}
	query := func(times int) string {
		q := "query($id:ID!){"
		for i := range times {
			q += fmt.Sprintf("t%d:thing(id:$id){...F}", i)
		}
		return q + "} fragment F on Thing{" + all.String() + "}"
	}
	if r := ada.GraphQL(query(1), map[string]any{"id": thing}); len(r.Errors) > 0 || len(r.Data) < 8_000_000 {
		t.Errorf("%d bytes: %+v", len(r.Data), r.Errors)
	}
	if r := ada.GraphQL(query(5), map[string]any{"id": thing}); r.Code() != "TOO_LARGE" || string(r.Data) != "null" {
		t.Errorf("%d bytes: %+v", len(r.Data), r.Errors)
	}
}
