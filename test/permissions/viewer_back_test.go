package permissions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestViewerLinksToThing checks that the viewer has a link to the page of the thing, and that only
// a visitor with the key of an unlisted thing gets a link with the key.
func TestViewerLinksToThing(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Bracket")
		file := ada.Upload("a.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
		ada.Finalize("thing", thing, file).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		viewer, page := fmt.Sprintf("/view/%d", file), fmt.Sprintf(`href="%s/thing:%d`, s.URL, thing)
		if got := string(s.Client("").Get(viewer).Want(t, 200).Bytes); !strings.Contains(got, page+`"`) {
			t.Errorf("published: no link %s in %s", page, got)
		}

		ada.Query(`mutation ($id: ID!) { publishThing(input: {id: $id, state: UNLISTED}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		var signed struct{ File struct{ DirectURL string } }
		ada.Query(`query ($id: ID!) { file(id: $id) { directUrl } }`, servertest.Object{"id": servertest.ID(file)}, &signed)
		_, signature, ok := strings.Cut(signed.File.DirectURL, "?")
		if !ok {
			t.Fatalf("directUrl %s has no signature", signed.File.DirectURL)
		}
		key := servertest.KeyOf(t, ada, thing)
		for query, want := range map[string]string{signature: page + `"`, "key=" + key: page + "?key=" + key + `"`,
			signature + "&key=" + key: page + "?key=" + key + `"`} {
			if got := string(s.Client("").Get(viewer+"?"+query).Want(t, 200).Bytes); !strings.Contains(got, want) {
				t.Errorf("unlisted, with %s: no link %s in %s", query, want, got)
			}
		}
	})
}
