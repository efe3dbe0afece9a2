package permissions_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestAnonymousRead checks that queries without a token read published objects and nothing else, if
// the operator permits it. REST always requires a token.
func TestAnonymousRead(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada", auth.Read, auth.Write)
		published, draft := ada.Thing("Gear"), ada.Thing("Secret")
		ada.Finalize("thing", published, ada.Upload("gear.stl", []byte("solid gear\nendsolid gear\n")))
		ada.Publish(published)
		anonymous, invalid := ada.For(t), ada.For(t)
		anonymous.Token, invalid.Token = "", "meshyard_unknown"
		for _, c := range []struct {
			client   *servertest.Client
			document string
			code     string
		}{
			{anonymous, fmt.Sprintf(
				`{ thing(id: %d) { name creator { username email usage { bytes } } files { name publicUrl } } }`, published), ""},
			{anonymous, `{ things(first: 5) { nodes { name } totalCount } search(query: "gear") { nodes { __typename } } newest { name } }`, ""},
			{anonymous, fmt.Sprintf(`{ thing(id: %d) { name } }`, draft), "FORBIDDEN"},
			{anonymous, `{ me { username } }`, "UNAUTHENTICATED"},
			{anonymous, `{ tokens { nodes { id } } }`, "UNAUTHENTICATED"},
			{anonymous, `{ user(username: "ada") { downloads { nodes { createdAt } } } }`, "FORBIDDEN"},
			{anonymous, fmt.Sprintf(`mutation { likeThing(input: {id: %d}) { thing { id } } }`, published), "UNAUTHENTICATED"},
			{anonymous, `{ moderationLog { nodes { reason } } }`, "UNAUTHENTICATED"},
			{invalid, `{ things { nodes { name } } }`, "UNAUTHENTICATED"},
		} {
			result := c.client.GraphQL(c.document, nil)
			if got := result.Code(); got != c.code {
				t.Errorf("%s: code %q, want %q", c.document, got, c.code)
			}
		}
		// Of a thing that does not exist, so that the stream ends in any case.
		stream := anonymous.Request("POST", "/graphql",
			servertest.Object{"query": `subscription { thingProcessing(id: 999) { file { id } } }`})
		stream.Header.Set("Content-Type", "application/json")
		stream.Header.Set("Accept", "text/event-stream")
		if got := string(anonymous.Send(stream).Bytes); !strings.Contains(got, `"UNAUTHENTICATED"`) {
			t.Errorf("a subscription without a token: %s, want UNAUTHENTICATED", got)
		}
		if got := anonymous.Get(fmt.Sprintf("/things/%d", published)).StatusCode; got != 401 {
			t.Errorf("REST without a token: status %d, want 401", got)
		}
	})
}

// TestPrivateInstance checks that a server without anonymous reading responds to queries without a
// token with UNAUTHENTICATED.
func TestPrivateInstance(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		anonymous := s.User("ada", auth.Read).For(t)
		anonymous.Token = ""
		if got := anonymous.GraphQL(`{ things { nodes { name } } }`, nil).Code(); got != "UNAUTHENTICATED" {
			t.Errorf("code %q, want UNAUTHENTICATED", got)
		}
	}, servertest.Privately)
}

// TestMutationsStopAtFirstFailure checks that a failing mutation does not discard the results of
// earlier ones, and that later ones do not run unless the client requests it.
func TestMutationsStopAtFirstFailure(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada", auth.Read, auth.Write)
		const document = `mutation {
			first: createCollection(input: {name: "One"}) { collection { id name } }
			second: deleteCollection(input: {id: 4711}) { deletedId }
			third: createCollection(input: {name: "Three"}) { collection { name } }
		}`
		type created struct{ Collection struct{ Name string } }
		for _, proceed := range []bool{false, true} {
			var got struct {
				Data   struct{ First, Third *created }
				Errors []struct {
					Path       []any
					Extensions struct{ Code string }
				}
			}
			response := servertest.Asked(ada, servertest.Object{"query": document,
				"extensions": servertest.Object{"continueOnError": proceed}})
			if err := json.Unmarshal(response.Bytes, &got); err != nil {
				t.Fatal(err)
			}
			if got.Data.First == nil || got.Data.First.Collection.Name != "One" || (got.Data.Third != nil) != proceed {
				t.Errorf("continue %v: %s", proceed, response.Bytes)
			}
			if want := map[bool]int{false: 2, true: 1}[proceed]; len(got.Errors) != want ||
				got.Errors[0].Extensions.Code != "NOT_FOUND" {
				t.Errorf("continue %v: errors %v", proceed, got.Errors)
			}
		}
		var count struct {
			Me struct{ Collections struct{ TotalCount int } }
		}
		ada.Query(`{ me { collections { totalCount } } }`, nil, &count)
		if count.Me.Collections.TotalCount != 3 {
			t.Errorf("%d collections, want 3", count.Me.Collections.TotalCount)
		}
	})
}
