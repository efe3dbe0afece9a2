package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestSourceURL checks that only URLs that a page can link to are accepted as the source of a
// thing, and that GraphQL and REST return them.
func TestSourceURL(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		id := ada.Thing("Gear")
		check := func(what, want string) {
			t.Helper()
			var v struct {
				Thing struct{ SourceURL string }
			}
			ada.Query(`query ($id: ID!) { thing(id: $id) { sourceUrl } }`, servertest.Object{"id": servertest.ID(id)}, &v)
			if got := servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", id)))["source_url"]; v.Thing.SourceURL != want ||
				got != want {
				t.Errorf("%s: GraphQL %q, REST %q, want %q", what, v.Thing.SourceURL, got, want)
			}
		}
		update := func(source any) *servertest.Result {
			return ada.GraphQL(`mutation ($id: ID!, $source: String) { updateThing(input: {id: $id, sourceUrl: $source}) { thing { id } } }`,
				servertest.Object{"id": servertest.ID(id), "source": source})
		}
		check("at first", "")
		const source = "https://example.org/models/1?a=b#c"
		if r := update(source); len(r.Errors) > 0 {
			t.Fatalf("%+v", r.Errors)
		}
		check("a URL", source)
		for _, bad := range []string{"javascript:alert(1)", "example.org/a", "//example.org/a", "https://",
			"https://ada:secret@example.org/", "https://example.org/\na", "https://[", "https://example.org/" +
				strings.Repeat("a", 2_000)} {
			r := update(bad)
			if len(r.Errors) != 1 || r.Errors[0].Extensions.Field != "sourceUrl" {
				t.Errorf("%.40q: errors %+v, want one of the field", bad, r.Errors)
			}
		}
		check("rejected URLs", source)
		ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, name: "Wheel"}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(id)}, new(any))
		check("another field", source)
		if r := update(nil); len(r.Errors) > 0 {
			t.Errorf("null: %+v", r.Errors)
		}
		check("null", "")
	})
}
