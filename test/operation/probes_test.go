package operation_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// probe tests for a weakness that GraphQL security scanners look for, with the name that
// graphql-cop uses. found reports whether the server has the weakness.
type probe struct {
	name  string
	found func(c *servertest.Client) bool
}

func request(c *servertest.Client, method, path, contentType string, body any) string {
	r := c.Request(method, path, body)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return string(c.Send(r).Bytes)
}

var probes = []probe{
	{"alias_overloading", func(c *servertest.Client) bool {
		var aliases strings.Builder
		for i := range 101 {
			aliases.WriteString("alias" + servertest.ID(int64(i)) + ":__typename\n")
		}
		return strings.Contains(servertest.AskHandler(c, servertest.QueryBody("query cop {"+aliases.String()+"}")),
			`"alias100"`)
	}},
	{"batch_query", func(c *servertest.Client) bool {
		return strings.Count(servertest.AskHandler(c, slices.Repeat([]any{servertest.QueryBody("query cop { __typename }")},
			10)), `"__typename"`) > 0
	}},
	{"directive_overloading", func(c *servertest.Client) bool {
		return strings.Count(servertest.AskHandler(c,
			servertest.QueryBody("query cop { __typename "+strings.Repeat("@aa", 10)+" }")), `"message"`) > 1
	}},
	{"circular_query_introspection", func(c *servertest.Client) bool {
		return strings.Contains(servertest.AskHandler(c,
			servertest.QueryBody(
				"query cop { __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } } }")), `"types"`)
	}},
	{"field_duplication", func(c *servertest.Client) bool {
		return strings.Contains(servertest.AskHandler(c,
			servertest.QueryBody("query cop { "+strings.Repeat("__typename \n", 500)+"}")), `"data"`)
	}},
	{"get_based_mutation", func(c *servertest.Client) bool {
		return strings.Contains(request(c, "GET", "/graphql?query="+url.QueryEscape("mutation cop { __typename }"), "", nil),
			`"Mutation"`)
	}},
	{"get_method_support", func(c *servertest.Client) bool {
		return strings.Contains(request(c, "GET", "/graphql?query="+url.QueryEscape("query cop { __typename }"), "", nil),
			`"Query"`)
	}},
	{"post_based_csrf", func(c *servertest.Client) bool {
		form := url.Values{"query": {"query cop { __typename }"}}.Encode()
		return strings.Contains(request(c, "POST", "/graphql", "application/x-www-form-urlencoded", form), `"Query"`) ||
			strings.Contains(request(c, "POST", "/graphql", "text/plain", `{"query":"query cop { __typename }"}`), `"Query"`) ||
			strings.Contains(request(c, "POST", "/graphql?"+form, "", nil), `"Query"`)
	}},
	{"trace_mode", func(c *servertest.Client) bool {
		response := servertest.AskHandler(c, servertest.QueryBody("query cop { __typename }"))
		return strings.Contains(response, "tracing") || strings.Contains(response, "extensions") &&
			!strings.Contains(response, "code")
	}},
	{"unhandled_error", func(c *servertest.Client) bool {
		for _, body := range []any{servertest.QueryBody("qwerty cop { abc }"),
			servertest.QueryBody("query cop { me(x: ) { id } }"), servertest.Object{"query": nil}, servertest.Object{"query": 1},
			`{"query":`, []any{}, "", servertest.QueryBody("query cop($a: Nothing) { __typename }")} {
			response := servertest.AskHandler(c, body)
			if strings.Contains(response, "exception") || strings.Contains(response, "stack") ||
				strings.Contains(response, ".go") || strings.Contains(response, "INTERNAL") {
				return true
			}
		}
		return false
	}},
	{"field_suggestions", func(c *servertest.Client) bool {
		for _, text := range []string{"query cop { __schema { directive } }", "query cop { thinngs { nodes { id } } }",
			"query cop { thing(idd: 1) { id } }", "mutation cop { createThinng { thing { id } } }"} {
			if strings.Contains(strings.ToLower(servertest.AskHandler(c, servertest.QueryBody(text))), "did you mean") {
				return true
			}
		}
		return false
	}},
	{"introspection", func(c *servertest.Client) bool {
		return strings.Contains(servertest.AskHandler(c,
			servertest.QueryBody("query cop { __schema { types { name fields { name } } } }")), `"__schema":{"types"`) ||
			strings.Contains(servertest.AskHandler(c, servertest.QueryBody(`query cop { __type(name: "Query") { name } }`)),
				`"name":"Query"`)
	}},
	{"detect_graphiql", func(c *servertest.Client) bool {
		for _, path := range []string{"/graphiql", "/graphql", "/playground", "/console", "/graphql/playground",
			"/graphql/console", "/altair", "/explorer", "/voyager", "/"} {
			r := c.Request(http.MethodGet, path, nil)
			r.Header.Set("Accept", "text/html")
			page := strings.ToLower(string(c.Send(r).Bytes))
			for _, sign := range []string{"graphiql.min.css", "graphql playground", "altair graphql", "/graphiql/assets/",
				"playground.min.js"} {
				if strings.Contains(page, sign) {
					return true
				}
			}
		}
		return false
	}},
}

// TestProbes checks that the probes find only weaknesses that are intended, and none on a hardened
// server.
func TestProbes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*config.Settings)
		open   []string
	}{
		"by_default": {func(*config.Settings) {}, []string{"get_method_support", "field_suggestions", "introspection",
			"detect_graphiql"}},
		// The document of a probe is registered.
		"hardened": {servertest.Hardened(t, "query cop { __typename }"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := servertest.Start(t, "sqlite", c.change)
			for who, client := range map[string]*servertest.Client{"nobody": s.Client(""), "a user": s.User("ada")} {
				if response := servertest.AskHandler(client, servertest.QueryBody("query cop { __typename }")); !strings.Contains(
					response, `"Query"`) {
					t.Fatalf("the response is empty: %s", response)
				}
				for _, p := range probes {
					if found := p.found(client); found != slices.Contains(c.open, p.name) {
						t.Errorf("%s, to %s: found is %v", p.name, who, found)
					}
				}
			}
		})
	}
}
