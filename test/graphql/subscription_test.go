package graphql_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// stream subscribes by server-sent events over POST, and returns all events until the stream
// completes.
func stream(t *testing.T, c *servertest.Client, id int64) []servertest.Watched {
	t.Helper()
	r := c.Request(http.MethodPost, "/graphql", map[string]any{"query": servertest.Watching,
		"variables": map[string]any{"id": servertest.ID(id)}})
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Accept-Encoding", "gzip")
	return events(t, c.Send(r))
}

// eventSource subscribes like EventSource in browsers: by GET, with the token as a query parameter,
// because EventSource cannot set headers.
func eventSource(t *testing.T, s *servertest.Server, token string, id int64) []servertest.Watched {
	t.Helper()
	variables, _ := json.Marshal(map[string]any{"id": servertest.ID(id)})
	parameters := url.Values{"query": {servertest.Watching}, "variables": {string(variables)}, "access_token": {token}}
	r := s.Client("").Request(http.MethodGet, "/graphql?"+parameters.Encode(), nil)
	r.Header.Set("Accept", "text/event-stream")
	return events(t, s.Client("").Send(r))
}

// events reads the events of a stream, which must complete.
func events(t *testing.T, response *servertest.Response) (told []servertest.Watched) {
	t.Helper()
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" ||
		response.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%s %s: %s", response.Status, got, response.Bytes)
	}
	complete := false
	for lines := bufio.NewScanner(strings.NewReader(string(response.Bytes))); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var one servertest.Watched
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			told = append(told, one)
		}
		complete = complete || lines.Text() == "event: complete"
	}
	if !complete {
		t.Errorf("the stream is not complete: %s", response.Bytes)
	}
	return told
}

// TestEventsAreNegotiated checks that queries and mutations get JSON if the client lists
// text/event-stream after JSON types in Accept, as urql and gql.tada do.
func TestEventsAreNegotiated(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for _, document := range []string{`{ me { username } }`,
			`mutation { createThing(input: { name: "Gear" }) { thing { name } } }`} {
			r := ada.Request(http.MethodPost, "/graphql", map[string]any{"query": document})
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept",
				"application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed")
			response := ada.Send(r)
			if got := response.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/graphql-response+json") ||
				!json.Valid(response.Bytes) {
				t.Errorf("%s: %s %s: %s", document, response.Status, got, response.Bytes)
			}
		}
	})
}

// TestErrorsAreEvents checks that the errors of an operation that cannot be executed are sent as
// events, as the protocol of GraphQL over server-sent events requires, if the client accepts
// nothing else. EventSource, which sends requests by GET, does not show other responses to
// programs.
func TestErrorsAreEvents(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	for document, code := range map[string]string{
		"subscription {": "GRAPHQL_PARSE_FAILED", "subscription { unknown }": "GRAPHQL_VALIDATION_FAILED",
		"{ unknown }": "GRAPHQL_VALIDATION_FAILED",
	} {
		post := ada.Request(http.MethodPost, "/graphql", map[string]any{"query": document})
		post.Header.Set("Content-Type", "application/json")
		for _, r := range []*http.Request{post, ada.Request(http.MethodGet, "/graphql?query="+url.QueryEscape(document),
			nil)} {
			r.Header.Set("Accept", "text/event-stream")
			if told := events(t, ada.Send(r)); len(told) != 1 || len(told[0].Errors) != 1 ||
				told[0].Errors[0].Extensions.Code != code {
				t.Errorf("%s %s: %+v, want %s", r.Method, document, told, code)
			}
		}
	}
}

// TestSubscription checks that subscribers to a file receive its processing states until the end
// over both transports, and that users without access to the file receive an error.
func TestSubscription(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		token := s.Token("ada", "read", "write")
		ada, eve := s.Client(token), s.User("eve")
		thing := ada.Thing("Watched")
		for i, subscribe := range []func(id int64) []servertest.Watched{
			func(id int64) []servertest.Watched { return stream(t, ada, id) },
			func(id int64) []servertest.Watched {
				return servertest.Socket(t, s.URL, token, servertest.Watching, id)
			},
			func(id int64) []servertest.Watched { return eventSource(t, s, token, id) },
		} {
			// Each file has unique content.
			id := ada.Upload("a.stl", append(servertest.Mesh(t, "hschendel_simple_ascii.stl"), strings.Repeat("\n", i)...))
			ada.Finalize("thing", thing, id).Want(t, 200)
			var states []string
			for _, one := range subscribe(id) {
				states = append(states, one.Data.FileProcessing.State)
			}
			if len(states) == 0 || states[len(states)-1] != "DONE" || slices.Contains(states[:len(states)-1], "DONE") {
				t.Errorf("got the states %q", states)
			}
			if told := stream(t, eve, id); len(told) != 1 || len(told[0].Errors) != 1 ||
				told[0].Errors[0].Extensions.Code != "FORBIDDEN" {
				t.Errorf("another user gets %+v", told)
			}
		}
		if told := servertest.Socket(t, s.URL, token, `query ($id: ID!) { file(id: $id) { id } }`, 1); len(told) != 1 ||
			len(told[0].Errors) != 1 || !strings.Contains(told[0].Errors[0].Message, "subscriptions") {
			t.Errorf("a query over WebSocket: %+v", told)
		}
	}, servertest.Derives)
}

// TestSocketOutlivesToken checks that an operation on an open WebSocket is rejected after its token
// was revoked.
func TestSocketOutlivesToken(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		id := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		var token struct {
			CreateToken struct {
				Secret string
				Token  struct{ ID string }
			}
		}
		ada.Query(`mutation { createToken(input: {name: "short", scopes: [READ]}) { secret token { id } } }`, nil, &token)
		told := servertest.OverSocket(t, s.URL, token.CreateToken.Secret, servertest.Watching,
			servertest.Object{"id": servertest.ID(id)}, func() {
				ada.Query(`mutation ($id: ID!) { revokeToken(input: {id: $id}) { token { id } } }`,
					servertest.Object{"id": token.CreateToken.Token.ID}, new(any))
			})
		if len(told) != 1 || !strings.Contains(string(told[0]), `"UNAUTHENTICATED"`) {
			t.Errorf("after its token was revoked a socket returns %s", told)
		}
	})
}

// TestHostileSocket checks that errors over a WebSocket have a code and are short, as over HTTP,
// and that a message is charged before it is parsed.
func TestHostileSocket(t *testing.T) {
	// The rate limit of 20 requests gives a cost budget of 200,000.
	s := servertest.Start(t, "sqlite", func(c *config.Settings) { c.RateLimit = 20 })
	s.User("ada")
	s.User("bob") // each user has a separate budget
	var long strings.Builder
	for i := range 400 {
		fmt.Fprintf(&long, "unknown%d ", i)
	}
	for i, c := range []struct{ document, code string }{
		{"{", "GRAPHQL_PARSE_FAILED"},
		{"subscription {" + long.String() + "}", "GRAPHQL_VALIDATION_FAILED"},
		{"subscription {" + strings.Repeat("__typename ", 100_000/11) + "}", "TOO_LARGE"},
		{`{ me { id } }`, "BAD_USER_INPUT"},
		{`subscription { a: __typename b: __typename }`, "GRAPHQL_VALIDATION_FAILED"},
	} {
		if code, size := servertest.RefusedBySocket(t, s.URL, s.Token("bob", "read"), c.document); code != c.code ||
			size > 16<<10 {
			t.Errorf("%d: got %s and %d bytes, want %s", i, code, size, c.code)
		}
	}
	token := s.Token("ada", "read")
	for i := range 7 { // 6 times 31,311, and 9,411, which leaves 2,723
		servertest.AskHandler(s.Client(token),
			servertest.QueryBody(fmt.Sprintf("{things(first:100){nodes{creator{things(first:%d){nodes{id name}}}}}}",
				map[bool]int{true: 100, false: 27}[i < 6])))
	}
	for i, want := range []string{"GRAPHQL_PARSE_FAILED", "GRAPHQL_PARSE_FAILED", "RATE_LIMITED"} {
		if code, _ := servertest.RefusedBySocket(t, s.URL, token, "{"); code != want {
			t.Errorf("message %d: %s, want %s", i, code, want)
		}
	}
}
